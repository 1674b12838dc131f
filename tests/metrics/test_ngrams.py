"""ROUGE over sets, by hand; and that recomputed scores are those released with lai."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import needs
from tstmeta import data, metrics
from tstmeta.metrics.base import Request
from tstmeta.metrics.ngrams import penn_sentences, set_rouge_l, set_rouge_n, subsequence


def test_full_stops_divide_sentences_and_are_left_out():
    result = penn_sentences("It's gone. Don't ask! Ok...")
    assert result == (("It", "'s", "gone"), ("Do", "n't", "ask", "!", "Ok"))


@pytest.mark.parametrize(
    ("text", "output", "n", "value"),
    [
        ("a b c", "A B C", 1, 0),
        ("a b a b", "a b", 1, 1),
        ("a b. c d", "b c", 2, 2 * 1 * (1 / 3) / (1 + 1 / 3)),
        ("a", "a", 2, 0),
    ],
)
def test_n_grams_count_once_over_the_whole_text(text, output, n, value):
    assert set_rouge_n(text, output, n) == pytest.approx(value)


def test_rouge_l_takes_the_union_over_pairs_of_sentences():
    # common: {a b} and {d}; 3 of 4 words of the text, 3 of 3 of the output
    precision, recall = 1, 3 / 4
    weight = (precision / recall) ** 2
    value = (1 + weight) * precision * recall / (recall + weight * precision)
    assert set_rouge_l("a b c. d", "a b. d") == pytest.approx(value)
    assert set_rouge_l("a", "b") == 0


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_the_subsequence_is_one_of_both_and_none_is_longer(first, second):
    result = subsequence(first, second)
    size = len(result)
    for text in (first, second):
        assert tuple(result) in set(combinations(text, size))
    longer = set(combinations(first, size + 1)) & set(combinations(second, size + 1))
    assert not longer


#: Pearson's r that recomputed scores reach at least, and how many of 720 may be off by .001.
RELEASED = {
    ("bleu:lai2023", "bleu"): (0.998, 28),
    ("chrf", "chrf"): (0.9999, 720),
    ("rouge1:lai2023", "rouge-1"): (0.999, 15),
    ("rouge2:lai2023", "rouge-2"): (0.999, 21),
    ("rougeL:lai2023", "rouge-l"): (0.999, 15),
}


@needs("lai")
@pytest.mark.parametrize(("name", "released"), RELEASED)
@pytest.mark.parametrize("basis", ["source", "reference"])
def test_recomputed_scores_are_the_released_ones(name, released, basis):
    loaded = data.load("lai")
    columns = [loaded.items["output"], loaded.items["source"], loaded.items["references"]]
    units = [
        (Request(output, (source,) if basis == "source" else tuple(references), source),)
        for output, source, references in zip(*columns, strict=True)
    ]
    ours = np.array([score.value for (score,) in metrics.get(name).score(units)])
    scores = loaded.scores
    rows = scores[(scores["metric"] == f"released:{released}") & (scores["basis"] == basis)]
    theirs = rows.set_index("item_id")["value"].reindex(loaded.items["item_id"]).to_numpy()
    least, most = RELEASED[name, released]
    assert np.corrcoef(ours, theirs)[0, 1] >= least
    assert (np.abs(ours - theirs) > 1e-3).sum() <= most
