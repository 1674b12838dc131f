"""The front page: what to use for which task, by the rule, from frozen effects alone."""

import pytest
from bs4 import BeautifulSoup

import tstmeta as tst
from tests.tools.test_pages import of_the_book, page, parts, plain
from tools import front, pages


@pytest.fixture(scope="module")
def fragments():
    """Answers, figures and needs of a machine without raw data: the book's, or made anew."""
    if (built := of_the_book()) is not None:
        text = page(built, "front.md")
    else:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tst, "load", None)  # only frozen effects are read
            text = pages.render("front", front.context())
    return [BeautifulSoup(part, "lxml") for part in parts(text)]


def rows(fragment):
    return {row.th.get_text(): [plain(str(cell)) for cell in row("td")] for row in fragment("tr")}


@pytest.mark.parametrize(("task", "language"), [("formality", "en"), ("detoxification", "ru")])
@pytest.mark.parametrize(("place", "dimension"), enumerate(front.DIMENSIONS))
def test_every_cell_is_the_rule_s_best_metric(fragments, task, language, place, dimension):
    best = tst.verdicts(None, dimension, task=task, language=language).iloc[0]
    cell = rows(fragments[0])[task if language == "en" else f"{task} in Russian"][place]
    if best["verdict"] in ("use", "with care") and best["low"] <= 0.5:
        assert cell.startswith("none")
    elif best["verdict"] in ("use", "with care"):
        assert cell.startswith(f"{best['verdict']} {best['metric']} ")
        assert ("*" in cell) == (not best["difference_low"] > 0)
        assert f": {100 * best['mean']:.0f}" in cell
        assert f"({100 * best['predict_low']:.0f} to {100 * best['predict_high']:.0f})" in cell
        assert f", {best['own']} famil" in cell
    else:
        assert cell == {"do not use": "none"}.get(best["verdict"], best["verdict"])


def test_where_nothing_is_known_the_page_says_so(fragments):
    answers, _, needs = fragments
    assert rows(answers)[front.OTHER] == ["unknown"] * 3
    assert rows(needs)["any dimension, system level"][0] == "unknown"
    assert len(rows(needs)) == 1 + 2 * 3 + 1


def test_each_dimension_has_a_figure_with_the_best_metric_first_and_people_last(fragments):
    for dimension, image in zip(front.DIMENSIONS, fragments[1]("img"), strict=True):
        names = image["alt"].partition(": ")[2].partition(";")[0].split(", ")
        assert dimension in image["alt"]
        assert names[-1] == "people"
        assert len(names) <= 12


@pytest.mark.parametrize(
    ("verdict", "wanted"),
    [("do not use", "none"), ("unknown", "unknown"), ("with care", "with care"), ("use", "use")],
)
def test_no_metric_is_named_where_none_may_be_used(monkeypatch, verdict, wanted):
    row = {"metric": "bleu", "verdict": verdict, "reason": "<b>", "mean": 0.6}
    table = tst.verdicts().head(1).assign(**row)
    monkeypatch.setattr(tst, "verdicts", lambda *_: table)
    first = front.first(table, "content", False)
    assert first["verdict"] == wanted
    assert ("metric" in first) == (verdict in ("use", "with care"))
