"""The command ``train lm`` at a toy size: corpora, what it writes, resumes and refuses."""

import csv
import json
import math
import signal
import subprocess
import sys
import time

import pytest

from tests.command import command_line, table
from tests.models import tiny
from tstmeta import metrics
from tstmeta.metrics import Request
from tstmeta.models import splits
from tstmeta.models.training import checkpoint, lm_text
from tstmeta.models.training import lm as training
from tstmeta.models.training.network import Learner
from tstmeta.models.training.options import FINE_TUNING, LmOptions
from tstmeta.schema import TstmetaError

SIZES = {"vocabulary": 300, "width": 16, "layers": 1, "heads": 2, "inner": 24, "checkpoint": 1}
TOY = [word for name, value in SIZES.items() for word in ("--set", f"{name}={value}")]
MINE = ["train", "lm", "--corpus", "mine.csv", *TOY]
FOOD = ("soup", "bread", "cake", "tea", "fish", "rice", "corn", "stew")


@pytest.fixture
def tstmeta(tmp_path, monkeypatch):
    """Run a command beside a corpus of two styles."""
    run = command_line(tmp_path, monkeypatch)
    with open(tmp_path / "mine.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "style"])
        for style, words in (("good", ("fine", "great")), ("bad", ("cold", "awful"))):
            writer.writerows([f"the {one} was {word}", style] for one in FOOD for word in words)
        writer.writerows([["", "good"], ["the soup was fine", "good"]])
    return run


@pytest.fixture
def asked(monkeypatch):
    """What the command asks of the training, which is not run."""
    found = {}

    def trained(out, texts, held_out, **options):
        found.update(options, out=out, texts=texts, held_out=held_out)
        raise TstmetaError("enough")

    monkeypatch.setattr(training, "train", trained)
    return found


def test_a_csv_trains_a_model_that_metrics_take(tstmeta, tmp_path):
    shown = table(tstmeta(*MINE, "--style", "good", "--out", "model", "--format", "csv"))
    rows = shown.set_index("what")["value"]
    report = json.loads((tmp_path / "model" / "training.json").read_text())
    trained, held = report["corpus"]["train"], report["corpus"]["held_out"]
    assert 0 < held < trained <= 16 - held
    assert rows["sentences trained on"] == str(trained)
    assert rows["corpus"] == f"mine.csv good {report['corpus']['sha256']}"
    found = report["perplexity"]["held_out"]
    assert rows["perplexity a token: held-out text"] == f"{found['per_token']:.2f}"
    good, slor = (metrics.get(f"{name}:./model") for name in ("corpus-perplexity", "slor"))
    units = [(Request("the soup was great", ()),), (Request("great the was soup", ()),)]
    assert all(unit[0].status == "ok" for unit in (*good.score(units), *slor.score(units)))
    again = tstmeta(*MINE, "--style", "good", "--out", "model", "--format", "csv")
    assert "holds the result of this run already" in again.stderr
    assert table(again).equals(shown)
    other = tstmeta(*MINE, "--style", "bad", "--out", "model")
    assert "name another folder" in str(other.exception)


def test_perplexity_of_the_report_is_that_of_the_metric(tstmeta, tmp_path):
    result = tstmeta(*MINE, "--out", "model")
    assert result.exit_code == 0, result.exception
    with open(tmp_path / "mine.csv", newline="") as file:
        rows = [row["text"] for row in csv.DictReader(file) if row["text"]]
    corpus = splits.divide(_corpus(rows))
    held = list(dict.fromkeys(corpus.loc[corpus["part"] == "test", "text"]))
    metric = metrics.get("corpus-perplexity:./model")
    details = [unit[0].detail for unit in metric.score([(Request(text, ()),) for text in held])]
    report = json.loads((tmp_path / "model" / "training.json").read_text())
    assert report["perplexity"]["held_out"]["sentences"] == len(held)
    assert report["perplexity"]["held_out"]["per_token"] == pytest.approx(
        metric.combine(details), rel=1e-3
    )


def _corpus(texts):
    from tstmeta.data import corpora

    return corpora.table(texts)


@pytest.mark.nightly
def test_a_run_that_is_killed_goes_on_where_it_stopped_and_ends_byte_by_byte_the_same(
    tstmeta, tmp_path
):
    toy = [*MINE, "--set", "epochs=12", "--set", "batch=4"]
    command = [sys.executable, "-m", "tstmeta", *toy, "--out", str(tmp_path / "killed")]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "killed" / checkpoint.FILE).exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    before = checkpoint.about(tmp_path / "killed")
    assert 1 <= len(before["losses"]) < before["run"]["options"]["steps"]
    assert not (tmp_path / "killed" / "model.safetensors").exists()
    shown = table(tstmeta(*toy, "--out", "killed", "--format", "csv"))
    assert table(tstmeta(*toy, "--out", "whole", "--format", "csv")).equals(shown)
    for name in ("model.safetensors", "unigrams.csv", "training.json", "tokenizer.json"):
        killed, whole = (tmp_path / folder / name for folder in ("killed", "whole"))
        assert killed.read_bytes() == whole.read_bytes()


