"""The command evaluate as a user meets it: a table for anybody's data."""

import json
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from tests.analysis.many import quality, rated
from tests.command import refusal, table
from tstmeta.analysis import evaluate, matrices
from tstmeta.analysis.choice import DEFAULTS
from tstmeta.analysis.render import COLUMNS
from tstmeta.cli.evaluate import Dimension, Level, Statistic, Units
from tstmeta.cli.options import Basis
from tstmeta.combine import Settings, hybrid
from tstmeta.data import load
from tstmeta.data.table_files import read_scores
from tstmeta.metrics.bertscore import BertScore
from tstmeta.metrics.semantic import Cosine
from tstmeta.schema import BASES, DIMENSIONS
from tstmeta.stats import LEVELS, STATISTICS


@pytest.fixture
def many(tmp_path, tstmeta):
    """``many.csv``, 96 rewrites by four systems, and ``scores.csv``: a good and a poor metric."""
    data, rng = rated(), np.random.default_rng(0)
    wide = data.items[["item_id", "source_id", "system", "source", "output"]].copy()
    for name in ("task", "survey"):
        wide[name] = data.label(name).to_numpy()
    for dimension in ("content", "style"):
        for rater, values in data.raters(dimension).items():
            wide[f"{dimension}.{rater}"] = values.to_numpy()
    wide.to_csv(tmp_path / "many.csv", index=False)
    columns = {"good": quality(), "poor": quality() + rng.normal(0, 3, 96), "fair": 2 * quality()}
    long = data.items[["item_id"]].assign(**columns).melt("item_id", var_name="metric")
    long.to_csv(tmp_path / "scores.csv", index=False)
    return "evaluate -d many.csv --scores scores.csv --draws 200"


def test_the_choices_are_those_of_the_statistics():
    assert list(Level) == list(LEVELS)
    assert list(Statistic) == list(STATISTICS)
    assert list(get_args(Units)) == list(matrices.UNITS.values())
    assert list(Dimension) == list(DIMENSIONS)
    assert list(Basis) == list(BASES)


def test_what_is_not_there_is_noted_with_counts(tstmeta, tmp_path):
    text = (tmp_path / "mine.csv").read_text()
    text = text.replace("do not call me,B,kindly ring me,1,2,3", ",B,,,,")
    (tmp_path / "mine.csv").write_text(text)
    command = "evaluate -m bleu --dimension content --draws 50 -f csv -d"
    assert tstmeta(f"{command} mine.csv").stderr.splitlines()[:2] == [
        "1 of 4 rewrites have no rating of content",
        "3 of 4 rewrites have a reference: reference-based values are over these",
    ]
    (tmp_path / "plain.csv").write_text("source,output,content.r1\na b,a b,3\na c,a,1\nd,e,2\n")
    none = tstmeta(f"{command} plain.csv").stderr.splitlines()
    assert none[0].startswith("0 of 3 rewrites have a reference: there are no ")


def test_by_default_a_dimension_has_the_default_metrics_and_sentinels(tstmeta, monkeypatch):
    monkeypatch.setitem(DEFAULTS, "content", {"source": ("bleu", "ter"), "reference": ("bleu",)})
    monkeypatch.setitem(DEFAULTS, "style", {"source": ("pinc",)})
    rows = table(tstmeta("evaluate --data mine.csv --draws 50 --format csv"))
    assert list(rows.columns) == COLUMNS
    for dimension in ("content", "style"):
        own = rows[(rows["dimension"] == dimension) & (rows["kind"] == "metric")]
        expected = {(n, b) for b, names in DEFAULTS[dimension].items() for n in names}
        assert set(zip(own["metric"], own["basis"], strict=True)) == expected
        sentinels = rows[(rows["dimension"] == dimension) & (rows["kind"] == "sentinel")]
        assert sentinels["metric"].tolist().count("copy-rate") == 1
    assert rows[rows["metric"] == "human-style"]["dimension"].tolist() == ["content"]
    assert rows["kind"].tolist().count("human") == 1  # style has one rater
    assert set(rows["against"]) == {"mean human rating"}


