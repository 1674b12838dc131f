"""The cards of metrics: read with care, complete, and shown with what the registry says."""

import re
import warnings
from functools import cache
from html import unescape

import pandas as pd
import pytest

from tests.report.test_html import check
from tests.report.tiny import HOSTILE, rated
from tstmeta import metrics
from tstmeta.data import paths
from tstmeta.metrics import PairMetric, Request, catalogue
from tstmeta.metrics.base import Score
from tstmeta.report import metric_cards
from tstmeta.report.metric_cards import MetricCard
from tstmeta.schema import Status, TstmetaError

GOOD = """\
---
title: A metric
cites: [papineni2002bleu]
measures: What two texts share.
fails: It cannot read.
cost: None.
---

Some words.
"""


@cache
def listed() -> pd.DataFrame:
    return catalogue.overview()


def rows_of(*stems: str) -> pd.DataFrame:
    rows = listed()
    return rows[rows["name"].str.partition(":")[0].isin(stems)]


@pytest.fixture(scope="module")
def bleu():
    return metric_cards.page(metric_cards.read("bleu"), rows_of("bleu"))


def plain(page: str) -> str:
    """A page without tags and without the places where names may break."""
    return " ".join(unescape(re.sub("<[^>]*>", " ", page.replace("<wbr>", ""))).split())


# ------------------------------------------------------------------------------------- reading


def test_a_card_is_read(tmp_path):
    (tmp_path / "m.md").write_text(GOOD)
    assert metric_cards.read("m", tmp_path / "m.md") == MetricCard(
        "m",
        "A metric",
        ("papineni2002bleu",),
        "What two texts share.",
        "It cannot read.",
        "None.",
        "Some words.",
    )


def test_a_metric_without_a_card_has_an_empty_one():
    assert metric_cards.read("no-such-metric") == MetricCard("no-such-metric", "no-such-metric")


