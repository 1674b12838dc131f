"""Every score that is passed on comes out again where the texts are."""

import numpy as np
import pandas as pd
import pytest

from tests.helpers import PROJECT, where_here
from tests.notebooks import cells
from tools import book, ship
from tstmeta.data import paths, shipped
from tstmeta.judge.ratings import COLUMNS
from tstmeta.metrics import registry
from tstmeta.store import Rows

KEYS = ["item_id", "metric", "basis", "signature", "sample"]


@pytest.mark.nightly
@pytest.mark.timeout(5 * 3600)
@pytest.mark.parametrize("name", where_here([*ship.PARTS, *ship.OURS]))
def test_every_score_that_is_passed_on_comes_out_again(name, tmp_path):
    fresh = ship.scored(name, tmp_path)
    files = [f for f in shipped.folder(name).glob("scores/*.parquet") if f.stem != "released"]
    old = pd.concat(map(pd.read_parquet, files), ignore_index=True)
    # models of Yelp are trained where Yelp is, and are others on another processor
    yelp = [set(table["signature"][table["metric"].str.endswith("yelp")]) for table in (fresh, old)]
    if yelp[0] != yelp[1]:
        fresh, old = (table[~table["metric"].str.endswith("yelp")] for table in (fresh, old))
    lacks = {name for name in old["metric"].unique() if getattr(registry.get(name), "missing", "")}
    fresh, old = (table[~table["metric"].isin(lacks)] for table in (fresh, old))
    fresh = fresh[fresh["status"] != "error"]
    assert len(fresh) == len(old)
    both = old.merge(fresh, "left", KEYS, suffixes=("", "_fresh"), validate="one_to_one")
    assert both["status"].equals(both["status_fresh"])
    exact = both["metric"].isin(registry.resolve(["lexical", "sentinel"]))
    digits = np.where(exact | both["metric"].str.startswith("random"), 0, 1e-6)
    digits[both["metric"].str.contains("qwen")] = 1e-4  # shipped from a graphics card, float32
    # a perplexity is the exponential of what a network gives
    shown = both["metric"].str.startswith("perplexity")
    was, now = (np.log(both[v].where(shown)).fillna(both[v]) for v in ("value", "value_fresh"))
    near = np.isclose(was, now, rtol=digits, atol=digits, equal_nan=True)
    assert near.all(), both[~near].head()


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_log_probabilities_that_are_passed_on_come_out_again(tmp_path, monkeypatch):
    monkeypatch.delenv("TSTMETA_DATA", raising=False)
    monkeypatch.setattr(paths, "scores", lambda: tmp_path)
    for name in ("05_ablation", "09_confounds", "lesson_7_out_of_its_depth"):
        cells.run(name)
    monkeypatch.setattr(ship, "TOKENS", tmp_path / "tokens.parquet")
    ship.tokens()
    fresh, old = pd.read_parquet(ship.TOKENS), pd.read_parquet(book.TOKENS)
    both = old.merge(fresh, on=["signature", "key"], suffixes=("", "_fresh"))
    assert len(both) > 1000
    assert (both["logprobs"].map(len) == both["logprobs_fresh"].map(len)).all()
    was, now = (np.frombuffer(b"".join(both[n]), "<f4") for n in ("logprobs", "logprobs_fresh"))
    np.testing.assert_allclose(was, now, atol=1e-3)


def test_log_probabilities_that_are_passed_on_are_put_into_the_store(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "scores", lambda: tmp_path)
    monkeypatch.setattr(book, "TOKENS", tmp_path / "tokens.parquet")
    book.recall()  # without a file there is nothing to do
    rows = pd.DataFrame(
        {"signature": ["m", "n"], "key": ["a", "b"], "logprobs": [b"1234", b"5678"]}
    )
    rows.to_parquet(book.TOKENS)
    book.recall()
    book.recall()
    assert Rows(tmp_path, "tokens", "n").read(["a", "b"]) == [("b", b"5678")]
    monkeypatch.setattr(ship, "TOKENS", tmp_path / "again.parquet")
    ship.tokens()
    pd.testing.assert_frame_equal(pd.read_parquet(ship.TOKENS), rows)


def test_ratings_of_a_served_judge_are_passed_on_without_its_words(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "folder", tmp_path.joinpath)
    (tmp_path / "mine").mkdir()
    row = dict.fromkeys(COLUMNS, "") | {"dataset": "mine", "item_id": "a", "model": "m"}
    said = {"detail": "It reads: hi", "explanation": "It reads: hi"}
    rows = [row | said | {"rating": 3, "status": "ok"}, row | said | {"status": "invalid"}]
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    ship.served(tmp_path / "rows.csv")
    table = pd.read_parquet(tmp_path / "mine" / "served.parquet")
    assert list(table) == [*ship.JUDGE_COLUMNS, "item_id", "rating", "status"]
    assert table[["item_id", "status"]].to_numpy().tolist() == [["a", "ok"], ["a", "invalid"]]
    np.testing.assert_array_equal(table["rating"], [3, np.nan])


def test_the_wheel_has_the_numbers_but_for_sets_whose_licence_asks_for_more_than_a_credit():
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    names = {place.removeprefix("data/ratings/") for place in wheel if "data/ratings/" in place}
    assert names == {*ship.PARTS, *ship.OURS} - {"alva", "deplain"}
    assert "data/frozen" in wheel
