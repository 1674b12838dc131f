"""No id or name of a person who rated anything appears in what the project writes.

Ids are read from the raw files by the names of their columns; they are compared and never printed.
"""

import csv
import os
import re
from functools import cache
from pathlib import Path

import pytest

from tests import written
from tests.helpers import needs, where_here
from tstmeta import data, schema
from tstmeta.data import paths
from tstmeta.schema import TstmetaError

#: Columns of raw files that say who somebody is.
WHO = re.compile(
    r"prolific|worker|annotator|turker|participant|rater_?id|user_?id|e-?mail|assignment_?id|hit_?id",
    re.I,
)
#: Folders that are named after a person.
PERSON = re.compile(r"[0-9a-f]{24}")
TEAMS = "human_evaluation_results"  # its folders are named after teams and people
#: Columns that are sure to be there, so that the search is known to search.
KNOWN = {
    *(("pauli", f"prolificID_{number}") for number in (1, 2, 3)),
    *(("alva", "worker_id"), ("alva", "rater_id"), ("lens", "WorkerId")),
    *(("li2018", "WorkerId"), ("li2018", "AssignmentId"), ("ziegen_editing", "user_id")),
    *(("strap", "WorkerId"), ("strap", "AssignmentId"), ("mis", "_worker_id")),
    *(("sottana", "folder"), ("russe2022", "participant_name"), ("textdetox2024", "folder")),
}
RATER = re.compile(r"r[1-9][0-9]*|mean")


def raw_folders() -> list[Path]:
    given = os.environ.get("TSTMETA_DATA")
    places = [*([Path(given)] if given else []), paths.external()]
    return [place / name for name in data.names() for place in places if (place / name).is_dir()]


@cache
def persons() -> dict[tuple[str, str], frozenset[str]]:
    """(data set, column) -> its values, from every table among the raw files; folders, too."""
    csv.field_size_limit(10**9)
    found: dict[tuple[str, str], set[str]] = {}
    for folder in raw_folders():
        for path in folder.rglob("*"):
            team = path.parent.name == TEAMS and path.is_dir() and "baseline" not in path.name
            if team or PERSON.fullmatch(path.name):
                found.setdefault((folder.name, "folder"), set()).add(path.name)
            delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
            if delimiter is None:
                continue
            with path.open(encoding="utf-8", errors="replace", newline="") as file:
                rows = csv.reader(file, delimiter=delimiter)
                places = {i: name for i, name in enumerate(next(rows, [])) if WHO.search(name)}
                for row in rows:
                    for i, name in places.items():
                        if i < len(row) and row[i].strip():
                            found.setdefault((folder.name, name), set()).add(row[i].strip())
    return {key: frozenset(values) for key, values in found.items()}


@cache
def long_ids() -> frozenset[str]:
    """Ids of six or more characters."""
    return frozenset(one for values in persons().values() for one in values if len(one) >= 6)


@cache
def long_names() -> frozenset[str]:
    """Those of them that are not one run of letters and digits."""
    return frozenset(one for one in long_ids() if not re.fullmatch(r"[A-Za-z0-9]+", one))


def leaks(text: str) -> int:
    """How many ids are in a text; not which."""
    return len(written.tokens(text) & long_ids()) + sum(one in text for one in long_names())


@needs(*sorted({name for name, _ in KNOWN}))
def test_the_search_knows_the_columns_of_persons():
    assert set(persons()) >= KNOWN
    assert len(long_ids()) > 1000
    # ids are looked for as runs of letters and digits; there are few of another form
    assert len(long_names()) < 20
    some, name = next(iter(long_ids() - long_names())), next(iter(long_names()))
    alone, within, long = leaks(f"<td>{some}</td>"), leaks(f"x{some}"), leaks(f"({name})")
    assert (alone, within, long) == (1, 0, 1)


@pytest.mark.parametrize("name", where_here(data.names()))
def test_no_table_that_a_loader_makes_holds_one(name):
    try:
        loaded = data.load(name)
    except TstmetaError:  # a corpus of single sentences
        corpus = data._module(name).corpus(data.root(name))
        assert leaks(written.table_text(corpus)) == 0
        return
    for table in schema.TABLES:
        frame = getattr(loaded, table)
        assert leaks(written.table_text(frame)) == 0, table
        if "rater" in frame:
            assert all(RATER.fullmatch(rater) for rater in frame["rater"].unique()), table
    assert not [label for label in loaded.labels["name"].unique() if WHO.search(label)]
    assert leaks(str(loaded.card)) == 0


@cache
def letters() -> dict[str, set[str]]:
    """Texts of paraguide, which are e-mails of people, with their tokens; without the shortest."""
    items = data.load("paraguide").items
    texts = {" ".join(text.split()) for text in [*items["source"], *items["output"]]}
    known = {text: written.tokens(text) for text in texts}
    return {text: tokens for text, tokens in known.items() if len(tokens) > 5}


def letters_in(text: str) -> int:
    """How many e-mails are in a text; not which."""
    known = written.tokens(text)
    near = [letter for letter, tokens in letters().items() if tokens <= known]
    return sum(letter in " ".join(text.split()) for letter in near)


@needs("pauli", "paraguide")
@pytest.mark.parametrize("folder", ["the repository", *written.BUILT])
def test_no_file_that_the_project_writes_holds_one(folder):
    count = letters_in(f"x {next(iter(letters()))} x")  # not in the assertion, which prints texts
    assert count > 0
    files = written.tracked() if folder == "the repository" else written.built(folder)
    if not files:
        pytest.skip(f"{folder} is not built")
    texts = {str(path.relative_to(written.ROOT)): written.text_of(path) for path in files}
    found = {
        name: counts
        for name, text in texts.items()
        if any(counts := (leaks(text), letters_in(text)))
    }
    assert found == {}
