"""Both orders of a pair, and a judge's own outputs: from answers to a table on a page."""

from pathlib import Path

import pandas as pd
import pytest
from IPython.display import Markdown

from tests.judge.talking import Talking
from tests.report.judged import rows_of, study
from tests.report.test_html import check
from tests.report.tiny import HOSTILE
from tstmeta.console import write_table
from tstmeta.judge.base import Reply
from tstmeta.judge.prompts import load
from tstmeta.judge.ratings import ask
from tstmeta.report import judge_orders, judge_ratings
from tstmeta.report.bench import Bench

DATA = study()


def words(shown) -> str:
    """What is read on a page."""
    return shown.data if isinstance(shown, Markdown) else " ".join(check(shown.text).text)


def answered(judge, folder: Path) -> pd.DataFrame:
    """Rows of a judge that compares two outputs, for the first two sources: 12 pairs."""
    options = {"cache": folder / "answers.sqlite", "progress": False, "limit": 2}
    return ask(DATA, load("pair"), Talking(lambda texts: Reply(text=judge(texts))), **options)


def collected(rows: pd.DataFrame, folder: Path) -> list[judge_ratings.Pairs]:
    path = folder / "pairs.csv"
    write_table(rows, path)
    bench = Bench(folder / "store")
    bench._datasets["lai"] = DATA
    assert all(one.released for one in judge_ratings.collect(bench, "lai", str(path)))
    return judge_ratings.compared(bench, "lai", str(path))


def test_a_judge_that_takes_the_first_is_seen_on_the_page(tmp_path):
    found = collected(answered(lambda texts: "1", tmp_path), tmp_path)
    [row] = judge_orders.both_orders(found).to_dict("records")
    assert (row["pairs"], row["kept"], row["first"], row["second"]) == (12, 0, 12, 0)
    text = words(judge_orders.both_orders_table(judge_orders.both_orders(found)))
    assert "100.0%" in text
    assert "0.0005" in text  # 2 times 2 to the minus 12


def test_a_judge_that_looks_at_the_texts_keeps_its_answers(tmp_path):
    def longest(texts: list[str]) -> str:
        first, second = (len(text) for text in texts[1:])
        return "tie" if first == second else "1" if first > second else "2"

    longer = collected(answered(longest, tmp_path), tmp_path)
    [row] = judge_orders.both_orders(longer).to_dict("records")
    assert (row["pairs"], row["kept"], row["share"]) == (12, 12, 0.0)


def test_its_own_outputs_are_found_by_name_and_what_it_adds_is_measured():
    rows = rows_of(DATA, samples=1, model="maker/B")
    human = DATA.means["content"].reindex(rows["item_id"]).to_numpy()
    own = rows["item_id"].str.endswith("-B").to_numpy()
    found = judge_ratings.given(rows.assign(rating=human / 25 + 0.5 * own), [DATA])
    [row] = judge_orders.own_outputs(found).to_dict("records")
    assert row["systems"] == "B"
    assert row["value"] == pytest.approx(0.5)
    assert row["p"] == pytest.approx(1 / 2000)
    assert "0.50" in words(judge_orders.own_outputs_table(judge_orders.own_outputs(found)))


@pytest.mark.parametrize(
    ("judge", "own"), [("B", ["B"]), ("org/b", ["B"]), ("B-2", []), ("", []), ("BB", [])]
)
def test_only_the_same_name_counts_as_the_judge(judge, own):
    assert judge_orders.own_systems(DATA, judge) == own


def test_without_pairs_or_own_outputs_a_sentence_says_what_it_would_need():
    assert "tstmeta judge run" in words(judge_orders.both_orders_table(pd.DataFrame()))
    released = judge_orders.own_outputs(judge_ratings.released_with(DATA))
    assert "a system called like the model" in words(judge_orders.own_outputs_table(released))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_stays_a_name(text, tmp_path):
    rows = answered(lambda texts: "2", tmp_path).assign(model=text)
    found = judge_orders.both_orders(judge_ratings.pairs(rows, [DATA]))
    assert "<script" not in judge_orders.both_orders_table(found).text
    check(judge_orders.both_orders_table(found).text)
