"""The chapter of confounds: what a data set cannot give becomes a sentence, never a failure."""

import pytest
from IPython.display import Markdown

from tests.report.tiny import constructed, rated
from tstmeta.report import html
from tstmeta.report.bench import Bench
from tstmeta.report.confounds_chapter import Confounds, each
from tstmeta.report.figures import Picture

FIGURES = [
    "partial_picture",
    "discriminant_picture",
    "shift_picture",
    "disagreement_picture",
    "error_picture",
    "games_picture",
]


@pytest.fixture
def part(tmp_path):
    def make(data):
        bench = Bench(tmp_path)
        bench._datasets[data.name] = data
        return Confounds(bench, data.name, ["rouge1", "ter"])

    return make


@pytest.mark.parametrize("data", [rated(), constructed()], ids=["rated", "by construction"])
@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_is_drawn_or_says_why_not(part, data, figure):
    made = getattr(part(data), figure)(data)
    assert isinstance(made, Picture | Markdown)
    if isinstance(made, Markdown):
        assert data.name in made.data


def test_without_a_second_data_set_nothing_is_shown(part):
    found = part(rated())
    assert found.second is None
    assert found.on(found.second).data == ""
    assert found.discriminant_picture(found.second).data == ""


def test_the_data_set_of_a_figure_is_named(part):
    found = part(rated())
    assert found.on(found.first).data == "On `tiny`, 6 rewrites:"


def test_the_contrast_set_is_the_last_one_built(part):
    assert part(rated()).built[-1].name == "contrast"


def test_tables_of_several_sets_stand_below_each_other(part):
    data = rated()
    made = each(part(data).partials, [data, data])
    assert isinstance(made, html.Html)
    assert made.text.count("<table>") in (0, 2)


def test_a_reason_in_a_table_is_escaped(part):
    made = each(lambda data: Markdown("*<b> & more*"), [rated()])
    assert made.text == "<p>*&lt;b&gt; &amp; more*</p>"
