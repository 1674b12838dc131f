"""Names in the code: nouns of the field for data, verbs for functions, one concept one name."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Words that tell a reader nothing of what they hold.
EMPTY = {"found", "made", "one", "told", "said", "asked", "bench", "crew"}
FILES = sorted(path for part in ("src", "tools") for path in (ROOT / part).rglob("*.py"))


def names(tree: ast.AST) -> set[str]:
    """All names that a module gives to something of its own."""
    given: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            given.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            given.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, ast.arg):
            given.add(node.arg)
        elif isinstance(node, ast.alias) and node.asname:
            given.add(node.asname)
    return given


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_name_is_a_riddle(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert {name for name in names(tree) if name.lower().strip("_") in EMPTY} == set()
    assert path.stem.strip("_") not in EMPTY


def test_no_two_classes_have_the_same_name():
    counts: Counter[str] = Counter()
    for path in FILES:
        counts.update(re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert {name for name, number in counts.items() if number > 1} == set()


def test_the_search_sees_every_way_to_give_a_name():
    code = "import x as said\nfor one in y:\n    self.made = 1\ndef found(told=2): ...\n"
    assert names(ast.parse(code)) >= {"said", "one", "made", "found", "told"}
