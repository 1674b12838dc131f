"""Simplification ratings of 2022: the form on made-up files, the numbers on the real ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from tests.data.raw import change, complaint
from tests.data.tables import leaked, pearson, raw_ids, write_table
from tests.helpers import needs
from tstmeta.data import Dataset, lens
from tstmeta.data.paths import raw

WORKERS = ["made-up-worker-a", "made-up-worker-b"]
SYSTEMS = ["Muss", "Human 1 Writing", "Human 2 Writing"]
DA, LIKERT = "data/simpDA_2022.csv", "data/simplikert_2022.csv"
OVERALL, PAST = "data/simpeval_2022.csv", "data/simpeval_past.csv"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """One new sentence by a system and two people, one old one by a system and a corpus."""
    for file, values in ((DA, (90, 80, 70)), (LIKERT, (5, 4, -2))):
        rows = [
            {
                "WorkerId": worker,
                "Input.id": 4,
                "Input.original": "Snow closed the pass.",
                "Input.simplified": f"{system} says it snowed.",
                "Input.system": system,
                "Answer.adequacy": values[0],
                "Answer.fluency": values[1],
                "Answer.simplicity": values[2],
            }
            for system in SYSTEMS
            for worker in WORKERS
        ]
        write_table(tmp_path / file, rows)
    rows = [
        {
            "original_id": 4,
            "original": "Snow shut the pass.",
            "generation": text,
            "system": system,
            "sentence_type": "Splittings",
            **{f"rating_{place}": 60 + place for place in (1, 2, 3)},
        }
        for system, text in zip(
            SYSTEMS,
            ["Muss  says it snowed. ", "Human 1 Writing says it snowed.", "Another text."],
            strict=True,
        )
    ]
    write_table(tmp_path / OVERALL, rows)
    rows = [
        {
            "original": "The bridge was repaired.",
            "processed_generation": f"They fixed it ({system}).",
            "original_id": 4,
            "system": system,
            **{f"rating_{person}": 10 * person for person in range(1, 6)},
        }
        for system in ("copy", "asset.test.simp")
    ]
    write_table(tmp_path / PAST, rows)
    return tmp_path


def test_collections_are_kept_apart(root: Path) -> None:
    whole = lens.load(root)
    sizes = {name: len(subset(whole).items) for name, subset in lens.SUBSETS.items()}
    assert sizes == {"simpda_2022": 3, "simplikert_2022": 3, "simpeval_past": 2}
    likert = lens.SUBSETS["simplikert_2022"](whole)
    assert likert.card.scale["style"] == (-2.0, 2.0)
    assert likert.means["style"].tolist() == [-2.0] * 3
    assert lens.SUBSETS["simpda_2022"](whole).means["style"].tolist() == [70.0] * 3


def test_people_are_references_of_their_sentence(root: Path) -> None:
    items = lens.load(root).items.set_index("item_id")
    muss = items.loc["simpda_2022-4-Muss"]
    assert muss["references"] == [f"Human {n} Writing says it snowed." for n in (1, 2)]
    assert not muss["is_reference"]
    assert items.loc["simpda_2022-4-Human-1-Writing", "is_reference"]
    assert items.loc["simpeval_past-4-asset.test.simp", "is_reference"]
    assert items.loc["simpeval_past-4-copy", "references"] == ["They fixed it (asset.test.simp)."]
    assert muss["source_id"] != items.loc["simplikert_2022-4-Muss", "source_id"]


def test_overall_ratings_join_only_where_the_text_is_the_same(root: Path) -> None:
    overall = lens.SUBSETS["simpda_2022"](lens.load(root)).raters("overall")
    assert overall.notna().sum(axis=1).tolist() == [3, 3, 0]
    assert overall.loc["simpda_2022-4-Muss"].dropna().tolist() == [61.0, 62.0, 63.0]


def test_labels_tell_what_a_rewrite_should_do(root: Path) -> None:
    loaded = lens.load(root)
    assert loaded.label("sentence_type").tolist() == ["Splittings"] * 3 + [""] * 5


def test_raters_are_numbered_through(root: Path) -> None:
    loaded = lens.load(root)
    by_item = loaded.ratings.set_index("item_id")["rater"]
    new, short = (set(by_item[f"{name}-4-Muss"]) for name in lens.RATED)
    assert len(new) == 5
    assert len(short) == 2
    assert not new & short
    assert len(set(by_item["simpeval_past-4-copy"])) == 5
    assert not leaked(loaded, WORKERS)


BROKEN: list[tuple[str, str, Callable[[Path], object], list[str]]] = [
    ("a missing file", PAST, Path.unlink, ["simpeval_past.csv", "missing"]),
    ("a missing column", DA, lambda p: change(p, "Answer.fluency", "f"), ["column Answer.fluency"]),
    ("no number", DA, lambda p: change(p, ",90,", ",,"), ["row 1", "Answer.adequacy"]),
    ("off the short scale", LIKERT, lambda p: change(p, ",5,4,", ",6,4,"), ["row 1", "1 to 5"]),
    ("off the long scale", PAST, lambda p: change(p, ",10,", ",-1,"), ["row 1", "0 to 100"]),
    ("two texts", DA, lambda p: change(p, "Muss says", "Muss said"), ["row 2", "differs"]),
    ("an unknown output", OVERALL, lambda p: change(p, ",Muss,", ",T5,"), ["row 1", "T5"]),
    ("an output twice", PAST, lambda p: change(p, ",copy,", ",asset.test.simp,"), ["row 2"]),
    ("two sources", PAST, lambda p: change(p, "bridge", "road"), ["row 2", "original"]),
]


@pytest.mark.parametrize(
    ("file", "harm", "expected"),
    [pytest.param(*case[1:], id=case[0]) for case in BROKEN],
)
def test_broken_files_are_reported(
    root: Path, file: str, harm: Callable[[Path], object], expected: list[str]
) -> None:
    harm(root / file)
    message = complaint(lens.load, root)
    assert all(text in message for text in expected), message


def test_a_repeated_judgement_is_reported_without_the_worker(root: Path) -> None:
    change(root / DA, WORKERS[1], WORKERS[0])
    message = complaint(lens.load, root)
    assert "row 2" in message
    assert WORKERS[0] not in message


# ------------------------------------------------------------------------------------ real files


@lru_cache
def real() -> Dataset:
    return lens.load(raw("lens"))


@needs("lens")
@pytest.mark.parametrize(
    ("subset", "workers", "correlations"),
    [("simpda_2022", 11, (0.313, -0.040, 0.174)), ("simplikert_2022", 13, (0.277, -0.060, 0.179))],
)
def test_real_correlations(subset: str, workers: int, correlations: tuple[float, ...]) -> None:
    part = lens.SUBSETS[subset](real())
    assert len(part.items) == 360
    assert part.items["source_id"].nunique() == 60
    assert part.items["is_reference"].sum() == 120
    assert set(part.raters("style").notna().sum(axis=1)) == {3}
    assert part.raters("style").shape[1] == workers
    pairs = [("content", "fluency"), ("content", "style"), ("fluency", "style")]
    assert tuple(round(pearson(part, *pair), 3) for pair in pairs) == correlations


@needs("lens")
def test_real_overall_ratings() -> None:
    assert len(real().items) == 3120
    counts = lens.SUBSETS["simpda_2022"](real()).raters("overall").notna().sum(axis=1)
    assert counts.value_counts().to_dict() == {3: 359, 0: 1}
    past = lens.SUBSETS["simpeval_past"](real())
    assert past.items["system"].nunique() == 24
    assert past.raters("overall").notna().to_numpy().all()
    assert past.raters("overall").shape == (2400, 5)


@needs("lens")
def test_real_workers_are_renamed() -> None:
    folder = raw("lens")
    ids = raw_ids(folder / DA, "WorkerId") + raw_ids(folder / LIKERT, "WorkerId")
    assert set(real().ratings["rater"]) == {f"r{n}" for n in range(1, 33)}
    assert not leaked(real(), ids)
