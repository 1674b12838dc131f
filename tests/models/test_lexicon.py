"""Style lexicons: what a file may hold, what is said of a broken one, words that are learned."""

import json
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import needs
from tstmeta.data import paths, yelp
from tstmeta.models import lexicon
from tstmeta.models.lexicon import Lexicon, StyleWord, learn, log_odds, read, write
from tstmeta.schema import DataError, TstmetaError

HEADER = "word,style,weight\n"
words = st.sampled_from("abcdefgh")
counters = st.lists(words, min_size=1, max_size=40).map(Counter)


def file(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# -------------------------------------------------------------------------------------- reading


def test_a_csv_gives_its_words_in_order(tmp_path):
    text = f'\ufeff{HEADER}good,positive,2\n\n"so  bad",negative,1.5\nbad,positive,-1\n'
    assert read(file(tmp_path, "words.csv", text)) == Lexicon(
        "words.csv",
        (
            StyleWord("good", "positive", 2),
            StyleWord("so bad", "negative", 1.5),
            StyleWord("bad", "positive", -1),
        ),
    )


def test_json_in_the_form_of_the_released_lexicon_is_read(tmp_path):
    text = json.dumps({"sentiment": [["bad", -3.5], ["good", 2]], "tone": [["dear", 1]]})
    entries = read(str(file(tmp_path, "words.JSON", text))).entries
    assert [*entries[0]] == ["bad", "sentiment", -3.5]
    assert [entry.style for entry in entries] == ["sentiment", "sentiment", "tone"]


FORM = "it needs rows of word, style and weight"
BROKEN = [
    ("a.csv", "word,weight\na,1\n", "column style: missing column"),
    ("a.csv", HEADER, FORM),
    ("a.csv", f"{HEADER}a,s,1\n ,s,1\n", "row 2, column word: missing value"),
    ("a.csv", f"{HEADER}a,s,nan\n", "row 1, column weight: bad value 'nan'"),
    ("a.csv", f"{HEADER}a,s,1\nA,s,2\n", "row 2, column word, style: duplicate row"),
    ("a.csv", b"word,style,weight\n\xff,s,1\n", "row 1, column word: a NUL byte or broken UTF-8"),
    ("a.json", "[" * 100_000, "is no lexicon"),
    ("a.json", '{"s": [["a", true]]}', "row 1, column weight: bad value True"),
    ("a.json", '{"s": [[1, 1]]}', "is no lexicon"),
]


@pytest.mark.parametrize(("name", "text", "message"), BROKEN)
def test_a_broken_file_is_refused_with_the_place_and_a_remedy(tmp_path, name, text, message):
    with pytest.raises(DataError) as caught:
        read(file(tmp_path, name, text))
    assert message in str(caught.value)
    assert name in str(caught.value)
    assert "Remedy: " in str(caught.value)


def test_the_hash_knows_words_and_neither_order_nor_weights():
    mine = Lexicon("a", (StyleWord("x", "s", 1), StyleWord("y", "t", 2)))
    other = Lexicon("b", (StyleWord("y", "s", 3), StyleWord("x", "s", 1)))
    assert mine.hash == other.hash != Lexicon("a", (StyleWord("x", "s", 1),)).hash


def test_a_written_lexicon_is_read_back(tmp_path):
    entries = (StyleWord('so "bad", no', "s", 1.25), StyleWord("क़लम", "t", -3.0))
    write(Lexicon("x", entries), tmp_path / "new" / "x.csv")
    assert read(tmp_path / "new" / "x.csv") == Lexicon("x.csv", entries)


# ------------------------------------------------------------------------------------- learning


def by_hand(first, second, prior):
    """Log-odds and z-score written out, a word at a time."""
    odds = {}
    total = sum(first.values()) + sum(second.values())
    for word in {*first, *second}:
        a = prior * (first[word] + second[word]) / total
        sides = []
        for counts in (first, second):
            rest = sum(counts.values()) + prior - counts[word] - a
            sides.append((counts[word] + a) / rest)
        variance = 1 / (first[word] + a) + 1 / (second[word] + a)
        log = math.log(sides[0] / sides[1])
        odds[word] = (log, log / variance**0.5)
    return odds


@given(counters, counters)
def test_log_odds_are_those_written_out_and_swapped_corpora_turn_their_signs(first, second):
    second = second + Counter({"z": 1})
    odds, back = (
        log_odds(*corpora).to_dict("index") for corpora in ((first, second), (second, first))
    )
    expected = by_hand(first, second, lexicon.PRIOR)
    assert odds.keys() == expected.keys()
    for word, row in odds.items():
        assert (row["log"], row["z"]) == pytest.approx(expected[word], abs=1e-9)
        assert row["z"] == pytest.approx(-back[word]["z"], abs=1e-9)


TEXTS = {
    "warm": [["lovely", "day", "the", "and"]] * 300 + [["dear", "the"]] * 4,
    "cold": [["go", "away", "the"]] * 300 + [["day", "and", "the"]] * 200,
}


def test_words_are_learned_for_the_style_in_which_they_are_frequent():
    entries = learn("x", TEXTS).entries
    styles = {entry.word: entry.style for entry in entries}
    # day and and are not telling enough, dear is too rare
    assert styles == {"lovely": "warm", "go": "cold", "away": "cold"}
    weights = [entry.weight for entry in entries]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] >= lexicon.THRESHOLD


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"s": [["a"]]}, r"the corpus has \['s'\]"),
        ({"s": [["a"]], "t": [["a"]]}, "each of two corpora needs words"),
        ({"s": [["a", "b"]] * 9, "t": [["a", "b"]] * 9}, "none of 2 words is kept"),
    ],
)
def test_what_cannot_be_learned_from_is_said(texts, message):
    with pytest.raises(TstmetaError, match=message):
        learn("x", texts)


@needs("yelp", "mir")
def test_words_learned_from_reviews_agree_with_the_released_ones():
    table = yelp.corpus(paths.raw("yelp"))
    texts = {
        style: [text.split() for text in rows["text"][:15_000]]
        for style, rows in table[table["split"] == "test"].groupby("style")
    }
    learned = {entry.word: entry.style for entry in learn("yelp", texts).entries}
    released = read(lexicon.sentiment()).entries
    assert len(released) == 433
    both = [entry for entry in released if entry.word in learned]
    agree = sum((learned[entry.word] == "positive") == (entry.weight > 0) for entry in both)
    assert len(both) > 50
    assert agree / len(both) > 0.95
