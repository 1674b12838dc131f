"""Lexical metrics: edge rows first, values by hand, the libraries that define them, properties."""

import math
import random
import time

import numpy as np
import punkt
import pytest
import sacrebleu
from hypothesis import example, given
from hypothesis import strategies as st
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
from rouge_score.rouge_scorer import RougeScorer

from tests.helpers import needs
from tests.metrics import metric, score, texts, value
from tstmeta import data
from tstmeta.metrics import registry
from tstmeta.metrics.base import Request, for_language
from tstmeta.metrics.text import sentences
from tstmeta.schema import Status

NAMES = registry.resolve(["lexical"])
SYMMETRIC = ("rouge1", "rouge2", "rougeL", "edit-similarity")
#: Best and worst value; TER has no worst one.
RANGES = {
    **dict.fromkeys(("bleu", "corpus-bleu", "chrf"), (100, 0)),
    **dict.fromkeys(("bleu:pauli2025", "bleu:nltk-word", "meteor", *SYMMETRIC), (1, 0)),
    **{"ter": (0, math.inf), "pinc": (0, 100)},
}
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
    ("bleu", "<skipped>", "<skipped>", 0),  # the tokenizer drops this mark
    ("bleu:pauli2025", "a", "a", 0.1**0.75),
    ("bleu:pauli2025", "abcd", "abcde", math.exp(-1 / 4)),  # the longer output is the reference
    ("corpus-bleu", "a b c", "a b c", 0),  # no 4-gram
    ("corpus-bleu:multi-bleu", "a b c d e", "A b c d e", 100 * (4 / 5 * 3 / 4 * 2 / 3 / 2) ** 0.25),
    ("meteor:no-synonyms", "cat", "CATS", 0.5),
    ("meteor:no-synonyms", "I ran. You ran.", "I ran . You ran .", 1 - 0.5 / 6**3),
    # the full stop of "home." is a word, that of "Dr." is none
    ("meteor:no-synonyms", "Dr. X went home. I ran.", "Dr. X went home . I ran .", 1 - 0.5 / 8**3),
    ("rouge1", "😀", "😀", 1),
    ("rouge1:stem", "cats", "cat", 1),
    ("rouge1:ascii", "नमस्ते", "नमस्ते", 0),
    ("rouge1:lai2023", "It's gone. Don't ask.", "It 's gone Do n't ask", 1),  # no full stops
    ("rouge1:lai2023", "a b c", "A B C", 0),
    ("rouge1:lai2023", "a b a b", "a b", 1),  # an n-gram counts once
    ("rouge2:lai2023", "a b. c d", "b c", 2 * 1 * (1 / 3) / (1 + 1 / 3)),
    # common: {a b} and {d}; precision p = 1, recall r = 3/4, and F weighs by (p / r)^2 = 16/9
    ("rougeL:lai2023", "a b c. d", "a b. d", (25 / 9) * (3 / 4) / (3 / 4 + 16 / 9)),
    ("ter", "a", "a b c", 200),
    ("pinc", "a b c d e", "a b c d f", (1 / 5 + 1 / 4 + 1 / 3 + 1 / 2) / 4 * 100),
    ("edit-similarity", "Yes!", "Yes !", 1),
    # of two references words of both count, and no pair of words does
    ("bleu", ("a x", "y b"), "a b", 100 / math.sqrt(2)),
    ("bleu:nltk-word", ("a b c d e", "x"), "a b c d e", 1),
]


@pytest.mark.parametrize(("name", "against", "output", "expected"), TABLE)
def test_the_value_worked_out_by_hand(name, against, output, expected):
    result = score(name, output, *([against] if isinstance(against, str) else against))
    assert result.value == pytest.approx(expected, abs=1e-9)
    assert result.status is Status.OK


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("Dr. Smith went home. He slept.", ["Dr. Smith went home.", "He slept."]),
        ('He said "no." Then he left!', ['He said "no."', "Then he left!"]),
        ("It rose 3.5 per cent, i.e. little... Really?  Yes", None),
        ("one. two", ["one.", "two"]),
    ],
)
def test_sentences_are_those_of_nltks_punkt_with_its_trained_parameters(text, parts):
    known, parameters = punkt.load_model("english"), PunktParameters()
    for name in ("abbrev_types", "collocations", "sent_starters", "ortho_context"):
        getattr(parameters, name).update(getattr(known, name))
    theirs = PunktSentenceTokenizer(parameters).tokenize(text)
    assert sentences(text) == theirs == (theirs if parts is None else parts)


@pytest.mark.parametrize("name", NAMES)
@given(output=texts, references=st.lists(texts, min_size=1, max_size=3))
@example(output="a a a a a a a a a a", references=["a"])
@example(output="a\u0301\u200d", references=["\u202eabc"])
def test_what_holds_of_any_texts(name, output, references):
    """Finite, in range, at best a copy's; symmetric or not; order and repeats of references."""
    best, worst = limits(name)
    source = references[0]
    result, copy = score(name, output, source), score(name, source, source)
    assert result.status is Status.OK, result
    assert min(best, worst) - 1e-9 <= result.value <= max(best, worst) + 1e-9
    sign = 1 if metric(name).higher_is_better else -1
    if metric(name).unit == "item" or len(source.split()) >= 4:
        assert sign * copy.value >= sign * result.value - 1e-9
    if listed(name, SYMMETRIC) and name != "rougeL:lai2023":
        assert result.value == pytest.approx(value(name, source, output))
    every = value(name, output, *references)
    assert value(name, output, *references[::-1]) == pytest.approx(every)
    assert value(name, output, *references, *references) == pytest.approx(every)
    if listed(name, BEST_OF):
        best_of = max if metric(name).higher_is_better else min
        assert every == best_of(value(name, output, text) for text in references)


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


