"""When cells of metrics with a model are computed."""

import math

import pytest

from tests.ledger.canned import Canned
from tstmeta.ledger import Inputs, recipes
from tstmeta.ledger.cells import cells, names
from tstmeta.ledger.inputs import Needs
from tstmeta.ledger.ledger import answer
from tstmeta.metrics import registry
from tstmeta.models.causal import BACKBONES


def printed(key: str):
    [cell] = [cell for cell in cells() if cell.cell == f"pauli2025.{key}"]
    return cell


def need(key: str, inputs: Inputs) -> Needs:
    """What a cell that cannot be computed needs."""
    with pytest.raises(Needs) as raised:
        answer(printed(key), inputs)
    return raised.value


@pytest.fixture
def here(monkeypatch):
    """Say whether the models of these metrics are here."""

    def say(yes: bool) -> None:
        monkeypatch.setattr(recipes.hub, "here", lambda model: yes and model.gated)
        learned = ("bertscore:deberta-xlarge-mnli", "bleurt", "cosine:labse", "questeval:released")
        for name in learned:
            monkeypatch.setattr(type(registry.get(name)), "missing", "" if yes else "get it")

    return say


@pytest.mark.parametrize(
    ("key", "metric", "basis"),
    [
        ("t3.likelihood-3b.mir", "likelihood:3b+released", "source"),
        ("t6.likelihood-8b.mir", "likelihood-style:8b+released", "source"),
        ("fig1.output-1.likelihood", "likelihood:8b+released", "source"),
        ("t3.r-bertscore.lai", "bertscore:deberta-xlarge-mnli", "reference"),
        ("t3.s-bleurt.mir.pvalue", "bleurt", "source"),
        ("t4.s-cosine.lai", "cosine:labse", "source"),
        ("t9.questeval.mir", "questeval:released", "source"),
    ],
)
def test_a_cell_of_a_metric_with_a_model_is_computed_where_that_model_is_here(
    key, metric, basis, here
):
    here(False)
    inputs = Canned()
    lacking = need(key, inputs)
    assert lacking.what == names("pauli2025", "metric")[printed(key).metric][1]
    assert lacking.reason == "its weights are not on this machine"
    assert inputs.wanted == []
    here(True)
    ours = answer(printed(key), inputs)
    assert {wanted[1:] for wanted in inputs.wanted} == {(metric, basis)}
    assert math.isfinite(ours.value)
    assert ours.signature.startswith("likelihood|model:m|")
    assert "gave no score; tstmeta score --data" in need(key, Canned(value=math.nan)).reason


def test_no_other_model_stands_in_for_the_printed_one(monkeypatch):
    monkeypatch.setattr(recipes.hub, "here", lambda model: not model.gated)
    assert need("t3.likelihood-3b.mir", Canned()).what == BACKBONES["3b"].where


def test_wordings_that_are_not_published_are_needed_whatever_model_is_here(here):
    here(True)
    lacking = need("t11.instruct-3-3b.mir", Canned())
    assert lacking.what == "wording"
    assert "meta-llama/" in lacking.reason
