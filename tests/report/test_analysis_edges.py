"""What an analysis makes of too little, of whole outputs, and of mistakes."""

import numpy as np
import pytest

from tests.helpers import needs
from tests.report.many import rated, scored
from tests.report.tiny import rated as tiny
from tests.report.tiny import scores
from tstmeta import schema
from tstmeta.data import Dataset, load
from tstmeta.report.analysis import COLUMNS, analyse
from tstmeta.report.bench import Bench
from tstmeta.report.tables import evaluate
from tstmeta.schema import TstmetaError
from tstmeta.stats import LEVELS, STATISTICS

DATA = rated()
SCORES = scored(DATA, good=0.4, fair=1.0, ter=0.8)


# --------------------------------------------------------------------- corpus metrics, nothing


@pytest.fixture(scope="module")
def with_corpus(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("store"))
    return bench.table(DATA, ["corpus-bleu", "bleu", "constant"], ["source"])


def test_a_metric_of_whole_outputs_has_a_value_and_no_interval(with_corpus):
    found = analyse(DATA, with_corpus, level="system", draws=50)
    row = found.rows.set_index("metric").loc["corpus-bleu"]
    plain = evaluate(DATA, with_corpus, dimensions=["content"], level="system")
    expected = plain.set_index("metric").loc["corpus-bleu"]
    assert (row["value"], row["n"]) == (pytest.approx(expected["value"]), 4)
    assert row["note"] == "one value a system: no interval and no rank"
    assert row[["low", "high", "rank", "cluster", "partial"]].isna().all()
    place = found.place("corpus-bleu")
    assert np.isnan(found.made[1][place]).all()
    assert np.isnan(found.tests.p[place]).all()
    assert found.tests.reasons[place][0] == "a metric of whole outputs"


@pytest.mark.parametrize("statistic", ["pearson", "kendall", "difference-pearson"])
@pytest.mark.parametrize("level", LEVELS)
def test_where_only_whole_outputs_were_scored_there_is_a_table(with_corpus, level, statistic):
    if level not in (STATISTICS[statistic].levels or LEVELS):
        return
    only = with_corpus[with_corpus["metric"] == "corpus-bleu"]
    ratings = DATA.ratings[DATA.ratings["dimension"] == "content"]
    data = Dataset.of("many", DATA.items, DATA.card, ratings=ratings, labels=DATA.labels)
    found = analyse(data, only, statistic=statistic, level=level, draws=50)
    assert found.rows["metric"].tolist() == ["corpus-bleu"]
    assert found.made[1].shape == (1, 50)
    if level != "system":
        assert found.rows["note"].tolist() == ["a metric of whole outputs: use level system"]


def test_without_scores_there_are_columns_and_no_rows():
    ratings = DATA.ratings[DATA.ratings["dimension"] == "content"]
    data = Dataset.of("many", DATA.items, DATA.card, ratings=ratings)
    found = analyse(data, schema.empty("scores"), draws=50)
    assert list(found.rows.columns) == list(COLUMNS)
    assert len(found.rows) == len(found.made.values) == 0


def test_what_has_no_value_says_why_and_stands_last(with_corpus):
    rows = analyse(DATA, with_corpus, draws=50, tests=False).rows
    row = rows[rows["metric"] == "constant"].iloc[0]
    assert row["note"] == "all scores are equal"
    assert row[["value", "low", "high", "rank", "rank_low", "rank_high"]].isna().all()
    assert rows["metric"].iloc[-1] == "constant"


def test_few_units_are_told():
    data = tiny()
    rows = analyse(data, scores(data, [1, 2, 3, 4, 5, 7]), draws=100).rows
    assert "2 sources: over fewer than 8" in rows["note"][0]


# ------------------------------------------------------------------------------------ mistakes

MISTAKES = {
    "a level": ({"level": "sample"}, "unknown level 'sample'; known: pooled, source"),
    "a statistic": ({"statistic": "tau"}, "unknown statistic 'tau'; known: pearson"),
    "a dimension": ({"dimension": "mood"}, "unknown dimension 'mood'; known: content"),
    "nobody judged": (
        {"dimension": "fluency"},
        "many: nobody judged fluency; judged: content, style. Choose another",
    ),
    "units": ({"units": "words"}, "unknown units 'words'; known: sources, systems, both"),
    "no draws": ({"draws": 0}, "0 draws: at least one is needed"),
    "confidence": ({"confidence": 95}, "confidence 95 is not between 0 and 1"),
    "not at this level": (
        {"statistic": "soft-pairwise-accuracy"},
        "soft pairwise accuracy is not defined at level pooled, only at system",
    ),
    "not to be added up": (
        {"statistic": "tau-c", "level": "source", "micro": True},
        "Stuart's tau-c cannot be added up over groups: leave micro out",
    ),
    "no groups": (
        {"micro": True, "level": "system"},
        "level system has none: leave micro out, or take level source, within-system, task",
    ),
}


@pytest.mark.parametrize(("options", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_what_to_do(options, message):
    with pytest.raises(TstmetaError) as told:
        analyse(DATA, SCORES, **options)
    assert message in str(told.value)


def test_what_the_data_do_not_have_is_told():
    nameless, bare = rated(systems=False), rated(labels=False)
    for options in ({"level": "system"}, {"level": "within-system"}, {"units": "both"}):
        with pytest.raises(TstmetaError, match="no item names its system: give the items a column"):
            analyse(nameless, SCORES, **options)
    with pytest.raises(TstmetaError, match=r"level task needs tasks: .*give each item a label"):
        analyse(bare, SCORES, level="task")
    with pytest.raises(TstmetaError, match="no label 'survey' says which sources shared"):
        analyse(bare, SCORES, clustered=True)
    one = DATA.where(DATA.items["system"] == "B", "one")
    with pytest.raises(TstmetaError, match=r"only one system \(B\) was judged: add outputs"):
        analyse(one, SCORES[SCORES["item_id"].isin(one.items["item_id"])], level="system")


@needs("alva")
def test_ratings_on_several_scales_are_not_thrown_together():
    with pytest.raises(TstmetaError, match="take one of alva@asset"):
        analyse(load("alva"), schema.empty("scores"))


@needs("lai")
def test_real_ratings_give_the_values_of_the_ledger():
    bench = Bench()
    data = bench.dataset("lai@pauli2025")
    table = data.scores[data.scores["metric"] == "released:bertscore"]
    table = table[(table["dimension"] == "content") & (table["basis"] == "source")]
    found = analyse(data, table, statistic="kendall", level="system", draws=100)
    expected = bench.agreement(
        "lai@pauli2025", "released:bertscore", "source", "content", "kendall", "system"
    )
    assert found.rows.set_index("metric").loc["released:bertscore", "value"] == pytest.approx(
        expected.value
    )
    assert "different persons" in found.human.note
