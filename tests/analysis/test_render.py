"""An evaluation for reading: title, notes, table and every format."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.analysis.many import rated, scored
from tests.analysis.test_evaluation import analyse
from tests.analysis.tiny import HOSTILE, scores
from tests.analysis.tiny import rated as tiny
from tstmeta.analysis import render
from tstmeta.analysis.evaluation import COLUMNS
from tstmeta.console import TableFormat

DATA = rated()
SCORES = scored(DATA, good=0.4, ter=0.8, poor=4.0, random=50.0)
OWN = analyse(DATA, SCORES, draws=400, seed=7)


@pytest.mark.parametrize(
    ("name", "format", "expected"),
    [
        (None, None, "table"),
        (None, TableFormat.latex, "latex"),
        *((f"t{ending.upper()}", None, kind) for ending, kind in render.ENDINGS.items()),
        ("t.out", TableFormat.json, "json"),
    ],
)
def test_the_format_is_given_or_read_off_the_files_name(name, format, expected):
    assert render.format_of(name and Path(name), format) == expected


def test_the_title_says_what_was_computed_of_what():
    assert render.title(OWN) == (
        "many: 96 rewrites, 24 sources, 4 systems; Pearson's r with the mean human rating of"
        " content, level pooled; 95 % bootstrap confidence intervals for these systems, sources"
        " like these (400 draws, seed 7)"
    )


def test_notes_are_of_people_of_tests_and_of_what_was_flipped():
    people, tests, flipped, references = render.notes(OWN)
    assert people.startswith("Human ceiling: one rater agrees with the mean of the others at 0.")
    assert tests == "Clusters part what differs at 0.05, all pairs at once, in the same resamples"
    assert flipped == "Flipped, since lower is better: ter (source)"
    assert references == "0 of 96 rewrites have a reference: there are no reference-based values"
    means = analyse(rated(raters=False), SCORES, draws=50, clusters=False)
    assert render.notes(means)[:2] == [
        "The human ceiling is not known: only means of ratings were released",
        flipped,
    ], "without tests there are no clusters"
    assert render.notes(OWN, gaps=True)[1] == (
        "p is of a pair alone, p_adjusted (max-t) of all 10 pairs of rows at once, both in the same"
        " resamples"
    )
    shown, rule = render.table(means)
    assert (shown["metric"][0], rule) == ("good", 3)
    assert not {"cluster", "as_rater"} & set(shown.columns)


def test_people_stand_first_and_the_line_below_the_metrics():
    shown, rule = render.table(OWN)
    order = ["one rater", "good", "ter", "poor", "random", "human-style"]
    assert shown["metric"].tolist() == order
    assert rule == 4
    assert shown["as_rater"][0] == OWN.human.value
    assert list(shown.columns) == [
        *("metric", "basis", "Pearson's r", "low", "high", "n", "rank", "ranks", "cluster"),
        *("given style", "as_rater", "signature"),
    ]
    lines = render.rendered([OWN], TableFormat.table).splitlines()
    assert lines[0] == render.title(OWN)
    head = next(i for i, line in enumerate(lines) if line.startswith("metric "))
    first = [line.split("  ")[0] for line in lines[head + 1 :]]
    assert [*first[:4], *first[5:]] == order
    assert set(first[4]) == {"-"}


def test_csv_has_every_column_and_whole_numbers_stay_whole():
    text = render.rendered([OWN], TableFormat.csv)
    read = pd.read_csv(io.StringIO(text))
    assert list(read.columns) == COLUMNS
    assert read["kind"].tolist() == ["human", *OWN.frame["kind"]]
    np.testing.assert_array_equal(read["value"][1:], OWN.frame["value"])
    good = dict(zip(COLUMNS, text.splitlines()[2].split(","), strict=True))
    assert (good["rank"], good["scored"]) == ("1", "96")


def test_json_has_rows_differences_the_summary_and_how_to_get_the_numbers_again():
    both = [OWN, analyse(DATA, SCORES, dimension="style", draws=400, seed=7)]
    read = json.loads(render.rendered(both, TableFormat.json))
    assert list(read) == ["evaluations", "rows", "differences", "versions"]
    content, style = read["evaluations"]
    assert (content["dimension"], style["dimension"]) == ("content", "style")
    assert content["human"]["value"] == OWN.human.value
    assert (content["notes"], content["summary"]) == (render.notes(OWN), OWN.summary)
    setting = {"dataset": "many", "statistic": "pearson", "level": "pooled"}
    setting |= {"units": "sources", "draws": 400, "seed": 7}
    assert setting.items() <= content.items()
    assert [row["dimension"] for row in read["rows"]] == ["content"] * 6 + ["style"] * 5
    assert len(read["differences"]) == len(OWN.differences) + len(both[1].differences)
    assert set(read["versions"]) == {"python", "tstmeta", "numpy", "scipy", "pandas"}


def test_latex_is_a_compact_table_and_all_else_stands_in_comments():
    head, table = OWN.to_latex().split("\\begin{table}\n")
    assert all(line.startswith("% ") for line in head.splitlines())
    for line in (*OWN.summary, *render.notes(OWN), "signature: good|basis:source"):
        assert f"% {line}\n" in head
    assert "\\caption{many: 96 rewrites" in table
    assert "95 \\% bootstrap" in table
    good = OWN.frame.iloc[0]
    limits = f"{good['value']:.3f} [{good['low']:.3f}, {good['high']:.3f}]"
    body = table[table.index("\\toprule") :].splitlines()
    assert body[1:4] == [
        r"metric & Pearson's r [95 \% CI] & cluster \\",
        r"\midrule",
        rf"good & {limits} & 1 \\",
    ]
    assert [body.index(r"\midrule", at) for at in (3, 7)] == [6, 9]
    assert "[$-$0." in body[7]
    assert body[10] == rf"human ceiling & {OWN.human.value:.3f} & -- \\"


def test_differences_have_a_table_of_their_own():
    text = render.rendered([OWN], TableFormat.latex, gaps=True)
    row = OWN.differences.iloc[0]
    limits = f"{row['difference']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
    assert f"good & ter & {limits} & {row['p']:.3f} & {row['p_adjusted']:.3f}" in text
    many = render.rendered([analyse(DATA, SCORES)], TableFormat.latex, gaps=True)
    assert " & $<$0.001 & $<$0.001" in many, "plain TeX would print another sign"
    read = pd.read_csv(io.StringIO(render.rendered([OWN], TableFormat.csv, gaps=True)))
    np.testing.assert_allclose(read["p_adjusted"], OWN.differences["p_adjusted"])
    plain = render.rendered([OWN], TableFormat.table, gaps=True).splitlines()
    assert plain[-len(OWN.differences)].split()[:2] == ["good", "ter"]


def test_several_levels_are_one_latex_table_and_one_csv():
    own = [OWN, analyse(DATA, SCORES, level="source", draws=50)]
    text = render.rendered(own, TableFormat.latex)
    assert text.count("\\begin{table}") == 1
    assert "level & metric & Pearson's r" in text
    assert "level pooled, source; 95" in text
    assert "\nsource & good & " in text
    read = pd.read_csv(io.StringIO(render.rendered(own, TableFormat.csv)))
    assert read.groupby("level", sort=False).size().to_dict() == {"pooled": 6, "source": 6}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_one_cell_and_mean_nothing(text):
    frame = pd.DataFrame({"metric": [text], "value": [-0.5]})
    lines = render.latex(frame, text).splitlines()
    [row] = [line for line in lines if "$-$0.500" in line]
    assert row.endswith(r"\\")
    assert row.replace(r"\&", "").count("&") == 1


@pytest.mark.parametrize("format", TableFormat)
def test_scores_without_ratings_are_described_in_every_format(format):
    data = tiny()
    text = render.described(data, scores(data, [1, 2, 3, 4, 5, 6]), format)
    if format is TableFormat.json:
        assert json.loads(text)["rows"][0]["mean"] == 3.5
    elif format is TableFormat.csv:
        assert pd.read_csv(io.StringIO(text))["mean"].tolist() == [3.5]
    else:
        assert "3.500" in text
        assert "6 rewrites; scores, nothing to compare with" in text
