"""Four collections of simplification ratings: made-up files for the form, real ones for numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from tests.data.raw import change, complaint, drop_last_line, write
from tests.data.tables import leaked, pearson, raw_ids, write_table
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import Dataset, alva, alva_parts
from tstmeta.data.paths import raw

ORIGINALS = ["The old Mill ( built 1820 ) burned .", "Rain fell , and the river rose quickly ."]
SPOKEN = ["The old mill (built 1820) burned.", "Rain fell, and the river rose quickly."]
WORKERS = ["made-up-worker-a", "made-up-worker-b"]
HUMAN = "asset/human_ratings/human_ratings.csv"
PAIRS = "asset/human_ratings/asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv"
META = "metaeval-simplification/data"
DA, DA_SINGLE = (
    f"{META}/simplicity_DA.csv",
    f"{META}/ratings_per_annotator/simplicity_DA_ratings.csv",
)
DA_METRICS = f"{META}/metrics_per_sentence/metrics_simplicity_DA.csv"
OUTPUTS = "easse/easse/resources/data/system_outputs/turkcorpus/test"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two sentences; every collection has a little of each kind of row."""
    write(tmp_path / "asset/dataset/asset.test.orig", ORIGINALS)
    for number in range(10):
        lines = [f"The mill burned , take {number} .", f"The river rose , take {number} ."]
        write(tmp_path / f"asset/dataset/asset.test.simp.{number}", lines)
    for system in alva_parts.SYSTEMS:
        both = "The river rose ." if system in ("Hybrid", "PBMT-R") else f"{system} wrote this ."
        write(tmp_path / OUTPUTS / system, [f"{system} : the mill burned .", both])
    _asset(tmp_path)
    _pairs(tmp_path)
    _study(tmp_path, "simplicity_DA", ["ACCESS", "Hybrid"], ("simplicity", "fluency", "meaning"))
    _study(
        tmp_path,
        "structural_simplicity",
        ["SEMoses_LM^m"],
        ("structural_simplicity", "grammaticality", "meaning", "simplicity"),
    )
    return tmp_path


def _asset(root: Path) -> None:
    outputs = ["ACCESS: the mill burned.", "The river rose."]
    rows = [
        {
            "original": SPOKEN[line],
            "simplification": outputs[line],
            "original_sentence_id": line,
            "aspect": aspect,
            "worker_id": worker,
            "rating": 10 * line + place,
        }
        for line in (0, 1)
        for aspect in ("meaning", "fluency", "simplicity")
        for place, worker in enumerate(WORKERS)
    ]
    write_table(root / HUMAN, rows)


def _pairs(root: Path) -> None:
    sides = [("turkcorpus", "asset"), ("turkcorpus", "similar"), ("hsplit", "hsplit")]
    rows = [
        {
            "worker_id": "made-up-judge",
            "sentence_id": 1,
            "aspect": aspect,
            "source": SPOKEN[1],
            "other_dataset": other,
            "asset_simplification": "The river rose, take 3.",
            "other_simplification": f"It rained, says {other}.",
            "winner": winner,
        }
        for aspect, (other, winner) in zip(("fluency", "meaning", "simplicity"), sides, strict=True)
    ]
    write_table(root / PAIRS, rows)


def _study(root: Path, stem: str, systems: list[str], columns: tuple[str, ...]) -> None:
    """Sentence 1 (counted from 1) by each system; two raters, who say 1 and 2."""
    single, *means = columns
    keys = [{"sent_id": 1, "sys_name": system} for system in systems]
    items = [
        {
            **key,
            "orig_sent": SPOKEN[0],
            "simp_sent": f"{key['sys_name']} speaks.",
            **dict.fromkeys(means, "1.5"),
            single: "1.5",
        }
        for key in keys
    ]
    write_table(root / META / f"{stem}.csv", items)
    ratings = [{**key, "rater_id": f"made-up-{n}", single: n} for key in keys for n in (1, 2)]
    write_table(root / META / f"ratings_per_annotator/{stem}_ratings.csv", ratings)
    scores = [
        {**key, "test_set": refs, **dict.fromkeys(alva_parts.METRICS, "0.25"), "fkgl": "4"}
        for key in keys
        for refs in ("asset", "turk")
    ]
    write_table(root / META / f"metrics_per_sentence/metrics_{stem}.csv", scores)


def test_collections_are_subsets_with_their_own_scale(root: Path) -> None:
    whole = alva.load(root)
    assert len(whole.items) == 2 + 2 + 1 + 3
    sizes = {name: len(subset(whole).items) for name, subset in alva.SUBSETS.items()}
    assert sizes == {"asset": 2, "simplicity_da": 2, "structural": 1, "preferences": 3}
    structural = alva.SUBSETS["structural"](whole)
    assert structural.name == "alva@structural"
    assert structural.card.scale["style"] == (-2.0, 2.0)
    assert whole.card.scale["style"] == (-2.0, 100.0)


