"""The shipped backbone: made by today's code and options, small enough, and able to copy."""

import json
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

import pytest
import torch

from tstmeta.data import paths
from tstmeta.likelihood.instructions import get, shipped
from tstmeta.models.training import backbone as training
from tstmeta.models.training import checkpoint
from tstmeta.models.training.batches import bucketed, encode
from tstmeta.models.training.evaluate import SHARES, likelihood_scores, read_rows, shares
from tstmeta.models.training.examples import Example
from tstmeta.models.training.loop import REPORT
from tstmeta.models.training.network import answer_loss
from tstmeta.models.training.options import TrainingOptions
from tstmeta.models.training.tokenizer import train_tokenizer

FOLDER = Path(str(files("tstmeta.models"))) / "weights" / "backbone"
#: Sources of a task on which the shares are taken again; all of them would take minutes.
SOME = ("-05", "-19", "-33")


@pytest.fixture(scope="module")
def report():
    return json.loads((FOLDER / REPORT).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def backbone():
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    return AutoModelForCausalLM.from_pretrained(FOLDER).eval(), tokenizer


def test_it_was_made_with_the_default_options_and_the_shipped_instructions(report):
    run = training._run(list(shipped().values()), training.STEPS, training.SEED, TrainingOptions())
    assert {key: report[key] for key in run} == run
    assert report["steps_done"] == report["steps"] == len(report["loss_curve"])
    assert report["options"] == asdict(TrainingOptions())


def test_todays_code_begins_the_same_run(report, tmp_path):
    """The first losses; the last digits may differ from one kind of processor to another."""
    prompts = list(shipped().values())
    training.train(tmp_path, prompts, progress=False, stop=lambda step: step == 2)
    losses = checkpoint.about(tmp_path)["losses"]
    assert losses == pytest.approx(report["loss_curve"][:2], abs=0.01)


def test_todays_code_makes_the_same_tokenizer(tmp_path):
    train_tokenizer(list(shipped().values()), TrainingOptions().vocabulary).save_pretrained(
        tmp_path
    )
    made, kept = (folder / "tokenizer.json" for folder in (tmp_path, FOLDER))
    assert json.loads(made.read_text("utf-8")) == json.loads(kept.read_text("utf-8"))


def test_it_is_small_and_whole():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 12_000_000
    names = {path.name for path in FOLDER.iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json", REPORT} <= names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl"))]


@pytest.mark.parametrize(
    "text",
    [
        "The ferry to Skarholm leaves at 6:40 on weekdays, and dogs travel free.",
        "My sister Oona paid 38 euros for two jars of quince jelly!",
        "Zqua vellum 917 brindle, of Thursday never whisk the Ombrelle?",
    ],
)
def test_it_repeats_text_that_it_has_never_seen(backbone, text):
    model, tokenizer = backbone
    paper = get("paper")
    *_, ask = paper.fill(text, "")
    copied, other = (
        bucketed(encode([Example(paper.system, ask, output, "repeat", False)], tokenizer), 4096, 4)
        for output in (text, "A grey cat sat beside the pond for an hour.")
    )
    with torch.inference_mode():
        per_token = [
            float(answer_loss(model, one)) / len(one.targets) for (one,) in (copied, other)
        ]
    assert per_token[0] < 0.5
    assert per_token[1] > 3.0


def test_the_report_has_the_shares_of_both_sets(report):
    assert set(report["shares"]) == {"contrast", "world"}
    for metrics in report["shares"].values():
        assert set(metrics["likelihood"]) == set(SHARES)
        assert "bleu" in metrics


def test_the_shares_can_be_taken_again(report, backbone):
    """On a few sources of the small world; a source weighs 1 / 18 here."""
    rows = read_rows(paths.own("world", "world.csv"))
    rows = [row for row in rows if row["source_id"].endswith(SOME)]
    found = shares(rows, likelihood_scores(rows, *backbone, get("paper")))
    expected = report["shares"]["world"]["likelihood"]
    for name in ("light > light-error", "strong > strong-error", "strong > light-error"):
        assert found[name] == pytest.approx(expected[name], abs=0.2), name
