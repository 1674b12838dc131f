"""Lexical metrics: tables with the edge rows first, and what holds for any texts."""

import csv
import math
import random
import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.helpers import needs
from tests.metrics import metric, needs_wordnet, score, texts, value
from tstmeta import metrics
from tstmeta.data import paths
from tstmeta.metrics.text import sentences
from tstmeta.schema import Status

NAMES = metrics.resolve(["lexical"])
#: Best and worst value; TER has no worst one.
RANGES = {
    "bleu": (100, 0),
    "bleu:pauli2025": (1, 0),
    "bleu:nltk-word": (1, 0),
    "corpus-bleu": (100, 0),
    "meteor": (1, 0),
    "chrf": (100, 0),
    "rouge1": (1, 0),
    "rouge2": (1, 0),
    "rougeL": (1, 0),
    "ter": (0, math.inf),
    "pinc": (0, 100),
    "edit-similarity": (1, 0),
}
SYMMETRIC = ("rouge1", "rouge2", "rougeL", "edit-similarity")
#: Metrics for which the best of several references counts; the others look at all together.
BEST_OF = ("bleu:pauli2025", "meteor", "chrf", *SYMMETRIC, "pinc")


def listed(name: str, known: tuple[str, ...]) -> bool:
    """Whether a metric, or the metric that it is a variant of, is in a list."""
    return name in known or name.partition(":")[0] in known


def limits(name: str) -> tuple[float, float]:
    return RANGES.get(name) or RANGES[name.partition(":")[0]]


EMPTY = [("", ""), ("a b", ""), ("", "a b"), ("a b", " \t\n"), ("a b", "\u3000\xa0"), ("\x1f", "a")]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("source", "output"), EMPTY)
def test_an_empty_text_matches_nothing(name, source, output):
    result = score(name, output, source)
    if metric(name).unit == "corpus":  # it has a length, which counts in the corpus
        assert result.value == 0
        assert (result.status is Status.EMPTY) == (not output.strip())
    else:
        assert (result.value, result.status) == (100.0 if name in ("ter", "pinc") else 0.0, "empty")


TABLE = [
    ("bleu", "😀", "😀", 100),
    ("bleu", "<skipped>", "<skipped>", 0),  # the tokenizer drops this mark
    ("bleu", "Hello, world!", "Hello , world !", 100),
    ("bleu:pauli2025", "a", "a", 0.1**0.75),
    ("bleu:pauli2025", "abcd", "abcde", math.exp(-1 / 4)),  # the longer output is the reference
    ("corpus-bleu", "a b c", "a b c", 0),  # no 4-gram
    ("corpus-bleu:multi-bleu", "a b c d e", "A b c d e", 100 * (4 / 5 * 3 / 4 * 2 / 3 / 2) ** 0.25),
    ("meteor:no-synonyms", "cat", "CATS", 0.5),
    ("meteor:no-synonyms", "I ran. You ran.", "I ran . You ran .", 1 - 0.5 / 6**3),
    ("rouge1", "😀", "😀", 1),
    ("rouge1", "...", "...", 1),
    ("rouge1", "été", "ete", 0),
    ("rouge1:stem", "cats", "cat", 1),
    ("rouge1:ascii", "नमस्ते", "नमस्ते", 0),
    ("ter", "a", "a b c", 200),
    ("pinc", "a b c d e", "a b c d f", (1 / 5 + 1 / 4 + 1 / 3 + 1 / 2) / 4 * 100),
    ("edit-similarity", "a b c", "a x c", 2 / 3),
    ("edit-similarity", "Yes!", "Yes !", 1),
]


@pytest.mark.parametrize(("name", "source", "output", "expected"), TABLE)
def test_the_value_worked_out_by_hand(name, source, output, expected):
    result = score(name, output, source)
    assert result.value == pytest.approx(expected, abs=1e-9)
    assert result.status is Status.OK


