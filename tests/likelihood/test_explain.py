"""An explanation adds up to the scores, and its tokens are the output, whatever the tokenizer."""

import json
import math
import re

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from tests.likelihood import small
from tests.models import tiny
from tstmeta import scoring
from tstmeta.data import Dataset
from tstmeta.likelihood import characters, ragged
from tstmeta.likelihood.explain import (
    Explanation,
    explain,
    explained,
    metric_of,
    of_items,
    to_frame,
    to_json,
)
from tstmeta.likelihood.instructions import TASKS
from tstmeta.likelihood.scorer import Rewrite, Scorer
from tstmeta.likelihood.zeroshot import Likelihood, LikelihoodStyle
from tstmeta.models.engine import Engine
from tstmeta.models.tokencache import Cached
from tstmeta.schema import Status, TstmetaError

VARIANTS = ("equation", "released")
#: Outputs with characters of several tokens, blanks in odd places, and marks of the template.
OUTPUTS = [
    "the tin can",
    "  Naïve 😀 it\n was. ",
    "日本",
    "<|eot_id|> then",
    "a",
    "e\u0301 ﬁ ½",
]


def one(output: str, variant: str = "equation", source: str = "in the tin", **options):
    scorer = Scorer(options.pop("model", small.engine()), variant=variant)
    rewrite = Rewrite(source, output, "formal")
    (judged,) = scorer.judge([rewrite])
    return explain(scorer, rewrite, judged, **options), scorer, judged


def trimmed() -> PreTrainedTokenizerFast:
    """Like Llama 3's: offsets without the blanks before a word."""
    core = Tokenizer.from_str(tiny.tokenizer("llama").backend_tokenizer.to_str())
    core.post_processor = processors.ByteLevel(trim_offsets=True)
    return PreTrainedTokenizerFast(tokenizer_object=core)


def composed() -> PreTrainedTokenizerFast:
    """Like Qwen's: characters are composed before they are cut."""
    core = Tokenizer.from_str(tiny.tokenizer("llama").backend_tokenizer.to_str())
    core.normalizer = normalizers.NFC()
    return PreTrainedTokenizerFast(tokenizer_object=core)


def marked() -> PreTrainedTokenizerFast:
    """Like Llama 2's: a sign stands for the blank before a word, and one is put before the text."""
    letters = {letter: place for place, letter in enumerate("▁abcdefghijklmnopqrstuvwxyz?")}
    core = Tokenizer(models.BPE(vocab=letters, merges=[], unk_token="?"))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    return PreTrainedTokenizerFast(tokenizer_object=core)


# ------------------------------------------------------------------------- tokens and characters


@pytest.mark.parametrize(
    "make", [trimmed, composed, marked, tiny.tokenizer], ids=lambda f: f.__name__
)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1), kept=st.integers(1, 99))
def test_spans_tile_a_text_from_its_beginning(make, text, kept):
    tokenizer = make()
    every = tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    ids = every[:kept]
    found = characters.spans(tokenizer, text, ids)
    assert len(found) == len(ids)
    assert [start for start, _ in found] == [0, *(end for _, end in found)][: len(ids)]
    if ids and len(ids) == len(every):
        assert found[-1][1] == len(text)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_tokens_pieces_and_words_are_the_output(output, variant):
    found, _, judged = one(output, variant)
    assert "".join(token.text for token in found.tokens) == output
    assert "".join(piece.text for piece in found.pieces) == output
    assert [piece for word in found.words for piece in word] == found.pieces
    assert tuple(token.id for token in found.tokens) == judged.tokens
    assert all(piece.text for piece in found.pieces)
    assert all(output[token.start : token.end] == token.text for token in found.tokens)


def test_tokens_that_share_a_character_are_one_piece_with_the_mean_of_their_parts():
    found, _, _ = one("in 日")
    last = found.pieces[-1]
    assert (last.text, len(last.tokens)) == ("日", 3)
    assert [token.text for token in last.tokens] == ["日", "", ""]
    best = [max(token.logprobs) for token in last.tokens]
    assert last.content == pytest.approx(sum(best) / 3)
    whole = np.array([token.logprobs for token in last.tokens]).sum(0)
    assert last.best == TASKS[int(whole.argmax())]
    assert found.table()["token"].tolist()[-3:] == ["日 [1/3]", "日 [2/3]", "日 [3/3]"]


def test_words_begin_at_blanks():
    found, _, _ = one("the tin,  can\nit")
    assert ["".join(p.text for p in word) for word in found.words] == [
        "the",
        " tin,",
        "  can",
        "\nit",
    ]


def test_a_tokenizer_that_knows_no_characters_is_refused_with_a_remedy():
    class Slow:
        is_fast = False

    with pytest.raises(TstmetaError, match=re.escape("tokenizer.json")):
        characters.spans(Slow(), "text", [1])


