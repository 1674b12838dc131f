"""Outputs and four references: made-up files for the form, real ones for numbers."""

from tests.data.raw import write
from tstmeta.data import dualrl


def test_items_carry_four_references_and_the_common_source(tmp_path):
    """Two sources a direction; one rare word is unknown to DualRL, one reference has an accent."""
    for ending, target in (("0-1", "0"), ("1-0", "1")):
        for system in (*dualrl.SYSTEMS, *dualrl.HUMANS):
            rare = "<unk>" if system == "DualRL" else "marzipan"
            lines = [f"source {target} 0 ,\t{system}", f"the {rare} {target}\t{system} é"]
            write(tmp_path / "outputs" / "yelp" / system / f"test.{ending}.tsf", lines, "gb18030")
        for number in range(4):
            lines = [f"plain {number} {target}", f"source {target}\tdécor {number} {target}"]
            path = tmp_path / "references" / "yelp" / f"reference{number}.{target}"
            write(path, lines, "gb18030")
    items = dualrl.load(tmp_path).items
    assert len(items) == 4 * 15
    assert items["is_reference"].sum() == 4 * 4
    columns = ["source_id", "system", "style", "direction", "source", "output", "references"]
    assert items.set_index("item_id").loc["pos2neg-1-DualRL", columns].tolist() == [
        *("pos2neg-1", "DualRL", "negative", "pos2neg", "the marzipan 1", "DualRL é"),
        [f"décor {number} 1" for number in range(4)],
    ]
