"""A prompt of one's own in a file: its documented form, and every fault with field and remedy."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.judge import promptfile
from tstmeta.judge.base import Sampling
from tstmeta.judge.prompts import Prompt, load
from tstmeta.metrics.base import Request
from tstmeta.schema import DataError, TstmetaError

GOOD = """
about = "how friendly a rewrite is"
unit = "item"
dimensions = ["content", "style"]
scale = [1, 5]
answer = "json"
user = "Texts stand between lines {fence}. {source} {output} {style} {language}"

[keys]
content = "meaning"
style = "style"
"""


def faults(text):
    """(field, what, remedy) of each fault of a file."""
    with pytest.raises(DataError) as caught:
        promptfile.parse(text, "mine", "mine.toml")
    assert {problem.file for problem in caught.value.problems} == {"mine.toml"}
    return [(one.column, one.what, one.remedy) for one in caught.value.problems]


def test_the_form_that_the_how_to_shows_is_read(tmp_path):
    shown = textwrap.dedent(promptfile.__doc__.split("::\n", 1)[1].split("\nSlots of")[0])
    file = tmp_path / "friendly.toml"
    file.write_text(shown, encoding="utf-8")
    prompt = load(str(file))
    assert (prompt.name, prompt.origin) == ("friendly", "yours")
    assert prompt.sampling == Sampling(temperature=0.0, max_tokens=200)
    item = Request("Fine.", ("Good.",), "Good.", "non-toxic")
    asked = prompt.question([item]).messages[-1].content
    assert "how clean it is, from 1 to 5" in asked
    assert "Rewrite:\n====\nFine.\n====\nAnswer" in asked
    assert '{"meaning": 1-5, "style": 1-5}' in asked


def test_a_file_with_only_what_is_needed_gets_the_defaults():
    prompt = promptfile.parse(GOOD, "mine", "mine.toml")
    assert isinstance(prompt, Prompt)
    assert (prompt.origin, prompt.cites, prompt.languages, prompt.models) == ("yours", (), (), ())
    assert (prompt.fence, prompt.explain) == (True, False)
    assert prompt.sampling == Sampling()
    assert (prompt.low, prompt.high) == (1.0, 5.0)


@pytest.mark.parametrize(
    ("old", "new", "field", "what", "remedy"),
    [
        ('unit = "item"\n', "", "unit", "missing", "add unit"),
        ('about = "how friendly a rewrite is"\n', "", "about", "missing", "add about"),
        ("scale = [1, 5]\n", "", "scale", "missing", "add scale"),
        ("scale", "scales", "scales", "unknown field", "write scale"),
        ('unit = "item"', 'unit = "items"', "unit", "'items' is none", "use item, source, pair"),
        ('unit = "item"', "unit = 1", "unit", "no text", "in quotes"),
        ('answer = "json"', 'answer = "xml"', "answer", "'xml' is none", "use json, number"),
        ('answer = "json"', 'answer = "number"', "answer", "one dimension, not 2", "json"),
        ('answer = "json"', 'answer = "first"', "answer", "unit 'item'", "pairs, and only pairs"),
        ('["content", "style"]', '["content", "wit"]', "dimensions", "'wit'", "use content, style"),
        ('["content", "style"]', '["style", "style"]', "dimensions", "one twice", "once"),
        ('["content", "style"]', '"content"', "dimensions", "no list", "dimensions = ["),
        ("[1, 5]", "[5, 1]", "scale", "upside down", "the lower end first: [1, 5]"),
        ("[1, 5]", "[3, 3]", "scale", "upside down", "lower end first"),
        ("[1, 5]", "[1]", "scale", "not two numbers", "scale = [1, 5]"),
        ("[1, 5]", '["1", 5]', "scale", "not two finite numbers", "scale = [1, 5]"),
        ("[1, 5]", "[1, inf]", "scale", "not two finite numbers", "scale = [1, 5]"),
        ("[1, 5]", "[-2, 2]", "scale", "below 0", "shift it"),
        ('content = "meaning"\n', "", "keys", "no JSON key for content", "[keys]"),
        ('content = "meaning"', 'content = "Style"', "keys", "share a key", "a key of its own"),
        ('content = "meaning"', 'content = " "', "keys", "is empty", "a key of its own"),
        ('content = "meaning"', 'content = "number"', "keys", "something else", "another word"),
        ('content = "meaning"', "content = 3", "keys", "no text", "quotes"),
        ("[keys]", '[keys]\nfluency = "f"', "keys", "'fluency' is not rated", "drop it"),
        ("{output}", "", "user", "no {output}", "say where it goes"),
        ("{output}", "{outputs}{output}", "user", "unknown slot {outputs}", "{output}, {source}"),
        ("{style}", "{mood}", "user", "unknown slot {mood}", "{output}, {source}, {style}"),
        ("{fence}", "", "user", "no word explains it", "fence = false"),
        ("[keys]", "fence = 1\n[keys]", "fence", "neither true nor false", "true or false"),
        ("[keys]", 'each = "{number}"\n[keys]', "each", "not a line", "mend it"),
        ("[keys]", 'origin = "paper"\n[keys]', "origin", "'paper'", "published, described"),
        ("[keys]", "sampling = 1\n[keys]", "sampling", "no table", "[sampling]"),
        ("[keys]", "[sampling]\nheat = 1\n[keys]", "sampling.heat", "unknown", "temperature"),
        ("[keys]", "[sampling]\ntop_p = 3\n[keys]", "sampling.top_p", "3 is out", "top_p 0 to 1"),
        (
            "[keys]",
            "[sampling]\nmax_tokens = 0\n[keys]",
            "sampling.max_tokens",
            "0 is",
            "1 or more",
        ),
        ("[keys]", "[sampling]\nseed = 1.5\n[keys]", "sampling.seed", "no number", "number"),
        ("[keys]", '[sampling]\nseed = "1"\n[keys]', "sampling.seed", "no number", "quotes"),
    ],
)
def test_each_fault_names_its_field_and_the_remedy(old, new, field, what, remedy):
    assert old in GOOD
    found = faults(GOOD.replace(old, new, 1))
    assert any(
        column == field and what in said and remedy in mend for column, said, mend in found
    ), found


@pytest.mark.parametrize(
    ("answer", "unit", "user", "more", "field"),
    [
        ("yes-no", "item", "{fence}{output}", "scale = [1, 5]", "scale"),
        ("yes-no", "source", "{fence}{outputs}", "scale = [0, 1]", "answer"),
        ("number", "source", "{fence}{outputs}", "scale = [1, 5]", "answer"),
        ("number", "pair", "{fence}{first}{second}", "scale = [0, 1]", "answer"),
        ("first", "pair", "{fence}{first}", "scale = [0, 1]", "user"),
        ("number", "item", "{fence}{output}", "scale = [0, 1]\nexplain = true", "explain"),
    ],
)
def test_answers_units_and_scales_must_go_together(answer, unit, user, more, field):
    text = (
        f'about = "a"\nunit = "{unit}"\ndimensions = ["style"]\nanswer = "{answer}"\n'
        f'user = "{user}"\n{more}\n'
    )
    assert [column for column, _, _ in faults(text)] == [field]


def test_all_faults_are_told_at_once():
    text = GOOD.replace("[1, 5]", "[5, 1]").replace("{output}", "").replace("{style}", "{mood}")
    assert {column for column, _, _ in faults(text)} == {"scale", "user"}
    assert len(faults(text)) == 3


def test_a_file_that_is_no_toml_says_where():
    ((column, what, remedy),) = faults("unit = item")
    assert (column, "no TOML" in what, "line 1" in what) == ("", True, True)
    assert "quotes" in remedy


def test_files_that_cannot_be_read_say_why(tmp_path):
    with pytest.raises(TstmetaError, match=r"cannot read a prompt from .*none\.toml: No such file"):
        load(str(tmp_path / "none.toml"))
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    with pytest.raises(TstmetaError, match="cannot read a prompt"):
        load(str(folder))
    latin = tmp_path / "latin.toml"
    latin.write_bytes(GOOD.replace("friendly", "fr\xf6hlich").encode("latin-1"))
    with pytest.raises(DataError, match="no UTF-8 at byte"):
        load(str(latin))


_VALUES = st.recursive(
    st.one_of(st.text(max_size=8), st.integers(), st.floats(), st.booleans()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from(sorted(promptfile._FIELDS)), _VALUES))
def test_no_table_breaks_the_checks(table):
    whole = {
        "about": "a",
        "unit": "item",
        "dimensions": ["style"],
        "scale": [1, 5],
        "answer": "number",
        "user": "{output}{fence}",
        **table,
    }
    shapes = list(promptfile._shapes(whole))
    if not shapes:
        found = [*promptfile._values(whole), *promptfile._slots(whole)]
        found += promptfile._sampling(whole)
        assert found or isinstance(promptfile._prompt(whole, "mine"), Prompt)
