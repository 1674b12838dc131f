"""The page on other tools: its Python runs as it stands, from top to bottom."""

import re

import datasets
import pytest

from tests import written
from tests.command import command_line

PAGE = (written.ROOT / "book" / "howto_exchange.md").read_text(encoding="utf-8")


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_python_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    run = command_line(tmp_path, monkeypatch)
    [export] = re.findall(r"^tstmeta (data export contrast .*)$", PAGE, re.M)
    assert run(*export.split()).exit_code == 0
    blocks = [code for code in re.findall(r"```python\n(.*?)```", PAGE, re.S) if "mlcr" not in code]
    names: dict = {}
    for code in blocks:
        exec(compile(code, "page", "exec"), names)
    assert len(blocks) == 1
