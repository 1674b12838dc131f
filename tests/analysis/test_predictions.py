"""Predictions are held against what came, leaving families and leaving tasks out."""

import numpy as np
import pytest

import tstmeta as tst
from tstmeta import stats


def family_effects(rows):
    y, v, names = stats.family_means(rows["value"], rows["se"], rows["family"].tolist())
    tasks = rows.drop_duplicates("family").set_index("family")["task"]
    return (y, v, tasks[list(names)].tolist()), (rows["se"] ** 2 * rows["sources"]).median()


def foretold(table, left_out):
    """Coverage and mean interval score of the rule of families alone, and of that with tasks."""
    scores = []
    for name, part in table.groupby(left_out):
        rest = table[table[left_out] != name].groupby("metric")
        known = {metric: family_effects(rows) for metric, rows in rest if rows.family.nunique() > 2}
        taus = np.mean([stats.log_likelihood(*effects) for effects, _ in known.values()], axis=0)
        for row in part[part["metric"].isin(known)].itertuples():
            (y, v, tasks), variance = known[row.metric]
            new = variance / row.sources
            families = stats.pool(y, v, new=new)[4:6]
            both = families, stats.predict(y, v, tasks, row.task, new, taus)[1:3]
            low, high = np.clip(both, 0, 1).T
            outside = np.maximum(np.maximum(low - row.value, row.value - high), 0)
            scores.append([*(outside == 0), *(high - low + 40 * outside)])
    return np.mean(scores, axis=0)


@pytest.mark.parametrize("left_out", ["family", "task"])
@pytest.mark.parametrize("dimension", ["content", "style", "fluency"])
def test_limits_cover_as_promised_with_a_better_score_than_families_alone(dimension, left_out):
    rows = tst.evidence(dimension).query("statistic == 'accuracy' and level != 'system'")
    rows = rows.query("panel == 'pool' and kind == 'metric' and basis != 'reference'")
    rows = rows.dropna(subset=["value", "se"])
    _, covered, before, score = foretold(rows, left_out)
    assert 0.92 <= covered <= 0.98
    assert score < before
