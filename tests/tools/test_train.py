"""What we ship is made anew: the backbone and its tokenizer, its worth."""

import hashlib
import json

import pytest

from experiments.training.loop import Learner, LmOptions, read_checkpoint, read_report
from experiments.training.splits import divide
from tests.experiments.training.conftest import digests, killed
from tools import train
from tools.world.conversations import sentences
from tstmeta import data, scoring
from tstmeta.data.tables import corpus_table
from tstmeta.likelihood.instructions import Instructions, shipped
from tstmeta.models import lm, vectors
from tstmeta.models.causal import EMBEDDED

#: Instructions of three words, and a model that trains in a second.
FORMS = ("Make {style}: {source}", "Reword: {source}", "Repeat: {source}")
PROMPTS = [Instructions("toy", "You write.", *FORMS), Instructions("other", "", *FORMS)]
OPTIONS = LmOptions(
    vocabulary=400, width=16, layers=1, heads=2, inner=24, length=512, batch=4, steps=7,
    rate=1e-2, warmup=2, cooling=0.4, checkpoint=2,
)  # fmt: skip
#: Sources of a task on which the shares are taken again; all of them would take minutes.
SOME = ("-05", "-19", "-33")


# ----------------------------------------------------------------------------------- the backbone


def test_a_run_that_dies_goes_on_to_the_same_bytes(tmp_path):
    train.backbone(tmp_path / "whole", PROMPTS, 3, OPTIONS)
    with killed(5):
        train.backbone(tmp_path / "died", PROMPTS, 3, OPTIONS)
    assert len(read_checkpoint(tmp_path / "died")[0]["losses"]) == 4
    train.backbone(tmp_path / "died", PROMPTS, 3, OPTIONS)
    assert digests(tmp_path / "died") == digests(tmp_path / "whole")


# ------------------------------------------------------------------------------ what it is worth


def test_the_shares_of_the_shipped_model_can_be_taken_again(tmp_path):
    """On a few sources of the small world; a source weighs 1 / 18 here."""
    world = data.load("world")
    some = world.where(world.items["source_id"].str.endswith(SOME), "some")
    scores = scoring.score(some, ["likelihood"], ["source"], store=tmp_path)
    report = read_report(EMBEDDED)["shares"]
    assert set(report) == {"contrast", "world"}
    assert all(set(each["likelihood"]) == set(train.PAIRS) for each in report.values())
    shares = train.shares(some, scores)
    assert len(shares) == 3
    for name, share in shares.items():
        assert share == pytest.approx(report["world"]["likelihood"][name], abs=0.2), name


# ------------------------------------------------------------------------------ what is shipped


def test_the_backbone_was_trained_with_todays_options_and_instructions():
    report = read_report(EMBEDDED)
    run = train.backbone_run(list(shipped().values()), train.SEED, train.BACKBONE)
    for name in ("steps", "seed", "prompts", "prompts_hash"):
        assert report[name] == run[name]
    options = {"positions": train.BACKBONE.length, "clip": 1.0} | run["options"]
    assert report["options"].items() <= options.items()


def test_todays_code_begins_the_same_training_of_the_backbone(tmp_path, monkeypatch):
    """The tokenizer, and the first loss, whose last digits may differ between processors."""
    losses, step = [], Learner.step
    monkeypatch.setattr(Learner, "step", lambda *given: losses.append(step(*given)) or losses[-1])
    prompts = list(shipped().values())
    tokenizer = train.train_tokenizer(prompts, train.BACKBONE.vocabulary)
    monkeypatch.setattr(train, "train_tokenizer", lambda *given: tokenizer)
    with killed(1):
        train.backbone(tmp_path, prompts)
    assert losses == pytest.approx(read_report(EMBEDDED)["loss_curve"][:1], abs=0.01)
    embedded = json.loads((EMBEDDED / "tokenizer.json").read_text("utf-8"))
    assert json.loads(tokenizer.backend_tokenizer.to_str()) == embedded
    assert tokenizer.chat_template == (EMBEDDED / "chat_template.jinja").read_text("utf-8")


def test_the_language_model_was_made_from_todays_text_and_options():
    report = read_report(lm.EMBEDDED)
    table = divide(corpus_table(sentences()))
    texts = [table.loc[table["part"] == part, "text"].tolist() for part in ("train", "test")]
    assert report["corpus"]["sha256"] == hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]
    options = LmOptions(steps=report["options"]["steps"]).model_dump() | {"clip": 1.0}
    assert report["options"].items() <= options.items()
    held_out = report["perplexity"]["held_out"]
    assert held_out["per_token"] < held_out["unigrams_per_token"] / 10


def test_the_counts_of_tokens_come_out_again(tmp_path):
    from tstmeta.models import encoders

    if missing := encoders.missing(encoders.MINILM):
        pytest.skip(missing)
    train.main("idf", str(tmp_path / "idf.json"))
    assert (tmp_path / "idf.json").read_bytes() == vectors.COUNTS.read_bytes()
