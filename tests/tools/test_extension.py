"""What our extension adds to pages: Plotly, a file and a link for each table, buttons."""

import io
import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from tools import extension
from tools.tables import table as of_pages
from tstmeta.console import from_inert

FRAME = pd.DataFrame(
    {"metric": ["bleu", "=1+1", "<i>&amp;"], "n": [1234567, -2, 0], "value": [0.25, -0.5, None]}
)
STYLED = '<style type="text/css">\n#T_1 td { color: red }\n</style>\n'
BOXES = {  # what stands before a table -> what stands before its link
    "": "",
    "<h2>Title</h2>\n": "<h2>Title</h2>\n",
    '<p>a</p><div class="tst-table" tabindex="0">': "<p>a</p>",
    f'<div class="cell"><div class="cell_output docutils container">\n'
    f'<div class="output text_html"><div>\n{STYLED}': '<div class="cell">',
    '<div class="sd-card"><div class="pst-scrollable-table-container">': '<div class="sd-card">',
}


def shown(folder: Path, page: str, body: str) -> tuple[str, list[str], list[str]]:
    """The body after the step, the addresses of its links, and the scripts that it loads."""
    scripts: list[str] = []
    app = SimpleNamespace(outdir=str(folder), add_js_file=scripts.append)
    context = {"body": body}
    extension.content(app, page, "page.html", context, None)
    links = r'<div class="tst-csv"><a href="(.*?)" download>CSV<span>'
    return context["body"], re.findall(links, context["body"]), scripts


def test_plotly_is_loaded_on_the_pages_that_draw_with_it_and_on_no_other(tmp_path):
    assert shown(tmp_path, "a", "<p>no chart</p>")[2] == []
    assert shown(tmp_path, "b", "<script>Plotly.newPlot('x')")[2] == ["vendor/plotly.min.js"]
    extension.content(None, "search", "search.html", {}, None)  # a page without a body


@pytest.mark.parametrize(("before", "outside"), BOXES.items())
def test_the_link_stands_before_the_box_and_nothing_else_changes(tmp_path, before, outside):
    page = f"{before}<table><tr><td>1</td></tr></table>\n<p>é &amp; <pre>&lt;table></pre>"
    fresh, links, _ = shown(tmp_path, "book/results/page", page)
    assert links == ["../../_tables/book/results/page-1.csv"]
    link = fresh[fresh.index('<div class="tst-csv">') :].partition("\n")[0] + "\n"
    assert fresh.replace(link, "") == page
    assert fresh.index(link) == len(outside)
    assert (tmp_path / links[0].removeprefix("../../")).read_text() == '""\n1\n'


def test_a_table_is_read_back_as_it_is_shown_with_plain_numbers_and_no_formula(tmp_path):
    _, links, _ = shown(tmp_path, "page", of_pages(FRAME) + of_pages(FRAME[:1]))
    assert links == ["_tables/page-1.csv", "_tables/page-2.csv"]
    text = (tmp_path / links[0]).read_text()
    assert text.splitlines()[2].startswith("'=1+1,")
    read = pd.read_csv(io.StringIO(text))
    pd.testing.assert_frame_equal(read.assign(metric=read["metric"].map(from_inert)), FRAME)
    assert len(pd.read_csv(tmp_path / links[1])) == 1


SPANS = """<table><thead><tr><th></th><th colspan="2">mir</th></tr>
<tr><th>metric</th><th>r</th><th>n<br>all</th></tr></thead>
<tbody><tr><th rowspan="2">bleu</th><td>−0.10</td><td>1,000 of 2,000</td></tr>
<tr><td>–</td><td>−1e−05</td></tr></tbody></table>"""


def test_spans_are_repeated_and_heads_joined():
    frame = extension.frame(SPANS)
    assert list(frame) == ["metric", "mir r", "mir n all"]
    rows = [["bleu", "-0.10", "1,000 of 2,000"], ["bleu", "", "-1e-05"]]
    assert frame.to_numpy().tolist() == rows


@pytest.mark.parametrize("host", ["", "github.com", "gitlab.com"])
def test_buttons_that_lead_to_the_repository_appear_where_its_address_is_known(
    host, tmp_path, monkeypatch
):
    urls = f'Repository = "https://{host}/some/thing"' if host else ""
    (tmp_path / "pyproject.toml").write_text(f"[project.urls]\n{urls}\n")
    monkeypatch.setattr(extension, "ROOT", tmp_path)
    config = SimpleNamespace(html_theme_options={"launch_buttons": {}, "search_bar_text": "x"})
    extension.address(None, config)
    options = config.html_theme_options
    shown = {name for name, value in options.items() if value is True}
    buttons = {f"use_{name}_button" for name in ("repository", "issues", "edit_page")}
    assert shown == (buttons if host else set())
    assert options.get("repository_url", "") == (f"https://{host}/some/thing" if host else "")
    assert ("binderhub_url" in options["launch_buttons"]) is bool(host)
    assert ("colab_url" in options["launch_buttons"]) is (host == "github.com")
