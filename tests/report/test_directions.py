"""Every table and figure that turns signs turns them for the basis at hand."""

import numpy as np
import pandas as pd
import pytest

from tests.report.apart import NAME, Apart
from tests.report.many import quality
from tests.report.many import rated as many
from tests.report.test_games import two
from tests.report.tiny import scores
from tstmeta import metrics
from tstmeta.combine.parts import gather
from tstmeta.metrics import catalogue
from tstmeta.report import confounds, games, heatmaps, references
from tstmeta.report.analysis import analyse
from tstmeta.report.bench import Bench
from tstmeta.report.evaluation import notes
from tstmeta.report.lessons import dial
from tstmeta.report.material import upright

BASES = ("source", "reference")
DATA = many()
SCORES = pd.concat(
    [scores(DATA, quality(), NAME, "source"), scores(DATA, -quality(), NAME, "reference")]
)


def test_the_metric_says_so_for_each_basis():
    assert not metrics.lower_is_better(NAME, "source")
    assert metrics.lower_is_better(NAME, "reference")
    assert catalogue._better(Apart()) == "higher (source), lower (reference)"
    assert catalogue._better(metrics.get("ter")) == "lower"


def test_agreement_is_above_zero_on_both():
    found = analyse(DATA, SCORES, draws=50, tests=False)
    rows = found.rows[found.rows["metric"] == NAME].set_index("basis")
    assert rows["better"].to_dict() == {"source": "higher", "reference": "lower"}
    assert rows["value"]["reference"] == pytest.approx(rows["value"]["source"])
    assert rows["value"]["source"] > 0.5
    assert f"Less is better, so turned round: {NAME} (reference)" in notes(found)


def test_confounds_are_looked_for_in_the_same_direction():
    found = confounds.partials(DATA, SCORES, draws=20)
    sides = [found[(found["metric"] == NAME) & (found["basis"] == one)] for one in BASES]
    assert [set(side["better"]) for side in sides] == [{"higher"}, {"lower"}]
    source, reference = (side["value"].to_numpy() for side in sides)
    assert len(source) > 0
    assert reference == pytest.approx(source)


def test_scores_are_put_upright_where_less_is_better():
    found = upright(SCORES)
    np.testing.assert_array_equal(found["value"], [*quality(), *quality()])
    assert (found["metric"] == NAME).tolist() == (found["basis"] == "source").tolist()


def test_a_combination_is_made_of_oriented_parts():
    assert gather(DATA, SCORES).lower.tolist() == [False, True]


def test_a_heat_map_marks_the_one_that_is_turned():
    found = heatmaps.correlations(DATA, SCORES)
    own = [label for label in found.labels if NAME in label]
    assert [label.endswith("↓") for label in own].count(True) == 1
    assert next(label for label in own if label.endswith("↓")).startswith("R-")


def test_games_are_won_in_the_right_direction(tmp_path):
    found = games.table_of_games(
        Bench(store=tmp_path), two(), [NAME], list(BASES), honest="B", draws=30
    )
    better = found.drop_duplicates("basis").set_index("basis")["better"]
    assert better.to_dict() == {"source": "higher", "reference": "lower"}


def test_curves_over_references_turn_what_is_compared_with_references():
    data = many()
    texts = [["we saw" + " it" * (number % 7), "we"] for number in range(len(data.items))]
    data = type(data).of(
        "many", data.items.assign(references=texts), data.card, ratings=data.ratings
    )
    found = references.curves([data], [NAME], subsets=1, draws=20).rows
    assert set(found["better"]) == {"lower"}
    of = references.asked(data)
    made = references.values(Apart(), of, references.orders(int(of.source.max()) + 1, 2, 1, 0))
    expected = -np.corrcoef(of.human, made[-1, 0])[0, 1]
    assert found["value"].iloc[-1] == pytest.approx(expected)


def test_the_dial_holds_outputs_against_sources():
    assert not dial.falls(NAME)
    assert dial.falls("style-cosine")
    assert dial.falls("ter")