@pytest.mark.parametrize(
    ("name", "output", "references", "expected"),
    [
        ("bleu", "a b", ("a x", "y b"), 100 / math.sqrt(2)),  # words of both count, no pair does
        ("bleu:nltk-word", "a b c d e", ("a b c d e", "x"), 1),
        ("ter", "a b", ("a x", "a x y z"), 100 / 3),
    ],
)
def test_several_references_count_as_documented(name, output, references, expected):
    assert value(name, output, *references) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", [""]),
        ("One. two", ["One.", "two"]),
        ('He said "no." Then he left!', ['He said "no."', "Then he left!"]),
        ("3.5 is odd... Really?  Yes", ["3.5 is odd...", "Really?", "Yes"]),
        ("वह आया। वह गया॥ क्या?", ["वह आया।", "वह गया॥", "क्या?"]),
    ],
)
def test_sentences_end_at_white_space_after_an_end_mark(text, parts):
    assert sentences(text) == parts


@pytest.mark.parametrize("name", NAMES)
@given(source=texts, output=texts)
@example(source="a", output="a a a a a a a a a a")
@example(source="\u202eabc", output="a\u0301\u200d")
def test_a_value_is_finite_in_range_and_at_best_that_of_a_copy(name, source, output):
    best, worst = limits(name)
    result, copy = score(name, output, source), score(name, source, source)
    assert result.status is Status.OK, result
    assert min(best, worst) - 1e-9 <= result.value <= max(best, worst) + 1e-9
    sign = 1 if metric(name).higher_is_better else -1
    if metric(name).unit == "item" or len(source.split()) >= 4:
        assert sign * copy.value >= sign * result.value - 1e-9


@pytest.mark.parametrize(
    "name",
    [name for name in NAMES if listed(name, SYMMETRIC) and name != "rougeL:lai2023"],
)
@given(source=texts, output=texts)
def test_a_symmetric_metric_does_not_mind_the_order(name, source, output):
    assert value(name, output, source) == pytest.approx(value(name, source, output))


@pytest.mark.parametrize("name", NAMES)
@given(output=texts, references=st.lists(texts, min_size=1, max_size=3))
def test_neither_the_order_nor_the_repetition_of_references_matters(name, output, references):
    result = value(name, output, *references)
    assert value(name, output, *references[::-1]) == pytest.approx(result)
    assert value(name, output, *references, *references) == pytest.approx(result)
    if listed(name, BEST_OF):
        best = max if metric(name).higher_is_better else min
        assert result == best(value(name, output, text) for text in references)


@pytest.mark.parametrize("name", NAMES)
def test_ten_thousand_tokens_take_less_than_two_seconds(name):
    rng = random.Random(5)
    words = ["".join(rng.choices("aeionrst", k=rng.randint(2, 9))) for _ in range(3000)]
    source = rng.choices(words, k=10_000)
    edited = [rng.choice(words) if rng.random() < 0.2 else word for word in source]
    edited = edited[50:60] + edited[:50] + edited[60:]
    scorer = metric(name)
    value(name, "warm up", "warming up")
    start = time.process_time()
    result = score(name, " ".join(edited), " ".join(source))
    assert time.process_time() - start < 2
    assert result.status is (Status.OK if scorer.max_tokens is None else Status.TRUNCATED)
    assert math.isfinite(result.value)


@needs("pauli")
@needs_wordnet
@pytest.mark.parametrize(
    ("name", "part", "basis", "printed"),
    [
        *(("bleu:pauli2025", 1, "input", -0.82), ("bleu:pauli2025", 5, "input", -0.05)),
        *(("bleu:pauli2025", 2, "reference", -0.45), ("meteor", 1, "input", -0.55)),
        *(("meteor", 4, "input", 0.1), ("meteor", 2, "reference", -0.39)),
    ],
)
def test_correlations_with_ratings_have_the_printed_digits(name, part, basis, printed):
    path = paths.raw("pauli") / "data" / f"syntest_anno{part}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    values = [value(name, row["output"], row[basis]) for row in rows]
    ratings = [float(row["annoB_mean"]) for row in rows]
    assert round(np.corrcoef(values, ratings)[0, 1], 2) == printed
