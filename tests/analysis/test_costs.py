"""What metrics cost: the committed run as a frame."""

import pytest

from tstmeta.analysis.costs import costs
from tstmeta.data import paths
from tstmeta.metrics import get
from tstmeta.schema import MissingData


def test_without_a_checkout_the_remedy_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "home", lambda: tmp_path)
    with pytest.raises(MissingData, match=r"python benchmarks/cost\.py"):
        costs()


def test_every_metric_with_a_committed_cost_is_registered_and_runs_on_that_basis():
    table = costs()
    assert {"bleu", "cosine"} <= set(table["metric"])
    assert table["seconds"].is_monotonic_increasing
    for metric, basis in zip(table["metric"], table["basis"], strict=True):
        assert basis in get(metric).bases