def test_ids_are_readable_and_sentences_count_from_zero_everywhere(root: Path) -> None:
    items = alva.load(root).items
    assert items["item_id"].tolist() == [
        "asset-0",
        "asset-1",
        "simplicity_da-0-ACCESS",
        "simplicity_da-0-Hybrid",
        "structural-0-SEMoses_LM^m",
        "preferences-1-asset-1",
        "preferences-1-turkcorpus-1",
        "preferences-1-hsplit-1",
    ]
    assert set(items["source_id"][2:4]) == {"simplicity_da-0"}
    assert set(items["style"]) == {"simplified"}


def test_the_system_is_the_one_that_printed_the_same(root: Path) -> None:
    loaded = alva.SUBSETS["asset"](alva.load(root))
    assert loaded.items["system"].tolist() == ["ACCESS", ""]
    assert loaded.label("candidates").tolist() == ["", "Hybrid|PBMT-R"]


def test_single_ratings_are_kept_where_there_are_any_and_means_elsewhere(root: Path) -> None:
    ratings = alva.load(root).ratings
    study = ratings[ratings["item_id"] == "simplicity_da-0-ACCESS"]
    assert {
        dimension: group["value"].tolist() for dimension, group in study.groupby("dimension")
    } == {"content": [1.5], "fluency": [1.5], "style": [1.0, 2.0]}
    assert set(study.loc[study["dimension"] != "style", "rater"]) == {"mean"}
    asset = ratings[ratings["item_id"] == "asset-1"]
    assert asset["value"].tolist() == [10.0, 11.0] * 3
    assert asset["dimension"].tolist() == ["content"] * 2 + ["fluency"] * 2 + ["style"] * 2


def test_raters_of_two_collections_never_share_a_name(root: Path) -> None:
    loaded = alva.load(root)
    by_item = loaded.ratings.set_index("item_id")["rater"]
    assert set(by_item["asset-0"]) == {"r1", "r2"}
    assert set(by_item["simplicity_da-0-ACCESS"]) == {"mean", "r3", "r4"}
    assert set(by_item["structural-0-SEMoses_LM^m"]) == {"mean", "r5", "r6"}
    assert set(loaded.preferences["rater"]) == {"r7"}
    people = [*WORKERS, "made-up-judge", "made-up-1", "made-up-2"]
    assert not leaked(loaded, people)


def test_preferences_compare_items_that_are_references(root: Path) -> None:
    loaded = alva.load(root)
    assert loaded.preferences["value"].tolist() == ["a", "tie", "b"]
    assert loaded.preferences["dimension"].tolist() == ["fluency", "content", "style"]
    assert set(loaded.preferences["item_a"]) == {"preferences-1-asset-1"}
    assert loaded.preferences["item_b"].tolist()[-1] == "preferences-1-hsplit-1"
    items = loaded.items.set_index("item_id")
    assert items.loc["preferences-1-asset-1", "is_reference"]
    kept = items.loc["preferences-1-asset-1", "references"]
    assert len(kept) == 9
    assert "The river rose , take 3 ." not in kept
    assert len(items.loc["preferences-1-hsplit-1", "references"]) == 10


def test_released_scores_stand_once_for_each_set_of_references(root: Path) -> None:
    scores = alva.load(root).scores
    one = scores[scores["item_id"] == "simplicity_da-0-Hybrid"]
    assert len(one[one["metric"] == "released:bleu"]) == 2
    assert one.loc[one["metric"] == "released:fkgl", "value"].tolist() == [4.0]
    assert {"refs:asset" in s for s in one.loc[one["metric"] == "released:sari", "signature"]} == {
        True,
        False,
    }


