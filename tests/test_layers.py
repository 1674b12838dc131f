"""Data flows one way through the package, and a name in the code says what it holds."""

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "tstmeta"
#: Layers from left to right; modules of one layer do not know each other's layer mates.
LAYERS = [
    ["secrecy"],
    ["schema"],
    ["storage", "retrying", "extras", "plugins"],
    ["store"],
    ["data", "models", "label_studio"],
    ["metrics", "likelihood", "judge"],
    ["scoring"],
    ["bulk"],
    ["stats"],
    ["analysis"],
    ["combine"],
    ["ledger", "plot", "strips", "huggingface", "exercises"],
    ["cli", "console", "notebook", "__main__"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
#: Printing is no layer of data: fetching shows progress with it, and it imports nothing but schema.
#: An evaluation draws itself, when it is asked to.
ANYWHERE = {"console", "plot"}
#: ``stats`` knows nothing of texts, files or data sets, ``metrics`` nothing of human judgement.
STRANGERS = {"stats": {"data", "metrics", "scoring"}, "metrics": {"data", "stats", "scoring"}}
#: Words that tell a reader nothing of what they hold.
EMPTY = {
    *("found", "made", "one", "told", "said", "asked", "bench", "crew"),
    *("spoken", "turned", "abroad", "blotted", "like"),
}
FILES = sorted(
    path for part in ("src", "tools", "experiments") for path in (ROOT / part).rglob("*.py")
)


def imports(path: Path, src: Path = SRC) -> set[str]:
    """Top-level parts of tstmeta that a file imports, wherever in the file."""
    inside = path.relative_to(src).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = inside[: len(inside) + 1 - node.level]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {".".join([*base, name]).split(".")[0] for name in names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tstmeta."):
            found.add(node.module.split(".")[1])
    return found & set(RANK)


def modules() -> dict[Path, str]:
    """The modules of the package, each with the part of the map that it is of."""
    paths = [
        path for path in SRC.rglob("*.py") if path.relative_to(SRC).as_posix() != "__init__.py"
    ]
    return {path: path.relative_to(SRC).parts[0].removesuffix(".py") for path in paths}


def test_every_module_has_a_place_and_none_imports_one_to_its_right():
    assert set(modules().values()) <= set(RANK)
    wrong = {
        (path.relative_to(SRC).as_posix(), name)
        for path, own in modules().items()
        for name in imports(path) - ANYWHERE
        if RANK[name] > RANK[own] or name in STRANGERS.get(own, set())
    }
    assert wrong == set()


def absolute(path: Path) -> set[str]:
    """The packages that a file imports by their full names, wherever in the file."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).partition(".")[0])
    return names


def test_the_package_imports_no_experiment_and_no_tool_and_experiments_no_tool():
    outside = {"experiments", "tools", "tests"}
    wrong = {path.name for path in modules() if absolute(path) & outside}
    runs = list((ROOT / "experiments").rglob("*.py"))
    wrong |= {path.name for path in runs if absolute(path) & {"tools", "tests"}}
    assert wrong == set()
    assert any("tstmeta" in absolute(path) for path in runs)
    # what stands beside an experiment has its full name: only its own files go without
    assert not [path for path in runs if re.search(r"^ *from \.\.", path.read_text(), re.MULTILINE)]


def test_the_check_sees_imports_that_are_hidden_in_functions(tmp_path):
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "x.py"
    file.write_text("def f():\n    from ..analysis.frame import pairs\n")
    assert imports(file, tmp_path) == {"analysis"}


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


def test_no_name_is_a_riddle_and_no_two_classes_share_one():
    riddles, counts = set(), Counter()
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        given = names(ast.parse(text)) | {path.stem}
        riddles |= {(path.name, name) for name in given if name.lower().strip("_") in EMPTY}
        counts.update(re.findall(r"^class (\w+)", text, re.MULTILINE))
    assert riddles == set()
    assert {name for name, number in counts.items() if number > 1} == set()


def test_the_search_sees_every_way_to_give_a_name():
    code = "import x as said\nfor one in y:\n    self.made = 1\ndef found(told=2): ...\n"
    assert names(ast.parse(code)) >= {"said", "one", "made", "found", "told"}
