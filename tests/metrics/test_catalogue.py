"""The list of metrics: open forms, and metrics that are broken."""

from functools import cache

import pandas as pd
import pytest

from tstmeta import metrics
from tstmeta.metrics import catalogue


@cache
def listed() -> pd.DataFrame:
    return catalogue.overview().set_index("name")


def test_a_metric_that_cannot_be_made_does_not_hide_the_others(monkeypatch):
    def broken(name):
        if name == "ter":
            raise ValueError("no such file")
        return metrics.get(name)

    monkeypatch.setattr(catalogue, "get", broken)
    rows = catalogue.overview().set_index("name")
    assert rows.loc["ter", ["status", "remedy"]].tolist() == ["error", "ValueError: no such file"]
    assert rows.loc["pinc", "status"] == "ok"


@pytest.mark.parametrize("name", catalogue.OPEN)
def test_an_open_form_is_listed_with_what_to_name(name):
    rows = listed()
    row, plain = rows.loc[name], rows.loc[name.partition(":")[0]]
    assert (row["status"], row["profile"], row["signature"]) == ("error", "real", "")
    assert row["remedy"]
    assert row[["dimension", "unit", "bases"]].equals(plain[["dimension", "unit", "bases"]])
