"""Tokens as a frame: they spell the output, and means over their rows are the scores."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from tests.likelihood import small
from tests.models import tiny
from tests.scored import dataset
from tstmeta.data import paths
from tstmeta.likelihood import TASKS, Rewrite, Scorer, tables
from tstmeta.likelihood.tables import END, explain, metric_of, spans, token_scores
from tstmeta.schema import TstmetaError

#: Characters of several tokens, blanks in odd places, marks of the template, nothing at all.
OUTPUTS = [
    *("the tin can", "  Naïve 😀 it\n was. ", "日本", "<|eot_id|> then", "a", "e\u0301 ﬁ ½", " ")
]
TEXTS = pd.DataFrame({"source": "in the tin", "output": OUTPUTS, "style": "formal"})


@pytest.fixture(scope="module")
def metric(tmp_path_factory):
    """A likelihood metric on a tiny model."""
    return f"likelihood:{small.saved(tmp_path_factory.mktemp('model'))}"


@pytest.fixture(autouse=True)
def store(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "scores", lambda: tmp_path)


def changed(**parts) -> PreTrainedTokenizerFast:
    core = Tokenizer.from_str(tiny.tokenizer("llama").backend_tokenizer.to_str())
    for name, part in parts.items():
        setattr(core, name, part)
    return PreTrainedTokenizerFast(tokenizer_object=core)


def marked() -> PreTrainedTokenizerFast:
    """Like Llama 2's: a sign stands for the blank before a word, and one is put before the text."""
    letters = {letter: place for place, letter in enumerate("▁abcdefghijklmnopqrstuvwxyz?")}
    core = Tokenizer(models.BPE(vocab=letters, merges=[], unk_token="?"))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    return PreTrainedTokenizerFast(tokenizer_object=core)


BEGINNING = processors.TemplateProcessing("<|begin_of_text|> $A", None, [("<|begin_of_text|>", 0)])
#: Llama 3's offsets leave out the blanks before a word; Qwen's characters are composed first.
TOKENIZERS = {
    "trimmed": lambda: changed(post_processor=processors.ByteLevel(trim_offsets=True)),
    "composed": lambda: changed(normalizer=normalizers.NFC()),
    "with a beginning": lambda: changed(post_processor=BEGINNING),
    "marked": marked,
    "as it is": tiny.tokenizer,
}


@pytest.mark.parametrize("make", TOKENIZERS.values(), ids=TOKENIZERS)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1), count=st.integers(1, 99))
def test_spans_tile_a_text_from_its_beginning(make, text, count):
    tokenizer = make()
    every = tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    count = min(count, len(every))
    places = spans(tokenizer, text, count)
    assert [start for start, _ in places] == [0, *(end for _, end in places)][:count]
    assert count == len(every) or places == spans(tokenizer, text, len(every))[:count]
    if count == len(every) > 0:
        assert places[-1][1] == len(text)


@pytest.mark.parametrize("variant", ["", "+released"])
def test_tokens_spell_the_outputs_and_their_means_are_the_two_equations(metric, variant):
    tokens = explain(TEXTS, metric=metric + variant)
    scorer = metric_of(metric + variant).scorer()
    assert scorer.model.identity.endswith("|rounded") == bool(variant)
    for item_id, rewrite in tables.rewrites_of(TEXTS).iloc[:-1].items():
        (scores,) = scorer.judge([rewrite])
        part = tokens[tokens["item_id"] == item_id]
        assert part["content"].mean() == pytest.approx(scorer.content(scores))
        assert part["lead"].mean() == pytest.approx(scorer.style(scores), abs=1e-12)
        assert part["place"].tolist() == list(range(len(scores.tokens) + 1))
        assert "".join(part["token"]) == rewrite.output + END
        assert part["counts"].tolist() == [
            not variant or place > 0 for place in range(len(scores.tokens))
        ] + [bool(variant)]
    assert (tokens[list(TASKS)] <= 0).all(axis=None)
    assert tokens["best"].tolist() == tokens[list(TASKS)].idxmax(axis=1).tolist()
    assert len(set(tokens["best"])) > 1
    last = tokens[tokens["item_id"] == str(len(OUTPUTS) - 1)]
    assert last["token"].tolist() == [END], "a blank output has the end of the turn alone"
    assert last[["content", "lead"]].isna().all(axis=None)


def test_a_data_set_is_explained_as_its_table(metric):
    data = dataset(*TEXTS.head(2).to_dict("records"))
    pd.testing.assert_frame_equal(explain(data, metric), explain(data.items, metric))


def test_an_output_that_was_cut_has_the_kept_tokens_and_no_end():
    scorer = Scorer(small.engine(window=300))
    rewrite = Rewrite("in the tin", "the tin can in it " * 40, "formal")
    scores = scorer.judge([rewrite])
    tokens = tables.tabulate(scorer, pd.Series([rewrite], ["a"], dtype=object), scores)
    assert len(tokens) == len(scores[0].tokens)
    assert rewrite.output.startswith("".join(tokens["token"]))


def test_rows_are_in_order_and_a_style_that_is_missing_leaves_none(metric):
    texts = TEXTS.head(3).assign(item_id=["b", "none", "a"], style=["formal", "", "formal"])
    tokens = token_scores(texts, metric)
    assert tokens["item_id"].unique().tolist() == ["b", "a"]
    for none in (TEXTS.assign(style=""), TEXTS.head(0)):
        empty = token_scores(none, metric)
        assert (len(empty), list(empty)) == (0, list(tokens))
    assert len(explain(TEXTS.head(0), metric=metric)) == 0


def test_a_column_that_is_not_there_is_named(metric):
    with pytest.raises(TstmetaError, match="no column output, style"):
        token_scores(TEXTS.drop(columns=["output", "style"]), metric)
