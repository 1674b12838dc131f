"""An evaluation for reading: title, notes, table and every format; draws in a file."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from tests.analysis.many import rated, scored
from tests.analysis.test_evaluation import analyse
from tests.analysis.tiny import HOSTILE, scores
from tests.analysis.tiny import rated as tiny
from tstmeta.analysis.evaluation import COLUMNS
from tstmeta.analysis.render import (
    ENDINGS,
    TableFormat,
    described,
    format_of,
    latex,
    markdown,
    notes,
    rendered,
    rows,
    table,
    title,
)
from tstmeta.analysis.stored import load_draws, save_draws
from tstmeta.schema import TstmetaError

DATA = rated()
SCORES = scored(DATA, good=0.4, ter=0.8, poor=4.0, random=50.0)
FOUND = analyse(DATA, SCORES, draws=400, seed=7)


# -------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize(
    ("name", "asked", "found"),
    [
        (None, None, "table"),
        (None, "latex", "latex"),
        ("t.csv", None, "csv"),
        ("t.JSON", None, "json"),
        ("t.tex", None, "latex"),
        ("t.md", None, "markdown"),
        ("t.md", "csv", "csv"),
        ("t.out", "json", "json"),
    ],
)
def test_the_format_is_asked_for_or_told_by_the_files_name(tmp_path, name, asked, found):
    assert format_of(name and tmp_path / name, asked) == found


def test_a_file_of_unknown_format_is_refused(tmp_path):
    with pytest.raises(TstmetaError, match=r"cannot tell the format of t\.txt: end its name in"):
        format_of(tmp_path / "t.txt")
    with pytest.raises(TstmetaError, match="a table is for reading"):
        format_of(tmp_path / "t.csv", "table")


# ----------------------------------------------------------------------------------- an analysis


def test_the_title_says_what_was_computed_of_what():
    assert title(FOUND) == (
        "many: 96 rewrites, 24 sources, 4 systems; Pearson's r with the mean human rating of"
        " content, level pooled (all rewrites at once); 95 % bootstrap confidence"
        " intervals for these systems, sources like these (400 draws, seed 7)"
    )


def test_notes_tell_of_people_of_tests_and_of_what_was_flipped():
    people, tests, turned = notes(FOUND)
    assert people.startswith("Human ceiling: one rater agrees with the mean of the others at 0.")
    assert tests.startswith(f"Paired permutation tests: 10 pairs tested with {FOUND.tests.draws}")
    assert "exchangeability" in tests
    assert turned == "Flipped, since lower is better: ter"
    means = analyse(rated(raters=False), SCORES, draws=50, tests=False)
    assert notes(means)[:2] == [
        "The human ceiling is not known: only means of ratings were released",
        "Paired permutation tests: no tests were asked for",
    ]


def test_people_stand_first_and_the_line_below_the_metrics():
    shown, rule = table(FOUND)
    assert shown["metric"].tolist() == [
        *("one rater", "good", "ter", "poor", "random", "human-style")
    ]
    assert rule == 4
    assert shown["as_rater"][0] == FOUND.human.value
    assert list(shown.columns) == [
        *("metric", "basis", "Pearson's r", "low", "high", "n", "rank", "ranks", "cluster"),
        *("given style", "as_rater", "signature"),
    ]
    means = analyse(rated(raters=False), SCORES, draws=400, tests=False)
    few, line = table(means, signatures=False)
    assert few["metric"][0] == "good"
    assert line == 3
    assert not {"cluster", "as_rater", "note", "signature"} & set(few.columns)


def test_the_table_for_reading_is_plain_and_draws_the_line():
    lines = rendered([FOUND], TableFormat.table).splitlines()
    assert lines[0] == title(FOUND)
    head = next(i for i, line in enumerate(lines) if line.startswith("metric "))
    first = [line.split()[0] for line in lines[head + 1 :]]
    assert first[:4] == ["one", "good", "ter", "poor"]
    assert set(first[4]) == {"-"}
    assert first[5:] == ["random", "human-style"]


def test_csv_has_every_column_and_whole_numbers_stay_whole():
    text = rendered([FOUND], TableFormat.csv)
    found = pd.read_csv(io.StringIO(text))
    assert list(found.columns) == list(COLUMNS)
    assert found["kind"].tolist() == ["human", *FOUND.frame["kind"]]
    np.testing.assert_array_equal(found["value"][1:], FOUND.frame["value"])
    assert ".0" not in "".join(text.splitlines()[1].split(",")[8:12])
    good = text.splitlines()[2].split(",")
    assert good[list(COLUMNS).index("rank")] == "1"
    assert good[list(COLUMNS).index("scored")] == "96"


def test_json_says_how_to_get_the_numbers_again():
    both = [FOUND, analyse(DATA, SCORES, dimension="style", draws=400, seed=7)]
    found = json.loads(rendered(both, TableFormat.json))
    assert list(found) == ["data", "setting", "estimand", "seed", "rows", "versions"]
    assert found["data"]["name"] == "many"
    content, style = found["data"]["dimensions"]
    assert (content["dimension"], style["dimension"]) == ("content", "style")
    assert content["human"]["value"] == FOUND.human.value
    assert content["tests"] == FOUND.tested
    assert found["setting"] == {
        **{"statistic": "pearson", "level": "pooled", "micro": False, "undefined": None},
        **{"units": "sources", "clustered": False, "draws": 400, "confidence": 0.95},
    }
    assert found["seed"] == 7
    assert {row["dimension"] for row in found["rows"]} == {"content", "style"}
    assert len(found["rows"]) == len(rows(both)) == 6 + 5
    assert set(found["versions"]) == {"python", "tstmeta", "numpy", "scipy", "pandas"}


def test_latex_and_markdown_have_a_caption_and_signatures_or_notes():
    text = rendered([FOUND], TableFormat.latex)
    assert "% signature: good|basis:source\n" in text
    assert "\\caption{many: 96 rewrites" in text
    assert text.count("\\midrule") == 2
    assert "human-style & none & " in text
    text = rendered([FOUND], TableFormat.markdown)
    assert text.startswith("**many: 96 rewrites")
    assert "- Human ceiling: one rater agrees" in text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_one_cell_and_mean_nothing(text):
    frame = pd.DataFrame({"metric": [text], "value": [-0.5]})
    lines = latex(frame, text).splitlines()
    [row] = [line for line in lines if "-0.500" in line]
    assert row.endswith(r"\\")
    assert row.replace(r"\&", "").count("&") == 1
    assert "<script" not in markdown(frame, text).replace(r"\<", "")
    [row] = [line for line in markdown(frame, "x").splitlines() if "0.500" in line]
    assert row.replace(r"\|", "").count("|") == 3


@pytest.mark.parametrize("format", TableFormat)
def test_scores_without_ratings_are_described_in_every_format(format):
    data = tiny()
    text = described(data, scores(data, [1, 2, 3, 4, 5, 6]), format)
    assert "m" in text
    if format is TableFormat.json:
        assert json.loads(text)["rows"][0]["mean"] == 3.5
    elif format is TableFormat.csv:
        assert pd.read_csv(io.StringIO(text))["mean"].tolist() == [3.5]
    else:
        assert "3.500" in text
        assert "6 rewrites; scores, nothing to compare with" in text


def test_every_ending_is_of_a_format():
    assert set(ENDINGS.values()) == set(TableFormat) - {TableFormat.table}


# ----------------------------------------------------------------------------------------- draws


def test_draws_come_back_from_a_file_and_give_the_same_comparisons(tmp_path):
    path = tmp_path / "new" / "draws.npz"
    save_draws(FOUND, path)
    found = load_draws(path)
    assert found.names == list(zip(FOUND.frame["metric"], FOUND.frame["basis"], strict=True))
    assert found.signatures == FOUND.frame["signature"].tolist()
    np.testing.assert_array_equal(found.made[1], FOUND.resample[1])
    for first, second in ((0, 2), (1, 4), (3, 0)):
        assert found.difference(first, second) == FOUND.difference(first, second)
    assert found.about["seed"] == 7
    assert found.about["estimand"] == "these systems, sources like these"
    assert [one.name for one in path.parent.iterdir()] == ["draws.npz"]


def test_a_file_that_holds_no_draws_is_refused(tmp_path):
    with pytest.raises(TstmetaError, match="there is no such file"):
        load_draws(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no arrays")
    with pytest.raises(TstmetaError, match="cannot be read as draws"):
        load_draws(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", values=np.ones(3))
    with pytest.raises(TstmetaError, match="holds no draws of tstmeta: about, metric"):
        load_draws(tmp_path / "other.npz")
    np.savez(tmp_path / "objects.npz", about=np.array([{}], dtype=object))
    with pytest.raises(TstmetaError, match="cannot be read as draws"):
        load_draws(tmp_path / "objects.npz")
    (tmp_path / "folder").mkdir()
    with pytest.raises(TstmetaError, match="cannot write"):
        save_draws(FOUND, tmp_path / "folder")
