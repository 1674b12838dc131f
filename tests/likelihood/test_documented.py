"""What README and the how-to say of the likelihood method can be typed in as it stands."""

import re

import pytest

from tests.likelihood import small
from tests.written import ROOT
from tstmeta.likelihood import instructions
from tstmeta.likelihood.zeroshot import read
from tstmeta.models.causal import DEFAULT

NAMES = ("README.md", "book/howto_likelihood.md")
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES}
HOWTO = PAGES["book/howto_likelihood.md"]
PYTHON = re.findall(r"```python\n(.*?)```", HOWTO, re.S)


@pytest.mark.parametrize("page", PAGES)
def test_each_metric_that_is_named_is_understood(page):
    named = re.findall(r"(?:--metric |`)likelihood(?:-style)?:([^\s`]+)", PAGES[page])
    assert len(named) > 3
    for words in named:
        assert all(read(words)), words


def test_the_files_that_are_shown_can_be_read(tmp_path):
    (tmp_path / "own.toml").write_text(re.findall(r"```toml\n(.*?)```", HOWTO, re.S)[0])
    assert instructions.get(f"{tmp_path}/own.toml#mine").origin == "yours"


def test_the_python_that_is_shown_runs(tmp_path):
    for code in PYTHON:
        assert DEFAULT in code
        code = code.replace(DEFAULT, str(small.saved(tmp_path)))  # loads at once
        exec(compile(code, "howto", "exec"), {})
