"""Edits of arguments: the form on made-up files, the numbers on the real one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from tests.data.raw import change, complaint
from tests.data.tables import leaked, pearson, write_table
from tests.helpers import needs
from tstmeta.data import Dataset, ziegen_editing
from tstmeta.data.paths import raw

FILE = str(ziegen_editing.RESULTS)
PEOPLE = ["made-up-judge-a", "made-up-judge-b"]


def judgement(item: str, judge: str, part: str, *options: int) -> dict[str, object]:
    result = {
        "post_id": item,
        "post_inappropriate_part": part,
        "post_rewritten_part": f"civil {part}",
        **{f"otherErrorQuestion{n}": f"other{o}" for n, o in enumerate(options, 1)},
    }
    return {
        "user_id": judge,
        "post_id": item,
        "post_text": f"So {part}, I say",
        "result": repr(result),
        "issue": "Tea:",
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Argument 12 has two marked parts, one of them edited by two systems."""
    rows = [
        judgement("12_base_model_7", PEOPLE[0], "you 'clown'", 5, 6, 13, 20),
        judgement("12_base_model_7", PEOPLE[1], "you 'clown'", 4, 10, 11, 16),
        judgement("12_50a_50ss_7", PEOPLE[1], "you 'clown'", 1, 7, 12, 17),
        judgement("12_base_model_8", PEOPLE[1], "shut up", 2, 8, 14, 18),
    ]
    write_table(tmp_path / FILE, rows)
    return tmp_path


def test_source_and_output_are_the_parts(root: Path) -> None:
    loaded = ziegen_editing.load(root)
    items = loaded.items.set_index("item_id")
    assert items["system"].tolist() == ["base_model", "50a_50ss", "base_model"]
    assert items["source_id"].tolist() == ["12-1", "12-1", "12-2"]
    assert items.loc["12_base_model_8", ["source", "output"]].tolist() == [
        "shut up",
        "civil shut up",
    ]
    assert loaded.label("context").tolist()[0] == "So you 'clown', I say"


def test_three_questions_are_ratings_and_none_is_style(root: Path) -> None:
    loaded = ziegen_editing.load(root)
    assert loaded.dimensions == ["content", "fluency", "structure"]
    first = loaded.means.loc["12_base_model_7"]
    assert first.to_dict() == {"structure": 4.5, "content": 3.0, "fluency": 2.0}
    assert not leaked(loaded, PEOPLE)


BROKEN: list[tuple[str, Callable[[Path], object], list[str]]] = [
    ("a missing file", Path.unlink, ["missing"]),
    ("a missing column", lambda p: change(p, "post_text", "text"), ["column post_text"]),
    ("no dict", lambda p: change(p, "}", ""), ["row 1", "dict literal"]),
    ("no text", lambda p: change(p, "post_rewritten_part", "gone"), ["row 1", "rewritten_part"]),
    ("a wrong option", lambda p: change(p, "other13", "other3"), ["row 1", "Question3"]),
    ("two texts", lambda p: change(p, "civil you", "kind you"), ["row 2", "output"]),
    ("an odd id", lambda p: change(p, "12_50a_50ss_7", "12x7"), ["row 3", "system_number"]),
]


@pytest.mark.parametrize(
    ("harm", "expected"), [pytest.param(*case[1:], id=case[0]) for case in BROKEN]
)
def test_broken_files_are_reported(
    root: Path, harm: Callable[[Path], object], expected: list[str]
) -> None:
    harm(root / FILE)
    message = complaint(ziegen_editing.load, root)
    assert all(text in message for text in expected), message


@lru_cache
def real() -> Dataset:
    return ziegen_editing.load(raw("ziegen_editing"))


@needs("ziegen_editing")
def test_real_sizes() -> None:
    assert len(real().items) == 600
    assert len(real().ratings) == 3 * 1821
    counts = real().raters("content").notna().sum(axis=1)
    assert counts.value_counts().to_dict() == {3: 577, 4: 22, 2: 1}
    assert real().items["system"].nunique() == 3


@needs("ziegen_editing")
def test_real_correlation_of_content_and_fluency() -> None:
    assert round(pearson(real(), "content", "fluency"), 3) == 0.880


@needs("ziegen_editing")
def test_real_repeats_are_one_extra_rater() -> None:
    """Four annotators; two edits were judged twice by the same one."""
    sizes = real().ratings.groupby("rater").size()
    assert list(sizes.index) == ["r1", "r2", "r3", "r4", "r5"]
    assert sizes["r5"] == 6
