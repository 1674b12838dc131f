"""Texts in other languages: spelt in one way, words whole, and no number from English rules."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics import metric, single
from tests.scored import dataset
from tstmeta import score
from tstmeta.metrics import Request, registry
from tstmeta.metrics.text import UnicodeWords, respelt, spelt, word_spans

ANY = [name for name in registry.resolve(["lexical"]) if not metric(name).languages]
JOINER, NON_JOINER, NUKTA, VIRAMA = "\u200d", "\u200c", "\u093c", "\u094d"
#: Letters, signs, joiners, digits and marks of both scripts, and some of ours.
script = st.text(
    st.characters(min_codepoint=0x0900, max_codepoint=0x09FF, categories=["L", "M", "N", "P"])
    | st.sampled_from([JOINER, NON_JOINER, " ", ".", "!", "a", "3", "😀"]),
    min_size=1,
    max_size=30,
).filter(lambda text: text.strip() != "")


SAME = [
    ("\u095c", "ड" + NUKTA),  # one character or two: NFC has two
    ("\u09cb", "\u09c7\u09be"),  # a Bengali vowel sign in two parts
    ("क" + VIRAMA + JOINER + "ष", "क" + VIRAMA + "ष"),
    ("সত" + "\u09cd" + JOINER, "স\u09ce"),  # khanda ta, old and new
    ("१२३ ९", "123 9"),
    ("ठीक है।।", "ठीक है॥"),
    ("a\u200bb\xad", "ab"),
]


@pytest.mark.parametrize(("typed", "other"), SAME)
def test_spellings_that_look_the_same_become_the_same_and_other_letters_do_not(typed, other):
    assert typed != other
    assert respelt(typed) == respelt(other)
    assert len({respelt(letter) for letter in ("फल", "फ़ल", "कि", "की", "ত", "ৎ", "।", "|")}) == 8


@given(script)
def test_spelling_twice_changes_nothing_more(text):
    once = respelt(text)
    assert respelt(once) == once
    assert unicodedata.is_normalized("NFC", once)


@pytest.mark.parametrize("language", ["hi", "bn-BD"])
def test_all_texts_of_a_request_are_spelt(language):
    request = Request("१।", ("२।", "३ ।"), "४॥", "formal", language)
    assert spelt(request) == Request("1।", ("2।", "3 ।"), "4॥", "formal", language)
    assert spelt(request, apart=True) == Request("1 ।", ("2 ।", "3 ।"), "4 ॥", "formal", language)
    assert spelt(request._replace(language="fa"), apart=True) == request._replace(language="fa")


WORDS = [
    ("हिन्दी बहुत अच्छी है।", ["हिन्दी", "बहुत", "अच्छी", "है"]),
    ("আমার বাংলা ভালো, তাই না?", ["আমার", "বাংলা", "ভালো", "তাই", "না"]),
    ("দুঃখ হঠাৎ চাঁদ র" + JOINER + "্যাব।", ["দুঃখ", "হঠাৎ", "চাঁদ", "র্যাব"]),
    ("कीमत ₹३५० थी", ["कीमत", "350", "थी"]),
]


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_keep_their_signs_and_lose_their_marks(text, words):
    words = [respelt(word) for word in words]
    assert UnicodeWords().tokenize(respelt(text)) == words
    assert [word for _, _, word in word_spans(text)] == words


HINDI = "यह लड़का ३ बार पढ़ने गया।"
BENGALI = "সে হঠাৎ ২ বার ভালো বাজারে গেল।"


@pytest.mark.parametrize("name", ANY)
@pytest.mark.parametrize(
    ("text", "typed", "language"),
    [
        (HINDI, HINDI.replace("ड़", "\u095c").replace("ढ़", "\u095d"), "hi"),
        (HINDI, HINDI.replace("३", "3"), "hi"),
        (BENGALI, BENGALI.replace("ৎ", "ত্" + JOINER), "bn"),
        (BENGALI, unicodedata.normalize("NFD", BENGALI), "bn"),
    ],
)
def test_the_way_a_text_was_typed_changes_no_value(name, text, typed, language):
    text = unicodedata.normalize("NFC", text)
    assert typed != text
    for a, b in ((text, typed), (typed, text)):
        copy = single(metric(name), text, text, language=language)
        assert single(metric(name), a, b, language=language) == copy


def rewrite(output, source, language="ru"):
    return {"output": output, "source": source, "language": language, "style": "formal"}


def rows(scorer, *rewrites, store):
    table = score(dataset(*rewrites), [scorer], bases=["source"], store=store, progress=False)
    return list(table.itertuples())


#: Source "mama washed the frame", output "mama washed the window", without the articles.
FRAME, WINDOW = "мама мыла раму", "мама мыла окно"
BY_HAND = [
    ("pinc", FRAME, WINDOW, "ru", 100 * (1 / 3 + 1 / 2 + 1) / 3),
    ("meteor:exact", FRAME, WINDOW, "ru", 2 / 3 * (1 - 0.5 / 2**3)),
    ("bleu", "«да»", "да", "ru", 100 * math.exp(1 - 3)),  # of 3 tokens 1
    ("rouge1", "वह घर गया।", "वह बाज़ार गया", "hi", 2 / 3),
    ("rougeL", "সে বাজারে গেল।", "সে গেল।", "bn", 4 / 5),
]


@pytest.mark.parametrize(("name", "source", "output", "language", "value"), BY_HAND)
def test_values_by_hand(name, source, output, language, value, tmp_path):
    [row] = rows(name, rewrite(output, source, language), store=tmp_path)
    assert row.value == pytest.approx(value, abs=1e-6)


def test_bleu_outside_english_has_other_tokens_and_says_so(tmp_path):
    both = [rewrite("«да»", "да", language) for language in ("ru", "en", "hi")]
    russian, english, hindi = rows("bleu", *both, store=tmp_path)
    assert "|tok:intl|" in russian.signature == hindi.signature
    assert english.signature == str(metric("bleu").signature("source"))
    assert "|tok:13a|" in english.signature
    assert {row.metric for row in (russian, english, hindi)} == {"bleu"}
    assert russian.value == hindi.value > english.value == 0
    detail = rows("corpus-bleu", rewrite("да, сказал он", "«да», сказал он"), store=tmp_path)[0]
    assert detail.detail == "[4.0, 2.0, 1.0, 0.0, 4.0, 3.0, 2.0, 1.0, 4.0, 6.0]"


ENGLISH = (
    *("meteor", "bleu:lai2023", "rouge1:stem", "cosine", "s3bert", "bertscore:roberta-large"),
    *("wmd", "synwmd", "masked-bleu", "masked-cosine:labse", "bleurt", "questeval", "perplexity"),
    *("likelihood", "likelihood:smollm2-135m", "style-accuracy", "style-confidence:toxicity"),
    *("ted", "smatch-dep", "synwmd:a.conllu"),
)
MANY = (
    *("cosine:labse", "bertscore:mbert", "perplexity:mgpt", "likelihood:8b", "comet-22"),
    *("style-accuracy:owner/other", "bleurt:owner/other", "ted:a.conllu", "smatch-amr"),
)


@pytest.mark.parametrize("name", [*ENGLISH, *MANY])
def test_a_metric_says_whether_it_is_made_for_english(name):
    assert metric(name).languages == ("en",) * (name in ENGLISH)
