"""Agreement by number of references: right draws, right values, reasons where there are none."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.display import Markdown

from tests.helpers import needs
from tests.report.test_html import check
from tests.report.tiny import HOSTILE, rated
from tests.scored import NAN, dataset
from tstmeta import data, metrics, scoring, stats
from tstmeta.data import paths
from tstmeta.metrics import PairMetric, Request
from tstmeta.metrics.batched import BatchedMetric
from tstmeta.report import references, references_chapter
from tstmeta.report.bench import Bench
from tstmeta.report.references import asked, curves, orders, values
from tstmeta.report.tables import evaluate
from tstmeta.schema import TstmetaError

WORDS = (
    "we",
    "saw",
    "two",
    "small",
    "ships",
    "near",
    "the",
    "old",
    "harbour",
    "last",
    "night",
    "with",
    "a",
    "red",
    "sail",
    "up",
)


def several(most: int = 3, sources: int = 8):
    """Three systems' rewrites of each source, rated, each source with its own references."""
    rng = np.random.default_rng(3)

    def text(length: int) -> str:
        return " ".join(rng.choice(WORDS, length))

    rows = []
    for source in range(sources):
        lists = [text(9) for _ in range(most)]
        for system in "ABC":
            rows.append(
                {
                    "source_id": f"s{source}",
                    "system": system,
                    "output": text(8),
                    "references": lists,
                    "style": "formal",
                }
            )
    ratings = {("content", "r1"): rng.integers(1, 6, len(rows)).astype(float).tolist()}
    return dataset(*rows, ratings=ratings, name="several")


DATA = several()


def curve(*names: str, found=DATA, **options) -> pd.DataFrame:
    options = {"subsets": 4, "draws": 50} | options
    return curves([found], names, **options).rows


# ----------------------------------------------------------------------------------------- draws


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 4), st.integers(0, 9))
def test_every_draw_orders_all_references_of_every_source(sources, most, draws, seed):
    found = orders(sources, most, draws, seed)
    assert found.shape == (draws, sources, most)
    assert (np.sort(found, axis=-1) == np.arange(most)).all()
    assert (found == orders(sources, most, draws, seed)).all()


def test_sources_and_draws_have_orders_of_their_own():
    found = orders(40, 4, 3, 0)
    assert len({tuple(row) for row in found[0]}) > 10
    assert (found[0] != found[1]).any()
    assert (orders(40, 4, 3, 1) != found).any()


def test_the_first_reference_is_each_of_them_equally_often():
    first = orders(2000, 4, 5, 0)[..., 0].ravel()
    shares = np.bincount(first) / len(first)
    np.testing.assert_allclose(shares, 0.25, atol=0.02)


# ---------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "pinc", "rougeL", "length-ratio"])
def test_values_are_those_of_the_metric_with_the_drawn_references(name):
    of, metric = asked(DATA), metrics.get(name)
    order = orders(8, 3, 2, 0)
    found = values(metric, of, order)
    assert found.shape == (3, 2, 24)
    items = of.dataset.items
    for k in range(3):
        for draw in range(2):
            for item in (0, 1, 7, 23):
                taken = sorted(order[draw, of.source[item], : k + 1])
                texts = tuple(items["references"][item][place] for place in taken)
                ((score,),) = metric.score([(Request(items["output"][item], texts),)])
                assert found[k, draw, item] == pytest.approx(score.value)


class Batched(BatchedMetric):
    """Shared words of the best reference; remembers the pairs it was asked."""

    name = "batched"

    def __init__(self):
        self.asked = []

    def pairs(self, pairs):
        self.asked += pairs
        return [float(len({*one.split()} & {*other.split()})) for one, other in pairs]


class Own(Batched):
    """One that takes the mean over its references."""

    def values(self, requests):
        return [
            float(np.mean(self.pairs([(text, one.output) for text in one.against])))
            for one in requests
        ]


class Heir(Own):
    """One that inherits its own way."""


