"""The command ``train backbone`` at a toy size: what it writes, resumes and refuses."""

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.command import command_line, table
from tstmeta.models.training import backbone, checkpoint, evaluate
from tstmeta.models.training.loop import REPORT
from tstmeta.schema import TstmetaError

STEPS = 60
HARD = "strong > light-error"
SIZES = {"vocabulary": 320, "width": 8, "layers": 1, "heads": 2, "inner": 8, "batch": 2}
TOY = [
    *("train", "backbone", "--steps", str(STEPS), "--threads", "1", "--set", "checkpoint=1"),
    "--no-evaluate",
    *(word for name, value in SIZES.items() for word in ("--set", f"{name}={value}")),
]


@pytest.fixture
def tstmeta(tmp_path, monkeypatch):
    return command_line(tmp_path, monkeypatch)


@pytest.fixture
def few(monkeypatch):
    """Only the first four sources of the sets that pairs are ranked on."""
    read_rows = evaluate.read_rows
    monkeypatch.setattr(evaluate, "read_rows", lambda path: read_rows(path)[:16])


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.nightly
def test_a_run_that_is_killed_goes_on_where_it_stopped_and_ends_byte_by_byte_the_same(
    tstmeta, tmp_path, few
):
    command = [sys.executable, "-m", "tstmeta", *TOY, "--out", str(tmp_path / "killed")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not (tmp_path / "killed" / checkpoint.FILE).exists():
        assert process.poll() is None, "it ended before it was killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    before = checkpoint.about(tmp_path / "killed")
    assert 1 <= len(before["losses"]) < STEPS
    assert not (tmp_path / "killed" / "model.safetensors").exists()

    shown = table(tstmeta(*TOY, "--out", "killed", "--format", "csv"))
    whole = table(tstmeta(*TOY, "--out", "whole", "--format", "csv"))
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    assert shown.equals(whole)
    report = json.loads((tmp_path / "whole" / REPORT).read_text())
    assert len(report["loss_curve"]) == STEPS
    rows = shown.set_index("what")["value"]
    assert rows["parameters"] == f"{report['parameters']:,}"
    assert rows["loss of the last step"] == f"{report['loss_curve'][-1]:.3f}"

    again = tstmeta(*TOY, "--out", "whole", "--evaluate")
    assert again.exit_code == 0
    assert "holds the result of this run already" in again.stderr
    shares = json.loads((tmp_path / "whole" / REPORT).read_text())["shares"]
    assert list(shares) == ["contrast", "world"]
    for name in shares:
        assert list(shares[name]) == ["likelihood", "bleu"]
        assert set(shares[name]["likelihood"]) == set(evaluate.SHARES)
        assert shares[name]["bleu"]["light > light-error"] > 0.9
    line = f"contrast, bleu: strong > light-error {shares['contrast']['bleu'][HARD]:.3f}"
    assert line in " ".join(again.stdout.split())
    other = tstmeta(*TOY, "--out", "whole", "--seed", "7")
    assert isinstance(other.exception, TstmetaError)
    assert "name another folder" in str(other.exception)


def test_without_options_the_run_is_that_of_the_shipped_weights(tstmeta, monkeypatch):
    asked = {}

    def trained(out, prompts, **options):
        asked.update(options, prompts=[one.name for one in prompts])
        raise TstmetaError("enough")

    monkeypatch.setattr(backbone, "train", trained)
    tstmeta("train", "backbone")
    assert (asked["steps"], asked["seed"]) == (backbone.STEPS, backbone.SEED)
    assert asked["options"] == type(asked["options"])()
    assert asked["prompts"] == ["paper", "default-system", "emphasis", "wording"]


def test_an_interruption_keeps_what_is_done_and_says_how_to_go_on(tstmeta, monkeypatch):
    stopped = []

    def trained(out, prompts, *, stop, **options):
        stopped.append(stop(1))
        signal.raise_signal(signal.SIGINT)
        stopped.append(stop(2))
        return {"steps_done": 2}

    monkeypatch.setattr(backbone, "train", trained)
    handler = signal.getsignal(signal.SIGINT)
    result = tstmeta("train", "backbone", "--steps", "5")
    assert stopped == [False, True]
    assert result.exit_code == 130
    assert "goes on from the checkpoint in backbone" in result.stderr
    assert result.stdout == ""
    assert signal.getsignal(signal.SIGINT) == handler


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "depth=3"], "cannot set 'depth=3': write NAME=VALUE; names: vocabulary"),
        (["--set", "width"], "cannot set 'width'"),
        (["--set", "width=wide"], "--set width needs a whole number, got 'wide'"),
        (["--set", "rate=fast"], "--set rate needs a number, got 'fast'"),
        (["--set", "rate=nan"], "--set rate needs a finite number, got 'nan'"),
        (["--set", "mixed=maybe"], "--set mixed needs true or false, got 'maybe'"),
        (["--set", "width=9"], "do not fit a width of 9"),
        (["--set", "batch=0"], "training option batch is 0"),
    ],
)
def test_options_that_cannot_be_used_are_refused_before_anything_is_written(
    tstmeta, tmp_path, words, said
):
    result = tstmeta("train", "backbone", "--out", "refused", *words)
    assert isinstance(result.exception, TstmetaError)
    assert said in str(result.exception)
    assert not (tmp_path / "refused").exists()


def test_weights_that_came_from_elsewhere_are_never_written_over(tstmeta, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "model.safetensors").write_bytes(b"precious")
    result = tstmeta(*TOY, "--out", "mine")
    assert "holds a model of another run" in str(result.exception)
    assert weights(tmp_path / "mine") == b"precious"


def test_training_without_its_libraries_names_the_extra(tstmeta, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = tstmeta("train", "backbone")
    assert "pip install 'tstmeta[models]'" in str(result.exception)
