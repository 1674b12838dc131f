"""Finding WordNet: Debian's files become an NLTK corpus, whole, private and once."""

import multiprocessing
import os
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.metrics import needs_wordnet, score, value
from tstmeta import metrics
from tstmeta.metrics import Request, wordnet

WORDS = [
    f"{word}{end}" for word in ("car", "walk", "run", "good", "big") for end in ("", "s", "ed")
]


@pytest.fixture
def debian(tmp_path):
    """A folder that looks like Debian's."""
    folder = tmp_path / "debian"
    folder.mkdir()
    for name in wordnet._COPIED:
        (folder / name).write_text(f"  1 text of {name}\n")
    return folder


def convert(debian: Path, cache: Path) -> Path:
    folder = wordnet._converted(debian, cache)
    assert folder is not None
    return folder


# -------------------------------------------------------------------------------------- lexnames


def test_lexnames_lists_the_45_lexicographer_files():
    rows = [line.split("\t") for line in wordnet.lexnames().splitlines()]
    assert [row[0] for row in rows] == [f"{number:02d}" for number in range(45)]
    assert len({row[1] for row in rows}) == 45
    assert rows[3] == ["03", "noun.Tops", "1"]
    assert rows[29] == ["29", "verb.body", "2"]
    assert rows[44] == ["44", "adj.ppl", "3"]


def test_every_lexicographer_file_has_the_category_of_its_name():
    category = {"noun": "1", "verb": "2", "adj": "3", "adv": "4"}
    for line in wordnet.lexnames().splitlines():
        _, name, number = line.split("\t")
        assert category[name.split(".")[0]] == number


# ------------------------------------------------------------------------------------ converting


def test_the_files_are_copied_and_lexnames_is_added(debian, tmp_path):
    corpus = convert(debian, tmp_path / "cache") / "corpora" / "wordnet"
    assert {path.name for path in corpus.iterdir()} == {*wordnet._COPIED, "lexnames"}
    assert (corpus / "data.noun").read_bytes() == (debian / "data.noun").read_bytes()
    assert (corpus / "lexnames").read_text() == wordnet.lexnames()


def test_nobody_else_can_write_to_the_copy_whatever_the_umask(debian, tmp_path):
    before = os.umask(0)
    try:
        folder = convert(debian, tmp_path / "cache")
    finally:
        os.umask(before)
    for path in (folder, *folder.rglob("*")):
        assert path.stat().st_mode & 0o022 == 0, path


def test_a_second_call_copies_nothing(debian, tmp_path):
    folder = convert(debian, tmp_path / "cache")
    mark = folder / "mark"
    mark.write_text("still here")
    assert wordnet._converted(debian, tmp_path / "cache") == folder
    assert mark.is_file()


def test_an_upgraded_package_is_copied_anew(debian, tmp_path):
    old = convert(debian, tmp_path / "cache")
    (debian / "data.noun").write_text("another edition\n")
    new = convert(debian, tmp_path / "cache")
    assert new != old
    assert (new / "corpora" / "wordnet" / "data.noun").read_text() == "another edition\n"


@pytest.mark.parametrize("name", ["data.noun", "index.sense", "verb.exc"])
def test_an_incomplete_package_is_not_used(debian, tmp_path, name):
    (debian / name).unlink()
    assert wordnet._converted(debian, tmp_path / "cache") is None
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_said_aloud(debian, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(RuntimeWarning, match="works without synonyms"):
        assert wordnet._converted(debian, tmp_path / "file") is None


def test_a_copy_that_fails_leaves_nothing_behind(debian, tmp_path, monkeypatch):
    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(wordnet.shutil, "copyfile", full)
    with pytest.warns(RuntimeWarning, match="disk full"):
        assert wordnet._converted(debian, tmp_path / "cache") is None
    assert list((tmp_path / "cache").iterdir()) == []


def test_several_processes_at_once_end_with_one_whole_copy(debian, tmp_path):
    cache = tmp_path / "cache"
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("fork")) as pool:
        folders = set(pool.map(wordnet._converted, [debian] * 8, [cache] * 8))
    assert list(cache.iterdir()) == list(folders)


# -------------------------------------------------------------------------------------- using it


def test_listing_metrics_reads_no_wordnet_and_imports_no_nltk():
    code = "import sys; from tstmeta import metrics; metrics.names(); print('nltk' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_without_wordnet_meteor_goes_on_and_its_signature_says_so(monkeypatch):
    monkeypatch.setattr(wordnet, "_corpus", lambda: None)
    monkeypatch.setattr(wordnet, "_reader", wordnet._reader.__wrapped__)
    monkeypatch.setattr(wordnet, "synonyms", wordnet.synonyms.__wrapped__)
    meteor = metrics.get("meteor")  # not the shared one: it has looked words up
    [[found]] = list(meteor.score([(Request("The car stopped.", ("The auto stopped.",)),)]))
    assert found == score("meteor:no-synonyms", "The car stopped.", "The auto stopped.")
    assert wordnet.version() is None
    assert "|synonyms:none|" in str(meteor.signature("source"))


@needs_wordnet
def test_the_signature_names_the_edition():
    assert re.fullmatch(r"wordnet-3\.\d-[0-9a-f]{8}", str(wordnet.version()))
    assert f"|synonyms:{wordnet.version()}|" in str(metrics.get("meteor").signature("source"))


@needs_wordnet
@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("car", "auto", 0.5),
        ("cars", "autos", 0.5),
        ("car", "tree", 0),
        ("car", "automobile", 0),  # NLTK looks stems up, and "automobil" is no word
    ],
)
def test_a_synonym_counts_as_a_match(source, output, expected):
    assert value("meteor", output, source) == expected


@needs_wordnet
def test_synonyms_are_single_words_of_any_sense_and_know_inflection():
    assert {"car", "automobile"} <= wordnet.synonyms("automobiles")
    assert not any("_" in name for name in wordnet.synonyms("car"))
    assert wordnet.synonyms("qwertyuiop") == frozenset()


@needs_wordnet
def test_threads_get_the_answers_that_one_thread_gets():
    look_up = wordnet.synonyms.__wrapped__
    expected = [look_up(word) for word in WORDS]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(look_up, WORDS * 5)) == expected * 5


@needs_wordnet
def test_forked_processes_do_not_share_file_positions():
    look_up = wordnet.synonyms.__wrapped__
    expected = [look_up(word) for word in WORDS]  # the files are open now
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        found = list(pool.map(_look_up_all, range(2)))
    assert found == [expected, expected]


def _look_up_all(_: int) -> list[frozenset[str]]:
    return [wordnet.synonyms.__wrapped__(word) for word in WORDS]