FAULTS = {
    "no front matter": ("Some words.", "no front matter"),
    "front matter without end": ("---\ntitle: x\n", "no front matter"),
    "words before it": ("x" + GOOD, "no front matter"),
    "no YAML": (GOOD.replace("title: A metric", "title: [x"), "is no YAML"),
    "a list": ("---\n- x\n---\n", "title, measures, fails, cost, cites missing"),
    "an empty part": (GOOD.replace("It cannot read.", ""), "fails missing"),
    "a number for a text": (GOOD.replace("None.", "3"), "cost missing"),
    "one citation": (GOOD.replace("[papineni2002bleu]", "papineni2002bleu"), "cites missing"),
    "citations that are none": (GOOD.replace("[papineni2002bleu]", "[1]"), "cites missing"),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
def test_a_damaged_card_is_told_with_its_file(tmp_path, text, message):
    (tmp_path / "m.md").write_text(text)
    with pytest.raises(TstmetaError, match=rf"m\.md: .*{message}"):
        metric_cards.read("m", tmp_path / "m.md")


# ------------------------------------------------------------------------------- what is written


@pytest.mark.parametrize("name", metric_cards.names())
def test_every_card_is_whole_and_cites_works_that_there_are(name):
    card = metric_cards.read(name)
    known = set(re.findall(r"@\w+\{(\w+),", (paths.home() / "book" / "references.bib").read_text()))
    assert set(card.cites) <= known
    assert card.measures.endswith(".")
    assert card.fails.endswith(".")
    assert len(card.body.split()) >= 20
    assert not re.search(r"\d", card.cost), "numbers come from benchmarks, not from prose"


@pytest.mark.parametrize("name", metric_cards.names())
def test_variants_that_a_card_speaks_of_are_taken(name):
    told = set(re.findall(r"`([\w-]+:[\w+.-]+)`", metric_cards.read(name).body))
    files = re.compile(r"\.(csv|json|txt|conllu|udpipe|amr)$")
    for one in told:
        if one.partition(":")[0] in metrics.names() and not files.search(one):
            assert metrics.get(one).name == one


# ----------------------------------------------------------------------------------------- pages


def test_a_page_says_what_the_registry_says(bleu):
    text = plain(bleu)
    assert bleu.startswith("# BLEU of one sentence\n")
    assert "{cite}`papineni2002bleu,post2018call" in bleu
    for name in ("bleu", "bleu:nltk-word", "bleu:pauli2025"):
        assert f"{name} ok {metrics.get(name).signature('source')}" in text
    assert "compared with source, reference" in text
    assert "looks at one rewrite at a time" in text
    assert "printed as pauli2025: BLEU; lai2023: BLEU; mukherjee2025: BLEU" in text


def test_the_html_of_a_page_is_whole(bleu):
    parts = re.findall(r"^```\{raw\} html\n(.*?)\n```$", bleu, re.DOTALL | re.MULTILINE)
    assert len(parts) == 4
    for part in parts:
        check(part)


def test_the_example_is_computed(bleu):
    data = metric_cards.example()
    items = data.items.set_index("system")
    ours = metrics.get("bleu")
    for system in ("strong", "light-error"):
        row = items.loc[system]
        ((score,),) = ours.score([(Request(row["output"], (row["source"],)),)])
        assert f"{score.value:.3f}" in bleu
    assert set(data.items["source_id"]) == {metric_cards.EXAMPLE}
    assert len(data.items) == 4


def test_a_metric_that_cannot_run_shows_its_remedy_and_no_example():
    page = metric_cards.page(metric_cards.read("judge"), rows_of("judge"))
    assert "no server" in plain(page)
    assert "was not run for this page" in page
    assert "strong-error" not in page


def test_a_combined_metric_says_what_it_is_made_of():
    page = metric_cards.page(metric_cards.read("gm"), rows_of("gm"))
    assert "tstmeta.combine" in plain(page)
    assert "cannot be shown on its own" in page


def test_a_page_of_the_embedded_model_says_that_it_demonstrates():
    rows = rows_of("likelihood-style").head(1)
    page = metric_cards.page(metric_cards.read("likelihood-style"), rows)
    assert "A demonstration, not a reproduction" in page


def test_pages_are_one_a_metric_and_a_list_of_all(monkeypatch):
    rows = rows_of("bleu", "ter", "judge", "gm")
    monkeypatch.setattr(catalogue, "overview", rows.copy)
    found = metric_cards.pages()
    assert set(found) == {
        "metric_cards.md",
        *(f"metrics/{stem}.md" for stem in ("bleu", "ter", "judge", "gm")),
    }
    listed = {
        line.split("|")[1].strip(): line.split("|")[-2].strip()
        for line in found["metric_cards.md"].splitlines()
        if line.startswith("| [")
    }
    assert listed == {
        "[`bleu`](metrics/bleu.md)": "yes",
        "[`ter`](metrics/ter.md)": "yes",
        "[`judge`](metrics/judge.md)": "no",
        "[`gm`](metrics/gm.md)": "yes",
    }


def test_of_several_variants_some_may_run():
    rows = pd.DataFrame({"status": ["ok", "error"]})
    assert metric_cards._here(rows) == "some variants"


# ---------------------------------------------------------------------------------------- values


class Odd(PairMetric):
    """Says something else of every output of the tiny set."""

    name = "odd"

    def score(self, units):
        answers = iter(
            [
                Score(1.5),
                Score(float("nan"), Status.ERROR, "no model"),
                Score(float("nan"), Status.REFUSED, "would not"),
                Score(-0.25, Status.TRUNCATED, "cut"),
                Score(0.0, Status.EMPTY, "empty text"),
                Score(2.0),
            ]
        )
        for unit in units:
            yield tuple(next(answers) for _ in unit)


def test_a_score_without_a_value_is_shown_as_its_status(monkeypatch):
    monkeypatch.setattr(metrics, "get", lambda name: Odd())
    data = rated()
    data = data.where(data.items["source_id"] == "s1")
    found, notes = metric_cards.values(["odd"], data)
    (source, reference) = found.to_dict("records")
    assert notes == []
    assert source == {
        "metric": "odd",
        "compared with": "source",
        "A": "1.500",
        "B": "error: no model",
        "C": "refused: would not",
    }
    assert reference["compared with"] == "reference"


def test_without_references_there_is_no_row_for_them():
    found, _ = metric_cards.values(["ter"])
    assert found["compared with"].tolist() == ["source"]


class Told(UserWarning):
    """A warning of ours, as far as the page can see."""


Told.__module__ = "tstmeta.somewhere"


class Warns(PairMetric):
    """Warns of itself and of something else, each time."""

    name = "warning"

    def value(self, request):
        warnings.warn("a <demonstration>", Told, stacklevel=1)
        warnings.warn("a library says so", UserWarning, stacklevel=1)
        return 1.0


def test_what_a_metric_warns_of_stands_below_its_values(monkeypatch):
    monkeypatch.setattr(metrics, "get", lambda name: Warns())
    found, notes = metric_cards.values(["warning"])
    assert notes == ["a <demonstration>"]
    page = metric_cards.page(MetricCard("ter", "TER"), rows_of("ter"))
    assert "<p>a &lt;demonstration&gt;</p>" in page
    assert len(found) == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_details_are_escaped(monkeypatch, text):
    rows = rows_of("judge").assign(remedy=text, signature="")
    page = metric_cards.page(MetricCard("judge", "Judge"), rows)
    parts = re.findall(r"^```\{raw\} html\n(.*?)\n```$", page, re.DOTALL | re.MULTILINE)
    assert len(parts) == 2
    for part in parts:
        check(part)
    assert " ".join(text.split()) in plain(parts[1])


# --------------------------------------------------------------------------------------- printed


def test_what_papers_printed_is_found_by_metric():
    found = metric_cards.printed()
    assert found["meteor"] == [
        ("pauli2025", "METEOR"),
        ("lai2023", "METEOR"),
        ("mukherjee2025", "METEOR"),
    ]
    assert ("mukherjee2025", "GPT-4 prompt") in found["judge"]
    assert "human" not in found
