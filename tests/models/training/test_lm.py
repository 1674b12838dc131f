"""Training language models: the same bytes from a seed, also after a stop; what is measured."""

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from tests.models import tiny
from tstmeta.data import available, load, root, yelp
from tstmeta.models import hub, lm, splits
from tstmeta.models.causal import Backbone
from tstmeta.models.training import checkpoint, lm_text
from tstmeta.models.training import lm as training
from tstmeta.models.training.loop import rows_of
from tstmeta.models.training.network import answer_loss
from tstmeta.models.training.options import FINE_TUNING, LmOptions
from tstmeta.schema import TstmetaError

TEXTS = [f"{who} {did} the {what}" for who in ("we", "they") for did in ("sold", "opened", "saw")
         for what in ("shop", "loaf", "train", "soup")]  # fmt: skip
HELD = ["we sold the platform", "they told the waiter"]
TOY = LmOptions(
    vocabulary=300, width=16, layers=1, heads=2, inner=24, length=32, batch=4, epochs=2,
    warmup=2, rate=1e-2, checkpoint=2,
)  # fmt: skip


def run(out, **options):
    options = {"options": TOY, "progress": False, **options}
    return training.train(out, options.pop("texts", TEXTS), HELD, **options)


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


def base(path):
    """A tiny GPT-2 on disk; it has dropout, as the real one."""
    tiny.folder(path, "gpt2")
    return Backbone("tiny", str(path))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("lm") / "model"
    return out, run(out)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(trained, tmp_path):
    out, report = trained
    assert run(tmp_path / "again") == report
    assert weights(tmp_path / "again") == weights(out)
    run(tmp_path / "other", seed=7)
    assert weights(tmp_path / "other") != weights(out)


@pytest.mark.parametrize("tuned", [False, True])
def test_a_run_that_stops_goes_on_and_ends_byte_by_byte_the_same(tmp_path, tuned):
    options = {"base": base(tmp_path / "base") if tuned else None}
    if tuned:  # a rate at which a step shows, and dropout with it
        options["options"] = replace(FINE_TUNING, rate=1e-2, epochs=1, checkpoint=3, batch=5)
    stops = iter([3, 5])
    out = tmp_path / "stopped"
    while True:
        last = next(stops, None)
        found = run(out, stop=lambda step, last=last: step == last, **options)
        if found["steps_done"] == found["options"]["steps"]:
            break
        assert found["steps_done"] == last
        assert len(checkpoint.about(out)["losses"]) == last
        assert not (out / "model.safetensors").exists()
    assert not (out / checkpoint.FILE).exists()
    assert found == run(tmp_path / "whole", **options)
    assert weights(out) == weights(tmp_path / "whole")


def test_each_epoch_shows_each_sentence_once_in_its_own_order():
    steps = [rows_of(step, count=10, batch=4, seed=3).tolist() for step in range(6)]
    assert [len(rows) for rows in steps] == [4, 4, 2, 4, 4, 2]
    epochs = [[row for rows in steps[at : at + 3] for row in rows] for at in (0, 3)]
    assert [sorted(one) for one in epochs] == [list(range(10))] * 2
    assert epochs[0] != epochs[1]


def test_the_loss_is_that_of_transformers_over_every_token_after_the_first():
    model = tiny.network("gpt2")
    encoded, _ = training.encode(TEXTS[:3], tiny.tokenizer("gpt2"), 32)
    (batch,) = training.bucketed(encoded, 4096, 0)
    with torch.no_grad():
        found = float(answer_loss(model, batch))
        wanted = 0.0
        for one in encoded:
            ids = torch.tensor([one.ids])
            wanted += float(model(ids, labels=ids).loss) * (len(one.ids) - 1)
    assert found == pytest.approx(wanted, rel=1e-5)


def test_sentences_stand_between_marks_and_long_ones_are_cut_and_counted():
    tokenizer = tiny.tokenizer("gpt2")
    mark = tokenizer.eos_token_id
    ids = tokenizer(TEXTS[0])["input_ids"]
    assert training.encode(TEXTS[:1], tokenizer, 99)[0][0].ids == [mark, *ids, mark]
    encoded, cut = training.encode([*TEXTS[:2], "a"], tokenizer, 4)
    assert cut == 2
    assert encoded[0].ids == [mark, *ids[:3]]
    (spelt,), _ = training.encode(["so <|endoftext|> so"], tokenizer, 99)
    assert Counter(spelt.ids)[mark] == 2


def test_training_lowers_the_loss_and_the_report_says_what_the_model_is_worth(trained):
    out, report = trained
    assert report == json.loads((out / "training.json").read_text())
    assert report["steps_done"] == report["options"]["steps"] == 12
    assert report["loss_curve"][-1] < report["loss_curve"][0] - 0.5
    assert report["corpus"]["train"], report["corpus"]["held_out"] == (24, 2)
    model = AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(out)
    assert report["parameters"] == sum(one.numel() for one in model.parameters())
    loss = tokens = 0
    for text in HELD:
        ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer(text)["input_ids"]]])
        with torch.no_grad():
            loss += float(model(ids, labels=ids).loss) * (ids.shape[1] - 1)
        tokens += ids.shape[1] - 1
    found = report["perplexity"]["held_out"]
    assert found["per_token"] == pytest.approx(math.exp(loss / tokens), rel=1e-3)
    assert found["per_word"] == pytest.approx(math.exp(loss / 8), rel=1e-3)
    assert (found["sentences"], found["tokens"], found["words"]) == (2, tokens, 8)
    counts = Counter(token for text in TEXTS for token in tokenizer(text)["input_ids"])
    total = sum(counts.values()) + len(tokenizer)
    plain = -sum(
        math.log((counts[token] + 1) / total)
        for text in HELD
        for token in tokenizer(text)["input_ids"]
    )
    assert found["unigrams_per_token"] == pytest.approx(math.exp(plain / tokens), rel=1e-3)


