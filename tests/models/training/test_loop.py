"""Training: the same bytes from the same seed, also after a kill; a model that anybody can load."""

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from tests.models.training.toy import OPTIONS, PROMPTS, Toy
from tstmeta.models.training import backbone, checkpoint
from tstmeta.models.training.backbone import train
from tstmeta.models.training.loop import REPORT, share_of_rate
from tstmeta.schema import TstmetaError

STEPS = 7


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def toy(out, steps=STEPS, seed=3, **rest):
    return train(out, PROMPTS, steps=steps, seed=seed, options=OPTIONS, progress=False, **rest)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nobody stopped: the folder and the report."""
    out = tmp_path_factory.mktemp("whole")
    return out, toy(out)


# ------------------------------------------------------------------------------- reproducibility


def test_the_same_seed_gives_the_same_bytes(whole, tmp_path):
    toy(tmp_path)
    assert digests(tmp_path) == digests(whole[0])


def test_another_seed_gives_other_weights(whole, tmp_path):
    toy(tmp_path, seed=4)
    assert digests(tmp_path)["model.safetensors"] != digests(whole[0])["model.safetensors"]
    assert digests(tmp_path)["tokenizer.json"] == digests(whole[0])["tokenizer.json"]


def test_the_global_random_state_is_left_alone(tmp_path):
    import torch

    before = torch.get_rng_state()
    toy(tmp_path, steps=1)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("at", [1, 4])
def test_a_run_that_was_told_to_stop_goes_on_to_the_same_bytes(whole, tmp_path, at):
    stopped = toy(tmp_path, stop=lambda step: step == at)
    assert stopped["steps_done"] == at
    assert (tmp_path / checkpoint.FILE).exists()
    assert not (tmp_path / "model.safetensors").exists()
    assert toy(tmp_path)["steps_done"] == STEPS
    assert digests(tmp_path) == digests(whole[0])


KILLED = """
import sys, time
from pathlib import Path
from tests.models.training.test_loop import toy
toy(Path(sys.argv[1]), stop=lambda step: time.sleep(60) if step == 5 else False)
"""


def test_a_killed_run_goes_on_from_its_checkpoint_to_the_same_bytes(whole, tmp_path):
    run = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)])
    try:
        deadline = time.monotonic() + 120
        while steps_kept(tmp_path) != 4:  # written after the fourth of seven steps
            assert run.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    assert toy(tmp_path)["steps_done"] == STEPS
    assert digests(tmp_path) == digests(whole[0])


def steps_kept(folder):
    about = checkpoint.about(folder)
    return len(about["losses"]) if about else 0


# ------------------------------------------------------------------------------------ the result


def test_the_folder_loads_as_any_model_does(whole):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(whole[0])
    model = AutoModelForCausalLM.from_pretrained(whole[0])
    assert model.dtype == torch.float32
    assert model.config.max_position_embeddings == OPTIONS.positions
    assert len(tokenizer) == OPTIONS.vocabulary == model.config.vocab_size
    assert sum(value.numel() for value in model.parameters()) == whole[1]["parameters"]
    ids = tokenizer("Any text.", return_tensors="pt")["input_ids"]
    assert model(ids).logits.isfinite().all()


def test_the_report_says_how_the_model_came_about(whole):
    out, report = whole
    assert json.loads((out / REPORT).read_text(encoding="utf-8")) == report
    assert (report["steps"], report["seed"], report["prompts"]) == (STEPS, 3, ["toy", "other"])
    assert len(report["loss_curve"]) == report["steps_done"] == STEPS
    assert set(report["losses_by_task"]) == {"training", "held_out"}
    for losses in report["losses_by_task"].values():
        assert set(losses) == {"style", "paraphrase", "repeat"}
        assert all(0 < loss < 20 for loss in losses.values())
    assert set(report["versions"]) == {"torch", "transformers", "tokenizers"}


def test_training_lowers_the_loss(tmp_path):
    curve = toy(tmp_path, steps=40)["loss_curve"]
    assert curve[0] == pytest.approx(math.log(OPTIONS.vocabulary), abs=0.5)
    assert sum(curve[-5:]) / 5 < curve[0] - 0.3


def test_no_checkpoint_and_no_half_written_file_is_left(whole):
    assert {path.name for path in whole[0].iterdir()} == {
        "chat_template.jinja",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        REPORT,
    }


# --------------------------------------------------------------------------- the user's mistakes


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    toy(tmp_path, stop=lambda step: step == 1)
    with pytest.raises(TstmetaError, match="other steps, seed, prompts or options"):
        toy(tmp_path, seed=9)


def test_a_damaged_checkpoint_is_refused_with_a_remedy(tmp_path):
    (tmp_path / checkpoint.FILE).write_bytes(b"not tensors at all")
    with pytest.raises(TstmetaError, match="delete it to begin anew"):
        toy(tmp_path)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"width": 0}, "width is 0"),
        ({"rate": -1.0}, "rate is -1"),
        ({"heads": 3}, "3 heads do not fit a width of 16"),
        ({"width": 18, "heads": 6}, "even whole number"),
        ({"drill": 0.9, "systems": 0.5}, "no course"),
        ({"cooling": 1.5}, "no course"),
    ],
)
def test_options_that_cannot_be_trained_are_refused(tmp_path, change, match):
    with pytest.raises(TstmetaError, match=match):
        train(tmp_path, PROMPTS, steps=1, seed=1, options=replace(OPTIONS, **change))


def test_a_run_needs_a_step_and_an_instruction_set(tmp_path):
    with pytest.raises(TstmetaError, match="0 steps"):
        toy(tmp_path, steps=0)
    with pytest.raises(TstmetaError, match="no instruction set"):
        train(tmp_path, [], steps=1, seed=1, options=OPTIONS, progress=False)


def test_words_of_the_prompts_are_part_of_the_run():
    runs = [backbone._run([Toy(system=text)], 1, 1, OPTIONS)["prompts_hash"] for text in ("a", "b")]
    assert runs[0] != runs[1]


@pytest.mark.parametrize(
    ("step", "share"),
    [(0, 0.1), (4, 0.5), (9, 1.0), (50, 1.0), (60, 1.0), (80, 0.5), (99, 0.025)],
)
def test_the_rate_warms_up_stays_and_cools_down(step, share):
    assert share_of_rate(step, 100, 10, 0.4) == pytest.approx(share)


def test_without_cooling_the_rate_stays():
    assert share_of_rate(99, 100, 10, 0.0) == 1.0