BROKEN: list[tuple[str, str, Callable[[Path], object], list[str]]] = [
    ("a missing file", HUMAN, Path.unlink, ["human_ratings.csv", "missing"]),
    ("a missing column", HUMAN, lambda p: change(p, "aspect", "facet"), ["column aspect"]),
    ("no number", HUMAN, lambda p: change(p, ",0\n", ",much\n"), ["row 1", "rating", "'much'"]),
    ("a rating off the scale", HUMAN, lambda p: change(p, ",1\n", ",101\n"), ["row 2", "0 to 100"]),
    ("an unknown aspect", HUMAN, lambda p: change(p, "fluency", "flow"), ["row 3", "'flow'"]),
    ("half a sentence", HUMAN, lambda p: change(p, ",0,meaning", ",0.5,meaning"), ["whole number"]),
    ("no such sentence", HUMAN, lambda p: change(p, ",1,meaning", ",2,meaning"), ["0 to 1"]),
    ("another sentence", HUMAN, lambda p: change(p, "old mill", "new mill"), ["asset.test.orig"]),
    ("another output", HUMAN, lambda p: change(p, "The river", "A river"), ["row 8", "differs"]),
    ("shifted references", "asset/dataset/asset.test.simp.4", drop_last_line, ["1 lines where 2"]),
    ("fewer outputs", f"{OUTPUTS}/Hybrid", drop_last_line, ["Hybrid", "1 lines where 2"]),
    ("a mean that is none", DA, lambda p: change(p, ",1.5\n", ",1.7\n"), ["released mean"]),
    ("counting from zero", DA, lambda p: change(p, "\n1,ACCESS", "\n0,ACCESS"), ["from 1 to 2"]),
    ("an item twice", DA, lambda p: change(p, "Hybrid,", "ACCESS,"), ["already in row 1"]),
    ("a lost rating", DA_SINGLE, drop_last_line, ["released mean"]),
    ("an unknown item", DA_SINGLE, lambda p: change(p, "Hybrid", "Other"), ["row 3", "no item"]),
    ("a score of nothing", DA_METRICS, lambda p: change(p, ",0.25", ",n/a"), ["row 1", "bleu"]),
    ("a score twice", DA_METRICS, lambda p: change(p, "turk", "asset"), ["row 2", "already"]),
    ("a strange winner", PAIRS, lambda p: change(p, "similar", "hsplit"), ["row 2", "neither"]),
    ("a strange corpus", PAIRS, lambda p: change(p, "turkcorpus", "other"), ["row 1", "'other'"]),
]


@pytest.mark.parametrize(
    ("file", "harm", "expected"),
    [pytest.param(*case[1:], id=case[0]) for case in BROKEN],
)
def test_broken_files_are_reported(
    root: Path, file: str, harm: Callable[[Path], object], expected: list[str]
) -> None:
    harm(root / file)
    message = complaint(alva.load, root)
    assert all(text in message for text in expected), message


def test_a_repeated_judgement_is_reported_without_the_worker(root: Path) -> None:
    change(root / HUMAN, WORKERS[1], WORKERS[0])
    message = complaint(alva.load, root)
    assert "row 2" in message
    assert WORKERS[0] not in message


# ------------------------------------------------------------------------------------ real files


@lru_cache
def real() -> Dataset:
    return alva.load(raw("alva"))


@needs("alva")
@pytest.mark.parametrize(
    ("subset", "items", "raters", "correlations"),
    [
        ("asset", 100, 31, (0.672, 0.862, 0.795)),
        ("simplicity_da", 600, 67, (0.744, 0.756, 0.661)),
    ],
)
def test_real_correlations(
    subset: str, items: int, raters: int, correlations: tuple[float, ...]
) -> None:
    part = alva.SUBSETS[subset](real())
    pairs = [("style", "content"), ("style", "fluency"), ("fluency", "content")]
    assert len(part.items) == items
    assert len(set(part.ratings["rater"]) - {"mean"}) == raters
    found = tuple(round(pearson(part, *pair), 3) for pair in pairs)
    assert found == correlations
    singles = part.ratings[part.ratings["rater"] != "mean"]
    assert set(singles.groupby(["item_id", "dimension"]).size()) == {15}


@needs("alva")
def test_real_sizes() -> None:
    whole = real()
    assert whole.label("collection").value_counts().to_dict() == {
        "structural": 1750,
        "preferences": 1400,
        "simplicity_da": 600,
        "asset": 100,
    }
    assert len(whole.preferences) == 2154
    assert whole.preferences["value"].value_counts().to_dict() == {"a": 836, "tie": 720, "b": 598}
    structural = alva.SUBSETS["structural"](whole)
    assert structural.items["system"].nunique() == 25
    assert set(structural.raters("structure").notna().sum(axis=1)) == {3}


@needs("alva")
def test_real_systems_of_asset() -> None:
    """Seven systems' outputs are here; 84 items match one of them, 3 several, 13 none."""
    part = alva.SUBSETS["asset"](real())
    assert part.items["system"].value_counts().drop("").to_dict() == {
        "Hybrid": 24,
        "ACCESS": 21,
        "NTS-SARI": 16,
        "SBMT-SARI": 12,
        "PBMT-R": 9,
        "Dress-Ls": 2,
    }
    assert (part.label("candidates") != "").sum() == 3


@needs("alva")
def test_real_workers_are_renamed() -> None:
    folder = raw("alva")
    ids = raw_ids(folder / PAIRS, "worker_id") + raw_ids(folder / HUMAN, "worker_id")
    assert any(len(name) >= 6 for name in ids)
    assert not leaked(real(), ids)


@needs("alva")
def test_real_subsets_load_by_name() -> None:
    assert data.subsets("alva") == [f"alva@{name}" for name in alva.SUBSETS]
    assert data.load("alva@asset").card.scale["style"] == (0.0, 100.0)
