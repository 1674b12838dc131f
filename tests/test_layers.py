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
    ["ledger", "plot", "huggingface", "exercises"],
    ["cli", "console", "notebook", "__main__"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
#: Printing is no layer of data: fetching shows progress with it, and it imports nothing but schema.
#: An evaluation draws itself, when it is asked to.
ANYWHERE = {"console", "plot"}
#: ``stats`` knows nothing of texts, files or data sets, ``metrics`` nothing of human judgement.
STRANGERS = {"stats": {"data", "metrics", "scoring"}, "metrics": {"data", "stats", "scoring"}}
#: Words that are no part of a name: they say nothing of what it holds.
EMPTY = {
    *("found", "made", "one", "told", "said", "asked", "bench", "crew", "spoken", "turned"),
    *("abroad", "blotted", "like", "own", "some", "each", "whole", "given", "kept"),
}
#: Users write these: ``tst.partial(given=...)``, and a key of prompt files.
PUBLIC = {("agreement.py", "given"), ("prompts.py", "each")}
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
    wrong = {path.name for path in modules() if absolute(path) & {"experiments", "tools", "tests"}}
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


def is_empty(name: str) -> bool:
    """Whether a name has a part that says nothing."""
    parts = name.lower().strip("_").split("_")
    return bool(EMPTY & set(parts)) or parts[0] == "of" != name or "as_rater" in name


def test_no_name_is_a_riddle_and_no_two_classes_share_one():
    riddles, counts = set(), Counter()
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        given = names(ast.parse(text)) | {path.stem}
        riddles |= {(path.name, name) for name in given if is_empty(name)} - PUBLIC
        counts.update(re.findall(r"^class (\w+)", text, re.MULTILINE))
    assert riddles == set()
    assert {name for name, number in counts.items() if number > 1} == set()


def test_the_search_sees_every_way_to_give_a_name():
    code = "import x as said\nfor one in y:\n    self.made = 1\ndef found(told=2): ...\n"
    assert names(ast.parse(code)) >= {"said", "one", "made", "found", "told"}
    seen = [name for name in ("own_scores", "of_book", "as_rater", "of", "known") if is_empty(name)]
    assert seen == ["own_scores", "of_book", "as_rater"]


# ---------------------------------------------------------------------------------------- circles


def imported(path: Path) -> set[Path]:
    """The files of a package that a file imports, wherever in it, but for types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    files = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            # a name is a module of a package, or stands in the package or module itself
            files |= {file_of(base / alias.name) or file_of(base) for alias in node.names}
    return files - {path, None}


def file_of(place: Path) -> Path | None:
    """The file of a module or package."""
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def circles(src: Path = SRC) -> list[list[str]]:
    """Groups of files that import each other, directly or through others."""
    graph = {path: imported(path) for path in src.rglob("*.py")}
    reached: dict[Path, set[Path]] = {}
    for start in graph:
        todo, seen = [start], set()
        while todo:
            for path in graph.get(todo.pop(), set()) - seen:
                seen.add(path)
                todo.append(path)
        reached[start] = seen
    groups = {
        tuple(sorted(str(p.relative_to(src)) for p in graph if p in reached[q] and q in reached[p]))
        for q in graph
    }
    return sorted(map(list, groups - {()}))


def test_no_module_imports_itself_through_others():
    assert circles() == []


def test_a_circle_is_seen_though_it_is_hidden_in_a_function(tmp_path):
    (tmp_path / "a").mkdir()
    for name, text in (
        ("a/__init__.py", "from . import c\n"),
        ("a/b.py", "from . import c\n"),
        ("a/c.py", "def f():\n    from ..d import g\n"),
        ("d.py", "from .a.b import h\n"),
        ("e.py", "from .a import c\nif TYPE_CHECKING:\n    from .f import x\n"),
        ("f.py", "from .e import x\n"),
    ):
        (tmp_path / name).write_text(text)
    assert circles(tmp_path) == [["a/b.py", "a/c.py", "d.py"]]


# ----------------------------------------------------------------------------------------- limits

#: Lines of a file of the package, of a function in it, of a folder.
FILE, FUNCTION, FOLDER = 400, 60, 3800
#: Lines of all of the package, and of the tests.
PACKAGE, TESTS = 23_320, 26_000


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_files_functions_and_folders_are_small():
    sizes = {path.relative_to(SRC): lines(path) for path in SRC.rglob("*.py")}
    assert {str(path): size for path, size in sizes.items() if size > FILE} == {}
    folders = Counter()
    for path, size in sizes.items():
        folders[path.parts[0]] += size
    assert {name: size for name, size in folders.items() if size > FOLDER} == {}
    long = {}
    for path in sizes:
        for node in ast.walk(ast.parse((SRC / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = node.end_lineno - node.lineno + 1
                long |= {f"{path} {node.name}": size} if size > FUNCTION else {}
    assert long == {}


def test_the_package_and_its_tests_are_small():
    assert sum(map(lines, SRC.rglob("*.py"))) <= PACKAGE
    assert sum(map(lines, (ROOT / "tests").rglob("*.py"))) <= TESTS
