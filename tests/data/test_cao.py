"""Private ratings: the form that we ask for, on made-up files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data.raw import change, complaint
from tests.data.tables import write_table
from tstmeta.data import cao
from tstmeta.schema import MissingData


@pytest.fixture
def root(tmp_path: Path) -> Path:
    def row(name: str, direction: str, style: str, content: str) -> dict[str, object]:
        return {
            "id": name,
            "source": f"Take it {direction[:6]}.",
            "output": f"Take one pill, {name}.",
            "system": "sys",
            "direction": direction,
            "style": style,
            "content": content,
        }

    rows = [
        row("a", "expert2layman", "4.5", "1"),
        row("b", "expert2layman", "", "5"),
        row("c", "layman2expert", "2", " "),
    ]
    write_table(tmp_path / cao.FILE, rows)
    return tmp_path


def test_means_are_ratings_and_empty_cells_are_none(root: Path) -> None:
    loaded = cao.load(root)
    assert set(loaded.ratings["rater"]) == {"mean"}
    assert loaded.ratings[["item_id", "dimension", "value"]].to_numpy().tolist() == [
        ["a", "style", 4.5],
        ["a", "content", 1.0],
        ["b", "content", 5.0],
        ["c", "style", 2.0],
    ]


def test_items_name_style_and_source(root: Path) -> None:
    items = cao.load(root).items
    assert items["style"].tolist() == ["layman", "layman", "expert"]
    assert items["source_id"].tolist() == ["expert2layman-1", "expert2layman-1", "layman2expert-1"]


def test_without_the_file_we_say_whom_to_ask(tmp_path: Path) -> None:
    assert not cao.ready(tmp_path)
    with pytest.raises(MissingData, match=r"private.*Ask the authors.*tstmeta data show cao"):
        cao.load(tmp_path)


def test_the_card_shows_every_column(root: Path) -> None:
    body = cao.load(root).card.body
    header = (root / cao.FILE).read_text().split("\n")[0].split(",")
    assert all(f"`{column}`" in body for column in header)
    assert all(f"`{direction}`" in body for direction in cao.DIRECTIONS)


BROKEN: list[tuple[str, Callable[[Path], object], list[str]]] = [
    ("a missing column", lambda p: change(p, "content", "meaning"), ["column content"]),
    ("off the scale", lambda p: change(p, "4.5", "5.5"), ["row 1", "from 1 to 5"]),
    ("no number", lambda p: change(p, "4.5", "good"), ["row 1", "style", "'good'"]),
    ("an id twice", lambda p: change(p, "\nb,", "\na,"), ["row 2", "already in row 1"]),
    ("no id", lambda p: change(p, "\nb,", "\n,"), ["row 2", "column id", "the card"]),
    ("a direction", lambda p: change(p, "layman2expert", "up"), ["row 3", "'expert2layman'"]),
]


@pytest.mark.parametrize(
    ("harm", "expected"), [pytest.param(*case[1:], id=case[0]) for case in BROKEN]
)
def test_faults_are_reported(
    root: Path, harm: Callable[[Path], object], expected: list[str]
) -> None:
    harm(root / cao.FILE)
    message = complaint(cao.load, root)
    assert all(text in message for text in expected), message