def test_a_metric_that_takes_the_best_is_asked_once_a_pair():
    of, metric = asked(DATA), Batched()
    found = values(metric, of, orders(8, 3, 5, 0))
    assert len(metric.asked) == len(set(metric.asked)) == 24 * 3
    assert (np.diff(found, axis=0) >= 0).all()


@pytest.mark.parametrize("metric", [Own(), Heir()])
def test_a_metric_with_a_way_of_its_own_is_asked_about_sets(metric):
    of, order = asked(DATA), orders(8, 3, 1, 0)
    items = of.dataset.items
    found = values(metric, of, order)
    for item in range(24):
        shared = [
            len({*text.split()} & {*items["output"][item].split()})
            for text in items["references"][item]
        ]
        assert found[-1, 0, item] == pytest.approx(np.mean(shared))


class Picky(PairMetric):
    """One that fails on an output, and takes the best."""

    name = "picky"

    def value(self, request):
        if request.output == DATA.items["output"][3]:
            raise ValueError("no")
        return float(len(request.output))


def test_a_failed_score_has_no_value_at_any_k():
    found = values(Picky(), asked(DATA), orders(8, 3, 2, 0))
    assert np.isnan(found[:, :, 3]).all()
    assert np.isfinite(np.delete(found, 3, axis=2)).all()


# ---------------------------------------------------------------------------------------- curves


@pytest.mark.parametrize("name", ["chrf", "bleu"])
@pytest.mark.parametrize("level", ["pooled", "source"])
def test_with_all_references_a_curve_ends_at_the_usual_value(name, level, tmp_path):
    table = scoring.score(DATA, [name], bases=["reference"], store=tmp_path, progress=False)
    expected = evaluate(DATA, table, dimensions=["content"], level=level)["value"].item()
    rows = curve(name, level=level)
    assert rows["k"].tolist() == [1, 2, 3]
    assert rows["draws"].tolist() == [4, 4, 1]
    assert rows["value"].iloc[-1] == pytest.approx(expected)


def test_a_value_is_the_mean_over_draws_and_its_spread_is_told():
    of, metric = asked(DATA), metrics.get("chrf")
    made = values(metric, of, orders(8, 3, 4, 7))
    single = [stats.pearson(of.human, made[0, draw]).value for draw in range(4)]
    first = curve("chrf", seed=7).iloc[0]
    assert first["value"] == pytest.approx(np.mean(single))
    assert first["sd"] == pytest.approx(np.std(single, ddof=1))
    assert (first["least"], first["most"]) == pytest.approx((min(single), max(single)))


def test_with_one_draw_of_references_intervals_are_the_usual_ones():
    of, metric = asked(DATA), metrics.get("chrf")
    made = values(metric, of, orders(8, 3, 1, 0))[-1, 0]
    human, score = of.human.reshape(8, 3), made.reshape(1, 8, 3)
    drawn = stats.resample(
        human, score, stats.Setting(), stats.Plan("sources", 50), np.random.default_rng(0)
    )
    (usual,) = stats.of_resample(drawn)
    last = curve("chrf", subsets=1).iloc[-1]
    assert (last["low"], last["high"]) == pytest.approx((usual.low, usual.high))


def test_gains_are_over_one_reference_and_of_the_same_draws():
    rows = curve("chrf")
    assert np.isnan(rows["gain"].iloc[0])
    np.testing.assert_allclose(rows["gain"][1:], rows["value"][1:] - rows["value"].iloc[0])
    assert (rows["gain_low"][1:] <= rows["gain"][1:]).all()
    assert (rows["gain"][1:] <= rows["gain_high"][1:]).all()


def test_references_that_are_all_alike_gain_nothing():
    same = DATA.items["references"].map(lambda texts: [texts[0]] * 3)
    alike = replace(DATA, items=DATA.items.assign(references=same))
    rows = curve("chrf", found=alike)
    assert rows["gain"][1:].tolist() == pytest.approx([0, 0])
    assert rows["gain_low"][1:].tolist() == pytest.approx([0, 0])
    assert rows["gain_high"][1:].tolist() == pytest.approx([0, 0])
    assert rows["sd"][:2].tolist() == pytest.approx([0, 0])


