"""Simplification with single ratings: the form on a made-up sheet, the numbers on the real one."""

import pandas as pd
import pytest

from tests.data import raw
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import sulem2018


def sheet():
    """Two sentences a system; rater r gives fluency r, content 5, a style, structure -2."""
    rows = []
    for name in sulem2018.SYSTEMS:
        ratings = [value for rater in (1, 2, 3) for value in (rater, 5, 1, -2)]
        rows += [[1, name, *ratings], [2, None, *ratings]]
    return pd.DataFrame(rows)


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.setattr(sulem2018, "SENTENCES", 2)

    def run(frame):
        monkeypatch.setattr(pd, "read_excel", lambda *_, **__: frame)
        return sulem2018.load(tmp_path / "sulem2018")

    return run


def test_texts_are_those_of_alva_and_none_where_it_is_not(load, tmp_path):
    loaded = load(sheet())
    assert loaded.items[["source", "output"]].isna().all(axis=None)
    assert loaded.means.loc["1-DSS", ["content", "fluency", "structure"]].tolist() == [5, 2, -2]
    columns, texts = "sent_id sys_name orig_sent simp_sent", [("a b", "a"), ("c d", "c")]
    lines = [(number, "DSS", *pair) for number, pair in enumerate(texts, 1)]
    raw.write_rows(tmp_path / sulem2018.TEXTS, columns, lines)
    items = load(sheet()).items.set_index("item_id")
    assert items.loc["1-DSS", ["source_id", "source", "output"]].tolist() == ["1", "c d", "c"]
    assert items.loc["0-Identity", ["source", "output"]].tolist() == ["a b", "a b"]
    assert items.loc[items["is_reference"], "output"].isna().tolist() == [True, True]


@needs("sulem2018", "alva")
def test_means_are_those_of_alva():
    whole, other = data.load("sulem2018"), data.load("alva@structural")
    systems = data.load("sulem2018@systems").items["system"]
    assert {*systems} - {*other.items["system"]} == {"Moses_LM"}
    means = whole.means.loc[other.items["item_id"].str.removeprefix("structural-")]
    assert abs(means.to_numpy() - other.means[means.columns].to_numpy()).max() < 1e-9
