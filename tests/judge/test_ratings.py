"""Rewrites -> questions -> answers -> rows -> scores, with a judge that is a function."""

import json
import math
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from tests.judge.asking import fences, prompt_of, talking
from tstmeta.console import write_table
from tstmeta.data import table_files
from tstmeta.judge import prompts, ratings
from tstmeta.judge.base import Reply, Sampling
from tstmeta.schema import TstmetaError

CSV = """\
item_id,source_id,source,output,system,style
a1,a,the cat sat,the feline sat,A,formal
a2,a,the cat sat,the cat reposed,B,formal
a3,a,the cat sat,the feline sat,C,formal
b1,b,gimme tea,kindly pass the tea,A,formal
b2,b,gimme tea,tea please,B,formal
"""


@pytest.fixture
def dataset(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(CSV)
    return table_files.read(path)


@pytest.fixture
def ask(dataset, tmp_path):
    """Asks a chat about the data set with a prompt; answers are kept within a test."""

    def ask(name, chat, sampling=None, **options):
        prompt = prompts.load(name).model_copy(update={"sampling": sampling} if sampling else {})
        return ratings.ask(dataset, prompt, chat, cache=tmp_path / "answers.sqlite", **options)

    return ask


def length(texts):
    """A judge that counts the words of the rewrite, the last text that it is shown."""
    return Reply(text=str(len(texts[-1].split())))


def test_a_prompt_of_items_is_asked_of_each_rewrite(ask, dataset):
    chat = talking(length)
    found = ask("content", chat)
    assert found.columns.tolist() == ratings.COLUMNS
    assert found["item_id"].tolist() == dataset.items["item_id"].tolist()
    assert found["rating"].tolist() == [3, 3, 3, 4, 2]
    assert (set(found["status"]), set(found["place"])) == ({"ok"}, {1})
    assert len(chat.questions) == 4, "a1 and a3 are the same text, hence the same question"


def test_a_prompt_of_pairs_is_asked_of_every_two_in_both_orders(ask):
    found = ask("pair", talking(lambda texts: Reply(text="1")))
    pairs = found[found["place"] == 1]
    first = sorted(zip(pairs["item_id"], pairs["rival"], strict=True))
    assert first == [*permutations(["a1", "a2", "a3"], 2), *permutations(["b1", "b2"])]
    assert found["rating"].eq(2 - found["place"]).all()
    assert ratings.scores(found)["value"].eq(0.5).all(), "who is always first wins half of the time"


def test_rewrites_of_a_source_get_their_own_ratings_back_shuffled_or_not(ask, dataset):
    def judge(texts):
        rated = [{"number": i, "content": len(text)} for i, text in enumerate(texts[1:], 1)]
        return Reply(text=json.dumps({"ratings": rated[::-1]}))

    chat = talking(judge)
    plain = ask("lai2023-content", chat)
    assert len(chat.questions) == 2
    assert plain["place"].tolist() == [1, 2, 3, 1, 2]
    mixed = ask("lai2023-content", talking(judge), shuffle=1, samples=8)
    lengths = dataset.items.set_index("item_id")["output"].str.len()
    for rows in (plain, mixed):
        assert (rows["rating"] == rows["item_id"].map(lengths)).all()
    places = mixed[mixed["source_id"] == "a"].groupby("item_id")["place"].nunique()
    assert (places > 1).all()
    again = ask("lai2023-content", talking(judge), shuffle=1, samples=8)
    pd.testing.assert_frame_equal(mixed, again)
    dataset.items.loc[dataset.items["item_id"] == "a2", "style"] = "polite"
    ask("lai2023-content", chat := talking(judge))
    sizes = sorted(len(fences(prompt_of(question))) - 2 for question in chat.questions)
    assert sizes == [1, 2], "two styles are asked apart"


def test_a_score_is_the_mean_of_samples_that_are_asked_with_seeds_of_their_own(ask):
    turns = iter([1, 2, 3, 4, 5] * 20)
    chat = talking(lambda texts: Reply(text=str(next(turns))))
    how = {"samples": 2, "sampling": Sampling(temperature=1.0, seed=7), "concurrency": 1}
    found = ask("content", chat, **how)
    assert sorted({question.sampling.seed for question in chat.questions}) == [7, 8]
    assert found.groupby("sample").size().tolist() == [5, 5]
    table = ratings.scores(found)
    wanted = found.groupby("item_id", sort=False)["rating"].mean()
    assert table.set_index("item_id")["value"].to_dict() == wanted.to_dict()
    assert "samples:2" in table["signature"].iloc[0]


CHANGES = {
    **{name: {} for name in ("server", "model", "revision", "prompt")},
    "sampling": {"sampling": Sampling(temperature=0.3)},
    "shuffle": {"shuffle": 0},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_signature_holds_all_that_changes_a_score_and_nothing_else_is_averaged(ask, change):
    plain, other = (
        talking(lambda texts, n=n: Reply(f'{{"content": {n}, "style": 3, "fluency": 4}}'))
        for n in (2, 5)
    )
    prompt = "outputs" if change == "shuffle" else "joint"
    if change in ("server", "model", "revision"):
        setattr(other, change, "another")
    name = "explained" if change == "prompt" else prompt
    rows = [ask(prompt, plain), ask(name, other, **CHANGES[change])]
    before, after = map(ratings.scores, rows)
    assert not set(before["signature"]) & set(after["signature"])
    assert before["metric"].nunique() == before["signature"].nunique() == 3, "one a dimension"
    both = ratings.scores(pd.concat(rows))
    pd.testing.assert_frame_equal(both, pd.concat([before, after], ignore_index=True))


def test_what_is_no_rating_gets_no_value_and_the_score_says_why(ask):
    turns = iter(["?", "2"])
    chat = talking(lambda texts: length(texts) if "tea" in texts[-1] else Reply(text=next(turns)))
    how = {"samples": 2, "limit": 1, "sampling": Sampling(seed=1), "concurrency": 1}
    [score] = ratings.scores(ask("content", chat, **how)).to_dict("records")
    assert (score["value"], score["status"], score["detail"]) == (2, "ok", "1 of 2 left out")
    chat = talking(lambda texts: length(texts) if "tea" in texts[-1] else Reply(text="?"))
    table = ratings.scores(ask("style", chat))
    np.testing.assert_array_equal(table["value"], [math.nan] * 3 + [4, 2])
    assert table["status"].tolist() == ["invalid"] * 3 + ["ok"] * 2
    assert table["detail"].str.contains("the answer: [?]").tolist() == [True] * 3 + [False] * 2


def test_rows_come_back_from_a_file_and_ids_that_look_like_numbers_stay_texts(ask, tmp_path):
    rows = ask("content", talking(lambda texts: Reply(text="4")))
    rows = rows.assign(item_id=["007", "2", "3e1", "4", "5"], prompt_hash="12e3")
    rows.loc[1, "rating"] = math.nan
    write_table(rows, tmp_path / "rows.csv")
    back = ratings.read(tmp_path / "rows.csv")
    pd.testing.assert_frame_equal(back, rows, check_dtype=False)
    np.testing.assert_array_equal(ratings.scores(back)["value"], [4, math.nan, 4, 4, 4])


def test_what_is_no_table_of_ratings_is_refused(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TstmetaError, match="column dataset: missing column"):
        ratings.read(tmp_path / "other.csv")
