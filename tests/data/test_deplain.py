"""German simplifications: the form on made-up files, the sums on the real one."""

from tests.data.raw import write_rows
from tstmeta.data import deplain


def test_each_pair_is_written_by_people_and_rated_by_one(tmp_path):
    """Three pairs, two of them of one original."""
    columns = f"original simplification domain rater {' '.join(deplain.ASPECTS)}"
    rows = [("Lang.", "Kurz.", "bible", 2, 5.0, 1.0, 2.0, 0.0)]
    rows += [("Lang.", "Kürzer.", "language learner", 1, 4.0, 2.0, 2.0, 1.0)]
    rows += [("Länger.", "Knapp.", "fiction", 2, 1.0, -2.0, -1.0, 2.0)]
    write_rows(tmp_path / deplain.PAIRS, columns, rows)
    loaded = deplain.load(tmp_path)
    columns = ["item_id", "source_id", "language", "output", "is_reference"]
    assert loaded.items[columns].to_numpy().tolist() == [
        ["web-1", "web-1", "de", "Kurz.", True],
        ["web-2", "web-1", "de", "Kürzer.", True],
        ["web-3", "web-3", "de", "Knapp.", True],
    ]
    assert loaded.raters("style").fillna(9).to_numpy().tolist() == [[9, 1], [2, 9], [9, -2]]
    assert loaded.label("domain").tolist() == ["bible", "language-learner", "fiction"]
