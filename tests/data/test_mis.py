"""Civil rephrases and compared outputs: the form on made-up files, the sums on the real ones."""

import json

import pytest

from tests.data.raw import write, write_table
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import mis

CIVIL = "benchmarking/source_data/f1659626_annon.csv"
YELP = "benchmarking/source_data/textual-transfer-pairwise-comparison/yelp-m6-m7.human.jsonl"
PLACES = {"_country": "MADEUPLAND", "_region": "MADEUPSHIRE", "_city": "MADEUPTOWN"}
WORKERS = ["MADEUPWORKERA", "MADEUPWORKERB"]
NAN = float("nan")


def judgment(worker, content, golden="false", **more):
    """One row of the platform's export."""
    texts = {"original_toxic_comment": "Oaf!", "variable": "ST (cond) rephrasing", "value": "Oh!"}
    ratings = {**dict.fromkeys(mis.QUESTIONS.values(), 2), mis.QUESTIONS["content"]: content}
    return {"_golden": golden, "_worker_id": worker, **texts, **ratings, **more}


@pytest.fixture
def root(tmp_path, monkeypatch):
    """One output rated by two, with a test question; three comparisons, one without its texts."""
    rows = [judgment(WORKERS[1], 5, **PLACES), judgment(WORKERS[0], 3, **PLACES)]
    write_table(tmp_path / CIVIL, [*rows, judgment(WORKERS[0], 1, "true", **PLACES)])
    monkeypatch.setattr(mis, "PAIRS", ("m6-m7",))
    texts = [("Good.", 1, "Bad.", "Bad."), ("Good.", 1, "Bad.", "Poor."), (NAN, 0, NAN, NAN)]
    answers = dict(zip(mis.BETTER, (1, 2, -1), strict=True))
    keys = ("ori_sent", "ori_style", "sent1", "sent2")
    answers |= {"model1": "m6", "model2": "m7"}
    lines = [dict(zip(keys, line, strict=True)) | answers for line in texts]
    write(tmp_path / YELP, map(json.dumps, lines))
    return tmp_path


def test_an_item_is_a_text_of_a_system_and_may_not_be_there(root):
    items = mis.load(root).items.fillna("(none)")
    assert items[["item_id", "direction", "style", "source", "output"]].to_numpy().tolist() == [
        ["civil-s1-ST-cond", "", "polite", "Oaf!", "Oh!"],
        *([f"yelp-s1-{name}", "pos2neg", "negative", "Good.", "Bad."] for name in ("m6", "m7")),
        ["yelp-s1-m7-2", "pos2neg", "negative", "Good.", "Poor."],
        *([f"yelp-s2-{name}", "neg2pos", "positive", "(none)", "(none)"] for name in ("m6", "m7")),
    ]


def test_test_questions_are_left_out_and_the_comparisons_have_a_rater_of_their_own(root):
    loaded = mis.load(root)
    assert loaded.raters("content").iloc[0].to_dict() == {"r1": 5, "r2": 3}
    rows = loaded.preferences[["item_a", "item_b", "dimension", "rater", "value"]]
    assert rows[rows["item_b"] == "yelp-s1-m7-2"].to_numpy().tolist() == [
        ["yelp-s1-m6", "yelp-s1-m7-2", dimension, "r3", value]
        for dimension, value in (("style", "a"), ("content", "b"), ("fluency", "tie"))
    ]


def test_no_place_is_read(root):
    before = mis.load(root)
    write_table(root / CIVIL, [judgment(WORKERS[1], 5), judgment(WORKERS[0], 3)])  # has no places
    after = mis.load(root)
    assert after.ratings.equals(before.ratings)
    assert after.items.equals(before.items)


@needs("mis")
def test_means_of_systems_are_those_of_the_files():
    part = data.load("mis@civil")
    names = ["style", "content", "fluency", "overall"]
    systems = part.means.groupby(part.items.set_index("item_id")["system"])[names].mean()
    expected = "2.98 1.89 2.32 1.81  2.72 2.63 3.06 2.52  2.77 2.2 2.39 1.89"
    expected += "  2.91 2.08 2.36 1.87  2.93 2.1 2.42 1.93"  # CA, CAET, IE, ST-cond, ST-multi
    assert systems.round(2).to_numpy().ravel().tolist() == [float(x) for x in expected.split()]


@needs("mis")
def test_comparisons_are_those_of_the_files():
    part = data.load("mis@yelp")
    given, systems = part.preferences, part.items.set_index("item_id")["system"]
    pair = given["item_a"].map(systems) + given["item_b"].map(systems)
    counts = given.groupby(["dimension", "value", pair]).size()  # m0m2, m0m7, m2m7, m6m7
    assert counts["style", "tie"].tolist() == [114, 150, 145, 109]
    assert counts["content", "a"].tolist() == [2, 5, 10, 23]
    assert counts["content", "b"].tolist() == [34, 108, 44, 24]
