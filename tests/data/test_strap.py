"""Paraphrases, Shakespeare and formality: the form on made-up files, the sums on the real ones."""

import pytest

from tests.data.raw import write, write_rows
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import strap

NO, UNGRAMMATICAL, GRAMMATICAL = strap.ANSWERS
FOLDER = "mturk_evals/formality_gold_vs_generated_baseline_unmt"
BATCH, LABELS = f"{FOLDER}/Batch_1_batch_results.csv", f"{FOLDER}/label_all_0_2.csv"
COLUMNS = "WorkerId Place Input.text1 Input.text2 Answer.semantic-similarity.label"
A, B = "MADEUPWORKERA", "MADEUPWORKERB"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Two outputs of a system, one of them rated twice by a worker; one of another's unlisted."""
    sets = "formality unmt {}_baseline_unmt 1,2 0_2\nformality strap {}_strap 1"
    monkeypatch.setattr(strap, "SETS", f"{sets}\ncoha paraphraser coha 1")
    rows = [(B, "Atlantis", "it &apos;s a", "It is a .", NO), (A, "Oz", "b", "c", UNGRAMMATICAL)]
    write_rows(tmp_path / BATCH, COLUMNS, rows)
    write_rows(tmp_path / BATCH.replace("_1_", "_2_"), COLUMNS, [(*rows[0][:4], GRAMMATICAL)])
    for name in ("formality_gold_vs_generated_strap", "coha"):
        path = tmp_path / "mturk_evals" / name / "Batch_1_batch_results.csv"
        write_rows(path, COLUMNS, [(A, "Oz", "b", "e", GRAMMATICAL)])
    pairs = [("it &apos;s a", "It is a ."), ("b", "c")]
    write_rows(tmp_path / FOLDER / "input_all_0_2.csv", "text1 text2", pairs)
    write(tmp_path / LABELS, ["incorrect,informal,formal", "correct,formal,formal"])
    return tmp_path


def test_items_have_decoded_texts_and_the_direction_of_their_source(root):
    loaded = strap.load(root)
    columns = ["item_id", "source_id", "direction", "style", "source"]
    assert loaded.items[columns].to_numpy().tolist() == [
        ["formality-s1-unmt", "formality-s1", "informal2formal", "formal", "it 's a"],
        ["formality-s2-unmt", "formality-s2", "formal2informal", "informal", "b"],
        ["formality-s2-strap", "formality-s2", "formal2informal", "informal", "b"],
        ["coha-s1-paraphraser", "coha-s1", "", "", "b"],
    ]


def test_one_answer_is_content_and_where_there_is_some_fluency(root):
    loaded = strap.load(root)
    matrix = loaded.raters("content").fillna(9).to_numpy().tolist()
    assert matrix == [[0, 9, 1], *[[9, 1, 9]] * 3]  # r3 is r1 again
    assert loaded.means["fluency"].tolist() == [1, 0, 1, 1]
    assert loaded.scores["value"].fillna(9).tolist() == [1, 0, 9]
    assert loaded.scores["status"].tolist() == ["ok", "ok", "invalid"]


@needs("strap")
@pytest.mark.parametrize(
    ("task", "items", "shares"),
    [  # dlsm, strap, strap-0.0, strap-0.9 where there is one, unmt
        ("shakespeare", 550, [0.372, 0.581, 0.774, 0.273]),
        ("formality", 684, [0.265, 0.793, 0.731, 0.602, 0.321]),
        ("coha", 100, [0.883]),
    ],
)
def test_real_shares_of_paraphrases(task, items, shares):
    part = data.load(f"strap@{task}")
    content = part.ratings.query("dimension == 'content'").merge(part.items, on="item_id")
    assert len(part.items) == items
    assert content.groupby("system")["value"].mean().round(3).tolist() == shares


@needs("strap")
def test_real_sums():
    whole = data.load("strap")
    content = whole.ratings.query("dimension == 'content'")
    fluency = whole.ratings.query("dimension == 'fluency'")["value"]
    assert (len(content), content["value"].sum(), fluency.sum()) == (4296, 2361, 1463)
    sizes = content.groupby("item_id")["value"].agg(["sum", "size"])
    assert sizes["size"].value_counts().to_dict() == {3: 1237, 6: 96, 9: 1}
    assert (content["rater"].str[1:].astype(int) > 162).sum() == 39
    assert whole.scores["status"].value_counts().to_dict() == {"ok": 1134, "invalid": 100}
    verdicts = whole.scores.set_index("item_id")["value"]
    assert round(verdicts.corr(whole.means["content"]), 3) == -0.057
    given = content.merge(whole.items, on="item_id").join(sizes, on="item_id")
    given["others"] = (given["sum"] - given["value"]) / (given["size"] - 1)
    sets = given.groupby([given["source_id"].str.partition("-")[0], "system"])
    r = sets[["value", "others"]].corr().xs("value", level=2)["others"]
    assert r.quantile([0, 0.5, 1]).round(2).tolist() == [0.21, 0.4, 0.57]
