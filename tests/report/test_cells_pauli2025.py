"""Tables of pauli2025: the tie of Table 9, and when cells of the likelihood method are computed."""

import csv
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.helpers import needs
from tests.likelihood import small
from tests.models import tiny_encoder
from tests.report.test_ledger import with_data, with_wordnet
from tests.report.tiny import rated
from tstmeta import metrics, stats
from tstmeta.data import paths
from tstmeta.likelihood.scorer import Rewrite
from tstmeta.likelihood.zeroshot import Likelihood
from tstmeta.models import encoders
from tstmeta.models.causal import BACKBONES, Backbone
from tstmeta.report import ledger as ledgers
from tstmeta.report.bench import Agreement, Bench
from tstmeta.report.cells import pauli2025
from tstmeta.report.published import cells, names

pytestmark = pytest.mark.xdist_group("ledger")  # it is computed once

#: cell, our value, the value with the tie kept
TIE = [
    ("s-bleu.mir", 40 / 66, 41 / math.sqrt(66 * 65)),
    ("s-meteor.mir", 34 / 66, 35 / math.sqrt(66 * 65)),
]


@needs("mir")
@pytest.mark.parametrize(("key", "broken", "kept"), TIE)
def test_the_tie_of_mir_is_broken_by_one_rule_and_the_exact_value_is_told(key, broken, kept):
    if "meteor" in key and not with_wordnet():
        pytest.skip("METEOR without WordNet has no synonyms and other values")
    row = with_data().loc[f"pauli2025.t9.{key}"]
    assert row["ours"] == pytest.approx(broken)
    assert row["reason"] == (
        "people rate ARAE_lambda_1 and CAAE_rho_0_1 exactly alike, but numpy.mean rounds their"
        " means 4e-16 apart, which breaks the tie against the metric;"
        f" with the tie kept the value is {kept:.3f}"
    )
    assert row["signature"].endswith("|kendall:system|data:mir|means:numpy")


@needs("mir")
def test_the_two_means_of_mir_are_equal_as_fractions():
    data = Bench().dataset("mir")
    of_six = (6 * data.means["content"]).round().groupby(data.items.set_index("item_id")["system"])
    assert of_six.sum()["ARAE_lambda_1"] == of_six.sum()["CAAE_rho_0_1"]
    assert np.abs(6 * data.means["content"] - (6 * data.means["content"]).round()).max() < 1e-9


@pytest.mark.parametrize(
    ("rounded", "scores", "said"),
    [
        ([1.0, 2.0, 2.0], [1, 2, 3], []),  # rounding keeps the tie
        ([1.0, 2.0, 2.1], [1, 2, 3], ["people rate b and c", "breaks the tie as the metric does"]),
        ([1.0, 2.0, 2.1], [1, 3, 2], ["people rate b and c", "1e-01 apart", "against the metric"]),
        ([1.5, 2.0, 2.0], [1, 3, 2], []),  # a is rated otherwise
    ],
)
def test_a_tie_is_told_where_rounding_breaks_it(rounded, scores, said):
    exact = np.array([1.0, 2.0, 2.0])
    found = pauli2025._parted(list("abc"), exact, np.array(rounded), np.array(scores))
    assert len(found) == bool(said)
    assert all(text in found[0] for text in said)


def test_without_wordnet_a_meteor_that_differs_says_why():
    class Fake:
        def has(self, name):
            return True

        def dataset(self, name):
            return SimpleNamespace(ratings=[1])

        def agreement(self, *args):
            return Agreement(0.9, 0.1, 5, "meteor|synonyms:none|scale:1")

    [one] = [one for one in cells() if one.cell == "pauli2025.t3.s-meteor.mir"]
    answer = pauli2025.recipe(one, Fake())
    assert ledgers._judge(one, answer) == (
        "differs",
        "no WordNet on this machine: METEOR matches no synonyms",
    )


# ------------------------------------------------------------------------ likelihood cells


def printed(key: str):
    [one] = [one for one in cells() if one.cell == f"pauli2025.{key}"]
    return one


class Recorded:
    """A bench that has all data and remembers which metric it was asked for."""

    def __init__(self):
        self.asked: list[tuple] = []

    def has(self, name):
        return True

    def dataset(self, name):
        systems = SimpleNamespace(to_numpy=lambda kind: np.array(["a", "b", "c"]))
        return SimpleNamespace(ratings=[1], items={"system": systems})

    def agreement(self, *args):
        self.asked.append(args)
        return Agreement(0.5, 0.1, 5, "likelihood|model:m")

    def vectors(self, name, metric, basis, dimension):
        self.asked.append((name, metric))
        return np.arange(3.0), np.arange(3.0), "likelihood|model:m"

    def scores(self, name, metric, basis):
        self.asked.append((name, metric))
        return {"value": {"polite-14-style": -1.66}, "signature": {"polite-14-style": "s"}}


