"""An evaluation in words: what the sentences claim, and numbers that never read 0 and are not."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from tests.analysis.many import rated, scored
from tests.analysis.test_evaluation import analyse
from tstmeta.analysis import choice, comparison, evaluate, render
from tstmeta.analysis.summary import number
from tstmeta.schema import TstmetaError

DATA = rated()
OWN = analyse(DATA, scored(DATA, good=0.4, ter=0.5, poor=4.0, random=2.0), draws=300)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1234, "0.123"),
        (-0.0004, "-0.0004"),
        (0.00001234, "0.00001"),
        (-0.0, "0"),
        (1e-17, "0"),
        (-2e-12, "0"),
        (math.nan, "-"),
    ],
)
def test_no_difference_is_shown_as_zero(value, expected):
    assert number(value) == expected


def words(**pairs: float) -> list[str]:
    """The sentences had tests other p for pairs named as in ``good_ter``, and 0.001 elsewhere."""
    names, p = OWN.frame["metric"].tolist(), np.full(OWN.p.shape, 0.001)
    for pair, value in pairs.items():
        i, j = map(names.index, pair.split("_"))
        p[i, j] = p[j, i] = value
    return replace(OWN, p=p).summary


def test_the_words_are_of_who_leads_of_sentinels_and_of_power():
    lead, sentinel, power = words(good_ter=0.2, poor_random=0.051)
    row = OWN.frame.iloc[0]
    limits = f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
    assert lead == (
        f"good (Pearson's r {limits}) agrees best with the mean human rating of content; ter cannot"
        " be told from it; it is above poor (at 0.05 for all 10 pairs of rows)."
    )
    assert sentinel.startswith("The best sentinel is random (Pearson's r 0.")
    assert sentinel.endswith(
        "); below it: no metric; poor cannot be told from it; above it: 2 of 3 metrics."
    )
    least = comparison.detectable(OWN.analysis, 0, 1)
    gap = OWN.frame["value"][0] - OWN.frame["value"][1]
    assert power == (
        "With 80 % power these data would show that ter is worse than good if the difference were"
        f" {least:.3f} (this pair alone at 0.05, by simulation); it is {number(gap)}."
    )


def test_the_best_sentinel_is_the_one_with_the_highest_value_shown():
    own = analyse(DATA, scored(DATA, good=0.4, random=1.0, **{"copy-rate": 2.5}), draws=50)
    assert "The best sentinel is random (" in own.summary[1]
    shown = own.frame.assign(value=own.frame["value"].mask(own.frame["metric"] == "random", 0.0))
    several = replace(own, frame=shown)  # as the mean of seeds stands there
    assert "The best sentinel is copy-rate (" in several.summary[1]
    assert set(several.differences["b"]) == {"copy-rate"}


def test_metrics_of_one_value_lead_together_and_chance_and_fewer_rewrites_are_stated():
    table = scored(DATA, good=0.4, ter=0.4, poor=4.0)
    values = table["value"].where(table["metric"] != "ter", -table["value"].to_numpy())
    good = table.loc[table["metric"] == "good", "value"].to_numpy()
    twins = table.assign(value=values.mask(table["metric"] == "ter", -np.resize(good, len(table))))
    lead = analyse(DATA, twins, draws=50).summary[0]
    assert lead.startswith(f"good and ter (Pearson's r {number(OWN.frame['value'][0])} each) agree")
    assert "; they are above poor (at" in lead
    worse = table[table["metric"] == "good"].assign(value=lambda own: -own["value"])
    assert (
        "; its interval does not lie above 0, which is chance (at"
        in (analyse(DATA, worse, draws=50).summary[0])
    )
    fewer = analyse(DATA, table.assign(value=table["value"].mask(table.index == 0)), draws=50)
    assert "], over 95 of 96 rewrites) agrees best" in fewer.summary[0]
    notes = fewer.differences.set_index(["a", "b"])["note"]
    assert notes["good", "ter"].startswith("over 95 and 96 rewrites")
    assert not notes["ter", "poor"].startswith("over")


def test_few_systems_stand_in_the_remarks_of_every_form():
    few = analyse(DATA, scored(DATA, good=0.4), level="system", draws=20).remarks[0]
    assert (
        few == "level system: 4 systems say little of others; no order of them has a p below 0.08"
    )


def test_below_a_sentinel_is_only_what_differs_from_it():
    assert OWN.frame["value"][2] < OWN.frame["value"][3]  # poor, then random
    assert "; below it: poor; above it: 2 of 3 metrics." in words()[1]


def test_without_tests_there_are_no_words_and_without_values_they_say_so():
    scores = scored(DATA, good=0.4)
    assert analyse(DATA, scores, draws=20, clusters=False).summary == []
    alone = analyse(DATA, scores.assign(value=1.0), draws=20).summary
    assert alone == ["No metric has a value for content that could be compared."]


def test_differences_are_of_metrics_and_of_the_best_sentinel():
    table = OWN.differences
    pairs = list(zip(table["a"], table["b"], strict=True))
    assert pairs == list(combinations(["good", "ter", "poor", "random"], 2))
    every = comparison.differences(OWN.analysis.matrices, OWN.drawn, OWN.p, range(5))
    of_these = every[every["b"] != "human-style"].reset_index(drop=True)
    pd.testing.assert_frame_equal(table[list(every)], of_these)
    assert set(table["level"]) == {"pooled"}


def test_each_panel_of_the_figure_has_the_ranks_of_its_own_rows():
    pytest.importorskip("matplotlib")
    worse = analyse(DATA, scored(DATA, poor=4.0, random=2.0), level="source", draws=50)
    better = analyse(DATA, scored(DATA, good=0.4, ter=0.5), draws=50)
    figure = render.draw([worse, better])
    assert [axis.get_title("left") for axis in figure.axes] == ["source", "pooled"], "as given"
    panels = {axis.get_title("left"): axis for axis in figure.axes}
    for title, own in (("source", worse), ("pooled", better)):
        [side] = panels[title].child_axes
        labels = [tick.get_text() for tick in side.get_yticklabels()]
        assert labels == render.ranks(own.frame.dropna(subset="value"))
        assert len(labels) == len(panels[title].get_yticks())
    with pytest.raises(TstmetaError, match="no metric has a value beside ratings"):
        render.draw([])


def test_the_default_is_the_same_in_python(monkeypatch):
    monkeypatch.setitem(choice.DEFAULTS, "content", {"source": ("chrf", "nothing-such")})
    own = evaluate(DATA, draws=20, clusters=False)
    assert own.frame.loc[own.frame["kind"] == "metric", "metric"].tolist() == ["chrf"]
    assert any(words.startswith("left out: nothing-such (") for words in own.remarks)
