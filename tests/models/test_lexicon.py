"""Style lexicons: what a file may hold, what is said of a broken one, words that are learned."""

import json
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


ENTRIES = (StyleWord("so bad", "mood", -3.5), StyleWord("good", "mood", 2), StyleWord("a", "t", 1))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("words.csv", f'\ufeff{HEADER}"so  bad",mood,-3.5\n\ngood,mood,2\na,t,1\n'),
        ("words.JSON", json.dumps({"mood": [["so bad", -3.5], ["good", 2]], "t": [["a", 1]]})),
    ],
)
def test_a_file_gives_its_words_in_order(tmp_path, name, text):
    assert read(file(tmp_path, name, text)) == Lexicon(name, ENTRIES)


FORM = "it needs rows of word, style and weight"
BROKEN = [
    ("a.csv", "word,weight\na,1\n", "column style: missing column"),
    ("a.csv", HEADER, FORM),
    ("a.csv", f"{HEADER}a,s,1\n ,s,1\n", "row 2, column word: missing value"),
    ("a.csv", f"{HEADER}a,s,nan\n", "row 1, column weight: bad value 'nan'"),
    ("a.csv", f"{HEADER}a,s,1\nA,s,2\n", "row 2, column word, style: duplicate row"),
    ("a.json", "[" * 100_000, "is no lexicon"),
    ("a.json", '{"s": [["a", true]]}', "row 1, column weight: bad value True"),
]


@pytest.mark.parametrize(("name", "text", "message"), BROKEN)
def test_a_broken_file_is_refused_with_the_place_and_a_remedy(tmp_path, name, text, message):
    with pytest.raises(DataError) as caught:
        read(file(tmp_path, name, text))
    assert message in str(caught.value)
    assert name in str(caught.value)
    assert "Remedy: " in str(caught.value)


def test_the_hash_knows_words_and_neither_order_nor_weights():
    other = [entry._replace(weight=7) for entry in ENTRIES[::-1]]
    assert Lexicon("b", tuple(other)).hash == Lexicon("a", ENTRIES).hash
    assert Lexicon("a", ENTRIES[1:]).hash != Lexicon("a", ENTRIES).hash


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
