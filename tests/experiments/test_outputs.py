"""An output that is an input is refused by the commands of experiments, too."""

import shutil

import pytest

from experiments.training.__main__ import training_app
from experiments.transfer.__main__ import transfer_app
from tests.cli.test_outputs import files, refuses, server, template
from tstmeta.data import paths

__all__ = ["files", "server", "template"]  # fixtures

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


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_an_output_of_an_experiment_that_is_an_input_is_refused(
    files, server, monkeypatch, capsys, case
):
    (files / "tuned").mkdir()
    (files / "tuned" / "config.json").write_text("{}")
    shutil.copy(paths.project("transfer", "models.toml"), "models.toml")
    app = transfer_app if case[0].startswith("run ") else training_app
    refuses(files, server, monkeypatch, capsys, case, app)
