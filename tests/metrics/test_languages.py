"""Texts in Hindi and Bengali: spelt in one way, words whole, and no number from English rules."""

import math
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.metrics import metric, single, texts
from tstmeta import metrics
from tstmeta.metrics import Request
from tstmeta.metrics.text import UnicodeWords, respelt, spelt, word_spans
from tstmeta.schema import Status

NAMES = metrics.resolve(["lexical"])
ENGLISH_ONLY = [name for name in NAMES if metric(name).languages]
ANY = [name for name in NAMES if not metric(name).languages]
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
    ("\u09df", "য\u09bc"),
    ("\u09cb", "\u09c7\u09be"),  # a Bengali vowel sign in two parts
    ("क" + VIRAMA + JOINER + "ष", "क" + VIRAMA + "ष"),
    ("সত" + "\u09cd" + JOINER, "স\u09ce"),  # khanda ta, old and new
    ("१२३ ९", "123 9"),
    ("ठीक है।।", "ठीक है॥"),
    ("a\u200bb\xad", "ab"),
]


@pytest.mark.parametrize(("typed", "other"), SAME)
def test_spellings_that_look_the_same_become_the_same(typed, other):
    assert typed != other
    assert respelt(typed) == respelt(other)


@pytest.mark.parametrize(
    ("a", "b"),
    [("फल", "फ़ल"), ("कि", "की"), ("দিন", "দীন"), ("ত", "ৎ"), ("।", "|"), ("३", "2")],
)
def test_different_letters_stay_different(a, b):
    assert respelt(a) != respelt(b)


@given(script)
@example("त" + VIRAMA + JOINER)
def test_spelling_twice_changes_nothing_more(text):
    once = respelt(text)
    assert respelt(once) == once
    assert unicodedata.is_normalized("NFC", once)


@given(texts, st.sampled_from(["en", "fr", "fa", "zh-Hant"]))
@example("\u095ca१ ।", "en")
def test_texts_in_other_languages_are_taken_as_they_are(text, language):
    request = Request(text, (text,), text, "", language)
    assert spelt(request) is request
    assert spelt(request, apart=True) is request


@pytest.mark.parametrize("language", ["hi", "mag", "bn-BD", "HI"])
def test_all_texts_of_a_request_are_spelt(language):
    request = Request("१।", ("२।", "३ ।"), "४॥", "formal", language)
    assert spelt(request) == Request("1।", ("2।", "3 ।"), "4॥", "formal", language)
    assert spelt(request, apart=True) == Request("1 ।", ("2 ।", "3 ।"), "4 ॥", "formal", language)


WORDS = [
    ("हिन्दी बहुत अच्छी है।", ["हिन्दी", "बहुत", "अच्छी", "है"]),
    ("पढ़ाई, लड़का; क़लम॥", ["पढ़ाई", "लड़का", "क़लम"]),
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


@pytest.mark.parametrize("name", ENGLISH_ONLY)
@pytest.mark.parametrize("language", ["fr", "hi-IN"])
def test_a_metric_made_for_english_refuses_other_languages(name, language):
    result = single(metric(name), HINDI, HINDI, language=language)
    assert result.status is Status.REFUSED
    assert result.detail == f"made for en; this text is {language}"
    assert math.isnan(result.value)
    if "lai2023" not in name:  # which has a tokenizer of its own to name
        assert "|language:en|" in f"{metric(name).signature('source')}|"
