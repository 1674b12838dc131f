"""Token log-probabilities as a frame: means over its rows are the scores of the metric."""

import numpy as np
import pandas as pd
import pytest

from tests.likelihood import small
from tstmeta.likelihood import TASKS, Rewrite
from tstmeta.likelihood.explain import metric_of
from tstmeta.likelihood.tables import END, contexts, explain, token_scores
from tstmeta.schema import TstmetaError

TEXTS = pd.DataFrame(
    {
        "item_id": ["a", "b", "empty"],
        "source": "the cat sat down",
        "output": ["the cat sat", "the cat was sitting down", " "],
        "style": "formal",
    }
)


@pytest.fixture(scope="module")
def metric(tmp_path_factory):
    """A likelihood metric on a tiny model."""
    return f"likelihood:{small.saved(tmp_path_factory.mktemp('model'))}"


@pytest.mark.parametrize("variant", ["", "+released"])
def test_means_over_the_rows_are_the_two_equations(metric, variant, tmp_path):
    name = metric + variant
    tokens = explain(TEXTS, metric=name, store=tmp_path)
    scorer = metric_of(name, tmp_path).scorer()
    for item_id, source, output, style in TEXTS.head(2).itertuples(index=False):
        (judged,) = scorer.judge([Rewrite(source, output, style)])
        own = tokens[tokens["item_id"] == item_id]
        assert own["content"].mean() == pytest.approx(scorer.content(judged))
        assert own["lead"].mean() == pytest.approx(scorer.style(judged))
        assert own["place"].tolist() == list(range(len(own)))
        assert "".join(own["token"]) == output + END
        assert own["counts"].iloc[-1] == bool(variant)
        assert own["counts"].iloc[0] == (not variant)


def test_the_end_of_the_turn_is_all_that_an_empty_output_has(metric, tmp_path):
    tokens = explain(TEXTS, ["empty"], metric, store=tmp_path)
    assert tokens["token"].tolist() == [END]
    assert tokens[["content", "lead"]].isna().all(axis=None)


def test_the_best_instruction_is_that_of_the_largest_log_probability(metric, tmp_path):
    tokens = explain(TEXTS, metric=metric, store=tmp_path)
    assert tokens["best"].tolist() == tokens[list(TASKS)].idxmax(axis=1).tolist()
    assert (tokens[list(TASKS)] <= 0).all(axis=None)


def test_items_are_chosen_in_order_and_a_style_that_is_missing_leaves_no_rows(metric, tmp_path):
    tokens = token_scores(TEXTS, metric, ["b", "a"], store=tmp_path)
    assert tokens["item_id"].unique().tolist() == ["b", "a"]
    none = token_scores(TEXTS.assign(style=""), metric, store=tmp_path)
    assert len(none) == 0
    assert list(none) == list(tokens)


def test_a_missing_column_is_told(metric):
    with pytest.raises(TstmetaError, match="no column style"):
        token_scores(TEXTS.drop(columns="style"), metric)


def test_what_the_model_reads_holds_the_request_and_its_tokens_are_counted(metric):
    read = contexts("the cat sat down", "formal", metric)
    assert read["instruction"].tolist() == list(TASKS)
    for row in read.itertuples():
        assert row.asked in row.text
        assert "the cat sat down" in row.asked
    assert np.all(read["tokens"] > 0)
