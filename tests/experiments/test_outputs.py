"""An output that is an input is refused by the commands of experiments, too."""

import shutil

import pytest

from experiments.training.__main__ import training_app
from experiments.transfer.__main__ import transfer_app
from tests.cli.test_outputs import files, refuses, server, template
from tstmeta.data import paths

__all__ = ["files", "server", "template"]  # fixtures

TRANSFER = "--model M0 --quick --steps 1"
#: The words of a command, the two options that name one file, and that file.
CASES = [
    ("lm --corpus corpus.csv --out corpus.csv", "--out", "--corpus", "corpus.csv"),
    ("lm --corpus corpus.csv --base ./tuned --out tuned", "--out", "--base", ""),
    ("lm --corpus corpus.csv --base tuned --out tuned", "--out", "--base", ""),
    ("classifier --corpus corpus.csv --out corpus.csv", "--out", "--corpus", "corpus.csv"),
    (
        "classifier --corpus corpus.csv --kind transformer --base tuned --out tuned",
        *("--out", "--base", ""),
    ),
    (
        "classifier --corpus corpus.csv --keep-out mine.csv --out mine.csv",
        *("--out", "--keep-out", "mine.csv"),
    ),
    (f"run {TRANSFER} --corpus corpus.csv --out corpus.csv", "--out", "--corpus", "corpus.csv"),
    (f"run {TRANSFER} --corpus corpus.csv --pairs p.csv --out p.csv", "--out", "--pairs", "p.csv"),
    (
        f"run {TRANSFER} --corpus corpus.csv --config models.toml --out models.toml",
        *("--out", "--config", "models.toml"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_an_output_of_an_experiment_that_is_an_input_is_refused(
    files, server, monkeypatch, capsys, case
):
    (files / "tuned").mkdir()
    (files / "tuned" / "config.json").write_text("{}")
    shutil.copy("mine.csv", "p.csv")
    shutil.copy(paths.project("transfer", "models.toml"), "models.toml")
    app = transfer_app if case[0].startswith("run ") else training_app
    refuses(files, server, monkeypatch, capsys, case, app)
