"""No page and no file shows a sentence of others that may not be shown."""

import re
from functools import cache
from html import unescape

import pytest

from tests import written
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import Card
from tstmeta.schema import TstmetaError

FOREIGN = [name for name in data.names() if not Card.read(name).facts.get("examples")]


def bare(text: str) -> str:
    """Words without case and punctuation, one space between them and at both ends."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', unescape(text).lower()))} "


@cache
def foreign_sentences() -> dict[str, set[str]]:
    """First six words -> sentences, of every third-party sentence of six words or more here.

    Sentences that a data set which may be shown has as well do not count, by themselves or within a
    longer text: strangers thank each other in the same words.
    """
    texts = {text for name in ("contrast", "pauli") for text in sentences(name)}
    shared = {bare(part) for text in texts for part in (text, *re.split("[.!?]", text))}
    known: dict[str, set[str]] = {}
    for name in FOREIGN:
        for text in sentences(name):
            words = bare(text)
            if len(words.split()) >= 6 and words not in shared:
                known.setdefault(" ".join(words.split()[:6]), set()).add(words)
    return known


def sentences(name: str) -> set[str]:
    if not data.has_texts(name):
        return set()
    try:
        items = data.load(name).items
    except TstmetaError:  # a corpus: a sample of it
        return set(data._module(name).corpus(data.root(name))["text"].iloc[::7])
    references = {text for texts in items["references"] for text in texts}
    every = {*items["source"], *items["output"], *references}
    return {text for text in every if isinstance(text, str)}  # a text may not be here


def shown(text: str) -> int:
    """How many third-party sentences are in a text; not which."""
    words = bare(text)
    split = words.split()
    runs = {" ".join(split[i : i + 6]) for i in range(len(split) - 5)}
    known = foreign_sentences()
    return sum(any(text in words for text in known[run]) for run in runs & known.keys())


@needs("lai", "mir", "alva", "lens", "li2018", "dualrl", "mukherjee", "paradetox", "yelp")
def test_the_search_knows_sentences_and_sees_them():
    assert len(foreign_sentences()) > 20_000
    for name in ("lai", "mir", "alva", "li2018"):
        some = sorted(text for text in sentences(name) if len(text.split()) >= 8)[0]
        assert shown(f"<td>{some.upper()}!</td>") == 1, name
    assert shown("the quick brown fox jumps over the lazy dog") == 0


#: Endings of files that hold text.
ENDINGS = {".py", ".md", ".csv", ".ipynb", ".yml", ".xml", ".toml", ".json", ".j2", ".html", ".txt"}


@needs("lai", "mir", "alva")
@pytest.mark.parametrize("place", ["", "book/_generated", "book/results", "book/_build/html"])
def test_no_file_holds_a_sentence_of_others_that_may_not_be_shown(place):
    files = written.built(place) if place else written.tracked()
    if not files:
        pytest.skip(f"{place} is not built")
    leaks = {}
    for path in (path for path in files if path.suffix in ENDINGS):
        text = written.text_of(path).replace("\\n", " ")
        if count := shown(re.sub(r"<[^>]+>", " ", text) if place else text):
            leaks[path.relative_to(written.ROOT).as_posix()] = count
    assert leaks == {}
