"""The report of an evaluation: a page that stands alone, and the files beside it."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from dataclasses import replace
from html import escape
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from lxml import html

from tests.analysis.many import rated, scored
from tests.analysis.test_evaluation import analyse
from tstmeta import stats
from tstmeta.analysis import advice, render, summary
from tstmeta.analysis.report import LEVELS, TIES, content_hash, elsewhere, headline, methods, report
from tstmeta.schema import TstmetaError

#: What means something in HTML, LaTeX, a template or a spreadsheet.
HOSTILE = {"good": "<script>x</script>", "poor": "=1+1 & {{ 7*7 }} \\x_%", "bad": '"><img src=x>'}
DATA = replace(rated(), name="many <b>bold</b> & #1")
FILES = ["values.csv", "table.tex", "methods.txt", "figure.pdf", "figure.svg", "report.html"]


def evaluation(names: dict[str, str] | None = None, **noise: float):
    """Metrics with some noise, under names of their own."""
    table = scored(DATA, **noise).replace({"metric": names or {}})
    return analyse(DATA, table.assign(dataset=DATA.name), draws=200, seed=7)


@pytest.fixture(scope="module")
def own():
    return evaluation(HOSTILE, good=0.4, ter=0.8, poor=4.0, bad=6.0, random=50.0)


@pytest.fixture(scope="module")
def written(own, tmp_path_factory) -> dict[str, bytes]:
    """The files; written again beside an older page they are the same."""
    new, old = (tmp_path_factory.mktemp("report") / name for name in ("new", "old"))
    old.mkdir()
    (old / "report.html").write_text("older")
    advised, advise = [], advice.advise
    with pytest.MonkeyPatch.context() as patch:  # to read the evidence once is enough
        patch.setattr(
            advice, "advise", lambda *a, **k: advised.append(advise(*a, **k)) or advised[0]
        )
        assert report(own, DATA, new) == [new / name for name in FILES]
        patch.setattr(advice, "advise", lambda *_, **__: advised[0])
        report([own], [rated(), DATA], old)
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
    assert headline(own) in top
    assert own.summary[-1] in top, "which difference the data could show"
    assert "too little is known of <script>" in top, "what other data sets say"
    parts = [f"<p>{escape(own.summary[0], quote=False)[:30]}", "<svg", "<table>", "Human ceiling"]
    parts += ["content hash", "<h2>Signatures", "<h2>Methods"]
    text = written["report.html"].decode().replace("&#39;", "'")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_the_table_of_the_page_is_that_of_the_evaluation(page, own):
    shown, rule = render.table(own)
    rows = page.findall(".//tbody/tr")
    assert [row.get("class") for row in rows].index("rule") == rule
    names = [f"{name} ↓" * (name == "ter") or name for name in shown["metric"]]
    assert [words(row[0]) for row in rows] == names
    best = own.frame.iloc[0]
    limits = f"{summary.number(best['low'])} to {summary.number(best['high'])}"
    assert [words(cell) for cell in rows[1][1:4]] == [f"{best['value']:.3f}", limits, "96"]


def test_texts_are_escaped_and_nothing_is_fetched(page, written):
    text = page.text_content()
    assert [name for name in (*HOSTILE.values(), DATA.name) if name not in text] == []
    assert page.xpath("//script | //img | //iframe | //object | //b[. = 'bold']") == []
    assert page.xpath("//@*[starts-with(name(), 'on')]") == []
    links = page.xpath("//@src | //@href | //@*[name() = 'xlink:href']")
    assert {link for link in links if not link.startswith(("#", "data:"))} == set()
    assert not re.search(r"@import|url\((?!#)", written["report.html"].decode())
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids)), "of several figures, too"
    read = pd.read_csv(io.BytesIO(written["values.csv"]))
    assert f"'{HOSTILE['poor']}" in set(read["metric"]), "no formula in a spreadsheet"


def test_the_files_beside_the_page_are_those_of_the_other_options(own, written, tmp_path):
    assert written["table.tex"].decode() == own.to_latex()
    assert written["values.csv"].decode() == render.rendered([own], render.TableFormat.csv)
    assert written["figure.pdf"].startswith(b"%PDF")
    assert written["figure.svg"].startswith(b"<?xml")


def test_methods_name_all_that_a_paper_needs(own, written):
    text = written["methods.txt"].decode()
    for part in (
        *(f"tstmeta {version('tstmeta')} (", f"numpy {np.__version__}", content_hash(DATA)),
        f"content it is over {own.items} of {len(DATA.items)} rewrites, of {own.sources} sources",
        f"{own.systems} systems, with the mean human rating (raters: 3)",
        *("Agreement is Pearson's r at level pooled", "(percentile) from 200 resamples of sources"),
        *("the seed is 7", "(15)", "Flipped, since lower is better: ter."),
        *(f"\n{HOSTILE['bad']}: bad|basis:source\n", "@software{tstmeta,\n  title = "),
    ):
        assert part in text
    several = [own, replace(own, tested=False)]
    assert methods(several, {DATA.name: DATA}) == methods([own], {DATA.name: DATA})
    assert "max-t" not in "".join(methods(several[1:], {DATA.name: DATA}))


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        ({"good": 0.2, "copy-rate": 9.0}, "good LEADS, and better than the SENTINEL, copy-rate."),
        (
            {"good": 0.4, "fair": 0.4, "random": 50.0},
            "good LEADS, and better than the SENTINEL, random; fair cannot be told from it.",
        ),
        ({"poor": 9.0, "random": 9.0}, "poor LEADS, but cannot be told from the SENTINEL, random."),
        (
            {"poor": 9.0, "random": 0.1},
            "No metric can be recommended: the best, poor, agrees with people less than the"
            " SENTINEL, random.",
        ),
    ],
)
def test_the_headline_says_no_more_than_the_tests(noise, expected):
    own = evaluation(**{name.replace("-", "_"): much for name, much in noise.items()})
    expected = expected.replace("LEADS", "agrees best with people")
    assert headline(own) == expected.replace("SENTINEL", "best sentinel")
    top = own.frame["metric"].iloc[0]
    untested = f"No metric can be recommended: {top} has the highest value, but nothing was tested."
    assert headline(replace(own, tested=False)) == untested


def test_the_hash_is_of_the_content_and_of_nothing_else():
    data = rated()
    turned = replace(data, name="other", ratings=data.ratings[::-1].assign(dataset="other"))
    assert content_hash(turned) == content_hash(data)
    other = data.ratings.assign(value=data.ratings["value"].replace(5.0, 4.0))
    texts = data.items.assign(output=data.items["output"] + ".")
    digests = {
        content_hash(replace(data, **part)) for part in ({"ratings": other}, {"items": texts})
    }
    assert len(digests | {content_hash(data)}) == 3


def test_every_level_and_statistic_has_its_words():
    assert list(LEVELS) == list(stats.LEVELS)
    assert list(TIES) == list(stats.STATISTICS)


def test_a_report_needs_the_data_sets_that_were_evaluated(own, tmp_path):
    with pytest.raises(TstmetaError, match="that were evaluated; missing: many <b>"):
        report(own, rated(), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_other_data_sets_are_asked_without_the_ratings(monkeypatch, own):
    row = {"dimension": "content", "metric": "ter", "basis": "source", "verdict": "with care"}
    row |= {"accuracy": 0.7, "predict_low": 0.6, "predict_high": 0.8, "reason": "few"}
    notes, sets = ("content: use bleu.", "Rate first content."), []
    advised = advice.Advice(pd.DataFrame([row]), pd.Series(), pd.DataFrame(), notes)
    monkeypatch.setattr(advice, "advise", lambda data, **_: sets.append(data) or advised)
    second = own.frame["metric"].where(own.frame.index > 0, "ter")
    known = replace(own, frame=own.frame.assign(metric=second))
    assert elsewhere(DATA, [own]) == (
        [f"content: too little is known of {HOSTILE['good']}.", notes[0]],
        [notes[1]],
    )
    assert elsewhere(DATA, [known])[0][0] == (
        "content: on other sets ter orders 0.700 [0.600, 0.800] of the pairs of rewrites of one"
        " source as people do; verdict: with care (few)."
    )
    assert [data.ratings.empty for data in sets] == [True, True], "nothing more is scored"


def test_the_latex_table_closes_what_it_opens(written):
    lines = [line for line in written["table.tex"].decode().splitlines() if line[0] != "%"]
    text = re.sub(r"\\[\\&%$#_{}]", "", "\n".join(lines))
    commands = re.findall(r"\\(begin|end)(\{\w+\})", text)
    inside = ["{table}", "{tabular}"]
    assert commands == [*(("begin", n) for n in inside), *(("end", n) for n in inside[::-1])]
    assert text.count("{") == text.count("}")
    assert not set("%#_~^") & set(text)


TEX = shutil.which("tectonic") or shutil.which("pdflatex")


@pytest.mark.skipif(
    not TEX, reason="no TeX here (Debian: apt-get install texlive-latex-recommended)"
)
def test_the_latex_table_and_the_figure_compile(written, tmp_path):
    for name, content in written.items():
        (tmp_path / name).write_bytes(content)
    body = r"\input{table.tex} \includegraphics[width=\textwidth]{figure.pdf}"
    head = r"\documentclass{article} \usepackage{booktabs,graphicx}"
    (tmp_path / "paper.tex").write_text(rf"{head} \begin{{document}} {body} \end{{document}}")
    options = [] if "tectonic" in TEX else ["-interaction=nonstopmode", "-halt-on-error"]
    done = subprocess.run(
        [TEX, *options, "paper.tex"], cwd=tmp_path, capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF")
