"""What the notebooks call: numbers that follow from the data, and what is said without any."""

import re

import numpy as np
import pandas as pd
import pytest
from IPython.display import Markdown

from tests.helpers import needs
from tests.report.test_html import check
from tests.report.tiny import NAN, constructed, rated
from tstmeta import data as datasets
from tstmeta.data import Card, Dataset, paths
from tstmeta.report import chapters, html
from tstmeta.report.bench import Bench
from tstmeta.report.figures import Picture
from tstmeta.report.ledger import ledger
from tstmeta.report.published import cells
from tstmeta.schema import TstmetaError


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
    if isinstance(shown, Markdown):
        return shown.data
    return " ".join(check(shown.text).text)


# ---------------------------------------------------------------------------- which data are shown


def test_auto_takes_the_contrast_set_where_there_is_no_other(bench):
    assert [data.name for data in chapters.chosen(bench, "auto")] == ["contrast"]
    assert [data.name for data in chapters.chosen(bench, "tiny")] == ["tiny"]


def test_auto_takes_the_rated_sets_that_are_here_in_their_order(bench):
    bench._datasets |= {"pauli": rated("pauli"), "mir": rated("mir")}
    assert [data.name for data in chapters.chosen(bench, "auto")] == ["mir", "pauli"]


def test_a_page_says_what_it_rests_on(bench):
    said = chapters.which([rated(), rated("two")]).data
    assert said == "**This page was built with real human ratings**: `tiny`, `two`."
    said = chapters.which([bench.dataset("contrast")]).data
    assert "without human ratings" in said
    assert "by construction" in said
    assert "tstmeta data fetch --all" in said


@needs("pauli", "lai", "mir")
def test_all_rated_sets_that_auto_names_exist():
    bench = Bench()
    for name in (*chapters.RATED, *chapters.SYSTEMS, *chapters.REFERENCES):
        base = name.partition("@")[0]
        if datasets.available(base):
            assert bench.dataset(name).dimensions, name


# ------------------------------------------------------------------------------ printed beside ours


@pytest.mark.parametrize(
    ("table", "rows", "columns"),
    [
        ("1", "dimension", "dataset"),
        ("2", "dataset", "item"),
        ("3", "metric", "dataset"),
        ("4", "metric", "dataset"),
        ("5", "metric", "dataset"),
        ("7", "dataset", "item"),
    ],
)
def test_a_printed_table_shows_every_number_of_the_paper_once(bench, table, rows, columns):
    text = chapters.printed(bench, "pauli2025", table, rows=rows, columns=columns).text
    check(text)
    wanted = [
        one
        for one in cells()
        if (one.paper, one.table) == ("pauli2025", table) and one.statistic != "pvalue"
    ]
    shown = re.findall(r"<i>([^<]*)</i>", text.partition("<p class='tst-legend'>")[0])
    assert sorted(shown) == sorted(one.printed.replace("-", "−") for one in wanted)


def test_what_we_could_not_compute_shows_the_printed_number_alone(bench):
    text = chapters.printed(bench, "pauli2025", "1", "dimension", "dataset").text
    assert "<b>" not in text.partition("<p class='tst-legend'>")[0]
    assert "needs lai data" in text


def test_the_legend_explains_each_mark(bench):
    page = words(chapters.printed(bench, "pauli2025", "5", "metric", "dataset"))
    for mark, meaning in html.STATUS.values():
        assert not mark or f"{mark} {meaning}" in page


@needs("pauli")
def test_our_number_stands_beside_the_printed_one_with_its_status():
    text = chapters.printed(Bench(), "pauli2025", "5", "metric", "dataset").text
    assert "<b>−0.82</b> <i>−0.82</i> <abbr title='match'>✓</abbr>" in text
    own = ledger("pauli2025", "5")
    shown = own[~own["cell"].str.endswith("pvalue")]
    assert text.count("tst-match'") == (shown["status"] == "match").sum()


# ------------------------------------------------------------------------------------ chapter one


def test_the_overview_counts_what_is_there():
    page = words(chapters.overview([rated(), constructed()]))
    assert "tiny 6 2 3 content, style 1 1\u2060–\u20605" in page
    assert "built 8 2 4 by construction – –" in page


def test_agreement_of_raters_has_a_row_a_dimension_and_says_why_there_is_none():
    page = words(chapters.agreement_of_raters([rated()]))
    assert "no item has ratings from two raters" in page
    assert "content" in page
    assert isinstance(chapters.agreement_of_raters([constructed()]), Markdown)


def test_figures_of_ratings_are_drawn_only_from_ratings():
    assert isinstance(chapters.spread([rated(), constructed()]), Picture)
    assert isinstance(chapters.style_content([rated()]), Picture)
    for draw in (chapters.spread, chapters.style_content):
        assert "no ratings" in draw([constructed()]).data  # type: ignore[union-attr]