def test_tokens_of_another_output_are_refused():
    _, scorer, judged = one("the tin")
    with pytest.raises(TstmetaError, match="not those of this output"):
        explain(scorer, Rewrite("in the tin", "a can", "formal"), judged)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc", "a↵b⇥c"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202eabc", "\\u202eabc"),
        ("line\u2028end", "line\\u2028end"),
        ("👩\u200d👧 naïve", "👩\u200d👧 naïve"),
    ],
)
def test_what_steers_a_line_is_spelled_out(text, shown):
    assert characters.visible(text) == shown


# ---------------------------------------------------------------------------------- adding up


@pytest.mark.parametrize("output", [*OUTPUTS, "", " "])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_parts_of_the_tokens_that_count_add_up_to_the_scores(output, variant):
    found, scorer, judged = one(output, variant)
    assert found.content == scorer.content(judged)
    assert found.style == scorer.style(judged)
    if found.scored:
        assert np.mean([t.content for t in found.scored]) == pytest.approx(found.content)
        assert np.mean([t.style for t in found.scored]) == pytest.approx(found.style, abs=1e-12)
        table = found.table()
        assert table["C"].mean() == pytest.approx(found.content)
        assert table["S"].mean() == pytest.approx(found.style, abs=1e-12)


def test_each_variant_counts_what_it_counts():
    equation, _, _ = one("the tin can")
    assert all(token.counts for token in equation.tokens)
    assert equation.end_of_turn is not None
    assert not equation.end_of_turn.counts
    released, _, _ = one("the tin can", "released")
    assert [token.counts for token in released.tokens] == [False] + [True] * (
        len(released.tokens) - 1
    )
    assert released.end_of_turn.counts
    assert released.table()["token"].tolist()[-1] == "⟨end⟩"
    assert math.isnan(released.table()["C"][0])


def test_a_token_is_accounted_for_by_the_instruction_under_which_it_is_likeliest():
    found, _, judged = one("the tin can in it")
    rows = judged.logprobs[:, :-1].argmax(0)
    assert [token.best for token in found.tokens] == [TASKS[row] for row in rows]
    assert len(set(rows)) > 1


def test_what_was_cut_off_is_not_lost():
    output = "the tin can in it " * 40
    found, _, judged = one(output, model=small.engine(window=300))
    assert found.status is Status.TRUNCATED
    assert found.end_of_turn is None
    assert "".join(token.text for token in found.tokens) + found.rest == output
    assert found.rest
    assert str(len(judged.tokens)) in found.detail


@pytest.mark.parametrize(
    ("source", "style", "reason"), [("in " * 3000, "formal", "no room"), ("a", " ", "target style")]
)
def test_a_rewrite_without_a_value_says_why(source, style, reason):
    scorer = Scorer(small.engine())
    rewrite = Rewrite(source, "the tin", style)
    found = explain(scorer, rewrite, *scorer.judge([rewrite]))
    assert found.status is Status.INVALID
    assert reason in found.detail
    assert math.isnan(found.content)
    assert (found.tokens, found.scored, found.words) == ((), (), [])


def test_a_probability_rounded_to_zero_has_no_value_as_in_scoring():
    _, scorer, judged = one("the tin", "released")
    judged.logprobs[:, 1] = -1000
    found = explain(scorer, Rewrite("in the tin", "the tin", "formal"), judged)
    assert found.status is Status.INVALID
    assert found.tokens[1].content == -math.inf
    assert json.loads(to_json([found]))[0]["tokens"][1]["style"] is None


# ------------------------------------------------------------------------------------ as files


def test_json_has_all_of_it_and_can_be_read_again():
    found, _, _ = one("Naïve <b>", "released", signature="s", name="n")
    (read,) = json.loads(to_json([found]))
    assert (read["name"], read["signature"], read["variant"]) == ("n", "s", "released")
    assert (read["C"], read["S"]) == (found.content, found.style)
    assert "".join(token["text"] for token in read["tokens"]) == "Naïve <b>"
    assert read["tokens"][1]["repeat"] == found.tokens[1].logprobs[2]
    assert read["asked"]["repeat"].endswith("in the tin")
    assert json.loads(to_json([])) == []


def test_tables_below_each_other_keep_their_names():
    first, _, _ = one("the tin", name="a")
    second, _, _ = one("a can", name="b")
    frame = to_frame([first, second])
    assert frame.groupby("name")["place"].max().to_dict() == {
        "a": len(first.tokens),
        "b": len(second.tokens),
    }


# -------------------------------------------------------------------- the metric and its cache


@pytest.fixture
def dataset():
    texts = ["the tin can", "Naïve 😀", "", "an inn in it", "the tin can"]
    frame = pd.DataFrame(
        {
            "dataset": "mine",
            "item_id": [f"i{place}" for place in range(len(texts))],
            "source_id": "s",
            "system": [f"A{place}" for place in range(len(texts))],
            "style": "formal",
            "direction": "",
            "language": "en",
            "source": "in the tin",
            "output": texts,
            "references": [[] for _ in texts],
            "is_reference": False,
        }
    )
    return Dataset.of("mine", frame)