def test_fine_tuning_begins_at_the_base_and_keeps_its_tokenizer(tmp_path):
    begin = base(tmp_path / "base")
    options = replace(FINE_TUNING, rate=1e-2, epochs=2)
    report = run(tmp_path / "tuned", base=begin, options=options)
    assert report["base"] == hub.identity(begin)
    assert report["options"]["steps"] == 24
    old, new = (hub.tokenizer(Backbone("", str(tmp_path / name))) for name in ("base", "tuned"))
    assert new.get_vocab() == old.get_vocab()
    before, after = (
        AutoModelForCausalLM.from_pretrained(tmp_path / name) for name in ("base", "tuned")
    )
    assert after.config.model_type == "gpt2"
    assert after.dtype == torch.float32
    moved = [
        float((new - old).detach().abs().max())
        for new, old in zip(after.parameters(), before.parameters(), strict=True)
    ]
    assert min(moved) > 0
    untuned = lm.Reader(tiny.engine("gpt2")).read(HELD)
    tuned = report["perplexity"]["held_out"]["per_token"]
    loss = -sum(one.logprob for one in untuned) / sum(len(one.tokens) for one in untuned)
    assert tuned < math.exp(loss)


def test_a_run_that_is_there_is_known_by_all_that_made_it(trained, tmp_path):
    out, report = trained
    assert training.finished(out, TEXTS, HELD, training.SEED, TOY) == report
    assert training.finished(out, TEXTS, HELD, training.SEED, replace(TOY, steps=12)) == report
    others = [
        (out, TEXTS[1:], HELD, training.SEED, TOY),
        (out, TEXTS, HELD[1:], training.SEED, TOY),
        (out, TEXTS, HELD, 5, TOY),
        (out, TEXTS, HELD, training.SEED, replace(TOY, rate=1e-3)),
        (out, TEXTS, HELD, training.SEED, replace(TOY, steps=3)),
        (out, TEXTS, HELD, training.SEED, TOY, base(tmp_path / "base")),
        (tmp_path, TEXTS, HELD, training.SEED, TOY),
    ]
    assert [training.finished(*one) for one in others] == [None] * len(others)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"texts": [*TEXTS, HELD[0]]}, "1 sentences are to be trained on and measured on"),
        ({"texts": ["", " "]}, "no sentences to train on"),
        ({"options": replace(TOY, heads=3)}, "3 heads do not fit a width of 16"),
        ({"options": replace(TOY, rate=0)}, "training option rate is 0"),
        ({"options": replace(TOY, vocabulary=100)}, "a vocabulary of 257 or more"),
    ],
)
def test_what_cannot_be_trained_is_refused(tmp_path, changes, said):
    with pytest.raises(TstmetaError) as error:
        run(tmp_path / "model", **changes)
    assert said in str(error.value)


def test_the_checkpoint_of_another_run_is_refused(tmp_path):
    run(tmp_path, stop=lambda step: True)
    with pytest.raises(TstmetaError, match="another corpus, seed, base or options"):
        run(tmp_path, seed=2)


def test_steps_bound_a_course_and_long_curves_are_thinned(tmp_path):
    report = run(tmp_path, options=replace(TOY, steps=3))
    assert report["steps_done"] == 3
    assert len(report["loss_curve"]) == 3
    pieces = training._pieces(list(range(1000)))
    assert len(pieces) == 100
    assert np.concatenate(pieces).tolist() == list(range(1000))


# --------------------------------------------------------------------------- what we ship


def test_the_shipped_weights_are_those_of_the_command_without_options():
    table = splits.divide(lm_text_table())
    parts = {part: rows["text"].tolist() for part, rows in table.groupby("part")}
    report = training.finished(
        lm.EMBEDDED, parts["train"], parts["test"], training.SEED, LmOptions()
    )
    assert report, "train the model anew: tstmeta train lm"
    found = report["perplexity"]["held_out"]
    assert found["per_token"] < found["unigrams_per_token"] / 10
    files = list(lm.EMBEDDED.iterdir())
    assert sum(one.stat().st_size for one in files) < 2_200_000
    assert {one.suffix for one in files} == {".json", ".csv", ".safetensors"}


def lm_text_table():
    from tstmeta.data import corpora

    return corpora.table(lm_text.ours())


def test_the_shipped_model_has_read_no_sentence_of_our_two_test_sets():
    read = {splits.key(text) for text in lm_text.ours()}
    for name in ("contrast", "world"):
        items = load(name).items
        assert not read & {splits.key(text) for text in (*items["source"], *items["output"])}


@pytest.mark.skipif(not available("yelp"), reason="the yelp files are not here")
def test_on_yelp_nothing_is_trained_on_that_is_measured_on_or_is_a_source_of_a_test_set():
    table = splits.divide(yelp.corpus(root("yelp")), splits.YELP)
    train, test = (
        {splits.key(text) for text in table.loc[table["part"] == part, "text"]}
        for part in ("train", "test")
    )
    dev = {splits.key(text) for text in table.loc[table["split"] == "dev", "text"]}
    assert len(train) > 100_000
    assert not train & test
    assert not train & dev
    for name in filter(available, ("li2018@yelp", "dualrl")):
        sources = {splits.key(text) for text in load(name).items["source"]}
        assert len(sources) > 900
        assert not train & sources
