"""Three levels: what is compared, that it equals scipy on small inputs, and what the page says."""

import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest
from IPython.display import Markdown
from scipy.stats import kendalltau

from tests.helpers import needs
from tests.report.test_html import check
from tests.report.tiny import HOSTILE, NAN, constructed, rated, scores
from tstmeta.data import Card, Dataset, paths
from tstmeta.data.tables import items_table, ratings_table
from tstmeta.report import figures_levels
from tstmeta.report import levels_chapter as chapter
from tstmeta.report.bench import Bench
from tstmeta.report.figures import Picture
from tstmeta.report.ledger import ledger
from tstmeta.report.levels import ORDER, Levels, prefixed
from tstmeta.report.material import upright
from tstmeta.report.published import cells


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A machine without raw data; ``tiny`` and ``built`` are there."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    made = Bench(tmp_path / "store")
    made._datasets |= {"tiny": rated(), "built": constructed()}
    return made


def words(shown) -> str:
    """What is read on a page."""
    return shown.data if isinstance(shown, Markdown) else " ".join(check(shown.text).text)


def crossed(human: np.ndarray, directions: list[str], references: int = 0) -> Dataset:
    """Sources by systems, rated by one person; the last ``references`` systems are references."""
    sources, systems = human.shape
    pairs = list(itertools.product(range(sources), range(systems)))
    ids = [f"{s}-{k}" for s, k in pairs]
    items = items_table(
        "made",
        item_id=ids,
        source_id=[f"s{s}" for s, _ in pairs],
        system=[f"k{k}" for _, k in pairs],
        source="a text",
        output="another text",
        direction=[directions[s] for s, _ in pairs],
        is_reference=[k >= systems - references for _, k in pairs],
        references=[["a third text"]] * len(ids),
    )
    ratings = ratings_table("made", ids, {("content", "r1"): human.ravel()})
    return Dataset.of("made", items, Card("made", "made", {}), ratings=ratings)


# ------------------------------------------------------------------------ equal to the plain way


def plain(human: np.ndarray, metric: np.ndarray, directions: list[str]) -> dict[str, float]:
    """Values at three levels, one pair and one source at a time."""
    both = np.isfinite(human) & np.isfinite(metric)
    accuracies = []
    for one in dict.fromkeys(directions):
        rows = np.array([name == one for name in directions])
        means = []
        for k in range(human.shape[1]):
            inside = both[rows, k]
            means.append((human[rows, k][inside].mean(), metric[rows, k][inside].mean()))
        hits = [
            np.sign(round(a[0] - b[0], 9)) == np.sign(round(a[1] - b[1], 9))
            for a, b in itertools.combinations(means, 2)
        ]
        accuracies.append(np.mean(hits))
    taus = []
    for s in range(len(human)):
        if np.isfinite(human[s]).sum() < 2:
            continue
        x, y = human[s][both[s]], metric[s][both[s]]
        flat = len(set(x)) < 2 or len(set(y)) < 2
        taus.append(0.0 if flat else kendalltau(x, y).statistic)
    pooled = kendalltau(human[both], metric[both]).statistic
    found = {"system": np.mean(accuracies), "sample": np.mean(taus), "dataset": pooled}
    return {level: 100 * value for level, value in found.items()}


@pytest.mark.parametrize("seed", range(60))
def test_three_levels_equal_one_pair_at_a_time(seed):
    rng = np.random.default_rng(seed)
    directions = ["up"] * 3 + (["down"] * 3 if seed % 2 else ["up"] * 3)
    human = rng.integers(1, 5, (6, 4)).astype(float)
    metric = rng.integers(0, 4, (6, 4)).astype(float)
    if seed % 3:
        human[rng.integers(0, 6), rng.integers(0, 4)] = NAN
    data = crossed(human, directions)
    part = Levels(data, scores(data, metric.ravel()), draws=5)
    expected = plain(human, metric, directions)
    assert {level: part.estimates[level][0] for level in ORDER} == pytest.approx(expected)
    assert len(part.groups) == (2 if seed % 2 else 1)
    assert all(part.drawn[level].shape == (1, 5) for level in ORDER)


