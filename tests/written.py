"""Everything that the project writes, as text to be searched: tracked files, pages, tables."""

import json
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from pyarrow import parquet

ROOT = Path(__file__).parents[1]
#: What is built and not tracked; each may be missing.
BUILT = ("book/_generated", "book/results", "book/_build/html", "data/scores")
#: Parts of other people's software in the built book.
NOT_OURS = ("_static/vendor", "_sphinx_design_static", "_static/locales", "_static/scripts")
BINARY = {".png", ".svg.gz", ".woff", ".woff2", ".ttf", ".mo", ".inv", ".ico", ".lock"}


@cache
def tracked() -> list[Path]:
    """Files of the repository; skips the test where this is none."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git repository")
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def built(folder: str) -> list[Path]:
    """Files below a folder that are ours and hold text."""
    return [
        path
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file()
        and path.suffix not in BINARY
        and not any(part in path.as_posix() for part in NOT_OURS)
    ]


def text_of(path: Path) -> str:
    """What is written in a file: cells of a Parquet file, a notebook without its images."""
    if path.suffix == ".parquet":
        # neither keys of scores, which are hashes, nor log-probabilities, which are numbers
        schema = parquet.read_schema(path)
        words = [f.name for f in schema if f.name != "key" and "float" not in str(f.type)]
        return "\n".join([*schema.names, table_text(pd.read_parquet(path, columns=words))])
    text = path.read_bytes().decode("utf-8", errors="replace")
    return "\n".join(_strings(json.loads(text))) if path.suffix == ".ipynb" else text


def table_text(frame: pd.DataFrame) -> str:
    """All cells of a table that hold text or lists of texts, each distinct one once."""
    texts: list[str] = [str(name) for name in frame.columns]
    for _, column in frame.items():
        if column.dtype.kind not in "iufb":
            texts += column.map(str).unique().tolist()
    return "\n".join(texts)


def _strings(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, list):
        for part in node:
            yield from _strings(part)
    elif isinstance(node, dict):
        for key, part in node.items():
            if not key.startswith("image/"):
                yield key
                yield from _strings(part)


def tokens(text: str) -> set[str]:
    """All runs of six or more letters and digits."""
    return set(re.findall(r"[A-Za-z0-9]{6,}", text))
