"""German simplifications: the form on made-up files, the sums on the real one."""

import pytest

from tests.data.raw import pearson, write_rows
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import deplain

PAIRS = str(deplain.PAIRS)
CODES = [("content", "style"), ("style", "fluency"), ("content", "fluency")]


@pytest.fixture
def root(tmp_path):
    """Three pairs, two of them of one original."""
    columns = f"original simplification domain rater {' '.join(deplain.ASPECTS)}"
    rows = [("Lang.", "Kurz.", "bible", 2, 5.0, 1.0, 2.0, 0.0)]
    rows += [("Lang.", "Kürzer.", "language learner", 1, 4.0, 2.0, 2.0, 1.0)]
    rows += [("Länger.", "Knapp.", "fiction", 2, 1.0, -2.0, -1.0, 2.0)]
    write_rows(tmp_path / PAIRS, columns, rows)
    return tmp_path


def test_each_pair_is_written_by_people_and_rated_by_one(root):
    loaded = deplain.load(root)
    columns = ["item_id", "source_id", "language", "output", "is_reference"]
    assert loaded.items[columns].to_numpy().tolist() == [
        ["web-1", "web-1", "de", "Kurz.", True],
        ["web-2", "web-1", "de", "Kürzer.", True],
        ["web-3", "web-3", "de", "Knapp.", True],
    ]
    assert loaded.raters("style").fillna(9).to_numpy().tolist() == [[9, 1], [2, 9], [9, -2]]
    assert loaded.label("domain").tolist() == ["bible", "language-learner", "fiction"]


@needs("deplain")
@pytest.mark.parametrize(
    ("name", "items", "codes", "means"),
    [
        ("deplain", 384, [-0.257, -0.040, 0.107], [4.29, 1.04, 1.96, 0.95]),
        ("deplain@bible", 155, [-0.241], [4.34, 1.39, 1.92, 1.28]),
        ("deplain@fiction", 72, [-0.043], [3.82, 1.10, 2.00, 1.08]),
        ("deplain@language-learner", 157, [-0.486], [4.46, 0.67, 1.97, 0.57]),
    ],
)
def test_the_sums_of_the_real_set_come_out(name, items, codes, means):
    loaded = data.load(name)
    assert len(loaded.items) == items
    assert pearson(loaded, *CODES[: len(codes)]) == codes
    assert loaded.means[list(loaded.dimensions)].mean().round(2).tolist() == means
    if items == 384:
        assert loaded.raters("style").notna().sum().to_dict() == {"r1": 32, "r2": 352}
        assert loaded.items["source_id"].nunique() == 381
