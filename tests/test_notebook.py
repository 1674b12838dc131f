"""Notebooks with parameters: what is taken, what is refused, what is left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tstmeta import notebook
from tstmeta.data import paths
from tstmeta.notebook import check, parameters, run_notebook
from tstmeta.schema import TstmetaError

TAKES = """dataset: str = "auto"  # a comment
metrics: list[str] = ["bleu"]
n: int = 3
share: float = 0.5
draw: bool = False"""


def written(path: Path, *cells: str, takes: str = TAKES) -> Path:
    tagged = new_code_cell(takes, metadata={"tags": ["parameters"]}, id="p")
    rest = [new_code_cell(cell, id=f"c{index}") for index, cell in enumerate(cells)]
    notebook = new_notebook(cells=[new_markdown_cell("# A page", id="t"), tagged, *rest])
    notebook.metadata["kernelspec"] = {"name": "python3", "language": "python", "display_name": "P"}
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return written(tmp_path / "page.ipynb", "print(dataset, metrics, share, n)")


def test_a_notebook_tells_its_parameters_in_order_with_types_and_defaults(source):
    shown = TAKES.replace("  # a comment", "").replace('"', "'")
    assert "\n".join(map(str, parameters(source).values())) == shown


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        *(("dataset", "3", "3"), ("n", "-3", -3), ("share", 1, 1.0), ("share", "1", 1.0)),
        *(("metrics", "bleu, chrf", ["bleu", "chrf"]), ("metrics", "[bleu]", ["bleu"])),
        *(("metrics", [], []), ("draw", "true", True), ("draw", "no", False)),
    ],
)
def test_a_value_has_the_declared_type_or_is_text_that_becomes_it(source, name, given, value):
    typed = check(source, {name: given})[name]
    assert (typed, type(typed)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("dataset", None), ("metrics", "[bleu"), ("metrics", ["bleu", 3]), ("n", 2.5)),
        *(("n", True), ("share", "half"), ("draw", 1)),
    ],
)
def test_a_value_of_another_type_is_refused_with_the_type_that_is_expected(source, name, value):
    with pytest.raises(TstmetaError) as refused:
        check(source, {name: value})
    assert f"{name}: must be {parameters(source)[name].type}, got {value!r}" in str(refused.value)


def test_all_faults_are_told_at_once_with_what_the_notebook_takes(source):
    with pytest.raises(TstmetaError) as refused:
        check(source, {"datset": "lai", "n": "x", "zzz": 1, "share": 0.1})
    lines = str(refused.value).splitlines()
    assert lines[0] == "page.ipynb cannot use:"
    assert "  datset: unknown" in lines
    assert "  zzz: unknown" in lines
    assert any(line.startswith("  n: must be int") for line in lines)
    assert "  n: int = 3" in lines
    assert not any("share: must" in line for line in lines)


@pytest.mark.parametrize(
    ("takes", "reason"),
    [
        ("n = 3", "its type is one of"),
        ("n: int = 'three'", "must be int"),
        ("n: int = f()", "malformed"),
    ],
)
def test_a_parameter_of_another_form_is_refused_and_a_file_that_is_no_notebook(
    tmp_path, takes, reason
):
    with pytest.raises(TstmetaError, match=reason):
        parameters(written(tmp_path / "page.ipynb", takes=takes))
    (tmp_path / "page.ipynb").write_text('{"cells": 3}')
    with pytest.raises(TstmetaError, match="is not a Jupyter notebook"):
        parameters(tmp_path / "page.ipynb")


def test_a_name_that_is_no_notebook_is_answered_with_those_there_are(home):
    (home / "notebooks").mkdir()
    page = written(home / "notebooks" / "01_first.ipynb")
    assert {notebook.find(name) for name in ("01_first", "01_first.ipynb", page)} == {page}
    with pytest.raises(TstmetaError, match="01_first"):
        notebook.find("02_second")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, so that drafts are seen; IPYTHONDIR is put back afterwards."""
    monkeypatch.setattr(paths, "home", lambda: tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    return tmp_path


def drafts(home: Path) -> list[str]:
    return [path.name for path in (home / ".build" / "runs").iterdir() if path.is_file()]


def test_a_run_uses_this_python_and_the_values_given_and_leaves_no_trace_of_time(home, source):
    outs = [home / "deep" / "first.ipynb", home / "second.ipynb"]
    page = written(source, "import sys", "print(sys.executable, dataset, share, n)")
    for out in outs:
        assert run_notebook(page, {"share": 0.25, "n": 5}, out) == out
    text = outs[0].read_text()
    assert f"{sys.executable} auto 0.25 5" in text
    assert text == outs[1].read_text()
    assert "papermill" not in json.loads(text)["metadata"]
    assert drafts(home) == []


SHOWN = {
    "<td>-0.00</td>": "<td>0.00</td>",
    "[−0.0, 0.10]": "[0.0, 0.10]",
    "-0.001 1e-0.0": "-0.001 1e-0.0",
    "a-0.00": "a-0.00",
    "-10.00": "-10.00",
}


def test_a_number_that_is_shown_as_zero_has_no_sign():
    output = new_output("execute_result", {"text/html": "|".join(SHOWN)})
    page = notebook._tidied(new_notebook(cells=[new_code_cell(outputs=[output])]))
    assert page.cells[-1].outputs[0].data["text/html"] == "|".join(SHOWN.values())


def test_nothing_runs_when_a_parameter_is_refused(home, source):
    with pytest.raises(TstmetaError, match="n: must be int"):
        run_notebook(source, {"n": "many"}, home / "out.ipynb")
    assert not (home / "out.ipynb").exists()
    assert not (home / ".build").exists()


def test_a_failing_cell_is_named_with_its_message_and_an_earlier_result_stays(home, source):
    out = home / "out.ipynb"
    out.write_text("an earlier result")
    written(source, "raise ValueError('no such level')", "print('never')")
    with pytest.raises(TstmetaError) as failed:
        run_notebook(source, {}, out)
    assert "cell 3 failed with ValueError: no such level" in str(failed.value)
    assert out.read_text() == "an earlier result"
    [draft] = [name for name in drafts(home) if name.endswith(".ipynb")]
    assert draft in str(failed.value)


def test_a_kernel_that_dies_is_told_as_such(home, source):
    written(source, "import os; os._exit(1)")
    with pytest.raises(TstmetaError, match="the kernel died"):
        run_notebook(source, {}, home / "out.ipynb")
    assert not (home / "out.ipynb").exists()


@pytest.mark.nightly
def test_an_interrupted_run_leaves_no_result(tmp_path, source):
    started = tmp_path / "started"
    written(source, f"open({str(started)!r}, 'w').close()", "import time; time.sleep(60)")
    out = tmp_path / "out.ipynb"
    process = subprocess.Popen(
        [sys.executable, "-m", "tstmeta", "run", str(source), "--out", str(out)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "IPYTHONDIR": str(tmp_path)},
        # a run of the tests in the background ignores Ctrl-C, and would hand that on
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert not out.exists()
