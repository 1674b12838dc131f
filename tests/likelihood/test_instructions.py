"""Instruction sets and wordings of styles: the published words, and files of one's own."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import needs
from tstmeta import data
from tstmeta.likelihood import instructions
from tstmeta.likelihood.instructions import Instructions, hash_of, wordings
from tstmeta.schema import TstmetaError

GOOD = """
[mine]
system = ""
style = "Make it {style}: {source}"
paraphrase = "Reword: {source}"
repeat = "Repeat: {source}"
"""
OTHER = GOOD.replace("[mine]", "[other]\nabout = 'loud'").replace("Repeat", "AGAIN")


@pytest.fixture
def file(tmp_path):
    """Writes a file of one's own and gives its path."""

    def write(content: str):
        path = tmp_path / "own.toml"
        path.write_text(content)
        return path

    return write


def test_the_hash_is_that_of_the_words_and_of_nothing_else():
    words = {"system": "s", "style": "{style}{source}", "paraphrase": "p{source}"}
    words["repeat"] = "r{source}"
    read = Instructions("a", **words)
    assert read.hash == Instructions("b", **words, about="else").hash == "e6d08f0c"
    for field in words:
        assert Instructions("a", **{**words, field: words[field] + "!"}).hash != read.hash


texts = st.text(st.sampled_from("ab{}") | st.characters(), max_size=20) | st.sampled_from(
    ["{source}", "{style}", "{0}", "{{style}}", "%s", "{source", "\\1", "\\g<0>"]
)


@given(texts, texts)
def test_a_source_and_a_style_are_put_in_letter_by_letter(source, style):
    """The words are those of Pauli et al. (2025), Section 3.3 and Appendix D.1."""
    assert instructions.get("paper").fill(source, style) == (
        "Rewrite the following sentence to be " + style + ": " + source,
        "Paraphrase the following sentence: " + source,
        "Repeat the following sentence: " + source,
    )


def test_a_file_of_ones_own_is_read(file):
    path = file(GOOD + OTHER)
    read = instructions.read(path)
    assert list(read) == ["mine", "other"]
    assert (read["mine"].origin, read["other"].about) == ("yours", "loud")
    assert read["other"].fill("x", "y") == ("Make it y: x", "Reword: x", "AGAIN: x")
    assert instructions.get(f"{path}#other") == read["other"]
    assert instructions.get(str(file(GOOD))).name == "mine", "the only set needs no name"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("papre", "no instruction set is called 'papre'; use paper, default-system, emph"),
        ("no.toml", "cannot read instructions from no.toml: "),
        ("{own}", "has the sets mine, other; name one: {own}#NAME"),
    ],
)
def test_a_name_that_means_nothing_is_refused(file, name, message):
    read = str(file(GOOD + OTHER))
    with pytest.raises(TstmetaError) as raised:
        instructions.get(name.replace("{own}", read))
    assert message.replace("{own}", read) in str(raised.value)


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


FAULTS = {
    "no TOML": ("[mine", "Remedy: write TOML"),
    "no table": ("style = '{style} {source}'", "table style: "),
    "a key is missing": (changed('repeat = "Repeat: {source}"', ""), "argument: 'repeat'. Remedy"),
    "an unknown key": (GOOD + 'rephrase = "x"', "table mine: Instructions.__init__() got an unex"),
    "no source": (changed("Repeat: {source}", "Repeat"), "repeat: wrong slots in 'Repeat'"),
    "no style": (changed("Make it {style}", "Make"), "use {source} and {style}, and no other"),
    "a slot in the system prompt": (changed('system = ""', 'system = "{style}"'), "use no slot"),
    "a number": (changed('system = ""', "system = 1"), "table mine: expected string"),
}


@pytest.mark.parametrize(("content", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_a_file_is_named_with_place_and_remedy(file, content, message):
    path = file(content)
    with pytest.raises(TstmetaError) as raised:
        instructions.read(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)


#: What the released program of Pauli et al. (2025) says instead of the data set's word.
REWORDED = {
    "appropriate": "appropriated",
    "layman": "understandable for layman",
    "expert": "addressed to an expert",
}
RAW = ("pauli", "lai", "mir", "alva", "scialom", "ziegen", "ziegen_editing", "cao", "lens")
TABLE = pd.read_csv(Path(instructions.__file__).with_name("styles.csv"), keep_default_na=False)


def test_styles_are_worded_as_the_released_program_words_them_and_none_in_two_ways():
    assert len(TABLE[["style", "likelihood"]].drop_duplicates()) == len(wordings())
    words = {"a": "b", "c": "d"}
    assert hash_of(words) == hash_of(dict(reversed(words.items()))) == "54a8bc65"
    assert {style: word for style, word in wordings().items() if style != word} == REWORDED


@pytest.mark.parametrize(
    "name", ["contrast", *(pytest.param(n, marks=[needs(n), pytest.mark.nightly]) for n in RAW)]
)
def test_every_style_of_a_data_set_is_in_the_table_and_no_other(name):
    items, listed = data.load(name).items, TABLE[TABLE["dataset"] == name]
    for style, direction in set(zip(items["style"], items["direction"], strict=True)):
        assert (listed["style"].eq(style) & listed["direction"].isin(["", direction])).any(), style
    assert set(listed["style"]) <= set(items["style"])
