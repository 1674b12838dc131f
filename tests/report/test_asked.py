"""What an analysis refuses: mistakes that would otherwise change a number in silence."""

import numpy as np
import pytest

from tests.report.tiny import rated, scores
from tstmeta.report.analysis import analyse
from tstmeta.schema import TstmetaError

DATA = rated()
VALUES = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.5])
SCORES = scores(DATA, list(VALUES), "mine")


def test_a_metric_that_is_to_be_turned_round_must_be_there():
    with pytest.raises(TstmetaError, match="no metric is called mime, so none can be turned round"):
        analyse(DATA, SCORES, draws=20, lower=["mine", "mime"])
    plain, turned = (analyse(DATA, SCORES, draws=20, lower=names) for names in ([], ["mine"]))
    values = [one.rows.set_index("metric").loc["mine", "value"] for one in (plain, turned)]
    assert values[0] == pytest.approx(-values[1])
    assert values[0] != 0


def test_a_seed_below_zero_is_refused():
    with pytest.raises(TstmetaError, match="seed -1: a whole number from 0 up is needed"):
        analyse(DATA, SCORES, draws=20, seed=-1)


def test_scores_may_be_very_large():
    small, large = (
        analyse(DATA, scores(DATA, list(VALUES * factor), "mine"), draws=20).rows
        for factor in (1.0, 1e300)
    )
    assert large["value"].tolist() == pytest.approx(small["value"].tolist(), nan_ok=True)
    first = large["metric"] == "mine"
    assert large.loc[first, "sd"].item() == pytest.approx(VALUES.std(ddof=1) * 1e300)