@pytest.mark.parametrize("variant", VARIANTS)
def test_explanations_give_the_numbers_that_scoring_gives(dataset, variant, tmp_path):
    metrics = [
        kind(model=small.engine(), variant=variant) for kind in (Likelihood, LikelihoodStyle)
    ]
    table = scoring.score(dataset, metrics, store=tmp_path, progress=False)
    found = of_items(metrics[0], dataset, list(dataset.items["item_id"]))
    kept = ragged.ragged(metrics[0], dataset).to_pandas()
    for name, values in (
        ("likelihood", [one.content for one in found]),
        ("likelihood-style", [one.style for one in found]),
        ("likelihood", kept["C"]),
        ("likelihood-style", kept["S"]),
    ):
        assert list(values) == table.loc[table["metric"] == name, "value"].tolist()
    assert kept["status"].tolist() == [str(one.status) for one in found]
    assert {one.signature for one in found} == {str(metrics[0].signature("source"))}


def test_an_item_that_is_not_there_is_told_with_the_nearest(dataset):
    with pytest.raises(TstmetaError, match="no item 'i9'; did you mean"):
        of_items(Likelihood(model=small.engine()), dataset, ["i0", "i9"])


@pytest.mark.parametrize("words", ["", "likelihood", "likelihood:embedded", "embedded"])
def test_words_of_a_metric_may_have_its_name_before_them(words, tmp_path):
    assert metric_of(words, tmp_path).profile == "embedded"


def test_the_ragged_table_holds_every_token_once(dataset, tmp_path):
    metric = Likelihood(model=small.engine())
    ragged.save(ragged.ragged(metric, dataset), tmp_path / "deep" / "tokens.parquet")
    table = pq.read_table(tmp_path / "deep" / "tokens.parquet")
    assert table.schema.metadata[b"signature"].decode() == str(metric.signature("source"))
    rows = table.to_pylist()
    assert ["".join(row["tokens"]) for row in rows] == dataset.items["output"].tolist()
    for row, made in zip(rows, of_items(metric, dataset, dataset.items["item_id"]), strict=True):
        assert list(zip(*(row[task] for task in TASKS), strict=True)) == [
            token.logprobs for token in made.tokens
        ]
        assert tuple(row["end_of_turn"]) == made.end_of_turn.logprobs
        assert row["ids"] == [token.id for token in made.tokens]


def test_a_data_set_without_a_single_token_has_the_same_columns(dataset):
    metric = Likelihood(model=small.engine())
    empty = dataset.where(dataset.items["output"] == "")
    assert ragged.ragged(metric, empty).schema == ragged.ragged(metric, dataset).schema


def test_what_was_cut_has_no_end_of_turn(dataset):
    dataset.items["output"] = ["the tin can in it " * 40, *dataset.items["output"][1:]]
    rows = ragged.ragged(Likelihood(model=small.engine(window=300)), dataset).to_pylist()
    assert [row["status"] for row in rows] == ["truncated", "ok", "empty", "ok", "ok"]
    assert [row["end_of_turn"] is None for row in rows] == [True] + [False] * 4
    assert rows[0]["C"] < 0


def test_a_file_that_cannot_be_written_is_told(dataset, tmp_path):
    (tmp_path / "file").touch()
    table = ragged.ragged(Likelihood(model=small.engine()), dataset)
    with pytest.raises(TstmetaError, match="cannot write"):
        ragged.save(table, tmp_path / "file" / "tokens.parquet")


class Killed(Exception):
    pass


class Mortal(small.Counted):
    """A backend that dies after its first answers."""

    def logprobs(self, requests, *, known=(), progress=False):
        for batch in super().logprobs(requests, known=known, progress=progress):
            yield batch
            raise Killed


def test_a_killed_run_goes_on_where_it_stopped(dataset, tmp_path):
    words = small.tokenizer("llama")
    network = small.network("llama", len(words))
    engine = Engine(network, words, "tiny", budget=16, row_tokens=8)  # many batches
    whole = ragged.ragged(Likelihood(model=Cached(engine, tmp_path / "other")), dataset)
    with pytest.raises(Killed):
        ragged.ragged(Likelihood(model=Cached(Mortal(engine), tmp_path)), dataset)
    counted = small.Counted(engine)
    again = ragged.ragged(Likelihood(model=Cached(counted, tmp_path)), dataset)
    assert again.equals(whole)
    assert 0 < len(counted.asked) < 3 * len(dataset.items)
    counted.asked.clear()
    shown = explained(
        Likelihood(model=Cached(counted, tmp_path)), [Rewrite("in the tin", "", "formal")]
    )
    assert isinstance(shown[0], Explanation)
    assert counted.asked == []
