"""Style lexicons: what a file may hold, what is said of a broken one."""

import json

import pytest

from tstmeta.models.lexicon import Lexicon, read
from tstmeta.schema import DataError

HEADER = "word,style,weight\n"
WORDS = ("so bad", "good", "a")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("words.csv", f'\ufeff{HEADER}"so  bad",mood,-3.5\n\ngood,mood,2\na,t,1\n'),
        ("words.csv", "note,word\nx,so bad\n,good\ny,a\n"),
        ("words.JSON", json.dumps({"mood": [["so bad", -3.5], ["good", 2]], "t": [["a", 1]]})),
    ],
)
def test_a_file_gives_its_words_in_order(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read(tmp_path / name) == Lexicon(name, WORDS)


BROKEN = [
    ("a.csv", "words,weight\na,1\n", "has no column word"),
    ("a.csv", HEADER, "has no words"),
    ("a.csv", f"{HEADER}a,s,1\n ,s,1\n", "row 2, column word: bad value ' '"),
    ("a.csv", "style,word\ns,a\ns\n", "row 2, column word: bad value None"),
    ("a.csv", f'{HEADER}a,s,1\n"a"b,s,1\n', "is no lexicon (after line 2: ',' expected"),
    ("a.json", "[" * 100_000, "is no lexicon"),
    ("a.json", '{"s": [[5, 1]]}', "row 1, column word: bad value 5"),
]


@pytest.mark.parametrize(("name", "text", "message"), BROKEN)
def test_a_broken_file_is_refused_with_the_place_and_a_remedy(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as caught:
        read(tmp_path / name)
    assert message in str(caught.value)
    assert name in str(caught.value)
    assert "Remedy: " in str(caught.value)


def test_the_hash_knows_words_and_not_their_order():
    assert Lexicon("b", (*WORDS[::-1], "a")).hash == Lexicon("a", WORDS).hash
    assert Lexicon("a", WORDS[1:]).hash != Lexicon("a", WORDS).hash
