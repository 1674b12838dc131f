"""An interrupt while the program starts ends it with exit code 130 and without a traceback."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

#: The program, which an interrupt reaches so many seconds after Python has started.
PROGRAM = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from tstmeta.__main__ import main
threading.Timer({after}, os.kill, (os.getpid(), signal.SIGINT)).start()
sys.argv = ["tstmeta", "advise", "--task", "formality"]
main()
time.sleep(10)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("after", [0.02, 0.05, 0.1, 0.2, 0.3, 0.5])
def test_an_interrupt_at_the_start_is_no_traceback(after):
    command = [sys.executable, "-c", PROGRAM.format(after=after)]
    for _ in range(2):  # a bare except in a library may swallow it once
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode:
            break
    assert "Traceback" not in done.stderr
    assert done.returncode in (130, -2)


def test_the_program_starts_without_the_command_line():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    module, _, name = project["project"]["scripts"]["tstmeta"].partition(":")
    heavy = "{'typer', 'importlib.metadata', 'tstmeta.cli'} & sys.modules.keys()"
    code = f"import sys; before = {heavy}; from {module} import {name}; print({heavy} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
