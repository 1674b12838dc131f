"""Instruction sets: the published words, slots, files of one's own with every fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.likelihood import instructions
from tstmeta.likelihood.instructions import TASKS, Instructions
from tstmeta.schema import DataError, TstmetaError

GOOD = """
[mine]
system = ""
style = "Make it {style}: {source}"
paraphrase = "Reword: {source}"
repeat = "Repeat: {source}"
"""


@pytest.fixture
def file(tmp_path):
    """Writes a file of instructions and gives its path."""

    def write(text: str) -> Path:
        path = tmp_path / "own.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_the_published_set_is_that_of_section_3_3_and_appendix_d_1():
    paper = instructions.get("paper")
    assert paper.origin == "published"
    assert paper.fill("It rained.", "formal") == (
        "Rewrite the following sentence to be formal: It rained.",
        "Paraphrase the following sentence: It rained.",
        "Repeat the following sentence: It rained.",
    )


def test_only_the_published_set_is_called_so():
    origins = {name: one.origin for name, one in instructions.shipped().items()}
    assert origins == {
        "paper": "published",
        **dict.fromkeys(("default-system", "emphasis", "wording"), "ours"),
    }
    assert all(one.about for one in instructions.shipped().values())


def test_each_variation_changes_what_its_kind_says_and_nothing_else():
    paper, sets = instructions.get("paper"), instructions.shipped()
    tasks = {name: [getattr(one, task) for task in TASKS] for name, one in sets.items()}
    assert tasks["default-system"] == tasks["paper"]
    assert sets["default-system"].system != paper.system
    assert [text.replace("*", "") for text in tasks["emphasis"]] == tasks["paper"]
    assert all(text.startswith("*") for text in tasks["emphasis"])
    assert not set(tasks["wording"]) & set(tasks["paper"])
    assert {sets[name].system for name in ("emphasis", "wording")} == {paper.system}
    assert len({one.hash for one in sets.values()}) == len(sets)


def test_the_hash_is_that_of_the_words_and_of_nothing_else():
    one = Instructions("a", "s", "{style}{source}", "p{source}", "r{source}")
    same = Instructions("b", "s", "{style}{source}", "p{source}", "r{source}", about="else")
    assert one.hash == same.hash == "e6d08f0c"
    for field in ("system", *TASKS):
        other = {name: getattr(one, name) for name in ("name", "system", *TASKS)}
        assert Instructions(**{**other, field: other[field] + "!"}).hash != one.hash


texts = st.text(st.sampled_from("ab{}") | st.characters(), max_size=20) | st.sampled_from(
    ["{source}", "{style}", "{0}", "{{style}}", "%s", "{source", "\\1", "\\g<0>"]
)


@given(texts, texts)
def test_a_source_and_a_style_are_put_in_letter_by_letter(source, style):
    rewrite, paraphrase, repeat = instructions.get("paper").fill(source, style)
    assert rewrite == "Rewrite the following sentence to be " + style + ": " + source
    assert paraphrase == "Paraphrase the following sentence: " + source
    assert repeat == "Repeat the following sentence: " + source


# --------------------------------------------------------------------------------- one's own


def test_a_file_of_ones_own_is_read(file):
    path = file(GOOD + GOOD.replace("[mine]", "[other]\nabout = 'loud'").replace("Repeat", "AGAIN"))
    found = instructions.read(path)
    assert list(found) == ["mine", "other"]
    assert found["mine"].origin == "yours"
    assert found["other"].about == "loud"
    assert found["other"].fill("x", "y") == ("Make it y: x", "Reword: x", "AGAIN: x")
    assert instructions.get(f"{path}#other") == found["other"]


def test_the_only_set_of_a_file_needs_no_name(file):
    path = file(GOOD)
    assert instructions.get(str(path)).name == "mine"
    assert instructions.get(f"{path}#mine").name == "mine"


NAMES = {
    "unknown": ("papre", "no instruction set is called 'papre'; use paper, default-system, emph"),
    "no file": ("no.toml", "cannot read instructions from no.toml: No such file or directory"),
    "no such set": ("{own}#his", "has the sets mine; name one: {own}#NAME"),
}


@pytest.mark.parametrize(("name", "message"), NAMES.values(), ids=NAMES)
def test_a_name_that_means_nothing_is_told(file, name, message):
    own = str(file(GOOD))
    with pytest.raises(TstmetaError) as raised:
        instructions.get(name.replace("{own}", own))
    assert message.replace("{own}", own) in str(raised.value)


def test_one_of_several_sets_must_be_named(file):
    path = file(GOOD + GOOD.replace("[mine]", "[other]"))
    with pytest.raises(TstmetaError, match="has the sets mine, other; name one"):
        instructions.get(str(path))


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


FAULTS = {
    "no TOML": ("[mine", "no TOML", "see the example"),
    "nothing": ("", "no instruction set", "add a table such as [mine]"),
    "no table": ("style = '{style} {source}'", "not a table", "put it below a line [style]"),
    "a key is missing": (changed('repeat = "Repeat: {source}"', ""), "missing", "add repeat ="),
    "system is missing": (changed('system = ""', ""), "missing", "add system ="),
    "an unknown key": (GOOD + 'rephrase = "x"', "unknown", "use only origin, about, system"),
    "no text": (changed('system = ""', "system = 3"), "no text", "put it in quotes"),
    "a list": (changed('system = ""', "system = ['a']"), "no text", "put it in quotes"),
    "no source": (
        changed("Repeat: {source}", "Repeat"),
        "no {source}",
        "say where the source goes",
    ),
    "no style": (changed("it {style}", "it"), "no {style}", "say where the style goes"),
    "style where none is": (
        changed("Reword: {", "Reword {style}: {"),
        "unknown slot {style}",
        "use only {source}",
    ),
    "a slot of nothing": (
        changed("it {", "it {0} {"),
        "unknown slot {0}",
        "use only {source} and {style}",
    ),
    "a slot with a format": (
        changed("{style}", "{style:>5}"),
        "unknown slot {style:>5}",
        "use only {source} and {style}",
    ),
    "doubled braces": (
        changed("Reword: {source}", "Reword: {{source}}"),
        "a brace that belongs to no slot",
        "take it out",
    ),
    "a brace alone": (
        changed("Reword:", "Reword }:"),
        "a brace that belongs to no slot",
        "take it out",
    ),
    "a slot in the system prompt": (
        changed('system = ""', 'system = "Be {style}"'),
        "unknown slot {style}",
        "a system prompt has no slots",
    ),
}


@pytest.mark.parametrize(("text", "what", "remedy"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_a_file_is_told_with_place_and_remedy(file, text, what, remedy):
    path = file(text)
    with pytest.raises(DataError) as raised:
        instructions.read(path)
    assert any(
        problem.file == str(path) and what in problem.what and problem.remedy.startswith(remedy)
        for problem in raised.value.problems
    ), raised.value


def test_all_faults_are_told_at_once(file):
    path = file("[a]\nsystem = 1\n[b]\nstyle = 'x'\nnote = ''\n")
    with pytest.raises(DataError) as raised:
        instructions.read(path)
    places = [problem.column for problem in raised.value.problems]
    assert places.count("a.system") == 1
    assert {"a.style", "a.repeat", "b.system", "b.style", "b.note"} <= set(places)


def test_a_file_that_is_no_text_is_told(tmp_path):
    (tmp_path / "own.toml").write_bytes(b"[mine]\nsystem = '\xff'")
    with pytest.raises(DataError, match=r"no UTF-8 at byte 17.*save it as UTF-8"):
        instructions.read(tmp_path / "own.toml")
