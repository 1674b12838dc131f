"""Tables and examples as HTML: whatever a text holds, it stays a text."""

import math
import re
from dataclasses import replace
from html import escape, unescape
from html.parser import HTMLParser

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.tiny import HOSTILE, NAN, rated
from tstmeta import data
from tstmeta.data import Card
from tstmeta.report import html


class Page(HTMLParser):
    """Tags with their attributes, and the text, of a fragment; tags must be closed in order."""

    def __init__(self, fragment: str):
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(fragment)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("br", "wbr", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


OURS = {
    *("div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "dl", "dt", "dd", "span"),
    *("b", "i", "abbr", "ins", "del", "small", "code", "br", "wbr", "a"),
    *("details", "summary"),
}
OUR_ATTRIBUTES = {"class", "scope", "tabindex", "title", "href"}


def check(fragment: str) -> Page:
    """Only our own tags and attributes are in a fragment, and all are closed."""
    page = Page(fragment)
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= OURS
    assert {name for _, attributes in page.tags for name in attributes} <= OUR_ATTRIBUTES
    return page


# -------------------------------------------------------------------------------------- tables

#: a value and how it is shown
SHOWN = [
    (None, "–"),
    (NAN, "–"),
    ("", ""),
    (True, "yes"),
    (False, "no"),
    (0, "0"),
    (1234567, "1,234,567"),
    (-0.5, "−0.500"),
    (0.12345, "0.123"),
    ("-0.5", "-0.5"),
    ("nan", "nan"),
]


@pytest.mark.parametrize(("value", "shown"), SHOWN)
def test_a_value_is_shown_for_reading(value, shown):
    frame = pd.DataFrame({"x": pd.Series([value], dtype=object)})
    page = check(html.table(frame).text)
    assert "".join(page.text) == f"x{shown}"


def test_numbers_of_numpy_are_numbers():
    frame = pd.DataFrame({"n": [1000], "x": [0.5]})
    text = html.table(frame).text
    assert "<td class=num>1,000</td><td class=num>0.500</td>" in text


def test_columns_keep_their_order_and_the_index_is_not_shown():
    frame = pd.DataFrame({"b": ["x"], "a": ["y"]}, index=["secret"])
    assert check(html.table(frame).text).text == ["b", "a", "x", "y"]


def test_a_table_has_a_caption_if_it_is_given_one_and_can_be_reached_by_keyboard():
    page = check(html.table(pd.DataFrame({"a": [1]}), caption="What & why").text)
    assert page.text[0] == "What & why"
    assert page.tags[0] == ("div", {"class": "tst-table", "tabindex": "0"})
    assert "caption" not in html.table(pd.DataFrame({"a": [1]})).text


def test_a_table_without_rows_is_a_table():
    check(html.table(pd.DataFrame({"a": []})).text)


def test_a_column_with_a_format_is_html_already():
    frame = pd.DataFrame({"a": ["<x>"], "b": ["<y>"]})
    text = html.table(frame, {"a": lambda value: f"<code>{escape(str(value))}</code>"}).text
    assert "<code>&lt;x&gt;</code>" in text
    assert "&lt;y&gt;" in text


def test_a_line_break_in_a_head_is_a_line_break():
    assert "data<br>n = 3" in html.table(pd.DataFrame({"data\nn = 3": [1]})).text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts_wherever_they_stand(text):
    page = check(html.table(pd.DataFrame({text: [text]}), caption=text).text)
    flat = "".join(page.text)
    assert flat.count(text) >= 2 or text.replace("\n", "") in flat
    check(html.status_cell(0.5, text, "needs " + text, text, 2))
    check(html.facts([(text, text), ("url", "https://example.org/" + text)]).text)
    check(html.breakable(text))
    check(html.mark(text, ""))


@given(st.text())
def test_any_text_comes_back_from_a_table_as_it_was(text):
    page = check(html.table(pd.DataFrame({"a": [text, "end"]})).text)
    assert "".join(page.text) == f"a{text}end".replace("\r\n", "\n").replace("\r", "\n") or (
        escape(text) in html.table(pd.DataFrame({"a": [text]})).text
    )


@given(st.text())
def test_a_breakable_key_is_the_key(text):
    assert unescape(html.breakable(text).replace("<wbr>", "")) == unescape(escape(text))


def test_only_a_web_address_becomes_a_link():
    pairs = [
        ("a", "https://example.org/x?a=1&b=2"),
        ("b", "javascript:alert(1)"),
        ("c", "http://x"),
    ]
    links = [
        attributes["href"] for tag, attributes in check(html.facts(pairs).text).tags if tag == "a"
    ]
    assert links == ["https://example.org/x?a=1&b=2"]


# --------------------------------------------------------------------------------------- cells


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        (NAN, 2, "–"),
        (0.0, 2, "0.00"),
        (-0.001, 2, "0.00"),
        (-0.125, 2, "−0.12"),
        (12.3456, 1, "12.3"),
        (-3, 0, "−3"),
    ],
)
def test_numbers_have_a_true_minus_sign(value, decimals, shown):
    assert html.signed(value, decimals) == shown