def test_the_design_of_the_contrast_set_is_full_and_balanced(bench):
    page = words(chapters.design(bench.dataset("contrast")))
    assert "style shift content kept substitution deletion insertion" in page
    assert page.split("insertion ")[1].split()[:2] == ["light", "240"]


@pytest.mark.parametrize("source_id", ["polite-01", "detoxify-04", "formal-06"])
def test_a_quartet_shows_a_source_and_its_four_rewrites(bench, source_id):
    page = check(chapters.quartet(bench.dataset("contrast"), source_id).text)
    assert [tag for tag, _ in page.tags].count("dd") == 5


def test_a_quartet_of_a_set_that_may_not_be_shown_is_refused():
    with pytest.raises(PermissionError):
        chapters.quartet(rated(examples=False), "s1")


# ------------------------------------------------------------------------------------ chapter two


def test_parts_without_data_are_the_contrast_set(bench):
    part = chapters.Parts(bench, "auto", ["rouge1"], "pearson", "pooled")
    assert part.systems == part.references == []
    assert [data.name for data in part.constructed] == ["contrast@tied"]
    assert [data.name for data in part.both_ways] == ["contrast@tied", "contrast"]
    assert part.all == part.constructed
    assert part.referenced == []
    assert part.compare("systems").empty


def test_parts_of_a_rated_set_put_it_among_the_systems(bench):
    part = chapters.Parts(bench, "tiny", ["rouge1"], "pearson", "pooled")
    assert [data.name for data in part.systems] == ["tiny"]
    assert [data.name for data in part.constructed] == ["contrast"]
    assert [data.name for data in part.referenced] == ["tiny"]


def test_parts_of_a_constructed_set_put_it_and_its_tasks_among_the_constructed(bench):
    part = chapters.Parts(bench, "built", ["rouge1"], "pearson", "pooled")
    assert part.systems == []
    assert [data.name for data in part.constructed] == ["built", "built@x", "built@y"]
    assert [len(data.items) for data in part.constructed] == [8, 4, 4]


def test_parts_of_what_people_wrote_are_references(bench):
    data = rated("people")
    bench._datasets["people"] = Dataset.of(
        "people", data.items.assign(is_reference=True), data.card, ratings=data.ratings
    )
    part = chapters.Parts(bench, "people", ["rouge1"], "pearson", "pooled")
    assert (len(part.systems), [one.name for one in part.references]) == (0, ["people"])


def test_a_file_of_your_own_is_a_data_set_like_any_other(bench, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "source,output,system,shift,task,content.r1,style.r1\n"
        "a b c,a b,A,strong,x,1,2\na b d,a c,B,light,y,4,1\na b e,x y,A,strong,x,2,5\n"
    )
    part = chapters.Parts(bench, str(path), ["rouge1"], "pearson", "pooled")
    assert [data.name for data in part.constructed] == ["mine", "mine@x", "mine@y"]
    assert isinstance(chapters.spread(chapters.chosen(bench, str(path))), Picture)
    assert isinstance(chapters.tasks_figure(bench, part.constructed[0], "rouge1"), Picture)


@pytest.mark.parametrize(
    ("statistic", "level", "profile", "message"),
    [
        ("tau", "pooled", "embedded", "statistic is 'tau'; use one of pearson, spearman, kendall"),
        ("pearson", "sample", "embedded", "level is 'sample'; use one of pooled, source"),
        ("pearson", "pooled", "all", "profile is 'all'; use one of embedded, real"),
    ],
)
def test_a_wrong_parameter_is_refused_with_the_known_values(
    bench, statistic, level, profile, message
):
    with pytest.raises(TstmetaError, match=message):
        chapters.Parts(bench, "auto", ["bleu"], statistic, level, profile)


def test_families_are_expanded_and_a_profile_keeps_what_runs_here():
    names = chapters.allowed(["sentinel", "bleu", "human-style"], "embedded")
    assert names[-1] == "bleu"
    assert "constant" in names
    assert chapters.allowed(["lexical"], "real") == chapters.allowed(["lexical"], "embedded")


def test_comparing_gives_a_row_a_metric_and_data_set(bench):
    rows = chapters.compare(bench, [rated(), constructed()], ["rouge1", "constant"])
    assert list(zip(rows["data"], rows["metric"], strict=True)) == [
        *(("tiny", "rouge1"), ("tiny", "constant"), ("built", "rouge1"), ("built", "constant"))
    ]
    assert set(rows["dimension"]) == {"content"}
    human, value, _ = bench.vectors("tiny", "rouge1", "source", "content")
    assert rows["value"][0] == pytest.approx(np.corrcoef(human, value)[0, 1])


