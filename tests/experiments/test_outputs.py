"""An output that is an input is refused by the commands of experiments, too."""

import shutil
import sys
from pathlib import Path

import pytest

from experiments.training.__main__ import training_app
from experiments.transfer.__main__ import transfer_app
from tstmeta import cli
from tstmeta.data import paths

LM, CLASSIFIER = "lm --corpus corpus.csv", "classifier --corpus corpus.csv"
TRANSFER = "run --model M0 --quick --steps 1 --corpus corpus.csv"
#: The words of a command, the two options that name one file, and that file.
CASES = [
    (f"{LM} --out corpus.csv", "--out", "--corpus", "corpus.csv"),
    (f"{LM} --base ./tuned --out tuned", "--out", "--base", ""),
    (f"{CLASSIFIER} --out corpus.csv", "--out", "--corpus", "corpus.csv"),
    (f"{CLASSIFIER} --kind transformer --base tuned --out tuned", "--out", "--base", ""),
    (f"{CLASSIFIER} --keep-out mine.csv --out mine.csv", "--out", "--keep-out", "mine.csv"),
    (f"{TRANSFER} --out corpus.csv", "--out", "--corpus", "corpus.csv"),
    (f"{TRANSFER} --config models.toml --out models.toml", "--out", "--config", "models.toml"),
]


@pytest.mark.parametrize(("words", "option", "other", "file"), CASES)
def test_an_output_of_an_experiment_that_is_an_input_is_refused(
    tmp_path, monkeypatch, capsys, words, option, other, file
):
    monkeypatch.chdir(tmp_path)
    for name in ("corpus.csv", "mine.csv", "tuned/config.json"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("text,style\na fine soup,good\na cold soup,bad\n")
    shutil.copy(paths.project("transfer", "models.toml"), "models.toml")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    monkeypatch.setattr(sys, "argv", ["tstmeta", *words.split()])
    with pytest.raises(SystemExit) as end:
        cli.main(transfer_app if words.startswith("run ") else training_app)
    assert end.value.code == 2
    assert {path: path.read_bytes() for path in before} == before
    message = capsys.readouterr().err
    for part in (option, other, file, f"Remedy: name another file or folder with {option}"):
        assert part in message