def test_by_default_what_lacks_an_extra_is_left_out_and_failures_are_named_once(
    tstmeta, monkeypatch
):
    monkeypatch.setattr(BertScore, "missing", "torch is not installed")
    monkeypatch.setattr(Cosine, "missing", "torch is not installed")
    monkeypatch.setitem(DEFAULTS, "content", {"source": ("bertscore", "bleu")})
    command = "evaluate -d mine.csv --dimension content --draws 20 --format csv"
    result = tstmeta(command)
    assert "left out: bertscore (torch is not installed)\n" in result.stderr
    assert "bertscore" not in set(table(result)["metric"])
    named = tstmeta(f"{command} -m bertscore -m cosine -m bleu").stderr
    assert named.count("torch is not installed") == 1
    assert "bertscore, cosine: 8 of 8 scores failed: torch is not installed\n" in named


def test_what_is_given_reaches_the_analysis(tstmeta, many):
    words = "--dimension content -s kendall -l source --seed 5 --resample both -f json"
    read = json.loads(tstmeta(f"{many} {words}").stdout)
    [facts] = read["evaluations"]
    setting = {"statistic": "kendall", "level": "source", "units": "both", "draws": 200, "seed": 5}
    assert setting.items() <= facts.items()
    assert facts["estimand"] == "systems like these, sources like these"
    [good] = [row for row in read["rows"] if row["metric"] == "good"]
    assert good["cluster"] == 1


def test_ratings_may_come_in_a_second_file(tstmeta, tmp_path):
    (tmp_path / "plain.csv").write_text("item_id,source,output\nx,a,b\ny,a,c d\nz,a,d e f\n")
    (tmp_path / "ratings.csv").write_text(
        "item_id,dimension,rater,value\nx,style,r1,1\ny,style,r1,2\nz,style,r1,3\n"
    )
    words = "-d plain.csv --ratings ratings.csv -m output-only -s pearson -f csv"
    row = table(tstmeta(f"evaluate {words}")).set_index("metric").loc["output-only"]
    assert (row["dimension"], row["n"], float(row["value"])) == ("style", 3, pytest.approx(1))


def test_names_of_a_score_file_are_no_formula_in_the_table_and_no_corpus_metric(tstmeta, tmp_path):
    scores = {"=1+1": (-3, -1, -4, -1), "corpus-bleu": (3, 1, 4)}
    lines = [f"{n},{name},{v}\n" for name, some in scores.items() for n, v in enumerate(some, 1)]
    (tmp_path / "f.csv").write_text("item_id,metric,value\n" + "".join(lines))
    rows = table(tstmeta("evaluate -d mine.csv --scores f.csv --format csv"))
    rows = rows.query("dimension == 'content'").set_index("metric")
    assert rows.loc[["'=1+1", "corpus-bleu"], "n"].tolist() == [4, 3]


README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
NOTHING = "nothing to show: no metric has a value beside ratings"
#: Words of the command -> what is said, and whether it was seen before anything was scored.
REFUSED = {
    "-d mine.csv -l within-task": ("level within-task needs tasks: .* a label 'task'", False),
    "-d mine.csv -o t.txt": (r"t\.txt cannot be written .*: end its name in \.csv", True),
    "-d mine.csv --plot f.jpg": ("end its name in .pdf, .svg or .png", True),
    "-d two.csv -l pooled -o t.tex": (NOTHING, False),
    "-d two.csv -l pooled --plot f.pdf": (NOTHING, False),
    "-d mine.csv -d bare.csv": ("bare: nobody rated these rewrites. Remedy: columns", True),
}


@pytest.mark.parametrize(("words", "message", "early"), [(w, *r) for w, r in REFUSED.items()])
def test_what_cannot_be_is_refused_before_anything_is_written(
    tstmeta, tmp_path, words, message, early
):
    (tmp_path / "two.csv").write_text(README.split("```text\n")[1].partition("```")[0])
    (tmp_path / "bare.csv").write_text("source,output\na b,a c\na d,a d\n")
    result = tstmeta(f"evaluate -m bleu {words}")
    assert re.search(message, refusal(result))
    assert result.stdout == ""
    assert not [path for path in tmp_path.iterdir() if path.stem in "tf"]
    assert (tmp_path / "store").exists() is not early


def test_levels_statistics_and_data_sets_stand_in_one_table(tstmeta, many, tmp_path):
    (tmp_path / "other.csv").write_bytes((tmp_path / "many.csv").read_bytes())
    command = "evaluate -d many.csv -d other.csv -m bleu --basis source --dimension content -f csv"
    command += " --draws 20 -l pooled -l source -s pearson -s spearman"
    result = tstmeta(command)
    assert result.stderr.count("many: 96 rewrites, ") == 4, "sentences stand below their title"
    rows = table(result)
    rows = rows[rows["metric"] == "bleu"]
    listed = rows[["dataset", "statistic", "level"]].to_numpy().tolist()
    expected = product(("many", "other"), ("pearson", "spearman"), ("pooled", "source"))
    assert listed == list(map(list, expected))
    refused = tstmeta(f"{command} --scores scores.csv")
    assert "of one data set: give a single --data" in refusal(refused)


