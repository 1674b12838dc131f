"""Tables as text for other programs: nothing is lost, nothing is interpreted."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from tests.report.many import rated, scored
from tests.report.tiny import HOSTILE, NAN, scores
from tests.report.tiny import rated as tiny
from tstmeta.report.analysis import COLUMNS, analyse
from tstmeta.report.evaluation import described, notes, rendered, rows, table, title
from tstmeta.report.output import (
    ENDINGS,
    TableFormat,
    escape_latex,
    escape_markdown,
    format_of,
    save,
    to_latex,
    to_markdown,
)
from tstmeta.report.stored import load_draws, save_draws
from tstmeta.report.tables import evaluate
from tstmeta.schema import TstmetaError

DATA = rated()
SCORES = scored(DATA, good=0.4, ter=0.8, poor=4.0, random=50.0)
#: the analysis of the tables; people agree, so they have a row
FOUND = analyse(DATA, SCORES, draws=400, seed=7)
FRAME = pd.DataFrame({"name": ["a_b", "c|d"], "value": [-0.5, NAN], "n": [12, 3]})


# -------------------------------------------------------------------------------------- escapes


@pytest.mark.parametrize(
    ("text", "latex", "markdown"),
    [
        ("", "", ""),
        ("chrf++", "chrf++", "chrf++"),
        ("as_rater", r"as\_rater", r"as\_rater"),
        ("50 %", r"50 \%", "50 %"),
        ("a|b", r"a\textbar{}b", r"a\|b"),
        ("a & b", r"a \& b", "a &amp; b"),
        ("{x}^2", r"\{x\}\textasciicircum{}2", r"\{x\}^2"),
        (r"\input", r"\textbackslash{}input", r"\\input"),
        ("$x$", r"\$x\$", r"\$x\$"),
        ("<b>", r"\textless{}b\textgreater{}", r"\<b\>"),
        ("−0.5", "$-$0.5", "−0.5"),
        ("1–6", "1--6", "1–6"),
        ("one\ntwo\tthree", "one two three", "one two three"),
        ("a\x1b[2Jb\u202ec", "a{[}2Jbc", r"a\[2Jbc"),
        ("[1] *", "{[}1{]} {*}", r"\[1\] \*"),
    ],
)
def test_texts_mean_nothing_in_latex_and_markdown(text, latex, markdown):
    assert escape_latex(text) == latex
    assert escape_markdown(text) == markdown


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_one_cell(text):
    frame = pd.DataFrame({"metric": [text, "b"], "n": [1, 2]})
    comment, body = to_latex(frame, caption=text, label=text, notes=[text]).split("\n", 1)
    assert comment.startswith("% ")
    assert len(re.findall(r"(?<!\\)&", body)) == 3
    assert len(body.splitlines()) == 13
    assert not re.search(r"(?<!\\)[$#%_^~]", re.sub(r"\\label\{[^}]*\}", "", body))
    lines = to_markdown(frame, title=text, notes=[text]).splitlines()
    assert len(lines) == 8
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines[2:6]}) == 1
    assert "<script" not in re.sub(r"\\<", "", "".join(lines))


def test_a_table_for_latex_has_rules_numbers_to_the_right_and_true_minus_signs():
    assert to_latex(FRAME, caption="50 %", label="tab:a@b", notes=["seed 1"], rule=1) == (
        "% seed 1\n"
        "\\begin{table}\n\\centering\n\\caption{50 \\%}\n\\label{tab:a-b}\n"
        "\\begin{tabular}{lrr}\n\\toprule\nname & value & n \\\\\n\\midrule\n"
        "a\\_b & $-$0.500 & 12 \\\\\n\\midrule\nc\\textbar{}d & -- & 3 \\\\\n"
        "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    )


def test_a_table_for_markdown_has_its_title_above_and_notes_below():
    assert to_markdown(FRAME, title="50 %", notes=["seed 1"], rule=1) == (
        "**50 %**\n\n| name | value | n |\n|---|---:|---:|\n| a\\_b | -0.500 | 12 |\n"
        "| — | — | — |\n| c\\|d | - | 3 |\n\n- seed 1\n"
    )


def test_a_table_without_rows_is_a_header():
    empty = FRAME.iloc[:0]
    assert to_markdown(empty) == "| name | value | n |\n|---|---:|---:|\n"
    assert "\\midrule\n\\bottomrule" in to_latex(empty)


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


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    save("é\n", tmp_path / "new" / "t.md")
    assert (tmp_path / "new" / "t.md").read_bytes() == "é\n".encode()
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(TstmetaError, match="cannot write"):
        save("x", tmp_path / "folder.md")
    assert {path.name for path in tmp_path.iterdir()} == {"new", "folder.md"}


# ----------------------------------------------------------------------------------- an analysis


def test_the_title_says_what_was_computed_of_what():
    assert title(FOUND) == (
        "many: 96 rewrites, 24 sources, 4 systems; Pearson's r with the mean human rating of"
        " content, level pooled (all rewrites at once); 95 % intervals for these systems, sources"
        " like these (400 draws, seed 7)"
    )


def test_notes_tell_of_people_of_tests_and_of_what_was_turned_round():
    people, tests, turned = notes(FOUND)
    assert people.startswith("People: a rater held out agrees with the mean of the others at 0.")
    assert tests.startswith(f"Tests: 10 pairs tested with {FOUND.tests.draws} swaps; clusters part")
    assert "exchangeability" in tests
    assert turned == "Less is better, so turned round: ter"
    means = analyse(rated(raters=False), SCORES, draws=50, tests=False)
    assert notes(means)[:2] == [
        "People's own agreement is not known: only means of ratings were released",
        "Tests: no tests were asked for",
    ]


def test_people_stand_first_and_the_line_below_the_metrics():
    shown, rule = table(FOUND)
    assert shown["metric"].tolist() == [
        *("held-out person", "good", "ter", "poor", "random", "human-style")
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
    assert first[:4] == ["held-out", "good", "ter", "poor"]
    assert set(first[4]) == {"-"}
    assert first[5:] == ["random", "human-style"]


def test_csv_has_every_column_and_whole_numbers_stay_whole():
    text = rendered([FOUND], TableFormat.csv)
    found = pd.read_csv(io.StringIO(text))
    assert list(found.columns) == list(COLUMNS)
    assert found["kind"].tolist() == ["human", *FOUND.rows["kind"]]
    np.testing.assert_array_equal(found["value"][1:], FOUND.rows["value"])
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
    latex = rendered([FOUND], TableFormat.latex)
    assert "% signature: good|basis:source\n" in latex
    assert f"\\caption{{{escape_latex(title(FOUND))}}}" in latex
    assert latex.count("\\midrule") == 2
    markdown = rendered([FOUND], TableFormat.markdown)
    assert markdown.startswith(f"**{escape_markdown(title(FOUND))}**")
    assert f"- {escape_markdown(notes(FOUND)[0])}\n" in markdown


@pytest.mark.parametrize("format", TableFormat)
def test_scores_without_ratings_are_described_in_every_format(format):
    data = tiny()
    plain = evaluate(data, scores(data, [1, 2, 3, 4, 5, 6]), dimensions=[])
    text = described(data, plain, format)
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
    assert found.names == list(zip(FOUND.rows["metric"], FOUND.rows["basis"], strict=True))
    assert found.signatures == FOUND.rows["signature"].tolist()
    np.testing.assert_array_equal(found.made[1], FOUND.made[1])
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
