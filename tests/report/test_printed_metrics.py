"""Every metric that a paper prints is one of ours, listed with what it needs to run."""

import pandas as pd
import pytest

from tstmeta.data import paths
from tstmeta.metrics import catalogue
from tstmeta.report import metric_cards
from tstmeta.report.published import cells

#: Printed in the column of metrics and none: people, their agreement, what they were asked, and
#: differences of two values of a metric.
NO_METRICS = {
    *("", "human mean rating", "Human", "inter-annotator agreement"),
    *("transfer quality", "semantic preservation", "fluency", "delta_Sim", "delta_PP"),
}
PRINTED = sorted({(one.paper, one.metric) for one in cells() if one.metric not in NO_METRICS})
LISTED = set(catalogue.names())


def rows() -> list[dict]:
    frame = pd.read_csv(paths.own("published", "names.csv"), dtype=str, keep_default_na=False)
    return frame[frame["kind"] == "metric"].to_dict("records")


def ours() -> dict[tuple[str, str], list[str]]:
    return {(row["paper"], row["printed"]): row["listed"].split() for row in rows()}


@pytest.mark.parametrize(("paper", "printed"), PRINTED, ids=lambda text: text)
def test_every_printed_metric_is_listed(paper, printed):
    names = ours()[paper, printed]
    assert names
    assert set(names) <= LISTED


def test_the_table_of_names_has_no_metric_that_nobody_prints():
    assert set(ours()) == set(PRINTED)


def test_what_is_no_metric_is_not_in_the_table():
    assert not {name for _, name in ours()} & NO_METRICS
    assert {one.metric for one in cells()} >= NO_METRICS


def test_the_name_that_the_ledger_computes_is_one_of_those_listed():
    for row in rows():
        if row["ours"] and not row["ours"].startswith("released:"):
            assert row["ours"] in row["listed"].split()


# ----------------------------------------------------------------------------------------- cards


def test_every_metric_has_a_card():
    assert not set(catalogue.stems()) - set(metric_cards.names())


def test_every_card_is_about_a_metric():
    assert not set(metric_cards.names()) - set(catalogue.stems())
