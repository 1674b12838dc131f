"""Cosines, word mover's distance and Sim against libraries, linear programs and sums by hand."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from tests.metrics import metric, scored, transport, values
from tests.models import tiny_encoder
from tests.models.style import needs_encoder
from tests.models.tiny_encoder import TEXTS
from tstmeta.data import load
from tstmeta.metrics.semantic import Cosine, Sim, Wmd
from tstmeta.models.encoders import MINILM
from tstmeta.schema import Status

PAIRS = [(a, b) for a in TEXTS for b in TEXTS[::2]]


def value(metric, text, output):
    [result] = scored(metric, (text, output))
    assert result.status is Status.OK
    return result.value


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_encoder.pooled(tmp_path_factory.mktemp("sentences") / "tiny", normalize=False)


def upstream(where, pairs):
    from sentence_transformers import SentenceTransformer  # takes seconds

    model = SentenceTransformer(str(where), device="cpu")
    return [model.encode(list(side), show_progress_bar=False) for side in zip(*pairs, strict=True)]


@needs_encoder
@pytest.mark.parametrize("name", ["bertscore", "cosine"])
def test_texts_that_are_alike_to_the_encoder_tie_whatever_stands_in_their_batch(name):
    items = load("contrast").items.head(60)
    together = metric(name).pairs(list(zip(items["source"], items["output"], strict=True)))
    louder = zip(items["source"], items["output"].str.upper(), strict=True)
    ties = [
        one == metric(name).pairs([pair])[0] for one, pair in zip(together, louder, strict=True)
    ]
    assert np.mean(ties) > 0.9  # without rounding about half


@pytest.mark.parametrize("name", ["tiny", pytest.param("embedded", marks=needs_encoder)])
def test_cosine_is_that_of_sentence_transformers(folder, name):
    from sentence_transformers.util import pairwise_cos_sim

    where = MINILM.where if name == "embedded" else folder
    metric = Cosine("" if name == "embedded" else str(folder))
    wanted = pairwise_cos_sim(*upstream(where, PAIRS)).numpy()
    assert np.abs(values(metric, PAIRS) - wanted).max() < 1e-5
    assert np.ptp(wanted) > 0.2


#: Vectors whose distances are easy: a and b are 5 apart, z is the origin.
LINES = "a 0 0 0\nb 3 4 0\nc 0 0 2\nd 3 4 2\ne -1 7 1\nz 0 0 0\n"
TABLE = {line.split()[0]: [float(x) for x in line.split()[1:]] for line in LINES.splitlines()}


@pytest.fixture(scope="module")
def vectors(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("movers") / "vectors.txt"
    file.write_text(LINES, encoding="utf-8")
    return file


def program(first: str, second: str) -> float:
    """The oracle: the transport problem as a linear program over all words, shared ones too."""
    bags = [Counter(text.split()) for text in (first, second)]
    places = [np.array([TABLE[word] for word in bag]) for bag in bags]
    masses = [np.array(list(bag.values())) / bag.total() for bag in bags]
    return transport(cdist(*places), *masses)


word_texts = st.lists(st.sampled_from("abcde"), min_size=1, max_size=9).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(word_texts, word_texts)
def test_the_distance_is_that_of_the_whole_linear_program(vectors, first, second):
    ours = value(Wmd(f"vectors={vectors}"), first, second)
    assert ours == pytest.approx(program(first, second), abs=1e-8)


@pytest.mark.parametrize("kind", [Wmd, Sim])
def test_texts_without_words_have_no_distance_and_cost_only_themselves(vectors, kind):
    pairs = [("a b", "b"), ("unknown", "b"), ("", "b"), ("a b " * 5000, "a")]
    full, unknown, blank, long = scored(kind(f"vectors={vectors}"), *pairs)
    assert (full.status, unknown.status) == (Status.OK, Status.INVALID)
    assert unknown.detail == "a text has no word with a vector and a weight"
    # a distance of 0 would be the best of all; a cosine of 0 is not
    assert blank == ({Wmd: 100.0, Sim: 0.0}[kind], Status.EMPTY, "empty text")
    assert long.status is {Wmd: Status.TRUNCATED, Sim: Status.INVALID}[kind]


def test_sim_is_the_cosine_of_sums_of_vectors(vectors):
    wanted = (25 + 8) / math.sqrt((25 + 16) * 29)
    assert value(Sim(f"vectors={vectors}"), "b c c", "d") == pytest.approx(wanted)


def test_sim_weighs_words_by_idf(vectors, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a b\nb b c\nb\n\na c e\n", encoding="utf-8")
    # 4 texts: b in 3, c in 2, e in 1; d in none weighs like a word of one text
    b, c, d = (np.array(TABLE[word]) for word in "bcd")
    first = math.log(4 / 3) * 2 * b + math.log(4 / 2) * c
    second = math.log(4) * d + math.log(4 / 2) * c
    wanted = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert value(Sim(f"vectors={vectors}+idf={corpus}"), "b b c", "d c") == pytest.approx(wanted)
    corpus.write_text("b\nb c\n", encoding="utf-8")
    [result] = scored(Sim(f"vectors={vectors}+idf={corpus}"), ("b", "c"))
    assert result.status is Status.INVALID, "all words of a text weigh nothing"
