"""Data of your own: what is read; what each kind of broken file is told: ``test_broken.py``."""

import hashlib
import json
import math

import pandas as pd
import pytest

from tstmeta import data, schema
from tstmeta.data import Card, Dataset
from tstmeta.data.table_files import rated, read, read_scores
from tstmeta.data.tables import items_table, rater_names

HEAD = "source,output,content.r1,content.r2\n"
GOOD = HEAD + "a cat sat,a cat was sitting,5,4\nhe ran,he was running,3,2\n"
LONG = "item_id,dimension,rater,value\n"
FULL = "item_id,metric,dimension,basis,signature,sample,value,status,detail\n"


@pytest.mark.parametrize("name", ["m.csv", "m.tsv", "m.jsonl", "m.parquet"])
def test_the_same_data_in_any_format_is_the_same_data_set(write, tmp_path, name):
    first = {"source": "a, b", "output": "", "system": "A", "task": "x", "style.r1": 1}
    second = {"source": "a, b", "output": "ü\u2028?", "system": "B", "task": "", "style.r1": 2.5}
    frame = pd.DataFrame([{**first, "style.r2": None}, second]).assign(references=[["r"], []])
    path = tmp_path / name
    if name.endswith(("csv", "tsv")):
        frame["references"] = frame["references"].map(json.dumps)
        frame.to_csv(path, index=False, sep="\t" if name.endswith("tsv") else ",")
    elif name.endswith("jsonl"):
        frame.to_json(path, orient="records", lines=True)
    else:
        write(frame, name)
    dataset = read(path)
    columns = ["item_id", "source_id", "output", "references", "language"]
    assert dataset.items[columns].to_numpy().tolist() == [
        ["1", "s1", "", ["r"], "en"],
        ["2", "s1", "ü\u2028?", [], "en"],
    ]
    ratings = dataset.ratings[["item_id", "rater", "value"]].to_numpy().tolist()
    assert ratings == [["1", "r1", 1.0], ["2", "r1", 2.5]]
    assert dataset.label("task").tolist() == ["x", ""]


HARMLESS = {
    "a BOM": "\ufeff" + GOOD,
    "CRLF": GOOD.replace("\n", "\r\n"),
    "blank lines": GOOD + "\n\n",
    "spaces in the header": GOOD.replace("source,output,", " source , output,"),
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_harmless_differences_of_form_change_nothing(write, text):
    dataset = read(write(text))
    assert dataset.items["source"].tolist() == ["a cat sat", "he ran"]
    assert dataset.means["content"].tolist() == [4.5, 2.5]


def test_single_reference_columns_are_put_in_order_and_empty_ones_left_out(write):
    text = "source,output,reference_10,reference_2,reference\na,b,ten,two,first\na,c,,two,\n"
    assert read(write(text)).items["references"].tolist() == [["first", "two", "ten"], ["two"]]


def test_what_the_file_says_of_its_items_is_kept(write):
    text = (
        "dataset,item_id,source_id,source,output,system,style,direction,language,is_reference,mood\n"
        "other,7, s ,a,b,A,formal,up,pt-BR,TRUE,dark\n"
    )
    item = read(write(text)).items.iloc[0]
    assert item.tolist() == ["mine", "7", "s", "A", "formal", "up", "pt-BR", "a", "b", [], True]
    path = write(json.dumps({"item_id": 7, "source": "a", "output": "b", "mood": True}), "m.jsonl")
    assert read(path).label("mood").to_dict() == {"7": "true"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["A1XYZ9", "r1", "bea", "r3"], {"A1XYZ9": "r2", "r1": "r1", "bea": "r4", "r3": "r3"}),
        (["r0", "r01", "R1", "r12345"], {"r0": "r1", "r01": "r2", "R1": "r3", "r12345": "r4"}),
    ],
)
def test_names_of_raters_are_replaced_unless_they_say_nothing(given, kept):
    assert rater_names(given) == kept