def test_a_distance_is_turned_round_and_says_so():
    rows = curve("ter", "edit-similarity").set_index(["metric", "k"])
    assert rows.loc[("ter", 1), "better"] == "lower"
    of = asked(DATA)
    made = values(metrics.get("ter"), of, orders(8, 3, 4, 0))
    expected = -stats.pearson(of.human, made[-1, 0]).value
    assert rows.loc[("ter", 3), "value"] == pytest.approx(expected)


def test_the_same_seed_gives_the_same_rows_and_another_does_not():
    pd.testing.assert_frame_equal(curve("chrf", seed=5), curve("chrf", seed=5))
    assert not curve("chrf", seed=5).equals(curve("chrf", seed=6))


# ---------------------------------------------------------------------------------- who is asked


def changed(**columns):
    return replace(DATA, items=DATA.items.assign(**columns))


def test_references_themselves_and_items_with_fewer_are_not_asked():
    flags = [True] + [False] * 23
    lists = DATA.items["references"].tolist()
    lists[2] = lists[2][:2]
    lists[4] = [*lists[4][:2], " "]
    found = asked(changed(is_reference=flags, references=pd.Series(lists, dtype=object)))
    assert found.most == 3
    assert found.dataset.items["item_id"].tolist() == [
        str(n) for n in range(1, 25) if n not in (1, 3, 5)
    ]
    assert len(found.human) == 21


def test_what_nobody_judged_is_not_asked():
    ratings = {("content", "r1"): [NAN, *[1, 2, 3, 4, 5] * 4, 1, 2, 3]}
    rows = DATA.items.drop(columns=["dataset", "item_id"]).to_dict("records")
    found = asked(dataset(*rows, ratings=ratings))
    assert "1" not in found.dataset.items["item_id"].tolist()
    assert len(found.human) == 23


def test_a_set_with_one_reference_or_without_ratings_is_refused():
    one = changed(references=DATA.items["references"].map(lambda texts: texts[:1]))
    with pytest.raises(TstmetaError, match="has 1 reference a source"):
        asked(one)
    with pytest.raises(TstmetaError, match="nobody judged fluency"):
        asked(DATA, "fluency")


def test_what_has_no_curve_is_left_out_with_the_reason():
    one = changed(references=DATA.items["references"].map(lambda texts: texts[:1]))
    one = replace(one, name="one")
    found = curves(
        [DATA, one], ["chrf", "corpus-bleu", "likelihood", "judge:gpt-4"], subsets=2, draws=20
    )
    assert set(found.rows["data"]) == {"several"}
    assert set(found.rows["metric"]) == {"chrf"}
    assert found.left_out["corpus-bleu"] == "it has no value for a single rewrite"
    assert found.left_out["likelihood"] == "it is not compared with references"
    assert found.left_out["judge:gpt-4"] == "it is not compared with references"
    assert "has 1 reference" in found.left_out["one"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statistic": "tau"}, "unknown statistic"),
        ({"level": "task"}, "level task has no curve"),
        ({"level": "no"}, "unknown level"),
        ({"subsets": 0}, "1 or more"),
        ({"draws": 0}, "1 or more"),
    ],
)
def test_mistakes_are_told(options, message):
    with pytest.raises(TstmetaError, match=message):
        curve("chrf", **options)


# ------------------------------------------------------------------------------------- real sets


def test_without_the_files_every_set_says_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    found, left_out = references.sets(Bench(tmp_path))
    assert found == []
    assert set(left_out) == {references.ASSET, references.LAI, references.YELP}
    nothing = references.on_all(Bench(tmp_path), ["chrf", "corpus-bleu"], subsets=2)
    assert set(nothing.left_out) == {*left_out, "corpus-bleu"}
    for shown in (references_chapter.table(nothing), references_chapter.picture(nothing)):
        assert "<code>tstmeta data fetch alva</code>" in shown.text
        assert "<code>tstmeta data fetch li2018 dualrl</code>" in shown.text
        assert str(tmp_path) not in shown.text
        check(shown.text)
    assert isinstance(references_chapter.picture(curves(found, ["chrf"])), Markdown)


