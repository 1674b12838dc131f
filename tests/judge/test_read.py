"""Tables of ratings come back as they were written, or are refused with a remedy."""

import pandas as pd
import pytest

from tstmeta.console import write_table
from tstmeta.judge.ratings import COLUMNS
from tstmeta.judge.read import read
from tstmeta.schema import TstmetaError

ROWS = pd.DataFrame(
    {
        "dataset": "mine",
        "item_id": ["007", "2"],
        "source_id": ["1", "1"],
        "dimension": "content",
        "sample": [0, 0],
        "rating": [4.5, None],
        "status": ["ok", "refused"],
        "prompt": "mine",
        "prompt_hash": "12e3",
        "model": "small",
    }
)


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_a_table_comes_back_and_ids_that_look_like_numbers_stay_texts(tmp_path, ending):
    path = tmp_path / f"ratings.{ending}"
    write_table(ROWS.reindex(columns=COLUMNS), path)
    found = read(path)
    assert found[["item_id", "prompt_hash"]].to_numpy().tolist() == [["007", "12e3"], ["2", "12e3"]]
    assert found["rating"].tolist()[0] == 4.5
    assert found["rating"].isna().tolist() == [False, True]
    assert (found["rival"] == "").all()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none.csv", None, "cannot be read"),
        ("ratings.txt", "x", "ends with .csv, .json, .parquet"),
        ("other.csv", "a,b\n1,2\n", "no column dataset, item_id"),
        ("broken.parquet", "x", "cannot be read"),
    ],
)
def test_what_is_no_table_of_ratings_is_refused(tmp_path, name, text, message):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(TstmetaError, match=message):
        read(path)