references = st.lists(texts, min_size=1, max_size=3)
VOCABULARY = (
    *("the", "The", "cat", "cats", "car", "auto", "autos", "dog", "hound", "ran", "running", "run"),
    *("good", "well", "better", "best", "I", "am", "is", "was", "be", "don't", "can't", "it's"),
    *("big", "large", "huge,", "small.", "little!", "fast?", "quick", "U.S.", "3.5", "%"),
    "purchase",
)
english = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=25).map(" ".join)
#: What the libraries say of an output and its references.
LIBRARIES = {
    "bleu": lambda output, texts: sacrebleu.sentence_bleu(output, texts, use_effective_order=True),
    "chrf": sacrebleu.sentence_chrf,
    "chrf:chrf++": lambda output, texts: sacrebleu.sentence_chrf(output, texts, word_order=2),
    "ter": sacrebleu.sentence_ter,
}


@pytest.mark.parametrize("name", LIBRARIES)
@given(texts | english, references)
def test_sentence_scores_are_sacrebleu_s_to_the_last_bit(name, output, references):
    assert value(name, output, *references) == LIBRARIES[name](output, references).score


corpora = st.lists(
    st.tuples(texts | english | st.just(""), st.lists(texts | english, min_size=1, max_size=3)),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("corpus-bleu", {}),
        ("corpus-bleu:multi-bleu", {"tokenize": "none", "smooth_method": "none"}),
    ],
)
@given(corpora, st.randoms(use_true_random=False))
def test_the_details_of_any_subset_give_its_corpus_bleu(name, options, items, rng):
    details = [score(name, output, *texts).detail for output, texts in items]
    chosen = [rng.randrange(len(items)) for _ in range(rng.randint(1, 10))]  # with repeats
    outputs = [items[index][0] for index in chosen]
    # sacreBLEU takes one list a reference number; an item that has fewer holds None.
    streams: list = [
        [items[index][1][k] if k < len(items[index][1]) else None for index in chosen]
        for k in range(3)
    ]
    expected = sacrebleu.corpus_bleu(outputs, streams, force=True, **options).score
    assert metric(name).combine([details[index] for index in chosen]) == expected


@pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeL"])
@given(source=english, output=english)
def test_rouge_is_rouge_score_s_on_ascii_words(kind, source, output):
    plain = RougeScorer([kind]).score(source, output)[kind].fmeasure
    stemmed = RougeScorer([kind], use_stemmer=True).score(source, output)[kind].fmeasure
    has_words = any(map(str.isalnum, source)) and any(map(str.isalnum, output))
    assert value(f"{kind}:ascii", output, source) == plain
    if has_words:  # else ours looks at the marks
        assert value(kind, output, source) == plain
        assert value(f"{kind}:stem", output, source) == stemmed


#: Pearson's r that recomputed scores reach at least, and how many of 720 may be off by .001.
RELEASED = {
    ("bleu:lai2023", "bleu"): (0.998, 28),
    ("chrf", "chrf"): (0.9999, 720),
    ("rouge1:lai2023", "rouge-1"): (0.999, 15),
    ("rouge2:lai2023", "rouge-2"): (0.999, 21),
    ("rougeL:lai2023", "rouge-l"): (0.999, 15),
}


@needs("lai")
@pytest.mark.parametrize(("name", "released"), RELEASED)
@pytest.mark.parametrize("basis", ["source", "reference"])
def test_recomputed_scores_are_the_released_ones(name, released, basis):
    loaded = data.load("lai")
    columns = [loaded.items["output"], loaded.items["source"], loaded.items["references"]]
    requests = [
        Request(output, (source,) if basis == "source" else tuple(references), source)
        for output, source, references in zip(*columns, strict=True)
    ]
    ours = np.array([score.value for score in registry.get(name).score(requests)])
    scores = loaded.scores
    rows = scores[(scores["metric"] == f"released:{released}") & (scores["basis"] == basis)]
    theirs = rows.set_index("item_id")["value"].reindex(loaded.items["item_id"]).to_numpy()
    least, most = RELEASED[name, released]
    assert np.corrcoef(ours, theirs)[0, 1] >= least
    assert (np.abs(ours - theirs) > 1e-3).sum() <= most


def test_in_chinese_each_character_is_a_word():
    source, output = "你真的很好 today，我们去吧。", "你真的不好 today，我们走吧。"
    request = Request(output, (source,), source, "polite", "zh")
    chinese = [for_language(metric(name), "zh") for name in ("bleu", "rougeL", "chrf")]
    bleu, rouge, chrf = (next(each.score([request])).value for each in chinese)
    by_sacrebleu = sacrebleu.BLEU(tokenize="zh", effective_order=True)
    assert bleu == pytest.approx(by_sacrebleu.sentence_score(output, [source]).score)
    assert (rouge, chrf) == (pytest.approx(0.8), value("chrf", output, source))
    assert for_language(metric("bleu"), "zh") is for_language(metric("bleu"), "zh")
