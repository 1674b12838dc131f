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
    people, tests, flipped = render.notes(OWN)
    assert people.startswith("Human ceiling: one rater agrees with the mean of the others at 0.")
    assert tests == "Clusters part what differs at 0.05, all pairs at once, in the same resamples"
    assert flipped == "Flipped, since lower is better: ter (source)"
    means = analyse(rated(raters=False), SCORES, draws=50, clusters=False)
    assert render.notes(means)[:2] == [
        "The human ceiling is not known: only means of ratings were released",
        tests,
    ]
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
    assert list(read.columns) == render.COLUMNS
    assert read["kind"].tolist() == ["human", *OWN.frame["kind"]]
    np.testing.assert_array_equal(read["value"][1:], OWN.frame["value"])
    good = dict(zip(render.COLUMNS, text.splitlines()[2].split(","), strict=True))
    assert (good["rank"], good["scored"]) == ("1", "96")


def test_json_says_how_to_get_the_numbers_again():
    both = [OWN, analyse(DATA, SCORES, dimension="style", draws=400, seed=7)]
    read = json.loads(render.rendered(both, TableFormat.json))
    assert list(read) == ["data", "setting", "estimand", "seed", "rows", "versions"]
    content, style = read["data"]["dimensions"]
    assert (content["dimension"], style["dimension"]) == ("content", "style")
    assert content["human"]["value"] == OWN.human.value
    setting = {"statistic": "pearson", "level": "pooled", "units": "sources", "draws": 400}
    assert (read["setting"], read["seed"]) == (setting, 7)
    assert [row["dimension"] for row in read["rows"]] == ["content"] * 6 + ["style"] * 5
    assert set(read["versions"]) == {"python", "tstmeta", "numpy", "scipy", "pandas"}


def test_latex_has_a_caption_and_signatures():
    text = OWN.to_latex()
    assert "% signature: good|basis:source\n" in text
    assert "\\caption{many: 96 rewrites" in text
    assert "95 \\% bootstrap" in text
    assert text.count("\\midrule") == 2
    assert "human-style & none & " in text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_one_cell_and_mean_nothing(text):
    frame = pd.DataFrame({"metric": [text], "value": [-0.5]})
    lines = render.latex(frame, text).splitlines()
    [row] = [line for line in lines if "-0.500" in line]
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
