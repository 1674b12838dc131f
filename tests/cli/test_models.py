"""``tstmeta models`` and ``train`` as a user meets them; fetches: tests/models/test_fetching.py."""

import json
import re

import pandas as pd
import pytest

from tests.command import FOOD, refusal, score, table
from tests.models.style import needs_encoder
from tstmeta.data.corpora import learned
from tstmeta.metrics import Request
from tstmeta.models import fetching, hub, training
from tstmeta.schema import DataError, TstmetaError


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The user's cache folder, where SmolLM2 is and nothing else."""
    monkeypatch.setattr(fetching, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    fetching.folder("smollm2-135m").mkdir(parents=True)


def test_models_are_listed_with_what_gets_those_that_are_absent(tstmeta, cache):
    rows = table(tstmeta("models --format csv")).set_index("name")
    assert [*rows.index] == [*fetching.catalogue(), "all-minilm-l6-v2"]
    assert rows.loc["smollm2-135m", ["MB", "licence", "here"]].tolist() == [98, "Apache 2.0", "yes"]
    assert rows.loc["mpnet", "here"] == "tstmeta models fetch mpnet"
    shown = json.loads(tstmeta("models --format json").stdout)
    assert [row["name"] for row in shown] == [*rows.index]
    lines = tstmeta("models").stdout.splitlines()
    assert len(lines) == len(rows) + 1
    assert "cosine bertscore" in lines[-1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "name a model: smollm2-135m, "),
        ("smollm3", "no model is called 'smollm3'; use smollm2-135m, "),
        ("gemma-3-270m", "read https://.*gemma/terms, then repeat .* --accept-terms"),
    ],
)
def test_a_fetch_of_nothing_known_says_what_can_be_fetched(tstmeta, cache, words, message):
    assert re.search(message, refusal(tstmeta(f"models fetch {words}")))


def test_models_are_fetched_one_after_the_other(tstmeta, monkeypatch):
    monkeypatch.setattr(fetching, "fetch", lambda name, accept: f"{name}/{accept}")
    shown = tstmeta("models fetch mpnet gemma-3-270m --accept-terms").stderr
    assert shown == "mpnet is in mpnet/True\ngemma-3-270m is in gemma-3-270m/True\n"


@pytest.mark.parametrize("metric", ["likelihood", "perplexity:gemma-3-270m", "cosine:mpnet"])
def test_scores_of_a_model_that_is_absent_name_the_command(tstmeta, tmp_path, monkeypatch, metric):
    monkeypatch.setattr(hub, "here", lambda model: False)
    (tmp_path / "styled.csv").write_text("source,output,style\na cat,a dog,formal\n")
    name = metric.partition(":")[2] or "smollm2-135m"
    result = tstmeta(f"score --data styled.csv --metric {metric}")
    assert table(result)["status"].tolist() == ["error"]
    assert f"{name} is not here: tstmeta models fetch {name}\n" in result.stderr


@pytest.fixture
def food(tstmeta, tmp_path):
    """Corpora of two styles: one too small to learn from, one eight times as large."""
    FOOD.to_csv(tmp_path / "food.csv", index=False)
    many = pd.concat(FOOD.assign(text=FOOD["text"] + f" {number}") for number in range(8))
    many.to_csv(tmp_path / "tastes.csv", index=False)


@needs_encoder
def test_texts_of_two_styles_become_a_metric_of_style(tstmeta, food, tmp_path):
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
def test_a_mistake_is_told_before_anything_is_written(
    tstmeta, food, tmp_path, words, message, kind
):
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
