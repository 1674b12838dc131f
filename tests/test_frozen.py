"""The numbers that must not move: the ledger and four evaluations, where the frozen files are."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHECK = ROOT.parent / "shared" / "tools" / "frozen.py"


@pytest.mark.skipif(not CHECK.is_file(), reason="the frozen files are not beside the checkout")
def test_no_frozen_number_has_moved():
    command = [sys.executable, str(CHECK), "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=550)
    assert done.returncode == 0, done.stdout + done.stderr
