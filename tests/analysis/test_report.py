"""The report of an evaluation: a page that stands alone, and the files beside it."""

import io
import re
from dataclasses import replace
from html import escape
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lxml import html

from tests.analysis.many import rated, scored
from tests.analysis.test_evaluation import analyse
from tstmeta import stats
from tstmeta.analysis import render, report
from tstmeta.schema import TstmetaError

#: What means something in HTML, LaTeX, a template or a spreadsheet.
HOSTILE = {"good": "<script>x</script>", "poor": "=1+1 & {{ 7*7 }} \\x_%", "bad": '"><img src=x>'}
DATA = replace(rated(), name="many <b>bold</b> & #1")
FILES = ["values.csv", "table.tex", "methods.txt", "figure.pdf", "figure.svg", "report.html"]


@pytest.fixture(scope="module")
def own():
    """Metrics with some noise, three under hostile names."""
    table = scored(DATA, good=0.4, ter=0.8, poor=4.0, bad=6.0, random=50.0)
    return analyse(DATA, table.replace({"metric": HOSTILE}), draws=200, seed=7)


@pytest.fixture(scope="module")
def written(own, tmp_path_factory) -> dict[str, bytes]:
    """The files; written again beside an older page they are the same."""
    new, old = (tmp_path_factory.mktemp("report") / name for name in ("new", "old"))
    old.mkdir()
    (old / "report.html").write_text("older")
    assert report.report(own, DATA, new) == [new / name for name in FILES]
    report.report([own], [rated(), DATA], old)
    both = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in (new, old)]
    assert both[0] == both[1]
    return both[0]


@pytest.fixture(scope="module")
def page(written) -> html.HtmlElement:
    return html.document_fromstring(written["report.html"].decode())


def words(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def test_the_page_says_first_what_to_take_and_then_on_what_it_rests(page, own, written):
    top = words(page.find(".//header"))
    assert all(" ".join(sentence.split()) in top for sentence in own.summary)
    parts = [f"<strong>{escape(own.summary[0], quote=False)[:30]}", "<img", "<table>"]
    parts += ["Human ceiling", "Krippendorff", "<h2>Signatures", "<h2>Methods"]
    text = written["report.html"].decode().replace("&#39;", "'")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_the_table_of_the_page_is_that_of_the_evaluation(page, own):
    shown, rule = render.table(own)
    table, levels = page.findall(".//tbody")
    assert [words(row[0]) for row in levels] == own.frame["metric"].tolist()
    rows = table.findall("tr")
    assert [row.get("class") for row in rows].index("rule") == rule
    assert [words(row[0]) for row in rows] == shown["metric"].tolist()
    assert [words(cell) for cell in rows[1][1:3]] == [shown.iloc[1, 1].replace("-", "−"), "96"]


def test_texts_are_escaped_and_nothing_is_fetched(page, written):
    text = page.text_content()
    assert [name for name in (*HOSTILE.values(), DATA.name) if name not in text] == []
    assert page.xpath("//script | //iframe | //object | //b[. = 'bold']") == []
    assert page.xpath("//@*[starts-with(name(), 'on')]") == []
    links = page.xpath("//@src | //@href | //@*[name() = 'xlink:href']")
    assert {link for link in links if not link.startswith(("#", "data:"))} == set()
    assert not re.search(r"@import|url\((?!#)", written["report.html"].decode())
    read = pd.read_csv(io.BytesIO(written["values.csv"]))
    assert f"'{HOSTILE['poor']}" in set(read["metric"]), "no formula in a spreadsheet"


def test_the_files_beside_the_page_are_those_of_the_other_options(own, written):
    assert written["table.tex"].decode() == own.to_latex()
    assert written["values.csv"].decode() == render.rendered([own], render.TableFormat.csv)
    assert written["figure.pdf"].startswith(b"%PDF")
    assert written["figure.svg"].startswith(b"<?xml")


def test_methods_name_all_that_a_paper_needs(own, written):
    text = written["methods.txt"].decode()
    parts = [f"tstmeta {version('tstmeta')}, numpy {np.__version__}", render.title(own), "(15)"]
    parts += ["Agreement is Pearson's r at level pooled", "Flipped, since lower is better: ter."]
    parts += ["percentile bootstrap confidence intervals from resamples of sources"]
    parts += [f"\n{HOSTILE['bad']}: bad|basis:source\n", "@software{tstmeta,\n  title = "]
    assert [part for part in parts if part not in text] == []


def test_every_level_and_statistic_has_its_words():
    template = Path(report.__file__).with_name("methods.txt.j2").read_text("utf-8")
    assert re.findall(r'^  "([\w-]+)":', template, re.M) == [*stats.LEVELS, *stats.STATISTICS]


def test_a_report_needs_the_data_sets_that_were_evaluated(own, tmp_path):
    with pytest.raises(TstmetaError, match="that were evaluated; missing: many <b>"):
        report.report(own, rated(), tmp_path / "new")
    assert not (tmp_path / "new").exists()
