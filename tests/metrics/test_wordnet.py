"""WordNet: which is found, and that threads, forks and machines without it are served."""

import multiprocessing
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from tests.metrics import needs_wordnet, score, value
from tstmeta import metrics
from tstmeta.metrics import Request, wordnet

WORDS = [
    f"{word}{end}" for word in ("car", "walk", "run", "good", "big") for end in ("", "s", "ed")
]


def test_listing_metrics_reads_no_wordnet_and_imports_no_nltk():
    code = "import sys; from tstmeta import metrics; metrics.names(); print('nltk' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_without_wordnet_meteor_goes_on_and_its_signature_says_so(monkeypatch):
    monkeypatch.setattr(wordnet, "_corpus", lambda: None)
    monkeypatch.setattr(wordnet, "_reader", wordnet._reader.__wrapped__)
    monkeypatch.setattr(wordnet, "synonyms", wordnet.synonyms.__wrapped__)
    meteor = metrics.get("meteor")  # not the shared one: it has looked words up
    [[result]] = list(meteor.score([(Request("The car stopped.", ("The auto stopped.",)),)]))
    assert result == score("meteor:no-synonyms", "The car stopped.", "The auto stopped.")
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
        result = list(pool.map(_look_up_all, range(2)))
    assert result == [expected, expected]


def _look_up_all(_: int) -> list[frozenset[str]]:
    return [wordnet.synonyms.__wrapped__(word) for word in WORDS]
