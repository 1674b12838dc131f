"""Data flows one way: no module imports one to its right in the package's map."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "tstmeta"
#: Layers from left to right; modules of one layer do not know each other's layer mates.
LAYERS = [
    ["secrecy"],
    ["schema"],
    ["storage", "retrying", "extras", "plugins"],
    ["data", "models"],
    ["metrics", "likelihood", "judge"],
    ["scoring"],
    ["bulk"],
    ["stats"],
    ["analysis"],
    ["combine"],
    ["ledger", "plot", "strips", "transfer", "exchange", "exercises"],
    ["cli", "console", "notebook", "__main__"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
#: Printing is no layer of data: fetching shows progress with it, and it imports nothing but schema.
#: An evaluation draws itself, when it is asked to.
ANYWHERE = {"console", "plot"}
#: ``stats`` knows nothing of texts, files or data sets, ``metrics`` nothing of human judgement.
STRANGERS = {"stats": {"data", "metrics", "scoring"}, "metrics": {"data", "stats", "scoring"}}


def imports(path: Path) -> set[str]:
    """Top-level parts of tstmeta that a file imports, wherever in the file."""
    inside = path.relative_to(SRC).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = inside[: len(inside) + 1 - node.level]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {".".join([*base, name]).split(".")[0] for name in names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tstmeta."):
            found.add(node.module.split(".")[1])
    return found & set(RANK)


def modules() -> list[Path]:
    return sorted(path for path in SRC.rglob("*.py") if path.parent != SRC or path.stem in RANK)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SRC)))
def test_no_module_imports_one_to_its_right(path):
    own = path.relative_to(SRC).parts[0].removesuffix(".py")
    right = {name for name in imports(path) - ANYWHERE if RANK[name] > RANK[own]}
    assert not right
    assert not imports(path) & STRANGERS.get(own, set())


def test_only_its_command_imports_the_transfer_models():
    users = [path for path in modules() if "transfer" in imports(path)]
    inside = {path.relative_to(SRC).as_posix() for path in users if "transfer" not in path.parts}
    assert inside == {"cli/transfer.py"}


def test_every_module_has_a_place_in_the_map():
    parts = {path.relative_to(SRC).parts[0].removesuffix(".py") for path in SRC.rglob("*.py")}
    assert parts - {"__init__"} <= set(RANK)


def test_the_check_sees_imports_that_are_hidden_in_functions(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.test_layers.SRC", tmp_path)
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "x.py"
    file.write_text("def f():\n    from ..analysis.frame import pairs\n")
    assert imports(file) == {"analysis"}
