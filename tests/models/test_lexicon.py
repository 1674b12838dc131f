"""Style lexicons: what a file may hold, what is said of a broken one."""

import json

import pytest

from tstmeta.models.lexicon import Lexicon, StyleWord, read
from tstmeta.schema import DataError

HEADER = "word,style,weight\n"


def file(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


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
    ("a.csv", f"{HEADER}a,s\n", "row 1, column weight: missing value"),
    ("a.csv", f"{HEADER}a,s,1,2\n", "row 1, column weight: bad value ['2']"),
    ("a.csv", f'{HEADER}"a"b,s,1\n', "is no lexicon (',' expected"),
    ("a.json", '{"s": [["a", 1], ["a", 1]]}', "row 2, column word, style: duplicate row"),
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
