"""A metric of one's own, named on the command line: of a file in the working folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import refusal, table

FILES = {
    "own_words.py": """
import own_helper
from tstmeta.metrics import PairMetric

class Length(PairMetric):
    name = "own-length"
    def pair(self, text, output):
        return len(output)

class Empty:
    pass

def shared(source, output):
    return own_helper.count(source, output)

def named(name):
    metric = Length()
    metric.name = name
    return metric

def factory():
    return named("own-factory")

ready, number = named("own-ready"), 5
def three(source, output, more): ...
def output_only(output): ...
def raising(source, output): return {}[output]
def text(source, output): return "high"
def picky(source, output): return float("nan") if "went" in output else 1.0
""",
    "own_helper.py": "def count(a, b):\n    return len({*a.split()} & {*b.split()})\n",
    "own_typo.py": "def f(source, output)\n    return 1\n",
    "own_lacks.py": "\nimport no_such_module\n",
    "own_leaves.py": "import sys\nsys.exit(3)\n",
    "bleu.py": "def shared(source, output): return 7\n",
}


@pytest.fixture
def folder(tstmeta, tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


@pytest.fixture
def score(folder, tstmeta):
    return lambda *words: tstmeta("score", "-d", "mine.csv", "--basis", "source", *words)


def test_the_installed_command_computes_what_stands_in_the_working_folder(folder):
    names = [f"{file}:shared" for file in ("own_words.py", "./own_words.py")]
    every = [*names, *(f"own_words.py:{name}" for name in ("Length", "ready", "factory"))]
    words = [word for name in every for word in ("--metric", name)]
    command = [str(Path(sys.executable).with_name("tstmeta")), "score", "--data", "mine.csv"]
    command += ["--basis", "source", "--store", "store", *words]
    bare = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=bare, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "20 scores, 0 failed\n")
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    values = {name: [] for name in (*names, "own-length", "own-ready", "own-factory")}
    for row in rows:
        values[row[2]].append(float(row[7]))
    assert list(values.values()) == [[3, 1, 3, 2]] * 2 + [[24, 7, 11, 14]] * 3


#: What is named -> what is said, as the last line.
MISTAKES = {
    "./own_typo.py:f": "SyntaxError: expected ':' (own_typo.py, line 1)",
    "own_lacks.py:f": "No module named 'no_such_module' (own_lacks.py, line 2)",
    "own_leaves.py:f": "SystemExit: 3 (own_leaves.py, line 2)",
    "own_words.py:f": "cannot import metric own_words.py:f: no 'f' in /",
    "own_words.py:number": "5 is no metric: write a function of (source, output)",
    "own_words.py:Empty": "is no metric: tstmeta.wrap makes one of a function",
    "own_words.py:three": "three(source, output, more) is no metric: write a function of",
    "own_words.py:output_only": "output_only(output) is no metric",
    "own_words:shared": "no metric is called 'own_words:shared'",
    "./own_words.py": "name a function of it, ./own_words.py:FUNCTION",
    "bleu:shared": "no metric is called 'bleu:shared'",  # a registered name wins
    "./x.py:y": "there is no file './x.py'",
    **dict.fromkeys((":", "x:", "a..b:c", ".a:b", "a:b:c", "ключ:函数"), "no metric is"),
    **dict.fromkeys(("\0:f", "bleu:\ud800", "./\ud800.py:f", "a\n:b"), "control characters"),
    "/".join("x" * 5000) + ".py:f": "there is no file",
}


@pytest.mark.parametrize(("name", "words"), MISTAKES.items(), ids=lambda text: ascii(text)[:30])
def test_what_is_wrong_is_one_clear_line(score, name, words):
    result = score("-m", name)
    assert words in refusal(result)
    assert "\n" not in refusal(result)
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("name", "failed", "words"),
    [
        ("raising", 4, "KeyError: 'the cat was sitting down'"),
        ("text", 4, "ValueError: could not convert string to float: 'high'"),
        ("picky", 1, "the metric returned nan"),
    ],
)
def test_what_a_function_gives_no_number_for_is_rows_with_the_reason(score, name, failed, words):
    result = score("-m", f"own_words.py:{name}", "-m", "own_words.py:shared")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"own_words.py:{name}: {failed} of 4 scores failed: {words}",
        f"8 scores, {failed} failed",
    ]
    assert table(result)["value"].tolist()[4:] == ["3.0", "1.0", "3.0", "2.0"]


def test_an_edited_file_is_scored_anew_whatever_was_edited_in_it(score, folder):
    text = "SCALE = {}\ndef f(source, output):\n    return SCALE\n"
    for scale in (1, 2):
        (folder / "more.py").write_text(text.format(scale))
        assert set(table(score("-m", "./more.py:f"))["value"]) == {float(scale)}