#: cell, the metric it is computed with where its model is here
LIKELIHOOD = [
    ("t3.likelihood-3b.mir", "likelihood:3b+released"),
    ("t3.likelihood-8b.lai", "likelihood:8b+released"),
    ("t4.likelihood-8b.lai", "likelihood:8b+released"),
    ("t5.likelihood-3b.constructed-polite", "likelihood:3b+released"),
    ("t6.likelihood-8b.mir", "likelihood-style:8b+released"),
    ("t9.likelihood-3b.mir", "likelihood:3b+released"),
    ("t11.instruct-1-3b.mir", "likelihood:3b+released"),
    ("fig1.output-1.likelihood", "likelihood:8b+released"),
]
likelihood_cells = pytest.mark.parametrize(("key", "metric"), LIKELIHOOD)


@likelihood_cells
def test_a_likelihood_cell_needs_its_own_model(key, metric, monkeypatch):
    monkeypatch.setattr(pauli2025.hub, "here", lambda model: False)
    bench = Recorded()
    answer = pauli2025.recipe(printed(key), bench)
    assert answer.what == BACKBONES[metric.partition(":")[2].partition("+")[0]].where
    assert answer.what.startswith("meta-llama/")
    assert bench.asked == []


@likelihood_cells
def test_a_likelihood_cell_is_computed_as_released_where_its_model_is_here(
    key, metric, monkeypatch
):
    monkeypatch.setattr(pauli2025.hub, "here", lambda model: model.gated)
    bench = Recorded()
    answer = pauli2025.recipe(printed(key), bench)
    assert {args[1] for args in bench.asked} == {metric}
    assert math.isfinite(answer.value)
    assert "likelihood" in answer.signature or answer.signature.startswith("s|")


def test_no_other_model_stands_in_for_the_printed_one(monkeypatch):
    monkeypatch.setattr(pauli2025.hub, "here", lambda model: not model.gated)
    answer = pauli2025.recipe(printed("t3.likelihood-3b.mir"), Recorded())
    assert isinstance(answer, ledgers.Needs)


@pytest.mark.parametrize("row", ["2-8b", "3-3b", "4-8b"])
def test_wordings_that_are_not_published_are_needed_whatever_model_is_here(row, monkeypatch):
    monkeypatch.setattr(pauli2025.hub, "here", lambda model: True)
    answer = pauli2025.recipe(printed(f"t11.instruct-{row}.mir"), Recorded())
    assert answer.what == "wording"
    assert "meta-llama/" in answer.reason


def test_where_the_data_are_missing_too_the_model_is_named_besides(monkeypatch):
    monkeypatch.setattr(pauli2025.hub, "here", lambda model: False)
    bench = Recorded()
    bench.has = lambda name: False
    answer = pauli2025.recipe(printed("t3.likelihood-8b.mir"), bench)
    assert answer.what == "mir data"
    assert answer.reason.endswith("besides meta-llama/Llama-3.1-8B-Instruct")


def test_a_cell_is_what_the_scorer_gives_on_the_model_that_is_here(tmp_path, monkeypatch):
    folder = small.saved(tmp_path / "model")
    stand_in = Backbone(str(folder), str(folder))
    monkeypatch.setattr(pauli2025, "_backbone", lambda model: stand_in)
    data = rated("mir")
    data = replace(data, items=data.items.assign(style="formal"))
    bench = Bench(tmp_path / "store")
    bench._datasets["mir"] = data
    answer = pauli2025.recipe(printed("t3.likelihood-8b.mir"), bench)
    scorer = Likelihood(f"{folder}+released").scorer()
    rows = data.items[["source", "output", "style"]].itertuples(index=False)
    judged = scorer.judge([Rewrite(*row) for row in rows])
    r = stats.pearson(data.means["content"], [scorer.content(one) for one in judged])
    assert answer.value == pytest.approx(r.value)
    assert "variant:" in answer.signature
    assert "released" in answer.signature


# --------------------------------------------------------------- cells of other metrics with models

#: cell, the metric it is computed with where its model is here, and on which basis
LEARNED = [
    ("t3.s-bertscore.mir", "bertscore:deberta-xlarge-mnli", "source"),
    ("t3.r-bertscore.lai", "bertscore:deberta-xlarge-mnli", "reference"),
    ("t3.s-bleurt.mir.pvalue", "bleurt", "source"),
    ("t3.r-bleurt.lai", "bleurt", "reference"),
    ("t4.s-cosine.lai", "cosine:labse", "source"),
    ("t5.r-cosine.constructed-sentiment", "cosine:labse", "reference"),
    ("t5.questeval.constructed-polite", "questeval:released", "source"),
    ("t9.questeval.mir", "questeval:released", "source"),
    ("fig1.output-1.s-bertscore", "bertscore:deberta-xlarge-mnli", "source"),
]
learned_cells = pytest.mark.parametrize(("key", "metric", "basis"), LEARNED)


