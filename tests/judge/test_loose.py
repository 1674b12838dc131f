"""JSON as models write it: the standard reader as oracle, then what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.judge.loose import STEPS, Branch, Leaf, documents

_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text())
_TREES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
).filter(lambda tree: isinstance(tree, list | dict))


def told(value: Leaf | Branch) -> Any:
    """A branch as lists and lists of pairs, a leaf as its text."""
    if isinstance(value, Leaf):
        return value.text
    members = [(key.strip(), told(inner)) for key, inner in value.members]
    return members if value.named else [inner for _, inner in members]


def expected(tree: Any) -> Any:
    """The same of what the standard reader gives."""
    if isinstance(tree, dict):
        return [(key.strip(), expected(inner)) for key, inner in tree.items()]
    if isinstance(tree, list):
        return [expected(inner) for inner in tree]
    return tree if isinstance(tree, str) else json.dumps(tree)


@given(_TREES, st.sampled_from([None, 2]), st.booleans())
def test_valid_json_is_read_as_the_standard_reader_reads_it(tree, indent, ascii_only):
    text = json.dumps(tree, indent=indent, ensure_ascii=ascii_only)
    (document,) = documents(text)
    assert told(document) == expected(json.loads(text))
    assert document.closed


@given(_TREES)
def test_every_number_and_plain_text_knows_its_place(tree):
    text = "Sure: " + json.dumps(tree)
    for branch in documents(text)[0].branches():
        for leaf in branch.leaves():
            written = text[leaf.start : leaf.end]
            assert written == leaf.text or "\\" in written


@given(_TREES, st.integers(min_value=1, max_value=60))
def test_what_is_cut_short_keeps_what_came_before(tree, length):
    text = json.dumps(tree)
    whole = [leaf for branch in documents(text)[0].branches() for leaf in branch.leaves()]
    for document in documents(text[:length]):
        found = [leaf for branch in document.branches() for leaf in branch.leaves()]
        closed = [leaf for leaf in found if leaf.closed]
        assert {(leaf.start, leaf.text) for leaf in closed} <= {
            (leaf.start, leaf.text) for leaf in whole
        }
        assert len(found) <= len(closed) + 1


@given(st.text(alphabet="{}[]\"'\\:, \n14ab", max_size=80))
def test_no_text_breaks_the_reader(text):
    for document in documents(text):
        assert document.start < len(text)
        for branch in document.branches():
            for leaf in branch.leaves():
                assert 0 <= leaf.start <= leaf.end <= len(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("no JSON here", []),
        ('{"a": 4,}', [[("a", "4")]]),
        ("[1, 2,]", [["1", "2"]]),
        ("{'a': 4}", [[("a", "4")]]),
        ("{'a': 'it's fine', 'b': 2}", [[("a", "it's fine"), ("b", "2")]]),
        ("{a: 4, b: x}", [[("a", "4"), ("b", "x")]]),
        ('{"a": 4 "b": 5}', [[("a", "4"), ("b", "5")]]),
        ('{"a": 4, "a": 5}', [[("a", "4"), ("a", "5")]]),
        ('```json\n{"a": 4}\n```', [[("a", "4")]]),
        ('one {"a": 1} and {"a": 2}.', [[("a", "1")], [("a", "2")]]),
        ('{"a": "two\nlines"}', [[("a", "two\nlines")]]),
        ('{"a": "\\u0034 \\"x\\""}', [[("a", '4 "x"')]]),
        ('{"a": "\\q"}', [[("a", "\\q")]]),
        ('{"a": [1, {"b": 2}]}', [[("a", ["1", [("b", "2")]])]]),
        ('a { brace, then {"a": 1}', [[("a", "1")]]),
        ('[it"s] {"a": 1}', [[("a", "1")]]),
        ('{"a": 4', [[("a", "4")]]),
        ('{"a": 4, "b', [[("a", "4")]]),
        ('{"a": 4, "b":', [[("a", "4")]]),
        ('{"a": "cut', [[("a", "cut")]]),
        ('{"a": 4]', []),
        ('{"a": }', []),
        ("{}", [[]]),
        ("[[], {}]", [[[], []]]),
    ],
)
def test_what_models_write(text, wanted):
    assert [told(document) for document in documents(text)] == wanted


def test_a_cut_leaf_is_not_closed():
    (document,) = documents('{"a": 4, "b": 5')
    assert [leaf.closed for leaf in document.leaves()] == [True, False]
    assert not document.closed


@pytest.mark.parametrize("text", ["[" * 10_000, '{"a":' * 5_000, "[[]," * 5_000])
def test_deep_nesting_ends_without_a_fault(text):
    for document in documents(text):
        assert sum(len(branch.members) for branch in document.branches()) <= STEPS
