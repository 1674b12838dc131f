"""The command line as its tests call it: no raw data, a score store of its own, a small file."""

import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from tstmeta import cli
from tstmeta.data import paths

#: a file of somebody's own: four rewrites by two systems, rated for content and style
CSV = """\
source,output,system,reference,content.ann,content.bob,style.ann
the cat sat down,the cat was sitting down,A,the cat took a seat,5,4,2
he ran to the shop,he went,B,he was running to the shop,2,1,4
we like tea,we like tea,A,tea is what we like,5,5,1
please call me,do not call me,B,kindly ring me,1,2,3
"""


def command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """A function that runs a command as on a machine without raw data, beside ``mine.csv``."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "raw"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    monkeypatch.setattr(paths, "scores", lambda: tmp_path / "store")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text(CSV)

    def run(*words):
        return CliRunner().invoke(cli.app, [str(word) for word in words])

    return run


def table(result) -> pd.DataFrame:
    """The CSV on stdout, which must be all there is on it."""
    assert result.exception is None or result.exit_code == 1
    return pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)
