"""Lexical metrics against the libraries that define them, or a slow sum, on random texts."""

import os
import random

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from nltk.tokenize import TreebankWordTokenizer
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from nltk.translate.meteor_score import single_meteor_score
from rouge_score.rouge_scorer import RougeScorer

from tests.metrics import metric, needs_wordnet, score, texts, value
from tstmeta.metrics import wordnet
from tstmeta.metrics.text import sentences, tokens13a

references = st.lists(texts, min_size=1, max_size=3)
VOCABULARY = (
    *("the", "The", "cat", "cats", "car", "auto", "autos", "dog", "hound", "ran", "running", "run"),
    *("good", "well", "better", "best", "I", "am", "is", "was", "be", "don't", "can't", "it's"),
    *("big", "large", "huge,", "small.", "little!", "fast?", "quick", "U.S.", "3.5", "%"),
    "purchase",
)
english = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=25).map(" ".join)
smooth = SmoothingFunction().method1


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


@given(texts | english, references)
def test_word_and_character_bleu_are_nltk_s_to_the_last_bit(output, references):
    split = [text.split() for text in references]
    expected = sentence_bleu(split, output.split(), smoothing_function=smooth)
    assert value("bleu:nltk-word", output, *references) == expected
    source = references[0]
    expected = sentence_bleu([output], source, smoothing_function=smooth)
    assert value("bleu:pauli2025", output, source) == expected


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


def treebank(text: str) -> list[str]:
    return [word for part in sentences(text) for word in TreebankWordTokenizer().tokenize(part)]


class NoWordNet:
    def synsets(self, word: str) -> list:
        return []


@given(texts | english, texts | english)
def test_meteor_without_synonyms_is_nltk_s(source, output):
    expected = single_meteor_score(
        treebank(source), treebank(output), stemmer=PorterStemmer(), wordnet=NoWordNet()
    )
    assert value("meteor:no-synonyms", output, source) == expected


@needs_wordnet
def test_meteor_is_nltk_s_with_a_wordnet_reader_and_its_own_stemmer():
    reader = wordnet._reader(os.getpid())
    rng = random.Random(3)
    for _ in range(300):
        source, output = (" ".join(rng.choices(VOCABULARY, k=rng.randint(1, 25))) for _ in "ab")
        expected = single_meteor_score(
            treebank(source), treebank(output), stemmer=PorterStemmer(), wordnet=reader
        )
        assert value("meteor", output, source) == expected, (source, output)


def slow_pinc(source: list[str], output: list[str]) -> float:
    terms = []
    for n in range(1, 5):
        built = {tuple(output[i : i + n]) for i in range(len(output) - n + 1)}
        given_ = {tuple(source[i : i + n]) for i in range(len(source) - n + 1)}
        if built:
            terms.append(1 - len(built & given_) / len(built))
    return 100 * sum(terms) / len(terms)


@given(texts | english, texts | english)
def test_pinc_is_the_sum_written_out(source, output):
    expected = slow_pinc(tokens13a(source), tokens13a(output))
    assert value("pinc", output, source) == pytest.approx(expected)
