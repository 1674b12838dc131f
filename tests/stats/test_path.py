"""From ``tst.correlate`` to the formula: few calls, those that CONTRIBUTING.md names."""

import inspect
import re
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import pearsonr

import tstmeta as tst
from tests.analysis.many import rated, scored
from tstmeta.stats import STATISTICS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src"


def documented() -> list[tuple[str, str]]:
    """Function and file of each call, as the table of CONTRIBUTING.md has them."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Follow one number")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([\w.]+)` \| `([\w./]+)` \|", section, re.MULTILINE)


@pytest.mark.parametrize("level", ["pooled", "system"])
def test_four_calls_lead_to_the_formula_and_contributing_names_them(monkeypatch, level):
    calls = []

    def formula(x, y):
        if not calls:
            frames = [info.frame.f_code for info in inspect.stack()[1:]]
            inside = [code for code in frames if Path(code.co_filename).is_relative_to(PACKAGE)]
            for code in reversed(inside):
                file = Path(code.co_filename).relative_to(ROOT)
                calls.append((code.co_qualname, file.as_posix()))
        return pearsonr(x, y)

    monkeypatch.setitem(STATISTICS, "pearson", replace(STATISTICS["pearson"], peer=formula))
    data = rated()
    frame = tst.pairs(data, scored(data, good=1.0))
    value = tst.correlate(frame, "pearson", level)["value"].item()
    values = frame if level == "pooled" else frame.groupby("system")[["score", "human"]].mean()
    assert value == pytest.approx(values["score"].corr(values["human"]))
    assert calls == documented()
    assert len(calls) <= 4
