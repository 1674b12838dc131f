"""Numbers passed on without texts: what loads where no raw file is, and what scores find."""

import numpy as np
import pandas as pd
import pytest

import tstmeta as tst
from tests.helpers import needs, where_here
from tools import ship
from tstmeta import data
from tstmeta.data import paths, shipped
from tstmeta.schema import MissingData

every_set = pytest.mark.parametrize("name", sorted(ship.PARTS))


@every_set
def test_without_raw_files_a_set_has_its_items_ratings_and_scores_and_no_text(name, bare):
    whole = data.load(name)
    assert data.available(name)
    assert not data.has_texts(name)
    assert whole.items[["source", "output"]].isna().all(axis=None)
    assert len(whole.ratings)
    scores = tst.score(whole, ["chrf", "length-ratio"], ["source"], progress=False)
    assert scores["status"].eq("ok").mean() > 0.5


def test_what_was_not_passed_on_says_that_a_text_is_needed(bare):
    lai = data.load("lai")
    own = tst.wrap(lambda source, output: float(len(output)), "bleu")
    scores = tst.score(lai, [own, "bleurt"], ["source"], progress=False)
    assert set(scores["status"]) == {"error"}
    assert scores["detail"].str.endswith("tstmeta data fetch lai").all()
    with pytest.raises(MissingData, match="tstmeta data fetch lai"):
        data.load("lai@references4")
    german = tst.score(data.load("deplain"), ["bleurt"], progress=False)
    assert set(german["status"]) == {"refused"}  # it is made for English


@needs("lai")
def test_where_a_text_was_changed_its_scores_are_computed(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "scores", lambda: tmp_path)
    lai = data.load("lai@pauli2025-references")
    passed_on = tst.score(lai, ["chrf"], ["source"], progress=False)
    assert not list(tmp_path.iterdir())
    output = lai.items["output"].where(np.arange(len(lai.items)) > 0, "Something else.")
    items = lai.items.assign(output=output)
    scores = tst.score(data.Dataset.of("lai", items), ["chrf"], ["source"], progress=False)
    assert list(tmp_path.iterdir())
    assert (scores["value"] != passed_on["value"]).tolist() == [True] + [False] * (len(items) - 1)


@every_set
def test_no_file_that_is_passed_on_holds_a_text(name):
    for file in shipped.folder(name).rglob("*.parquet"):
        frame = pd.read_parquet(file)
        for column in frame.columns[frame.dtypes.map(pd.api.types.is_string_dtype)]:
            limit = {"signature": 300, "detail": 120}.get(column, 48)
            texts = frame[column]
            if column == "detail":  # why is said in words of ours, the same for many rows
                refused = frame["status"] == "refused"
                assert texts[refused].nunique() < 10
                texts = texts[~refused]
            assert not texts.str.len().max() > limit, (file.name, column)
            assert column != "signature" or frame[column].nunique() < 200


@pytest.mark.parametrize("name", where_here(sorted(ship.PARTS)))
def test_the_numbers_are_those_of_the_raw_files(name):
    """Ratings of all items, and the cheap scores; the nightly test recomputes every score."""
    raw, passed_on = data.load(name), shipped.load(name)
    for table in ("ratings", "preferences"):
        pd.testing.assert_frame_equal(getattr(raw, table), getattr(passed_on, table))
    pd.testing.assert_series_equal(raw.digests, passed_on.digests)
    pd.testing.assert_frame_equal(raw.lengths, passed_on.lengths, check_dtype=False)
    pd.testing.assert_frame_equal(raw.scores, passed_on.scores)
