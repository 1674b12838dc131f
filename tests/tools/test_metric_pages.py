"""The pages of metrics open with where they agree with people and where they fail."""

import pandas as pd
import pytest

import tstmeta as tst
from tests.analysis.tiny import HOSTILE
from tests.tools.test_pages import Tags, parts
from tools import metric_cards, pages

GROUPS = metric_cards.groups()


def column(name, head):
    return metric_cards.known(name).set_index("")[head]


CASES = [("cosine", "content", "source"), ("chrf", "content", "reference")]


@pytest.mark.parametrize(("name", "dimension", "basis"), [*CASES, ("slor", "fluency", "none")])
def test_verdict_accuracy_best_and_worst_sets_are_those_of_the_evidence(name, dimension, basis):
    shown = column(name, f"{name}: {dimension}" + f" ({basis})" * (basis != "none"))
    rules = tst.verdicts(dimension=dimension, references=basis == "reference")
    row = rules[rules["metric"] == name].iloc[0]
    assert (shown["verdict"], shown["because"]) == (row["verdict"], row["reason"])
    mean = f"{row['mean']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
    assert shown["accuracy"] == f"{mean} ({row['families']} families)"
    own = tst.evidence(dimension).query(
        "metric == @name and basis == @basis and statistic == 'preference' and level != 'system'"
    )
    values = own[own["panel"] == "pool"].set_index("dataset")["value"].dropna().sort_values()
    for label, some in (("worst on", values[:3]), ("best on", values[::-1][:3])):
        words = shown[label].split("; ")
        assert [" ".join(w.split()[:2]) for w in words] == [f"{d} {v:.2f}" for d, v in some.items()]
    stress = own[(own["panel"] == "stress") & own["value"].notna()]["dataset"]
    assert [w.split()[0] for w in shown["stress sets"].split("; ") if w] == stress.tolist()


def test_a_sentinel_stands_both_ways_and_is_called_one():
    both = [column("copy-rate", f"copy-rate{way}: style (source)") for way in ("", ":flipped")]
    assert {each["verdict"] for each in both} == {"sentinel"}
    assert sum(float(each["accuracy"].split()[0]) for each in both) == pytest.approx(1, abs=0.011)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("corpus-bleu", "no score for a single"),
        ("judge", "not run on 5 families"),
        ("gm", "made from scores"),
    ],
)
def test_a_metric_without_evidence_is_unknown_and_says_what_is_missing(name, words):
    assert metric_cards.known(name).shape[1] == 1
    assert words in metric_cards.lacking(GROUPS[name])


def test_what_is_known_stands_on_the_page_and_is_escaped(monkeypatch):
    monkeypatch.setattr(metric_cards, "known", lambda _: pd.DataFrame({"": HOSTILE, "x": HOSTILE}))
    text = pages.render("metric", metric_cards.page(metric_cards.card("judge"), GROUPS["judge"]))
    fragment = Tags(parts(text)[0])
    assert fragment.open == []
    assert fragment.seen <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