def test_labels_are_read_as_shares_of_pairs_in_the_right_order():
    data = constructed()
    values = [4, 1, 3, 2, 2, 2, 1, 3]
    part = Levels(data, scores(data, values), draws=5)
    good = np.array(data.label("error") == "none")

    def share(of_good, of_bad):
        gaps = np.sign(np.subtract.outer(of_good, of_bad))
        return 50 * (1 + gaps.mean())

    v = np.array(values, dtype=float)
    assert part.labelled
    assert part.estimates["dataset"][0] == pytest.approx(share(v[good], v[~good]))
    each = [share(v[:4][good[:4]], v[:4][~good[:4]]), share(v[4:][good[4:]], v[4:][~good[4:]])]
    assert part.estimates["sample"][0] == pytest.approx(np.mean(each))
    means = (v[:4] + v[4:]) / 2
    assert part.estimates["system"][0] == pytest.approx(share(means[good[:4]], means[~good[:4]]))


@needs("lai")
def test_the_same_functions_give_the_printed_tables_without_knowing_them():
    part = chapter.levels(Bench(), draws=2)
    rows = ledger("lai2023", "1").set_index("cell")["ours"]
    for metric in ("BLEU", "BERTScore", "BLEURT", "ROUGE-1", "METEOR", "COMET-22", "WMD"):
        name = f"{metric.lower()} ↓" if metric == "WMD" else metric.lower()
        own = part.names.index((name, "source"))
        for level in ORDER:
            value = rows[f"lai2023.t1.{metric.lower()}.{level}.overall"]
            # the paper rounds each direction before it averages them
            room = 0.1 if level == "system" else 1e-9
            assert part.estimates[level][own] == pytest.approx(value, abs=room)


# ---------------------------------------------------------------------------- what is left out


def test_a_source_with_one_rated_rewrite_has_no_order_and_is_left_out():
    human = np.array([[1, 2, 3], [3, NAN, NAN], [1, 3, 2.0]])
    data = crossed(human, ["up"] * 3)
    part = Levels(data, scores(data, [1, 2, 3, 1, 1, 1, 1, 2, 3]), draws=5)
    assert part.sources("sample") == 2
    assert part.estimates["sample"][0] == pytest.approx(100 * (1 + 1 / 3) / 2)
    only = np.array([[1, NAN], [NAN, 2], [3, NAN]])
    lone = crossed(only, ["up"] * 3)
    part = Levels(lone, scores(lone, range(6)), draws=5)
    assert np.isnan(part.estimates["sample"]).all()
    assert part.sources("sample") == 0
    assert "no source has two rated rewrites" in chapter.said(part).data
    assert "sample: no value" in chapter.ordered(part).data


def test_references_are_no_systems_where_both_bases_are_compared():
    rng = np.random.default_rng(0)
    human = rng.random((5, 4))
    data = crossed(human, ["up"] * 5, references=1)
    both = pd.concat(
        [scores(data, rng.random(20)), scores(data, rng.random(20), basis="reference")]
    )
    part = Levels(data, both, draws=20)
    alone = part.of_systems()
    assert alone.matrices["system"].shape == (5, 3)
    assert alone.of_systems() is alone
    assert chapter.left_out(part).data.startswith("Of the 20 rewrites 5 are the references")
    assert chapter.left_out(alone).data == ""
    assert isinstance(chapter.reference_figure(alone), Picture)
    page = words(chapter.against_reference(alone))
    gap = alone.estimates["dataset"][1] - alone.estimates["dataset"][0]
    assert f"{gap:.1f}".replace("-", "−") in page


def test_without_references_or_groups_the_page_says_so():
    data = rated()
    part = Levels(data, scores(data, [1, 2, 3, 4, 5, 6]), draws=5)
    assert "only S- can be had" in chapter.against_reference(part).data
    assert chapter.reference_figure(part).data == ""
    assert "not grouped by raters" in chapter.clusters(part).data
    assert chapter.clusters_said(part).data == ""


def test_a_distance_is_turned_and_says_so():
    data = rated()
    table = pd.concat(
        [scores(data, [1, 2, 3], name) for name in ("ter", "bleu", "released:wmd", "mine")]
    )
    found = upright(table)
    assert list(found["metric"].unique()) == ["ter ↓", "bleu", "wmd ↓", "mine"]
    assert found["value"].tolist() == [-1, -2, -3, 1, 2, 3, -1, -2, -3, 1, 2, 3]
    assert prefixed(("bleu", "reference")) == "R-bleu"
    assert prefixed(("human-style", "none")) == "human-style"


# ------------------------------------------------------------------------------ how sure


