"""What README and the how-to say of the likelihood method can be typed in as it stands."""

import re

import pytest

from tests import scored
from tests.written import ROOT
from tstmeta.likelihood import instructions
from tstmeta.likelihood.zeroshot import parse

PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "book/howto.md")}
HOWTO = (
    PAGES["book/howto.md"].partition("## Score with the likelihood method")[2].partition("\n## ")[0]
)
PYTHON = re.findall(r"```python\n(.*?)```", HOWTO, re.S)


@pytest.mark.parametrize("page", PAGES)
def test_each_metric_that_is_named_is_understood(page):
    named = re.findall(r"(?:--metric |`)likelihood(?:-style)?:([^\s`]+)", PAGES[page])
    assert len(named) > 3
    for words in named:
        assert parse(words), words


def test_the_files_that_are_shown_can_be_read(tmp_path):
    (tmp_path / "own.toml").write_text(re.findall(r"```toml\n(.*?)```", HOWTO, re.S)[0])
    assert instructions.get(f"{tmp_path}/own.toml#mine").origin == "yours"
    shown = re.findall(r"```text\n(style,wording.*?)```", HOWTO, re.S)[0]
    (tmp_path / "wordings.csv").write_text(shown)
    assert instructions.read_wordings(tmp_path / "wordings.csv")["positive"] == "full of praise"


@pytest.mark.parametrize("code", PYTHON, ids=["scorer", "metric"])
def test_the_python_that_is_shown_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tstmeta.data.paths.scores", lambda: tmp_path / "store")
    rows = [{"style": "formal"}, {"style": "polite"}]  # in place of the whole contrast set
    monkeypatch.setattr("tstmeta.data.load", lambda name: scored.dataset(*rows))
    exec(compile(code, "howto", "exec"), {})