def test_rewrites_are_chosen_by_columns_and_labels(tstmeta, many):
    command = f"{many} --dimension content --where system=A --where"
    rows = table(tstmeta(f"{command} system=B --where task=formal -f csv"))
    assert set(rows["dataset"]) == {"many@system=A,system=B,task=formal"}
    assert set(rows["n"][rows["kind"] == "metric"]) == {12}, "sources with such a pair"
    for wrong, message in (
        ("mood=good", "many has no column 'mood', but item_id, source_id, .*survey, task"),
        ("task=rude", "--where: no task is 'rude'; there is 'formal', 'polite'"),
        ("task", "--where: no task is ''; there is 'formal', 'polite'"),
    ):
        assert re.search(message, refusal(tstmeta(f"{command} {wrong}")))


def test_a_sample_keeps_sources_whole_is_stated_and_leaves_the_store_as_it_is(
    tstmeta, many, tmp_path
):
    command = "score -d many.csv -m chrf --basis source"
    every = table(tstmeta(command))
    (tmp_path / "store").rename(tmp_path / "whole")
    first, again, other = (tstmeta(f"{command} --limit 31 --seed {seed}") for seed in "556")
    assert "many: a random sample of 28 of 96 rewrites, seed 5\n" in first.stderr
    assert first.stdout == again.stdout != other.stdout
    drawn = table(first)
    assert drawn.merge(every).shape == drawn.shape == (28, every.shape[1])
    source = pd.read_csv("many.csv").set_index("item_id")["source_id"][drawn["item_id"]]
    assert set(source.value_counts()) == {4}
    pd.testing.assert_frame_equal(table(tstmeta(command)), every)
    title = tstmeta(f"{many} --limit 31 --dimension content").stdout
    assert title.startswith("many@a random sample of 28 of 96 rewrites, seed 0: 28 rewrites, 7 so")


def test_the_installed_command_writes_table_figure_and_sentences_with_the_same_bytes(
    tstmeta, many, tmp_path
):
    program = Path(sys.executable).with_name("tstmeta")
    command = f"{many} -m bleu --basis source"
    words = f"{command} --out table.tex --plot figure.pdf".split()
    done = subprocess.run([program, *words], cwd=tmp_path, capture_output=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    written = (tmp_path / "table.tex").read_bytes()
    latex, figure = written.decode(), (tmp_path / "figure.pdf").read_bytes()
    assert latex.count(r"\begin{tabular}") == latex.count("human ceiling &") == 2
    assert figure.startswith(b"%PDF")
    for part in ("Best agreement with the mean human rating of content", "Best sentinel: "):
        assert part in latex
        assert part in done.stderr.decode()
    again = tstmeta(f"{command} -f latex --plot again.pdf")
    assert again.stdout.encode() == written
    assert (tmp_path / "again.pdf").read_bytes() == figure


def test_a_hybrid_stands_among_the_metrics_and_was_fitted_on_other_sources(tstmeta, many):
    words = "--dimension content --seed 4 --combine hybrid-simulation --format csv"
    rows = table(tstmeta(f"{many} {words}")).set_index("metric")
    data = load("many.csv")
    scores = read_scores(Path("scores.csv"), data)
    combined = hybrid(data, scores, "content", "simulation", Settings(seed=4)).scores
    alone = evaluate(data, scores=combined, draws=200, seed=4).frame
    row = alone.set_index("metric").loc["hybrid-simulation"]
    assert float(rows.loc["hybrid-simulation", "value"]) == pytest.approx(row["value"])
    assert rows.loc["hybrid-simulation", ["kind", "better"]].tolist() == ["metric", "higher"]
    assert "folds:5" in rows.loc["hybrid-simulation", "signature"]


def test_a_hybrid_needs_metrics_enough_and_a_combination_a_name_that_is_known(
    tstmeta, many, tmp_path
):
    for words, message in (
        ("--dimension style --combine hybrid-simulation", "style"),
        ("--combine hybrid", "known: gm, gm:learned, j:FL, hybrid-simulation"),
        ("-m gm", "--combine gm"),
    ):
        assert message in refusal(tstmeta(f"{many} {words}"))
        assert not (tmp_path / "store" / "store.sqlite").exists()
