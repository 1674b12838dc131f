"""Word mover's distance and Sim, held against linear programs, POT and sums by hand."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from tstmeta.metrics.base import Request
from tstmeta.metrics.movers import Sim, Wmd
from tstmeta.models import encoders
from tstmeta.models.encoders import MINILM
from tstmeta.models.vectors import VectorFile
from tstmeta.schema import Status, TstmetaError

#: Vectors whose distances are easy: a and b are 5 apart, z is the origin.
LINES = "a 0 0 0\nb 3 4 0\nc 0 0 2\nd 3 4 2\ne -1 7 1\nz 0 0 0\n"
TABLE = {line.split()[0]: [float(x) for x in line.split()[1:]] for line in LINES.splitlines()}
embedded = pytest.mark.skipif(bool(encoders.missing(MINILM)), reason="no embedded encoder here")


@pytest.fixture(scope="module")
def vectors(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("movers") / "vectors.txt"
    file.write_text(LINES, encoding="utf-8")
    return file


def scored(metric, *pairs):
    units = [(Request(output, (against,), against),) for against, output in pairs]
    return [score for unit in metric.score(units) for score in unit]


def value(metric, against, output):
    [found] = scored(metric, (against, output))
    assert found.status is Status.OK
    return found.value


def program(one: str, other: str) -> float:
    """The oracle: the transport problem as a linear program over all words, shared ones too."""
    bags = [Counter(text.split()) for text in (one, other)]
    places = [np.array([TABLE[word] for word in bag]) for bag in bags]
    masses = [np.array(list(bag.values())) / bag.total() for bag in bags]
    m, n = (len(bag) for bag in bags)
    rows = np.kron(np.eye(m), np.ones(n))
    columns = np.kron(np.ones(m), np.eye(n))
    found = linprog(
        cdist(*places).ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate(masses)
    )
    return float(found.fun)


@pytest.mark.parametrize(
    ("against", "output", "wanted"),
    [
        ("a", "b", 5),
        ("a", "a", 0),
        ("a b", "b a", 0),
        ("a a b b", "b a", 0),
        ("a", "a b", 2.5),
        ("a c", "b d", 5),
        ("a a b", "a b b", 5 / 3),
        ("A unknown", "B", 5),
    ],
)
def test_the_distance_is_what_the_words_travel(vectors, against, output, wanted):
    metric = Wmd(f"vectors={vectors}")
    assert value(metric, against, output) == pytest.approx(wanted, abs=1e-12)
    assert value(metric, output, against) == pytest.approx(wanted, abs=1e-12)


texts = st.lists(st.sampled_from("abcde"), min_size=1, max_size=9).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(texts, texts)
def test_the_distance_is_that_of_the_whole_linear_program(vectors, one, other):
    assert value(Wmd(f"vectors={vectors}"), one, other) == pytest.approx(
        program(one, other), abs=1e-8
    )


@settings(max_examples=30, deadline=None)
@given(texts, texts, texts)
def test_distances_obey_the_triangle_inequality(vectors, one, two, three):
    metric = Wmd(f"vectors={vectors}")
    legs = value(metric, one, two) + value(metric, two, three)
    assert value(metric, one, three) <= legs + 1e-9


def test_unit_vectors_are_at_most_2_apart(vectors):
    metric = Wmd(f"unit+vectors={vectors}")
    assert value(metric, "b", "c") == pytest.approx(math.sqrt(2))
    assert value(metric, "b", "d") == pytest.approx(math.sqrt(2 - 10 / math.sqrt(29)))


@embedded
def test_the_embedded_distance_is_pots_over_all_tokens():
    pairs = [("the cat sat on the mat", "a dog sat on a mat"), ("good soup", "bad soup !")]
    encoder = encoders.load(MINILM)
    for (one, other), found in zip(pairs, scored(Wmd(), *pairs), strict=True):
        sides = [
            np.unique(ids, return_counts=True) for ids in encoder.ids([one, other], control=False)
        ]
        places = [encoder.static[ids].astype(float) for ids, _ in sides]
        masses = [counts / counts.sum() for _, counts in sides]
        assert found.value == pytest.approx(ot.emd2(*masses, cdist(*places)), abs=1e-9)


def test_the_nearest_of_several_references_counts(vectors):
    metric = Wmd(f"vectors={vectors}")
    [[found]] = metric.score([(Request("a", ("b", "c", "d"), "b"),)])
    assert found.value == pytest.approx(2)
    assert not metric.higher_is_better


@pytest.mark.parametrize("kind", [Wmd, Sim])
def test_texts_without_words_have_no_distance_and_cost_only_themselves(vectors, kind):
    found = scored(kind(f"vectors={vectors}"), ("a b", "b"), ("unknown", "b"), ("", "b"))
    assert [one.status for one in found[:2]] == [Status.OK, Status.INVALID]
    assert found[1].detail == "a text has no word with a vector"
    # a distance of 0 would be the best of all; a cosine of 0 is not
    wanted = {Wmd: Status.INVALID, Sim: Status.EMPTY}[kind]
    assert found[2].status is wanted
    assert math.isnan(found[2].value) == (kind is Wmd)


def test_a_long_text_is_cut_and_survives(vectors):
    [found] = scored(Wmd(f"vectors={vectors}"), ("a b " * 5000, "a"))
    assert found.status is Status.TRUNCATED
    assert found.value == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("against", "output", "wanted"),
    [
        ("b", "d", 5 / math.sqrt(29)),
        ("b", "b b b", 1),
        ("b", "c", 0),
        ("b c", "d", 1),
        ("b c c", "d", (25 + 8) / math.sqrt((25 + 16) * 29)),
    ],
)
def test_sim_is_the_cosine_of_sums_of_vectors(vectors, against, output, wanted):
    assert value(Sim(f"vectors={vectors}"), against, output) == pytest.approx(wanted)


def test_sim_weighs_words_by_idf(vectors, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a b\nb b c\nb\n\na c e\n", encoding="utf-8")
    metric = Sim(f"vectors={vectors}+idf={corpus}")
    # 4 texts: b in 3, c in 2, e in 1; d in none weighs like a word of one text
    b, c, d = (np.array(TABLE[word]) for word in "bcd")
    one = math.log(4 / 3) * 2 * b + math.log(4 / 2) * c
    other = math.log(4) * d + math.log(4 / 2) * c
    wanted = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert value(metric, "b b c", "d c") == pytest.approx(wanted)
    assert wanted != pytest.approx(value(Sim(f"vectors={vectors}"), "b b c", "d c"), abs=1e-3)


def test_words_that_all_texts_have_weigh_nothing(vectors, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("b\nb c\n", encoding="utf-8")
    [found] = scored(Sim(f"vectors={vectors}+idf={corpus}"), ("b", "c"))
    assert (found.status, found.detail) == (Status.INVALID, "all words of a text weigh nothing")


@embedded
def test_the_embedded_sim_is_the_cosine_of_mean_token_rows():
    encoder = encoders.load(MINILM)
    one, other = "the cat sat", "a dog sat down"
    means = [encoder.static[ids].mean(0) for ids in encoder.ids([one, other], control=False)]
    wanted = means[0] @ means[1] / np.linalg.norm(means[0]) / np.linalg.norm(means[1])
    assert value(Sim(), one, other) == pytest.approx(float(wanted), abs=1e-5)


@pytest.mark.parametrize("kind", [Wmd, Sim])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("vectors=/no/such/file", "which is no file"),
        ("nonsense", "names no option and no model"),
        ("owner/name", "'owner/name' names no option.*use .*vectors=FILE"),
        (".", "'.' names no option"),  # a folder is no file of vectors
        ("vectors=a+vectors=b", "two files"),
    ],
)
def test_words_that_mean_nothing_are_told(kind, words, said):
    with pytest.raises(TstmetaError, match=said):
        kind(words)


@pytest.mark.parametrize("kind", [Wmd, Sim])
def test_a_fault_in_the_file_is_in_every_row_with_its_line(tmp_path, kind, monkeypatch):
    file = tmp_path / "bad.txt"
    file.write_text("a 1 2\nb 1\n", encoding="utf-8")
    reads = []
    plain = VectorFile._word
    monkeypatch.setattr(VectorFile, "_word", lambda *a: reads.append(a[2]) or plain(*a))
    found = scored(kind(f"vectors={file}"), ("a", "b"), ("b", "a"), ("b b", "a"))
    assert {one.status for one in found} == {Status.ERROR}
    assert all("line 2: 1 numbers, not 2" in one.detail for one in found)
    assert reads == [1, 2]  # a large file is not read again for each rewrite


def test_signatures_tell_vectors_weights_and_no_path(vectors, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("b\n", encoding="utf-8")
    names = [f"vectors={vectors}", f"vectors={vectors}+idf={corpus}"]
    found = [str(Sim(words).signature("source")) for words in names]
    found += [str(Wmd(words).signature("source")) for words in (names[0], f"unit+{names[0]}")]
    assert len(set(found)) == len(found)
    assert "|idf:uniform|" in found[0]
    assert "|idf:corpus.txt@" in found[1]
    assert all("|vectors:vectors.txt@" in one and str(vectors) not in one for one in found)


@pytest.mark.parametrize("kind", [Wmd, Sim])
def test_a_file_of_vectors_needs_no_encoder(vectors, kind, monkeypatch):
    monkeypatch.setattr(encoders.hub, "here", lambda model: False)
    assert kind().missing
    assert kind(f"vectors={vectors}").missing == ""
    assert (kind().profile, kind().languages) == ("embedded", ("en",))
    assert kind(f"vectors={vectors}").profile == "real"