def test_an_interval_holds_what_it_is_about_and_stays_on_its_scale():
    rng = np.random.default_rng(1)
    human = rng.random((30, 5))
    metric = human + rng.normal(0, 0.5, human.shape)
    data = crossed(human, ["up"] * 15 + ["down"] * 15)
    part = Levels(data, scores(data, metric.ravel()), draws=300)
    for level in ORDER:
        found = part.interval(level, part.drawn[level][0], part.estimates[level][0], 30)
        assert found.low <= part.estimates[level][0] <= found.high
        assert -100 <= found.low <= found.high <= 100
    again = Levels(data, scores(data, metric.ravel()), draws=300)
    assert all(np.array_equal(part.drawn[level], again.drawn[level]) for level in ORDER)


@needs("lai")
def test_few_surveys_are_said_to_be_few():
    part = chapter.levels(Bench(), draws=10)
    assert "There are 4 groups" in chapter.clusters_said(part).data
    assert f" {math.comb(7, 4)} different samples" in chapter.clusters_said(part).data
    page = words(chapter.clusters(part))
    assert "surveys drawn" in page
    assert "S-bleurt" in page
    assert "R-bleurt" not in page


# --------------------------------------------------------------------------------- the page


@pytest.mark.parametrize("table", ["1", "2", "3", "4"])
def test_a_table_of_lai2023_shows_every_printed_number_once(bench, table):
    text = chapter.printed(bench, table).text
    check(text)
    wanted = [one.printed for one in cells() if (one.paper, one.table) == ("lai2023", table)]
    shown = re.findall(r"<i>([^<]*)</i>", text.partition("<p class='tst-legend'>")[0])
    assert sorted(shown) == sorted(one.replace("-", "−") for one in wanted)
    assert "needs the scores and ratings of lai" in chapter.deviations(bench, table).data


@needs("lai")
@pytest.mark.parametrize(
    ("table", "matching", "of"), [("1", 116, 117), ("3", 24, 27), ("4", 18, 18)]
)
def test_every_deviation_is_told_with_its_evidence(table, matching, of):
    said = chapter.deviations(Bench(), table).data
    head, _, rest = said.partition("\n")
    assert head == f"{matching} of {of} cells match."
    assert rest.count(", ours ") == of - matching
    assert rest.count("(misprint)") == len([line for line in rest.splitlines() if line])
    text = chapter.printed(Bench(), table).text
    assert text.count("tst-match'") == matching
    assert "<b>55.6</b> <i>55.6</i>" in text or table != "1"  # 55.55, half up as printed


@needs("lai")
def test_rows_that_do_not_follow_from_the_scores_are_checked_within_themselves():
    said = chapter.consistency(Bench()).data
    assert said.count(" follows from the printed directions") == 3
    assert "(PT16)" in said
    assert "(GYAFC)" in said


@needs("lai")
def test_two_prompts_are_compared_in_the_same_draws():
    page = words(chapter.prompts(Bench(), draws=50))
    printed = {one.cell: one.value for one in cells() if one.paper == "lai2023"}
    gap = (
        printed["lai2023.t4.multiple.fluency.system"] - printed["lai2023.t4.single.fluency.system"]
    )
    assert f"fluency {gap:.1f}"[:10] in page


def test_the_contrast_set_stands_in_where_there_is_no_data(bench):
    part = chapter.levels(bench, metrics=["bleu"], draws=5)
    assert part.data.name == "contrast"
    assert "label by construction" in chapter.said(part).data
    assert "needs the scores" in chapter.prompts(bench).data
    page = words(chapter.table(part))
    assert "bleu source" in page
    assert "random source" in page
    assert isinstance(chapter.ranks_figure(part), Picture)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_metrics_do_nothing_to_the_page(name):
    data = crossed(np.random.default_rng(0).random((4, 3)), ["up"] * 4)
    both = pd.concat(
        [scores(data, range(12), name), scores(data, range(12)[::-1], name, "reference")]
    )
    part = Levels(data, both, draws=5)
    for made in (chapter.table(part), chapter.against_reference(part)):
        check(made.text)


def test_ranks_put_the_best_on_top_and_follow_each_metric():
    rows = pd.DataFrame(
        [
            *[("a", level, value, False) for level, value in zip(ORDER, (3, 1, 2), strict=True)],
            *[("b", level, value, False) for level, value in zip(ORDER, (2, 2, 2), strict=True)],
            *[("c", level, value, True) for level, value in zip(ORDER, (1, 3, 1), strict=True)],
        ],
        columns=["metric", "level", "value", "ruler"],
    )
    [axis] = figures_levels.ranks(rows).axes
    assert [np.asarray(line.get_ydata()).tolist() for line in axis.lines] == [
        [1, 3, 1],
        [2, 2, 2],
        [3, 1, 3],
    ]
    assert axis.yaxis_inverted()
