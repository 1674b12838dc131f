"""Synonyms: METEOR finds those of NLTK's WordNet, on every machine."""

import hashlib
from io import StringIO
from pathlib import Path

import nltk.data
import pytest
from nltk.corpus.reader import WordNetCorpusReader

from tests.metrics import metric, value
from tools import wordnet as maker
from tstmeta.metrics import wordnet

#: Where Debian's package ``wordnet-base`` puts the database.
DEBIAN = Path("/usr/share/wordnet")
needs_files = pytest.mark.skipif(
    not DEBIAN.is_dir(), reason="the files of WordNet are not here (Debian: wordnet-base)"
)


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("car", "auto", 0.5),
        ("car", "automobile", 0),  # NLTK looks stems up, and "automobil" is no word
        ("Paris", "Paname", 0),
    ],
)
def test_a_synonym_counts_as_a_match(source, output, expected):
    assert value("meteor", output, source) == expected


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("geese", "goose"),  # irregular
        ("churches", "church"),
        ("happiest", "happy"),
        ("went", "travel"),
        ("GEESE", "goose"),
        ("s", "second"),  # an ending alone is a word
    ],
)
def test_a_word_has_the_lemmas_of_its_base_forms(word, lemma):
    assert lemma in {each.name() for synset in wordnet.synsets(word) for each in synset.lemmas()}


@pytest.fixture
def reader(monkeypatch) -> WordNetCorpusReader:
    """NLTK's reader of Debian's files, which lack ``lexnames``."""
    monkeypatch.setattr(nltk.data, "path", [str(DEBIAN.resolve())])  # it reads from no other folder

    class Files(WordNetCorpusReader):
        def open(self, file: str):
            names = "".join(f"{number:02d}\tunnamed\t0\n" for number in range(45))
            text = (DEBIAN / file).read_text(encoding="utf-8") if file != "lexnames" else names
            return StringIO(text)

        def map_wn(self, version: str = "wordnet") -> None:
            """Other languages need it, and it takes seconds."""

    return Files(str(DEBIAN), None)


def lemmas(synsets) -> list[list[str]]:
    return sorted([each.name() for each in synset.lemmas()] for synset in synsets)


@pytest.mark.nightly
@pytest.mark.wordnet
@needs_files
@pytest.mark.filterwarnings("ignore:The multilingual functions")
def test_every_word_has_the_synsets_that_nltk_finds(reader):
    words = set(reader._lemma_pos_offset_map)
    words |= {form for forms in reader._exception_map.values() for form in forms}
    few = sorted(words)[::40]
    words = [*sorted(words)[::5], *(f"{w}{end}" for w in few for end in ("s", "ed", "ing", "est"))]
    differing = [w for w in words if lemmas(reader.synsets(w)) != lemmas(wordnet.synsets(w))]
    assert len(words) > 40_000
    assert differing == []


@pytest.mark.wordnet
@needs_files
def test_the_table_is_what_the_tool_makes_of_wordnet_s_files(tmp_path, monkeypatch):
    monkeypatch.setattr(maker, "TABLE", tmp_path / "table")
    maker.main(str(DEBIAN))
    shipped = Path(wordnet.__file__).with_name("wordnet.txt.xz")
    assert (tmp_path / "table").read_bytes() == shipped.read_bytes()
    names = [name for p in maker.PARTS for name in (f"data.{p}", f"index.{p}", f"{p}.exc")]
    digest = hashlib.sha256(b"".join((DEBIAN / name).read_bytes() for name in sorted(names)))
    assert metric("meteor").fields()["synonyms"] == f"wordnet-3.0-{digest.hexdigest()[:8]}"