@pytest.mark.parametrize(
    "status", ["match", "printed-only", "differs", "misprint", "needs a model"]
)
def test_a_status_is_told_by_more_than_its_colour(status):
    ours = math.nan if status.startswith("needs") else -0.171
    page = check(html.status_cell(ours, "-0.17*", status, "why & how", 2))
    kind = status.partition(" ")[0]
    assert page.tags[0] == ("span", {"class": f"tst-cell tst-{kind}", "title": "why & how"})
    flat = "".join(page.text)
    assert "−0.17*" in flat
    if kind == "needs":
        assert flat == "−0.17*"
    else:
        mark, words = html.STATUS[kind]
        assert flat == f"−0.17 −0.17* {mark}"
        assert ("abbr", {"title": words}) in page.tags


def test_the_marks_differ():
    marks = [mark for mark, _ in html.STATUS.values() if mark]
    assert len(set(marks)) == len(marks) == 4


def test_a_pivot_keeps_the_order_of_appearance():
    rows = pd.DataFrame(
        {"m": ["z", "z", "a", "a"], "d": ["q", "b", "q", "c"], "cell": ["1", "2", "3", "4"]}
    )
    grid = html.pivot(rows, ["m"], "d", "cell")
    assert list(grid.columns) == ["m", "q", "b", "c"]
    assert grid.to_numpy().tolist() == [["z", "1", "2", ""], ["a", "3", "", "4"]]


# ------------------------------------------------------------------------------------ examples


def test_examples_show_sources_with_their_rewrites():
    page = check(html.examples(rated(), ["a", "b", "d"]).text)
    flat = " | ".join(page.text)
    assert flat == (
        "target style: formal | source | he ran home | A | he ran | B | he ran home"
        " | target style: formal | source | we ate soup | A | we ate"
    )


@pytest.mark.parametrize("facts", [{"examples": False}, {"examples": None}])
def test_sentences_that_may_not_be_shown_are_refused(facts):
    with pytest.raises(PermissionError, match="'tiny' may not be printed"):
        html.examples(rated(**facts), ["a"])


def test_no_data_set_shows_sentences_unless_its_card_says_so():
    allowed = {name for name in data.names() if Card.read(name).may_show_examples}
    assert allowed == {"contrast", "pauli", "world"}
    assert not Card("nobody").may_show_examples


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("column", ["source", "output", "system", "style"])
def test_hostile_texts_are_escaped_in_examples(column, text):
    data = rated()
    hostile = replace(data, items=data.items.assign(**{column: text}))
    shown = html.examples(hostile, ["a"]).text
    check(shown)
    assert escape(text) in shown


@pytest.mark.parametrize(
    ("text", "given", "marked"),
    [
        ("a dog", "", "a dog"),
        ("a <dog>", "", "a &lt;dog&gt;"),
        ("a dog ran", "[-cat-]{+dog+}", "a <del>cat</del> <ins>dog</ins> ran"),
        ("a dog ran", "{+dog+}", "a <ins>dog</ins> ran"),
        ("a ran", "[-dog-]", "a ran <small>(left out: <del>dog</del>)</small>"),
        ("a <b> c", "[-&-]{+<b>+}", "a <del>&amp;</del> <ins>&lt;b&gt;</ins> c"),
        ("dog dog", "[-cat-]{+dog+}", "<del>cat</del> <ins>dog</ins> dog"),
        ("a cow", "[-cat-]{+dog+}", "a cow <del>cat</del><ins>dog</ins>"),
    ],
)
def test_what_was_changed_is_marked(text, given, marked):
    assert html.mark(text, given) == marked
    check(marked)


def words(text: str) -> list[str]:
    return [re.sub(r"^\W+|\W+$", "", word).lower() for word in text.split()]


def test_in_the_contrast_set_the_marked_words_are_the_ones_that_were_changed():
    contrast = data.load("contrast")
    outputs = contrast.items.set_index("item_id")["output"]
    compared = 0
    for item_id, span in contrast.label("span").items():
        if not span:
            continue
        marked = html.mark(outputs[item_id], span)
        check(marked)
        if "<small>" in marked:  # words were left out, the output has no place for them
            continue
        before = re.sub(r"<ins>.*?</ins>", "", re.sub(r"<del>(.*?)</del>", r"\1 ", marked))
        kept = outputs[str(item_id).removesuffix("-error")]
        assert words(unescape(before)) == words(kept), item_id
        compared += 1
    assert compared > 300


def test_every_quartet_of_the_contrast_set_is_well_formed():
    contrast = data.load("contrast")
    for _, rows in contrast.items.groupby("source_id"):
        check(html.examples(contrast, rows["item_id"].tolist()).text)


@pytest.mark.parametrize(
    ("value", "broken"),
    [
        ("−0.23 to −0.07", False),
        ("lens@simpda_2022 (systems)", False),
        ("not identifiable: only means of ratings were released", True),
        ("<b>−0.15</b><br><small>−0.23 to −0.07</small><br>", False),
        ("<span title='a long reason that stands in a tip'>–</span>", False),
    ],
)
def test_only_prose_may_be_broken_in_a_cell(value, broken):
    shown = html.table(pd.DataFrame({"x": [value]}), {"x": str}).text
    assert ("<td class=long>" in shown) == broken


def test_silence_leaves_no_output_on_a_page():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    try:
        assert shell.display_formatter.format(html.SILENCE) == ({}, {})
        assert shell.display_formatter.format(html.Silence("said"))[0] == {}
    finally:
        InteractiveShell.clear_instance()