def test_without_options_the_run_is_that_of_the_shipped_weights(tstmeta, asked, monkeypatch):
    few = lm_text.ours(2)
    monkeypatch.setattr(lm_text, "ours", lambda: few)
    tstmeta("train", "lm")
    assert asked["options"] == LmOptions()
    assert (asked["seed"], asked["base"], asked["device"]) == (training.SEED, None, "cpu")
    assert asked["about"] == {"name": "ours", "style": ""}
    assert {*asked["texts"], *asked["held_out"]} < set(few)


def test_with_a_base_the_course_is_the_printed_one(tstmeta, asked, tmp_path):
    tiny.folder(tmp_path / "base", "gpt2")
    words = ["--base", "./base", "--seed", "5", "--threads", "2", "--set", "epochs=1"]
    tstmeta("train", "lm", "--corpus", "mine.csv", *words)
    printed = {"length": 512, "batch": 2, "rate": 1e-5, "decay": 0.01}  # their Appendix C
    assert {name: getattr(asked["options"], name) for name in printed} == printed
    assert (asked["options"].epochs, FINE_TUNING.epochs) == (1, 10)
    assert (asked["options"].threads, asked["seed"]) == (2, 5)
    assert asked["base"].where == "base"
    tstmeta("train", "lm", "--corpus", "mine.csv", "--base", "gpt2")
    assert asked["base"].where == "openai-community/gpt2"


def test_a_split_that_the_file_names_is_kept(tstmeta, asked, tmp_path):
    rows = ["text,split", "one,train", "two,train", "three,test", "four,dev", "two,test"]
    (tmp_path / "split.csv").write_text("\n".join(rows) + "\n")
    tstmeta("train", "lm", "--corpus", "split.csv")
    assert (asked["texts"], asked["held_out"]) == (["one"], ["two", "three"])


def test_an_interruption_keeps_what_is_done_and_the_same_command_goes_on(
    tstmeta, tmp_path, monkeypatch
):
    step = Learner.step

    def pressed(*args):
        monkeypatch.setattr(Learner, "step", step)
        signal.raise_signal(signal.SIGINT)
        return step(*args)

    monkeypatch.setattr(Learner, "step", pressed)
    result = tstmeta(*MINE, "--out", "model")
    assert result.exit_code == 130
    assert "goes on from the checkpoint in model" in result.stderr
    assert len(checkpoint.about(tmp_path / "model")["losses"]) == 1
    assert tstmeta(*MINE, "--out", "model").exit_code == 0
    curve = json.loads((tmp_path / "model" / "training.json").read_text())["loss_curve"]
    assert all(math.isfinite(one) for one in curve)
    assert len(curve) > 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--corpus", "nothing"], "no corpus is called 'nothing'; use yelp, ours or the path"),
        (["--corpus", "none.csv"], "none.csv"),
        (["--corpus", "yelp"], "tstmeta data fetch yelp"),
        (["--style", "kind"], "no sentence of mine.csv has style 'kind'; it has: bad, good"),
        (["--set", "depth=3"], "cannot set 'depth=3': write NAME=VALUE; names: vocabulary"),
        (["--set", "width=wide"], "--set width needs a whole number, got 'wide'"),
        (["--set", "heads=3"], "3 heads do not fit a width"),
        (["--base", "nothing"], "no model is called 'nothing'"),
        (["--device", "moon"], "device 'moon' cannot be used here"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(tstmeta, words, said):
    given = words if "--corpus" in words else ["--corpus", "mine.csv", *words]
    result = tstmeta("train", "lm", *given)
    assert isinstance(result.exception, TstmetaError), result.exception
    assert said in str(result.exception)
    assert result.stdout == ""


def test_a_corpus_that_is_too_small_for_two_sides_is_refused(tstmeta, tmp_path):
    (tmp_path / "one.csv").write_text("text\nhello there\n")
    result = tstmeta("train", "lm", "--corpus", "one.csv")
    assert "it has too few rows" in str(result.exception)