@pytest.fixture
def say(monkeypatch):
    """Say whether the models of these metrics are here."""

    def said(missing: str) -> None:
        for name in pauli2025._LEARNED.values():
            monkeypatch.setattr(type(metrics.get(name)), "missing", missing)

    return said


@learned_cells
def test_a_cell_of_a_metric_with_a_model_needs_that_model(key, metric, basis, say):
    say("get the model")
    bench, cell = Recorded(), printed(key)
    answer = pauli2025.recipe(cell, bench)
    assert answer == (names("pauli2025", "metric")[cell.metric][1], "")
    assert bench.asked == []


@learned_cells
def test_a_cell_of_a_metric_with_a_model_is_computed_where_that_model_is_here(
    key, metric, basis, say
):
    say("")
    bench, asked = Recorded(), []
    kept = bench.scores
    bench.scores = lambda *args: asked.append(args) or kept(*args)
    agreement = bench.agreement
    bench.agreement = lambda *args: asked.append(args) or agreement(*args)
    answer = pauli2025.recipe(printed(key), bench)
    assert {args[1:3] for args in asked} == {(metric, basis)}
    assert math.isfinite(answer.value)


def test_every_metric_with_a_model_is_listed_under_its_printed_name_and_names_that_model():
    file = paths.own("published", "names.csv")
    with open(file, encoding="utf-8", newline="") as stream:
        rows = {
            row["printed"]: row
            for row in csv.DictReader(stream)
            if (row["paper"], row["kind"]) == ("pauli2025", "metric")
        }
    likelihood = {name for name in rows if name.startswith("Likelihood")}
    with_model = {name for name, row in rows.items() if row["needs"]}
    assert set(pauli2025._LEARNED) == with_model - likelihood - {"LLaMA3-prompt"}
    for printed_name, metric in pauli2025._LEARNED.items():
        assert metric in rows[printed_name]["listed"].split()
        assert metrics.get(metric).name == metric
        if metric != "questeval:released":  # it needs three models, and its row says so in words
            assert rows[printed_name]["needs"] == metrics.get(metric).model.where


@pytest.fixture
def labse(tmp_path, monkeypatch):
    """A tiny encoder in the place of LaBSE: the metric finds it here by itself."""
    folder = tiny_encoder.pooled(tmp_path / "model")
    monkeypatch.setitem(encoders.ENCODERS, "labse", Backbone("labse", str(folder)))
    return folder


@pytest.mark.parametrize(
    ("key", "basis"), [("t3.s-cosine.lai", "source"), ("t3.r-cosine.lai", "reference")]
)
def test_a_cell_is_what_the_metric_gives_on_the_model_that_is_here(key, basis, labse, tmp_path):
    data = rated("lai@pauli2025-systems")
    items = data.items.assign(references=[["he walked home"]] * 3 + [["we had soup"]] * 3)
    data = replace(data, items=items)
    bench = Bench(tmp_path / "store")
    bench._datasets |= {"lai@pauli2025": data, data.name: data}
    answer = pauli2025.recipe(printed(key), bench)
    against = items["source"] if basis == "source" else [one[0] for one in items["references"]]
    encoder = encoders.Encoder(Backbone("labse", str(labse)), "cpu")
    one, other = (
        np.array([made.vector for made in encoder.sentences(list(texts))])
        for texts in (items["output"], against)
    )
    cosines = (one * other).sum(axis=1)  # the vectors have length 1
    r = stats.pearson(data.means["content"], cosines)
    assert answer.value == pytest.approx(r.value, abs=1e-5)
    assert answer.n == 6
    assert "model:model@" in answer.signature
    assert f"basis:{basis}" in answer.signature


def test_a_model_that_is_here_and_gives_no_score_is_needed_still(labse, tmp_path):
    for file in labse.glob("*.safetensors"):
        file.write_bytes(b"cut off")
    data = rated("mir")
    bench = Bench(tmp_path / "store")
    bench._datasets["mir"] = data
    said = "gave no score; tstmeta score --data mir --metric cosine:labse says why"
    for key in ("t3.s-cosine.mir", "t3.s-cosine.mir.pvalue", "t9.s-cosine.mir"):
        answer = pauli2025.recipe(printed(key), bench)
        assert isinstance(answer, ledgers.Needs)
        assert answer.what == "sentence-transformers/LaBSE"
        assert said in answer.reason


def test_a_pair_of_figure_1_without_a_score_is_no_number(say):
    say("")
    bench = Recorded()
    bench.scores = lambda *args: {"value": {"polite-14-style": math.nan}, "signature": {}}
    answer = pauli2025.recipe(printed("fig1.output-1.s-bertscore"), bench)
    assert answer.what == "microsoft/deberta-xlarge-mnli"
    assert "gave no score" in answer.reason
