"""What holds for all data sets, and whether one is there at all."""

import pytest

from tstmeta import data
from tstmeta.data import Dataset
from tstmeta.data.tables import items_table, labels_table
from tstmeta.schema import TstmetaError


def test_a_row_that_speaks_of_no_item_is_reported():
    items = items_table("toy", item_id=["a", "b"], source_id="s", source="one", output="ONE")
    labels = labels_table("toy", ["a", "z"], task=["x", "y"])
    with pytest.raises(TstmetaError, match=r"\(labels\), row 2, column item_id: no item .*'z'"):
        Dataset.of("toy", items, labels=labels)


def test_a_raw_file_that_is_not_as_published_is_to_be_fetched_again(bare):
    file = bare / "pauli/data/syntest_anno1.csv"
    file.parent.mkdir(parents=True)
    with pytest.raises(TstmetaError, match=r"anno1\.csv: the file is missing.*data fetch pauli"):
        data.load("pauli")
    file.write_text("sample_id")
    with pytest.raises(TstmetaError, match=r"anno1\.csv: wrong hash.*data fetch pauli"):
        data.load("pauli")
