"""Paraphrases, Shakespeare and formality: the form on made-up files, the sums on the real ones."""

import pytest

from tests.data.raw import write, write_rows
from tstmeta.data import strap

NO, UNGRAMMATICAL, GRAMMATICAL = strap.ANSWERS
FOLDER = "mturk_evals/formality_gold_vs_generated_baseline_unmt"
BATCH, LABELS = f"{FOLDER}/Batch_1_batch_results.csv", f"{FOLDER}/label_all_0_2.csv"
COLUMNS = "WorkerId Place Input.text1 Input.text2 Answer.semantic-similarity.label"
A, B = "MADEUPWORKERA", "MADEUPWORKERB"


@pytest.fixture
def loaded(tmp_path, monkeypatch):
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
    return strap.load(tmp_path)


def test_items_have_decoded_texts_and_the_direction_of_their_source(loaded):
    columns = ["item_id", "source_id", "direction", "style", "source"]
    assert loaded.items[columns].to_numpy().tolist() == [
        ["formality-s1-unmt", "formality-s1", "informal2formal", "formal", "it 's a"],
        ["formality-s2-unmt", "formality-s2", "formal2informal", "informal", "b"],
        ["formality-s2-strap", "formality-s2", "formal2informal", "informal", "b"],
        ["coha-s1-paraphraser", "coha-s1", "", "", "b"],
    ]


def test_one_answer_is_content_and_where_there_is_some_fluency(loaded):
    matrix = loaded.raters("content").fillna(9).to_numpy().tolist()
    assert matrix == [[0, 9, 1], *[[9, 1, 9]] * 3]  # r3 is r1 again
    assert loaded.means["fluency"].tolist() == [1, 0, 1, 1]
    assert loaded.scores["value"].fillna(9).tolist() == [1, 0, 9]
    assert loaded.scores["status"].tolist() == ["ok", "ok", "invalid"]
