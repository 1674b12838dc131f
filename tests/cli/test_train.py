"""``tstmeta train style``: what it writes and refuses; metrics take the result."""

import json

import pandas as pd
import pytest

from tests.command import FOOD, refusal, score, table
from tests.models.style import needs_encoder
from tstmeta.data.corpora import learned
from tstmeta.metrics import Request
from tstmeta.models import training
from tstmeta.schema import DataError, TstmetaError


@pytest.fixture(autouse=True)
def food(tstmeta, tmp_path):
    """Corpora of two styles: one too small to learn from, one eight times as large."""
    FOOD.to_csv(tmp_path / "food.csv", index=False)
    many = pd.concat(FOOD.assign(text=FOOD["text"] + f" {number}") for number in range(8))
    many.to_csv(tmp_path / "tastes.csv", index=False)


@needs_encoder
def test_texts_of_two_styles_become_a_metric_of_style(tstmeta, tmp_path):
    result = tstmeta("train style tastes.csv --out mine --format csv")
    [row] = table(result).to_dict("records")
    report = json.loads((tmp_path / "mine" / training.REPORT).read_text(encoding="utf-8"))
    assert sum(report["sizes"].values()) == 256
    assert row == pytest.approx({"task": "style", **report["results"]["style"]})
    assert row["accuracy"] > 0.9
    assert result.stderr.split()[-1] == "style-confidence:./mine"
    request = Request("the fish was awful", (), style="bad")
    assert score("style-confidence:./mine", request)[0] > 0.5
    assert score("style-accuracy:./mine", request) == [1]


def test_a_sentence_of_another_split_is_not_learned_from(tmp_path):
    file = tmp_path / "split.csv"
    file.write_text("text,style,split\na b,x,train\nA  B,y,test\nc,x,\nd,y,dev\n")
    table = learned(file)
    assert table[["text", "task", "style"]].to_numpy().tolist() == [["c", "style", "x"]]


@pytest.mark.parametrize(
    ("words", "message", "kind"),
    [
        ("held.csv --out x", "has no sentence to learn from", TstmetaError),
        ("nothing.csv --out x", "there is no such file", DataError),
        ("broken.csv --out x", "row 2, column style: missing value", DataError),
        ("blank.csv --out x", "row 1, column text: missing value", DataError),
        ("lacks.csv --out x", "style", DataError),
        ("food.csv --out x", "16 texts can be learned from", TstmetaError),
        ("single.csv --out x", "all texts have the style 'a'", TstmetaError),
        ("food.csv --out taken", "is not empty. Remedy: name a new folder", TstmetaError),
        ("food.csv --out held.csv", "is not empty. Remedy: name a new folder", TstmetaError),
    ],
)
def test_a_mistake_is_told_before_anything_is_written(tstmeta, tmp_path, words, message, kind):
    (tmp_path / "broken.csv").write_text("text,style\na,b\nc, \n")
    (tmp_path / "held.csv").write_text("text,style,split\na,b,test\nc,d,dev\n")
    (tmp_path / "blank.csv").write_text("text,style\n ,b\nc,d\n")
    (tmp_path / "lacks.csv").write_text("text,mood\na,b\nc,d\n")
    (tmp_path / "single.csv").write_text("text,style\n" + "b,a\n" * 300)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("precious")
    before = {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")}
    result = tstmeta(f"train style {words}")
    assert message in refusal(result)
    assert isinstance(result.exception, kind)
    assert result.stdout == ""
    assert {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
