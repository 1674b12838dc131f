"""Formality of e-mails, and English detoxification: made-up files, and sums on the real ones."""

import json

import pandas as pd
import pytest

from tests.data.raw import write, write_table
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import detox, paraguide

RUN = "~/results/2023-08-09_20-13-23/informal.jsonl"


def test_formality_is_turned_where_the_target_is_informal(tmp_path):
    about = {"original_text": "Dear all", "data_path": RUN, "data_index": 7}
    plan = [
        about | {"target_label": target, "decoded": texts, "annotation_id": number}
        for number, (target, texts) in enumerate([("informal", ["hey"]), ("formal", [""])])
    ]
    write(tmp_path / paraguide.FILE, map(json.dumps, plan))
    answers = {"Similar meaning (0=no, 1=yes)": 1, "Well-formedness (x)": 0, "Formality (y)": 1}
    rows = [{"id": number} | answers for number in (0, 1)]
    write_table(tmp_path / paraguide.FOLDER / "annotations" / "0.csv", rows)
    loaded = paraguide.load(tmp_path)
    assert loaded.items["item_id"].tolist() == ["informal-7-strap", "formal-7-strap"]
    assert loaded.items["output"].tolist() == ["hey", ""]
    assert loaded.means["style"].tolist() == [0, 1]
    assert loaded.ratings["rater"].unique().tolist() == ["r1"]


@needs("paraguide")
@pytest.mark.parametrize(("target", "r"), [("formal", 0.387), ("informal", -0.238)])
def test_majorities_give_the_published_shares(target, r):
    """Of the first three ratings: where four are there, the second rater's is the repeated one."""
    root = data.root("paraguide") / paraguide.FOLDER
    loaded = data.load(f"paraguide@{target}")
    rated = loaded.ratings.pivot_table("value", ["item_id", "rater"], "dimension").reset_index()
    four = rated.groupby("item_id")["rater"].transform("size") == 4
    assert len(loaded.ratings) == 3 * (900 + rated.loc[four, "item_id"].nunique())
    rated = rated[~(four & (rated["rater"] == "r2"))]
    means = rated.groupby("item_id")[["style", "content"]].mean()
    assert means["style"].corr(means["content"]) == pytest.approx(r, abs=0.0005)
    majority = rated.groupby("item_id")[["style", "content", "fluency"]].median()
    shares = majority.groupby(loaded.items.set_index("item_id")["system"]).mean()
    printed = pd.read_csv(root / f"{target}_aggregate.csv").iloc[:, 1:4]
    assert shares.to_numpy().tolist() == printed.to_numpy().tolist()


def test_three_ratings_of_a_rewrite_are_three_raters(tmp_path):
    row = {"idx": 5, "original": "x", "rewritten": "y", "source": "condbert", "meaning": 1}
    rows = [row | {"style": 0.5, "fluency": 0, "labeller": who} for who in ("ann", "bob", "r3")]
    write_table(tmp_path / detox.FILE, rows, delimiter="\t")
    loaded = detox.load(tmp_path)
    columns = ["item_id", "source", "output", "system"]
    assert loaded.items[columns].to_numpy().tolist() == [["5-condbert", "x", "y", "condbert"]]
    assert sorted(loaded.ratings["rater"].unique()) == ["r1", "r2", "r3"]
    assert loaded.means.iloc[0].to_dict() == {"content": 1, "fluency": 0, "style": 0.5}


@needs("detox")
def test_means_are_those_of_the_published_file():
    printed = pd.read_csv(
        data.root("detox") / "emnlp2021/data/manual_markup/emnlp_eval_mean.tsv", sep="\t"
    )
    printed.index = printed["idx"].astype(str) + "-" + printed["source"]
    means = data.load("detox").means.rename(columns={"content": "meaning"})
    assert len(means) == len(printed) == 600
    for name in ("meaning", "style", "fluency"):
        assert means[name].to_numpy() == pytest.approx(printed.loc[means.index, name].to_numpy())
