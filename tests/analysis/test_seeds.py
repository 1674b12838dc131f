"""One random metric may be lucky: what a page shows of ``random`` is the mean of ten seeds."""

import pytest

import tstmeta as tst
from tstmeta.analysis.choice import SEEDS
from tstmeta.analysis.frame import kind_of


@pytest.mark.parametrize(("statistic", "level"), [("pearson", "pooled"), ("kendall", "source")])
def test_the_row_is_the_mean_of_ten_seeds_with_two_standard_deviations_to_either_side(
    statistic, level
):
    data = tst.load("contrast@tied")
    data = data.where(data.items["source_id"].isin(data.items["source_id"].unique()[:30]), "few")
    pairs = tst.pairs(data, tst.score(data, ["bleu", *SEEDS], ["source"]))
    each = tst.correlate(pairs, statistic, level).set_index("metric")["value"]
    one = pairs[pairs["metric"].isin(["bleu", "random"])]
    frame = tst.correlate(one, statistic, level).assign(low=0.0, high=1.0)
    shown = tst.seeded(frame, [data], "content", statistic, level).set_index("metric")
    own = each[SEEDS]
    name = "random: mean of 10"
    row = shown.loc[name, ["value", "low", "high"]].tolist()
    assert row == pytest.approx(
        [own.mean(), own.mean() - 2 * own.std(), own.mean() + 2 * own.std()]
    )
    assert shown.loc["bleu", ["value", "low", "high"]].tolist() == [each["bleu"], 0, 1]
    assert (kind_of(name), tst.plot.look(name)) == ("sentinel", "sentinel")
    [plain] = tst.seeded(
        frame[["dataset", "metric", "value"]], [data], "content", statistic, level
    )["metric"].drop(0)
    assert plain == f"{name}, sd {own.std():.2f}"
    assert set(tst.seeded(frame, [], "content")["metric"]) == {"bleu", "random"}  # of no set