def test_a_long_file_gives_the_same_ratings_as_columns(write):
    items = write("item_id,source,output\nx,a,b\ny,a,c\n")
    write(LONG + "x,content,ann,1\nx,content,bob,2\ny,content,ann,3\n", "ratings.csv")
    wide = write("item_id,source,output,content.ann,content.bob\nx,a,b,1,2\ny,a,c,3,\n", "wide.csv")
    write('ratings = "ratings.csv"', "mine.csv.toml")
    ours, theirs = read(items).ratings, read(wide).ratings
    pd.testing.assert_frame_equal(ours, theirs.assign(dataset="mine"))


def test_ratings_of_a_file_replace_those_of_a_data_set_and_raters_lose_their_names(write):
    contrast, item = data.load("contrast"), "formal-01-strong"
    actual = rated(contrast, write(LONG + f"{item},content,Ada,4\n{item},content,Bo,2\n"))
    assert actual.means["content"][item] == 3
    assert set(actual.ratings["rater"]) == {"r1", "r2"}
    assert actual.items is contrast.items


def test_the_file_beside_gives_the_card_and_the_ratings(write):
    write('title = "My set"\nratings = "long.csv"\nscale.style = [0, 1]\n', "mine.csv.toml")
    write(LONG + "1,style,r1,0.5\n2,style,r1,1\n", "long.csv")
    dataset = read(write("source,output\na,b\na,c\n"))
    assert (dataset.card.title, dataset.card.scale) == ("My set", {"style": (0.0, 1.0)})
    assert dataset.means["style"].tolist() == [0.5, 1]


@pytest.fixture
def scores(write):
    """Write a file and read it as scores of a data set with items 1, 2 and abc."""
    ids = ["1", "2", "abc"]
    items = items_table("mine", item_id=ids, source_id=ids, source="s", output="o")
    dataset = Dataset.of("mine@part", items, Card("mine"))
    return lambda content, name="scores.csv": read_scores(write(content, name), dataset)


def test_three_columns_are_enough_for_scores(scores):
    text = "item_id,metric,value\n1,comet,0.5\nabc,comet,-1e-3\n"
    actual = scores(text)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert list(actual.columns) == schema.columns("scores")
    assert actual["value"].tolist() == [0.5, -0.001]
    assert actual["item_id"].tolist() == ["1", "abc"]
    [constant] = actual.drop(columns=["item_id", "value"]).drop_duplicates().to_numpy().tolist()
    signature = f"comet|file:scores.csv|sha256:{digest}"
    assert constant == ["mine", "comet", "content", "source", signature, 0, "ok", ""]


def test_all_columns_are_read_empty_cells_have_defaults_and_others_are_passed_over(scores):
    actual = scores(FULL + "1,m,style,none,m|v:1,2,0.5,truncated,cut\n2,m,,,,,0.5,,\n")
    expected = ["mine", "1", "m", "style", "none", "m|v:1", 2, 0.5, "truncated", "cut"]
    assert actual.iloc[0].tolist() == expected
    defaults = actual.iloc[1][["dimension", "basis", "sample", "status"]].tolist()
    assert defaults == ["content", "source", 0, "ok"]


@pytest.mark.parametrize(("cell", "status"), [("", "refused"), ("n/a", "invalid"), ("7", "error")])
def test_a_status_without_a_value_needs_none_and_one_does_not_count(scores, cell, status):
    actual = scores(f"item_id,metric,value,status\n1,m,{cell},{status}\n")
    assert math.isnan(actual["value"][0])
    assert actual["status"][0] == status


def test_what_was_written_as_scores_can_be_read_again(scores):
    actual = scores(FULL + "1,m,style,none,m|v:1,0,0.5,ok,\n2,m,style,none,m|v:1,0,,error,no\n")
    pd.testing.assert_frame_equal(scores(actual.to_csv(index=False), "again.csv"), actual)
