"""WordNet: which is found, and that threads, forks and machines without it are served."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from tests.metrics import needs_wordnet, score, value
from tstmeta import metrics
from tstmeta.metrics import Request, wordnet

WORDS = ["car", "cars", "walked", "good"]


@needs_wordnet
@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("car", "auto", 0.5),
        ("cars", "autos", 0.5),
        ("car", "automobile", 0),  # NLTK looks stems up, and "automobil" is no word
    ],
)
def test_a_synonym_counts_as_a_match(source, output, expected):
    assert value("meteor", output, source) == expected


def test_without_wordnet_meteor_goes_on_and_its_signature_says_so(monkeypatch):
    monkeypatch.setattr(wordnet, "_corpus", lambda: None)
    for name in ("_reader", "version", "synsets"):
        monkeypatch.setattr(wordnet, name, getattr(wordnet, name).__wrapped__)
    meteor = metrics.get("meteor")
    [[result]] = list(meteor.score([(Request("The car stopped.", ("The auto stopped.",)),)]))
    assert result == score("meteor:no-synonyms", "The car stopped.", "The auto stopped.")
    assert "|synonyms:none|" in str(meteor.signature("source"))


def look_up(_: int) -> list[list[str]]:
    return [[each.name() for each in wordnet.synsets.__wrapped__(word)] for word in WORDS]


@needs_wordnet
def test_threads_and_forked_processes_get_the_answers_that_one_thread_gets():
    expected = look_up(0)  # the files are open now
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(look_up, range(5))) == [expected] * 5
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert list(pool.map(look_up, range(2))) == [expected] * 2
