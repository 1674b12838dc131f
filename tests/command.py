"""The command line as its tests call it: no raw data, a score store of its own, a small file."""

import io
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer import Typer
from typer.testing import CliRunner

from tstmeta import cli
from tstmeta.data import paths
from tstmeta.metrics import Request, registry
from tstmeta.schema import TstmetaError

#: a file of somebody's own: four rewrites by two systems, rated for content and style
CSV = """\
source,output,system,reference,content.ann,content.bob,style.ann
the cat sat down,the cat was sitting down,A,the cat took a seat,5,4,2
he ran to the shop,he went,B,he was running to the shop,2,1,4
we like tea,we like tea,A,tea is what we like,5,5,1
please call me,do not call me,B,kindly ring me,1,2,3
"""
#: a corpus of two styles, 16 sentences
MEALS = ["soup", "bread", "cake", "tea", "fish", "rice", "corn", "stew"]
TASTE = {"fine": "good", "great": "good", "cold": "bad", "awful": "bad"}
FOOD = pd.DataFrame(
    [(f"the {meal} was {word}", style) for word, style in TASTE.items() for meal in MEALS],
    columns=["text", "style"],
)


def command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, app: Typer = cli.app) -> Callable:
    """A function that runs a command of ``app``, by its words or as it is typed.

    There is ``mine.csv`` in the working folder, no raw data, and no key of the machine's.
    """
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "raw"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    monkeypatch.setattr(paths, "scores", lambda: tmp_path / "store")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text(CSV)

    def run(*words):
        typed = shlex.split(words[0]) if len(words) == 1 else map(str, words)
        return CliRunner().invoke(app, [*typed])

    return run


def commands(command: Any, *words: str) -> Iterator[tuple[str, Any]]:
    """Commands and groups below one, by their words."""
    yield " ".join(words), command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *words, name)


def refusal(result) -> str:
    """What is said of a mistake of the user."""
    assert isinstance(result.exception, TstmetaError), result.exception
    return str(result.exception)


def success(result) -> Any:
    """The result of a command that ended well."""
    assert result.exit_code == 0, result.output
    return result


def table(result) -> pd.DataFrame:
    """The CSV on stdout, which must be all there is on it."""
    assert result.exit_code == 0 or isinstance(result.exception, SystemExit), result.exception
    return pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)


def values(result) -> tuple[dict, str]:
    """What a command of what metrics run on printed, and the word that it gives to a metric."""
    rows = table(result)
    use = result.stderr.strip().splitlines()[-1]
    assert "use it: tstmeta score --data DATA --metric " in use
    return dict(zip(rows["what"], rows["value"], strict=True)), use.rpartition(" ")[2]


def score(name: str, *requests: Request) -> list[float]:
    """Values of a metric, all of which must be ok."""
    scores = list(registry.get(name).score(requests))
    assert {row.status for row in scores} == {"ok"}
    return [row.value for row in scores]


def score_file(path: Path, metric: str) -> Path:
    """A file with scores of a metric for the rows of ``mine.csv``."""
    rows = {"item_id": list("1234"), "metric": metric, "value": range(4)}
    pd.DataFrame(rows).to_csv(path, index=False)
    return path
