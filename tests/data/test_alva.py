"""Four collections of simplification ratings: made-up files for the form, real ones for numbers."""

import pytest

from tests.data.raw import write, write_rows, write_table
from tstmeta.data import alva

ORIGINALS = ["The old Mill ( built 1820 ) burned .", "Rain fell , and the river rose quickly ."]
SPOKEN = ["The old mill (built 1820) burned.", "Rain fell, and the river rose quickly."]
OUTPUTS = ["ACCESS: the mill burned.", "The river rose."]
WORKERS = ["made-up-worker-a", "made-up-worker-b"]
HUMAN = "asset/human_ratings/human_ratings.csv"
PAIRS = "asset/human_ratings/asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv"
META = "metaeval-simplification/data"
SYSTEMS = "easse/easse/resources/data/system_outputs/turkcorpus/test"


@pytest.fixture
def loaded(tmp_path):
    """Two sentences; every collection has a little of each kind of row."""
    write(tmp_path / "asset/dataset/asset.test.orig", ORIGINALS)
    for number in range(10):
        lines = [f"The mill burned , take {number} .", f"The river rose , take {number} ."]
        write(tmp_path / f"asset/dataset/asset.test.simp.{number}", lines)
    for system in alva.SYSTEMS:
        both = "The river rose ." if system in ("Hybrid", "PBMT-R") else f"{system} wrote this ."
        write(tmp_path / SYSTEMS / system, [f"{system} : the mill burned .", both])
    rows = [
        (original, output, line, aspect, worker, 10 * line + place)
        for line, (original, output) in enumerate(zip(SPOKEN, OUTPUTS, strict=True))
        for aspect in ("meaning", "fluency", "simplicity")
        for place, worker in enumerate(WORKERS)
    ]
    columns = "original simplification original_sentence_id aspect worker_id rating"
    write_rows(tmp_path / HUMAN, columns, rows)
    texts = (1, SPOKEN[1], "The river rose, take 3.", "made-up-judge")
    rows = [
        (*texts, "fluency", "turkcorpus", "It rained, says turkcorpus.", "asset"),
        (*texts, "meaning", "turkcorpus", "It rained, says turkcorpus.", "similar"),
        (*texts, "simplicity", "hsplit", "It rained, says hsplit.", "hsplit"),
    ]
    columns = "sentence_id source asset_simplification worker_id aspect other_dataset"
    write_rows(tmp_path / PAIRS, f"{columns} other_simplification winner", rows)
    study(tmp_path, "simplicity_da", ["ACCESS", "Hybrid"])
    study(tmp_path, "structural", ["SEMoses_LM^m"])
    return alva.load(tmp_path)


def study(root, name, systems):
    """Sentence 1 (counted from 1) by each system; two raters, who say 1 and 2."""
    stem, columns = alva.STUDIES[name]
    keys = [{"sent_id": 1, "sys_name": system} for system in systems]
    items = [
        {**key, "orig_sent": SPOKEN[0], "simp_sent": "It speaks.", **dict.fromkeys(columns, "1.5")}
        for key in keys
    ]
    write_table(root / META / f"{stem}.csv", items)
    single = list(columns)[-1]
    ratings = [{**key, "rater_id": f"made-up-{n}", single: n} for key in keys for n in (1, 2)]
    write_table(root / META / f"ratings_per_annotator/{stem}_ratings.csv", ratings)
    scores = [
        {**key, "test_set": refs, **dict.fromkeys(alva.METRICS, "0.25"), "fkgl": "4"}
        for key in keys
        for refs in ("asset", "turk")
    ]
    write_table(root / META / f"metrics_per_sentence/metrics_{stem}.csv", scores)


def test_collections_are_subsets_with_their_own_scale_and_readable_ids(loaded):
    systems = loaded.items.set_index("item_id")["system"]
    assert systems[["asset-0", "asset-1"]].tolist() == ["ACCESS", ""]  # who printed the same
    assert loaded.items["item_id"].tolist() == [
        *("asset-0", "asset-1", "simplicity_da-0-ACCESS", "simplicity_da-0-Hybrid"),
        *("structural-0-SEMoses_LM^m", "preferences-1-asset-1"),
        *("preferences-1-turkcorpus-1", "preferences-1-hsplit-1"),
    ]
    sizes = {name: len(subset(loaded).items) for name, subset in alva.SUBSETS.items()}
    assert sizes == {"asset": 2, "simplicity_da": 2, "structural": 1, "preferences": 3}
    structural = alva.SUBSETS["structural"](loaded)
    assert structural.card.scale["style"] == (-2.0, 2.0)
    assert loaded.card.scale["style"] == (-2.0, 100.0)


def test_single_ratings_are_kept_where_there_are_any_and_means_elsewhere(loaded):
    by_item = dict(list(loaded.ratings.groupby("item_id")))
    rows = by_item["simplicity_da-0-ACCESS"][["dimension", "rater", "value"]]
    assert rows.to_numpy().tolist() == [
        ["content", "mean", 1.5],
        ["fluency", "mean", 1.5],
        ["style", "r3", 1.0],
        ["style", "r4", 2.0],
    ]
    assert by_item["asset-1"]["value"].tolist() == [10.0, 11.0] * 3
    # raters of two collections never share a name
    assert set(by_item["asset-0"]["rater"]) == {"r1", "r2"}
    assert set(by_item["structural-0-SEMoses_LM^m"]["rater"]) == {"mean", "r5", "r6"}
    assert set(loaded.preferences["rater"]) == {"r7"}


def test_preferences_compare_items_that_are_references(loaded):
    assert loaded.preferences[["item_a", "item_b", "dimension", "value"]].to_numpy().tolist() == [
        ["preferences-1-asset-1", "preferences-1-turkcorpus-1", "fluency", "a"],
        ["preferences-1-asset-1", "preferences-1-turkcorpus-1", "content", "tie"],
        ["preferences-1-asset-1", "preferences-1-hsplit-1", "style", "b"],
    ]
    items = loaded.items.set_index("item_id")
    assert items.loc["preferences-1-asset-1", "is_reference"]
    assert "The river rose , take 3 ." not in items.loc["preferences-1-asset-1", "references"]
    assert items["references"].map(len)["preferences-1-asset-1":].tolist() == [9, 10, 10]


def test_released_scores_have_a_name_for_each_set_of_references(loaded):
    scores = loaded.scores.query("item_id == 'simplicity_da-0-Hybrid'").groupby("metric")
    assert set(scores.groups) >= {"released:bleu-asset", "released:bleu-turk", "released:fkgl"}
    assert scores.get_group("released:fkgl")["value"].tolist() == [4.0]