def test_data_without_scores_are_passed_over(bench):
    assert chapters.compare(bench, [constructed()], ["rouge1"], ["reference"]).empty
    assert chapters.compare(bench, [], ["rouge1"]).empty


ROWS = pd.DataFrame(
    {
        "metric": ["bleu", "ter", "meteor", "constant", "bleu"],
        "basis": "source",
        "data": ["<one>"] * 4 + ["two"],
        "value": [0.5, -0.25, NAN, 0.9, 0.1],
        "p": 0.01,
        "n": [10, 10, 0, 10, 1234],
        "note": ["", "", "why & how", "", ""],
        "signature": ["s|'\"<"] * 5,
    }
)


def test_the_agreement_table_has_a_column_a_data_set_with_its_n():
    shown = chapters.agreement_table(ROWS)
    assert isinstance(shown, html.Html)
    page = check(shown.text)
    assert page.text[:6] == ["metric", "basis", "<one>", "n = 10", "two", "n = 1,234"]
    flat = " ".join(page.text)
    assert "bleu source 0.50 0.10" in flat
    assert "ter source −0.25" in flat
    assert "meteor source –" in flat
    titles = [attributes["title"] for tag, attributes in page.tags if "title" in attributes]
    assert "n = 0, p = 0.01; why & how s|'\"<" in titles


def test_the_strongest_and_the_weakest_metric_are_named_without_sentinels():
    assert chapters.strongest(ROWS).data == (
        "- `<one>`: from −0.25 (`ter`) to 0.50 (`bleu`), n = 10."
    )


def test_a_demonstration_is_neither_the_strongest_nor_the_weakest():
    shown = pd.DataFrame(
        {
            "metric": ["bleu", "ter ↓", "likelihood", "likelihood:3b", "likelihood:released"],
            "data": "one",
            "value": [0.5, 0.2, -0.1, 0.7, 0.9],
            "n": 10,
        }
    )
    assert chapters.strongest(shown).data == (
        "- `one`: from 0.20 (`ter ↓`) to 0.70 (`likelihood:3b`), n = 10."
    )


def test_without_rows_it_is_said_that_there_is_nothing():
    none = pd.DataFrame()
    assert "Nothing to compare" in words(chapters.agreement_table(none))
    assert words(chapters.heatmap(none)) == words(chapters.strongest(none)) == ""


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall"])
def test_a_heat_map_can_be_drawn_for_each_statistic(statistic):
    assert isinstance(chapters.heatmap(ROWS, statistic), Picture)


def test_the_oracle_says_what_it_rests_on(bench):
    assert chapters.oracle(bench, rated()).data == (
        "On `tiny` the style rating alone, offered as if it were a content metric, agrees with the"
        " content rating at r = −0.97 (n = 5)."
    )
    assert "the style label by construction alone" in chapters.oracle(bench, constructed()).data
    assert "r = 0.00 (n = 8)" in chapters.oracle(bench, constructed()).data


@needs("pauli")
def test_the_oracle_on_the_published_constructed_set():
    said = chapters.oracle(Bench(), datasets.load("pauli")).data
    assert "r = 0.54 (n = 500)" in said or "r = 0.55 (n = 500)" in said


def test_the_tied_cells_let_style_stand_for_content(bench):
    tied, full = bench.dataset("contrast@tied"), bench.dataset("contrast")
    assert "r = 1.00 (n = 480)" in words(chapters.oracle(bench, tied))
    assert "r = 0.00 (n = 960)" in words(chapters.oracle(bench, full))


def test_a_share_counts_ties_as_half(bench):
    said = chapters.share_kept_above(bench, constructed(), "constant").data.splitlines()
    assert [line.rpartition(" in ")[2] for line in said] == ["50% of 2 sources."] * 2
    said = chapters.share_kept_above(bench, constructed(), "copy-rate").data.splitlines()
    assert said[0].endswith("in 100% of 2 sources.")
    assert said[1].endswith("in 0% of 2 sources.")


def test_the_tasks_of_a_set_are_data_sets_and_a_subset_stands_for_itself(bench):
    assert [data.name for data in chapters.by_task(bench, "contrast@polite")] == ["contrast@polite"]
    assert [data.name for data in chapters.by_task(bench, "tiny")] == ["tiny"]
    parts = chapters.by_task(bench, "contrast")
    assert sum(len(data.items) for data in parts[1:]) == len(parts[0].items) == 960


def test_figures_of_chapter_two_are_pictures(bench):
    contrast = bench.dataset("contrast@polite")
    assert isinstance(chapters.cells_figure(bench, contrast, ["copy-rate"]), Picture)
    assert isinstance(chapters.tasks_figure(bench, contrast, "copy-rate"), Picture)
    assert Card.read("contrast").may_show_examples