@needs("alva", "lai", "li2018", "dualrl")
def test_the_sets_have_the_references_that_their_papers_name(tmp_path):
    found, left_out = references.sets(Bench(tmp_path))
    assert left_out == {}
    facts = [(asked(one).most, len(asked(one).human)) for one in found]
    assert facts == [(10, 100), (4, 640), (4, 2925)]


@needs("li2018", "dualrl")
def test_the_first_reference_of_dualrl_is_the_one_of_li2018():
    rated_set = data.load("li2018@yelp-rated")
    joined = references.with_dualrl(rated_set, data.load("dualrl"))
    pairs = zip(rated_set.items["references"], joined.items["references"], strict=True)
    # one of them is tokenised: compared by letters

    def letters(text: str) -> str:
        return re.sub("[^a-z]", "", text.lower())

    same = [letters(old[0]) == letters(new[0]) for old, new in pairs if new]
    assert len(same) == len(rated_set.items)
    assert np.mean(same) > 0.99


def test_a_source_with_other_words_gets_no_reference():
    yelp = dataset(
        {"source_id": "yelp-a-0", "source": "It was cold ."},
        {"source_id": "yelp-a-1", "source": "it was hot ."},
        {"source_id": "yelp-a-2", "source": "nobody came ."},
    )
    given_references = dataset(
        {"source_id": "a-0", "source": "it was  cold .", "references": ["x", "y"]},
        {"source_id": "a-1", "source": "it was <unk> .", "references": ["z", "w"]},
        name="four",
    )
    joined = references.with_dualrl(yelp, given_references)
    assert joined.name == "tiny+four"
    assert [list(texts) for texts in joined.items["references"]] == [["x", "y"], [], []]


# ----------------------------------------------------------------------------------------- shown

FOUND = curves([DATA], ["chrf", "ter", "corpus-bleu"], subsets=3, draws=30)


def plain(page) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", page.text)).split())


def test_the_table_has_a_row_for_each_metric_then_one_for_each_k_and_the_reasons_below():
    page = references_chapter.table(FOUND)
    check(page.text)
    text = plain(page)
    short, _, steps = page.text.partition("<details")
    assert (short.count("<tr>"), steps.count("<tr>")) == (1 + 2, 1 + 6)
    rows = FOUND.rows[FOUND.rows["metric"] == "chrf"]
    for value in (rows["value"].iloc[0], rows["value"].iloc[-1], rows["gain"].iloc[-1]):
        assert f">{value:z.2f}<".replace("-", "−") in short
    assert f"{FOUND.rows['value'].iloc[0]:.3f}".replace("-", "−") in text
    assert "ter ↓" in text
    assert "corpus-bleu is left out: it has no value for a single rewrite" in text


def test_the_picture_draws_every_value_and_tells_it_in_words():
    (axis,) = references_chapter.picture_figure(FOUND).axes
    drawn = [line.get_ydata() for line in axis.lines if len(line.get_ydata())]
    for metric, values_of in zip(("chrf", "ter"), drawn, strict=True):
        rows = FOUND.rows[FOUND.rows["metric"] == metric]
        np.testing.assert_allclose(values_of, rows["value"])
    words = unescape(re.search("alt='([^']*)'", references_chapter.picture(FOUND).text).group(1))
    first = FOUND.rows["value"].iloc[0]
    assert words.startswith("Pearson's r with content by number of references. several, chrf: ")
    assert f"{first:.2f}".replace("-", "−") in words


@pytest.mark.parametrize("text", HOSTILE[:4])
def test_hostile_names_are_escaped(text):
    rows = FOUND.rows.assign(data=text)
    page = references_chapter.table(FOUND._replace(rows=rows, left_out={text: text}))
    check(page.text)


def test_without_anything_named_there_is_nothing_to_show():
    assert isinstance(references_chapter.table(curves([], [])), Markdown)
    assert isinstance(references_chapter.picture(curves([], [])), Markdown)
    only = curves([rated()], ["chrf"])
    assert "There is no curve" in plain(references_chapter.table(only))
