"""Recomputed scores beside the released ones."""

import numpy as np
import pytest
from IPython.display import Markdown

from tests.helpers import needs
from tests.report.test_html import Page
from tstmeta.report import recomputed
from tstmeta.report.bench import Bench


def test_without_the_data_the_remedy_is_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path))
    bench = Bench(tmp_path / "store")
    monkeypatch.setattr(bench, "has", lambda name: False)
    shown = recomputed.table(recomputed.beside(bench))
    assert isinstance(shown, Markdown)
    assert "tstmeta data fetch lai" in shown.data


@needs("lai")
def test_what_the_released_scores_hold_agrees_and_what_one_would_use_does_not(tmp_path):
    pairs = tuple(one for one in recomputed.LAI if "rouge1" in one.ours or one.ours == "chrf")
    bench = Bench(tmp_path)
    rows = recomputed.beside(bench, pairs)
    assert len(rows) == 2 * len(pairs)
    by = rows.set_index(["basis", "ours"])
    for basis in ("source", "reference"):
        assert by["r"][basis, "chrf"] > 0.999
        assert by["r"][basis, "rouge1:lai2023"] > 0.999
        assert by["off"][basis, "rouge1:lai2023"] < 20 < by["off"][basis, "rouge1"]
    human = bench.dataset("lai").means["content"].to_numpy()
    values = bench.scores("lai", "rouge1", "source")["value"].to_numpy()
    both = np.isfinite(human) & np.isfinite(values)
    r = np.corrcoef(human[both], values[both])[0, 1]
    assert by["human_ours"]["source", "rouge1"] == pytest.approx(r)
    assert "they differ in" in Page(recomputed.table(rows).text).text
