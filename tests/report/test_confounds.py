"""Tables about confounds: what is in them, oracles and turned metrics too, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.report.tiny import constructed, rated, scores
from tstmeta import stats
from tstmeta.data import Dataset, available
from tstmeta.data.tables import items_table, labels_table, ratings_table
from tstmeta.report import confounds
from tstmeta.report.bench import Bench
from tstmeta.schema import TstmetaError
from tstmeta.stats.partial_correlation import partial

FEW = {"draws": 40, "seed": 3}


def made(seed: int = 0, sources: int = 12) -> Dataset:
    """Sources with three systems, three rated dimensions, two raters of content, two tasks."""
    rng = np.random.default_rng(seed)
    n = 3 * sources
    ids = [f"i{number:03}" for number in range(n)]
    items = items_table(
        "made",
        item_id=ids,
        source_id=[f"s{number // 3:02}" for number in range(n)],
        system=["A", "B", "C"] * sources,
        style="formal",
        source="he ran home",
        output="he ran",
    )
    common = rng.normal(size=n)
    columns: dict = {
        ("content", "r1"): (3 + common + rng.normal(size=n)).round(),
        ("content", "r2"): (3 + common + rng.normal(size=n)).round(),
        ("style", "r1"): (3 + common + rng.normal(size=n)).round(),
        ("fluency", "r1"): (3 + rng.normal(size=n)).round(),
    }
    columns["style", "r1"][0] = math.nan
    labels = labels_table("made", ids, task=["x" if i < n / 2 else "y" for i in range(n)])
    return Dataset.of("made", items, ratings=ratings_table("made", ids, columns), labels=labels)


def scored(dataset: Dataset, seed: int = 1) -> pd.DataFrame:
    """A metric near to content, TER (less is better), a constant."""
    rng = np.random.default_rng(seed)
    near = dataset.means["content"].to_numpy() + rng.normal(size=len(dataset.items))
    tables = [
        scores(dataset, near, "near"),
        scores(dataset, -near, "ter"),
        scores(dataset, near * 0, "constant"),
    ]
    return pd.concat(tables, ignore_index=True)


def vectors(dataset: Dataset) -> dict[str, np.ndarray]:
    return {name: dataset.means[name].to_numpy() for name in dataset.dimensions}


# ---------------------------------------------------------------------------------- partials


@pytest.mark.parametrize("statistic", ["pearson", "spearman"])
@pytest.mark.parametrize("within", [False, True])
def test_partials_are_those_of_the_statistics(statistic, within):
    data = made()
    table = scored(data)
    found = confounds.partials(data, table, statistic=statistic, within_tasks=within, **FEW)
    human = vectors(data)
    complete = np.isfinite(human["style"])
    content = np.where(complete, human["content"], math.nan)[:, None]
    near = table.loc[table["metric"] == "near", "value"].to_numpy()[:, None]
    tasks = data.label("task").to_numpy(str) if within else None
    for given in ([], ["style"], ["style", "fluency"]):
        fixed = [human[name][:, None] for name in given]
        [expected] = partial(content, [near], fixed, statistic=statistic, tasks=tasks)
        rows = found[found["given"] == ", ".join(given)].set_index("metric")
        assert rows["value"]["near"] == pytest.approx(expected)
        assert rows["value"]["ter"] == pytest.approx(expected)  # turned round
        assert rows["n"]["near"] == len(data.items) - 1
        assert rows["low"]["near"] < expected < rows["high"]["near"]
    raw = found[(found["metric"] == "near") & (found["given"] == "")].iloc[0]
    rest = found[(found["metric"] == "near") & (found["given"] == "style")].iloc[0]
    assert rest["change"] == pytest.approx(rest["value"] - raw["value"])
    assert raw["change"] == raw["change_low"] == raw["change_high"] == 0


def test_rows_come_metric_by_metric_with_the_oracle_last_and_reasons():
    data = made()
    found = confounds.partials(data, scored(data), **FEW)
    assert found["metric"].tolist() == [
        name for name in ("near", "ter", "constant", "human-style") for _ in range(3)
    ]
    assert found["better"].tolist() == ["higher"] * 3 + ["lower"] * 3 + ["higher"] * 6
    assert found["given"].tolist() == ["", "style", "style, fluency"] * 4
    by_metric = found.groupby("metric")["reason"].agg(list)
    assert by_metric["constant"] == ["all scores are equal"] * 3
    assert by_metric["near"] == [""] * 3
    assert by_metric["human-style"][0] == ""
    assert "nothing unexplained" in by_metric["human-style"][1]
    assert found.columns[-1] == "signature"


def test_the_oracle_stands_once_even_if_its_scores_were_given():
    data = made()
    given = pd.concat([scored(data), Bench().table(data, ["human-style"])], ignore_index=True)
    found = confounds.discriminants(data, given, **FEW)
    assert (found["metric"] == "human-style").sum() == 3


def test_the_same_seed_gives_the_same_table_and_another_one_other_intervals():
    data, values = made(), scored(made())
    first, again, other = (
        confounds.partials(data, values, draws=40, seed=seed) for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(first, again)
    assert (first["value"].fillna(0) == other["value"].fillna(0)).all()
    assert (first["low"].fillna(0) != other["low"].fillna(0)).any()


def test_labels_by_construction_are_an_oracle_of_their_own():
    data = constructed()
    found = confounds.partials(data, scores(data, [9, 1, 8, 0, 9, 2, 7, 1]), **FEW)
    assert found["metric"].tolist() == ["m", "m", "style-label", "style-label"]
    oracle = found[found["metric"] == "style-label"]
    assert oracle["value"].iloc[0] == pytest.approx(0)
    assert "label by construction" in oracle["signature"].iloc[0]


def test_without_style_only_the_raw_value_is_there():
    data = made()
    alone = data.ratings[data.ratings["dimension"] == "content"]
    only = Dataset.of("made", data.items, ratings=alone)
    found = confounds.partials(only, scores(only, range(36)), **FEW)
    assert found["given"].tolist() == [""]
    assert found["metric"].tolist() == ["m"]


# ------------------------------------------------------------------------------- discriminants


def test_each_metric_meets_every_dimension_and_says_which_it_claims():
    data = made()
    found = confounds.discriminants(data, scored(data), **FEW).set_index(["metric", "dimension"])
    human = vectors(data)
    complete = np.isfinite(human["style"])
    near = scored(data)["value"].to_numpy()[:36]
    for name in ("content", "style", "fluency"):
        row = found.loc[("near", name)]
        expected = stats.pearson(np.where(complete, human[name], math.nan), near)
        assert row["value"] == pytest.approx(expected.value)
        assert row["n"] == expected.n
        assert row["claimed"] == (name == "content")
    gap = found.loc[("near", "style")]
    difference = found["value"]["near", "content"] - found["value"]["near", "style"]
    assert gap["gap"] == pytest.approx(difference)
    assert gap["gap_low"] < difference < gap["gap_high"]
    assert math.isnan(found["gap"]["near", "content"])
    assert found["claimed"]["human-style", "style"]
    assert found.loc["human-style"]["gap"].isna().all()


def test_discriminants_at_the_level_of_systems():
    data = made()
    found = confounds.discriminants(data, scored(data), level="system", **FEW)
    near = scored(data)["value"].to_numpy()[:36].reshape(12, 3)
    content = vectors(data)["content"].reshape(12, 3).copy()
    content[0, 0] = math.nan  # no style rating there
    expected = stats.correlate(content, near, stats.Setting(level="system"))
    row = found[(found["metric"] == "near") & (found["dimension"] == "content")].iloc[0]
    assert row["value"] == pytest.approx(expected.value)


# -------------------------------------------------------------------------------------- strata


def test_strata_of_style_shift_are_thirds_of_the_style_rating():
    data = made()
    found = confounds.by_style_shift(data, scored(data), **FEW)
    near = found[found["metric"] == "near"]
    assert near["stratum"].iloc[0] == confounds.ALL
    assert near["n"].iloc[0] == near["n"].iloc[1:].sum() == 35
    style, content = vectors(data)["style"], vectors(data)["content"]
    values = scored(data)["value"].to_numpy()[:36]
    low = near["stratum"].iloc[1]
    edge = float(low.split()[-1])
    inside = style <= edge
    expected = stats.pearson(content[inside], values[inside])
    assert near["value"].iloc[1] == pytest.approx(expected.value)
    assert near["n"].iloc[1] == inside.sum()
    assert near["spread"].iloc[1] == pytest.approx(np.std(content[inside], ddof=1))


def test_a_label_shift_makes_the_strata_where_there_is_one():
    data = constructed()
    found = confounds.by_style_shift(data, scores(data, [9, 1, 8, 0, 9, 2, 7, 1]), **FEW)
    assert found["stratum"].tolist()[:3] == ["all", "light shift", "strong shift"]
    assert found["n"].tolist()[:3] == [8, 4, 4]
    assert found["value"].iloc[1] > 0.9


def test_strata_of_disagreement_are_thirds_of_the_spread_of_single_ratings():
    data = made()
    found = confounds.by_disagreement(data, scored(data), **FEW)
    near = found[found["metric"] == "near"].set_index("stratum")
    single = data.raters("content").to_numpy()
    spread = np.round(single.std(axis=1, ddof=1), 9)
    agreed = near.iloc[1]
    inside = spread <= float(near.index[1].split()[-1]) + 1e-3  # its label has three digits
    assert 0 < inside.sum() < 36
    assert agreed["n"] == inside.sum()
    values = scored(data)["value"].to_numpy()[:36]
    expected = stats.pearson(vectors(data)["content"][inside], values[inside])
    assert agreed["value"] == pytest.approx(expected.value)
    assert near["n"].iloc[1:].sum() == near["n"]["all"] == 36


# -------------------------------------------------------------------------------------- errors


def test_errors_are_compared_within_sources_and_within_pairs_of_shifts():
    data = constructed()
    values = [9, 1, 8, 9, 9, 2, 7, 1]  # strong, strong-error, light, light-error, twice
    found = confounds.by_error_type(data, scores(data, values), **FEW)
    own = found[(found["metric"] == "m") & (found["error"] == "substitution")]
    shares = {
        (kept, wrong): share
        for kept, wrong, share in zip(
            own["kept_shift"], own["wrong_shift"], own["preference"], strict=True
        )
    }
    assert shares == {
        ("strong", "strong"): 1,
        ("light", "light"): 0.5,
        ("strong", "light"): 0.75,  # 9 ties with 9
        ("light", "strong"): 1,
    }
    assert own["n"].tolist() == [2] * 4
    assert own["paired"].all()
    assert found["error"].unique().tolist() == [confounds.ANY, "substitution"]
    assert found.groupby("metric").size().to_dict() == {"m": 8, "style-label": 8}


# ------------------------------------------------------------------------------------- refusals

TABLES = {
    "partials": confounds.partials,
    "discriminants": confounds.discriminants,
    "by_style_shift": confounds.by_style_shift,
    "by_disagreement": confounds.by_disagreement,
}


@pytest.mark.parametrize("table", [*TABLES.values(), confounds.by_error_type])
def test_a_set_that_nobody_judged_is_refused(table):
    bare = Dataset.of("bare", rated().items.assign(dataset="bare"))
    with pytest.raises(TstmetaError, match=r"bare: (nobody judged content|no rewrites)"):
        table(bare, scores(bare, range(6)))


@pytest.mark.parametrize(("name", "table"), TABLES.items(), ids=TABLES)
def test_unknown_names_are_refused(name, table):
    data = made()
    with pytest.raises(TstmetaError, match="unknown statistic 'kendal'"):
        table(data, scored(data), statistic="kendal")
    if name != "partials":
        with pytest.raises(TstmetaError, match="unknown level 'sytem'"):
            table(data, scored(data), level="sytem")
    if name != "discriminants":
        with pytest.raises(TstmetaError, match="nobody judged structure; judged: content, style"):
            table(data, scored(data), "structure")


def test_what_was_not_released_is_refused_with_a_reason():
    data = made()
    means = data.ratings.groupby(["dataset", "item_id", "dimension"], as_index=False)["value"]
    only = Dataset.of("made", data.items, ratings=means.mean().assign(rater="mean"))
    with pytest.raises(TstmetaError, match="no item has two single ratings of content"):
        confounds.by_disagreement(only, scored(only), **FEW)
    with pytest.raises(TstmetaError, match="no rewrites with and without an error"):
        confounds.by_error_type(data, scored(data), **FEW)
    with pytest.raises(TstmetaError, match="two parts or more"):
        confounds.by_disagreement(data, scored(data), parts=1, **FEW)
    content = data.ratings[data.ratings["dimension"] == "content"]
    only = Dataset.of("made", data.items, ratings=content)
    with pytest.raises(TstmetaError, match="nobody judged style, so there are no strata"):
        confounds.by_style_shift(only, scores(only, range(36)), **FEW)
    unnamed = replace(data, items=data.items.assign(system=""))
    with pytest.raises(TstmetaError, match="no item names its system"):
        confounds.discriminants(unnamed, scored(unnamed), level="system", **FEW)


def test_no_metric_at_all_still_shows_the_oracle():
    data = made()
    found = confounds.discriminants(data, scored(data).iloc[:0], **FEW)
    assert found["metric"].unique().tolist() == ["human-style"]


# ------------------------------------------------------------------------------------ real data


@pytest.mark.skipif(not available("pauli"), reason="the published test set is not on this machine")
def test_on_the_published_test_set_the_style_rating_beats_and_partials_turn_the_sign():
    data = Bench().dataset("pauli")
    values = Bench().table(data, ["bleu:pauli2025", "chrf"], ["source"])
    found = confounds.partials(data, values, draws=50).set_index(["metric", "given"])["value"]
    assert found["human-style", ""] == pytest.approx(0.545, abs=5e-4)
    for metric in ("bleu:pauli2025", "chrf"):
        assert found[metric, ""] < 0 < found[metric, "style"]
