"""The command ``train classifier``: corpora, files of one's own, kills, mistakes."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.command import command_line, table
from tests.helpers import needs
from tests.models import style
from tstmeta import cli
from tstmeta.data import paths, xformal
from tstmeta.models.causal import backbone
from tstmeta.models.classifiers import StyleModel, load
from tstmeta.models.training import checkpoint
from tstmeta.schema import DataError, MissingData, TstmetaError

SMALL = ["--set", "bits=8", "--epochs", "3"]


@pytest.fixture
def tstmeta(tmp_path, monkeypatch):
    run = command_line(tmp_path, monkeypatch)
    corpus = style.corpus().rename(columns={"part": "split"})
    corpus.to_csv(tmp_path / "moods.csv", index=False)
    return run


def train(run, *words):
    return run("train", "classifier", *words)


def weights(folder):
    return (folder / "style.safetensors").read_bytes()


def test_a_file_of_ones_own_becomes_a_metric(tstmeta, tmp_path):
    result = train(tstmeta, "--corpus", "moods.csv", "--out", "mine", *SMALL, "--format", "csv")
    rows = table(result).set_index("what")["value"]
    report = json.loads((tmp_path / "mine" / "report.json").read_text())
    found = report["found"]["mood"]
    assert rows["mood: accuracy [95 % interval]"] == (
        f"{found['accuracy']:.4f} [{found['low']:.4f}, {found['high']:.4f}]"
    )
    assert rows["sentences: train"] == "36"
    assert report["sizes"] == {"train": 36, "dev": 12, "test": 12}
    assert "style-accuracy:./mine" in result.stderr
    (tmp_path / "pairs.csv").write_text(
        "source,output,system,style\nawful cat of street 1,lovely cat of street 1,A,good\n"
    )
    scores = table(tstmeta("score", "--data", "pairs.csv", "--metric", "style-confidence:./mine"))
    assert scores["status"].tolist() == ["ok"]
    assert 0.5 < scores["value"][0] <= 1


def test_the_same_command_gives_the_same_bytes_and_leaves_a_result_alone(tstmeta, tmp_path):
    for out in ("one", "two"):
        assert train(tstmeta, "--corpus", "moods.csv", "--out", out, *SMALL).exit_code == 0
    assert weights(tmp_path / "one") == weights(tmp_path / "two")
    again = train(tstmeta, "--corpus", "moods.csv", "--out", "two", *SMALL)
    assert again.exit_code == 0
    other = train(tstmeta, "--corpus", "moods.csv", "--out", "two", *SMALL, "--seed", "5")
    assert "another run; name another folder" in str(other.exception)


def test_sources_of_a_data_set_that_is_kept_out_are_not_trained_on(tstmeta, tmp_path):
    (tmp_path / "held.csv").write_text(
        "source,output,system,style\nAWFUL house of street  0,x,A,good\n"
    )
    first = table(train(tstmeta, "--corpus", "moods.csv", "-o", "a", *SMALL, "-f", "csv"))
    held = ["--keep-out", "held.csv"]
    other = table(train(tstmeta, "--corpus", "moods.csv", "-o", "b", *SMALL, "-f", "csv", *held))
    sizes = [found.set_index("what")["value"]["sentences: train"] for found in (first, other)]
    assert sizes == ["36", "35"]


def test_a_regressor_of_ones_own_says_what_low_and_high_mean(tstmeta, tmp_path):
    words = ["--corpus", "moods.csv", "--out", "mine", "--regress", *SMALL]
    assert "--styles cold,warm" in str(train(tstmeta, *words).exception)
    result = train(tstmeta, *words, "--styles", "bad,good")
    assert result.exit_code == 0
    assert "style-regressor:./mine" in result.stderr
    report = json.loads((tmp_path / "mine" / "report.json").read_text())
    assert (report["tasks"][0]["styles"], report["tasks"][0]["values"]) == (["bad", "good"], [0, 1])


@pytest.mark.nightly
def test_a_run_that_is_killed_goes_on_where_it_stopped_and_ends_byte_by_byte_the_same(
    tstmeta, tmp_path
):
    words = ["--corpus", "moods.csv", "--kind", "textcnn", "--set", "checkpoint=1"]
    words += ["--epochs", "60", "--set", "vector=8", "--set", "maps=4", "--set", "batch=8"]
    command = [sys.executable, "-m", "tstmeta", "train", "classifier", *words, "--out", "killed"]
    process = subprocess.Popen(command, cwd=tmp_path, env=dict(os.environ))
    deadline = time.monotonic() + 120
    while not (tmp_path / "killed" / checkpoint.FILE).exists():
        assert process.poll() is None, "it ended before it was killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    before = checkpoint.about(tmp_path / "killed")
    assert len(before["losses"]) >= 1
    assert not (tmp_path / "killed" / "style.safetensors").exists()
    for out in ("killed", "whole"):
        assert train(tstmeta, *words, "--out", out).exit_code == 0
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")


def test_an_interruption_says_how_to_go_on(tstmeta, tmp_path, monkeypatch):
    from tstmeta.models.training import classifier

    monkeypatch.setattr(classifier, "train", lambda *args, **options: None)
    result = train(tstmeta, "--corpus", "moods.csv", "--out", "mine")
    assert result.exit_code == 130
    assert "goes on from the checkpoint in mine" in result.stderr


def test_the_grammar_is_a_corpus_without_any_file(tstmeta, tmp_path, monkeypatch):
    from tstmeta.models.training import classifier_grammar

    monkeypatch.setattr(classifier_grammar.corpus, "__defaults__", (60, False))
    result = train(tstmeta, "--corpus", "grammar", "--out", "mine", *SMALL)
    assert result.exit_code == 0
    assert "formal: informal taken for" in result.stdout


@pytest.mark.parametrize(
    ("words", "said", "kind"),
    [
        (["--corpus", "nothing"], "no corpus is called 'nothing': use yelp", TstmetaError),
        (["--corpus", "yelp"], "tstmeta data fetch yelp", MissingData),
        (["--corpus", "yelp", "--regress"], "leave --regress out", TstmetaError),
        (["--corpus", "gone.csv"], "gone.csv: the file is missing", DataError),
        (["--corpus", "moods.csv", "--styles", "a,b"], "use it with --regress", TstmetaError),
        (["--corpus", "moods.csv", "--set", "colour=3"], "names: epochs, rate", TstmetaError),
        (["--corpus", "moods.csv", "--set", "bits=x"], "a whole number, got 'x'", TstmetaError),
        (["--corpus", "moods.csv", "--set", "bits=99"], "bits from 4 to 24", TstmetaError),
        (["--corpus", "moods.csv", "--kind", "transformer"], "--base MODEL", TstmetaError),
        (["--corpus", "broken.csv"], "row 2, column style: no style", DataError),
        (["--corpus", "single.csv"], "has one style only", TstmetaError),
        (["--corpus", "split.csv"], "a split 'later'", TstmetaError),
        (["--corpus", "grammar", "--kind", "textcnn"], "one task, not 7", TstmetaError),
    ],
)
def test_mistakes_are_said_before_anything_is_written(tstmeta, tmp_path, words, said, kind):
    (tmp_path / "broken.csv").write_text("text,style\na,b\nc, \n")
    (tmp_path / "single.csv").write_text("text,style\na,b\nc,b\n")
    (tmp_path / "split.csv").write_text("text,style,split\na,b,later\nc,d,train\n")
    result = train(tstmeta, *words, "--out", "refused")
    assert isinstance(result.exception, kind)
    assert said in str(result.exception)
    assert not (tmp_path / "refused").exists()


@needs("xformal")
def test_formality_is_learnt_from_real_ratings(tmp_path):
    """Held against the upstream tune part: the test part is of another kind of text."""
    words = ["--corpus", "xformal", "--set", "bits=14", "--set", "rate=0.1", "--regress"]
    command = ["train", "classifier", *words, "--epochs", "3", "--out", str(tmp_path)]
    assert CliRunner().invoke(cli.app, command).exit_code == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert sum(report["sizes"].values()) == 4477 + 500 + 3000 - 15
    assert report["tasks"][0]["styles"] == ["informal", "formal"]
    table = xformal.corpus(paths.raw("xformal"))
    tune = table[table["split"] == "tune"]
    model = StyleModel(load(backbone(str(tmp_path))))
    found, _ = model.strengths(tune["text"].tolist(), 0)
    assert np.corrcoef(found, tune["value"])[0, 1] > 0.4
