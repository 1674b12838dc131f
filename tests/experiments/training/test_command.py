"""``experiments.training``: what a command learns from, writes and refuses; metrics take it."""

import pytest

from experiments.training.__main__ import training_app
from experiments.training.loop import read_report
from experiments.training.splits import read_corpus
from tests.command import FOOD, command_line, refusal, score, values
from tests.models import style, tiny
from tstmeta.metrics import Request, registry

SMALL = ["--set", "bits=8", "--set", "epochs=3"]
SIZES = {"vocabulary": 300, "width": 16, "layers": 1, "heads": 2, "inner": 24}
TOY = [word for name, value in SIZES.items() for word in ("--set", f"{name}={value}")]


@pytest.fixture
def train(tmp_path, monkeypatch):
    """``experiments.training`` beside corpora of two styles."""
    run = command_line(tmp_path, monkeypatch, training_app)
    moods = style.corpus().rename(columns={"part": "split"})
    moods.to_csv(tmp_path / "moods.csv", index=False)
    FOOD.to_csv(tmp_path / "food.csv", index=False)
    return lambda *words: run(*words, "--format", "csv")


def test_a_csv_becomes_a_metric_of_style(train, tmp_path):
    shown, metric = values(train("classifier", "--corpus", "moods.csv", "-o", "mine", *SMALL))
    quality = read_report(tmp_path / "mine")["results"]["mood"]
    assert shown["sentences: train"] == "36"
    assert float(shown["mood: accuracy"]) == pytest.approx(quality["accuracy"])
    assert shown["mood: confusion: bad: good"] == str(quality["confusion"]["bad"]["good"])
    assert metric == "style-accuracy:./mine"
    [value] = score("style-confidence:./mine", Request("lovely cat of street 1", (), "", "good"))
    assert 0.5 < value <= 1


def test_no_text_of_a_data_set_that_is_kept_out_is_trained_on(train, tmp_path):
    row = "AWFUL house of street  0,cold soup of street 2,lovely cat of street 1"
    (tmp_path / "held.csv").write_text(f"source,output,reference\n{row}\n")
    words = ["classifier", "--corpus", "moods.csv", *SMALL]
    sizes = [
        values(train(*words, "-o", f"out{n}", *more))[0]["sentences: train"]
        for n, more in enumerate(([], ["--keep-out", "held.csv"]))
    ]
    assert sizes == ["36", "33"]


def test_a_csv_becomes_a_metric_of_fluency(train, tmp_path):
    words = ["lm", "--corpus", "food.csv", "--style", "good", "--out", "model", *TOY]
    shown, metric = values(train(*words))
    assert metric == "perplexity:./model"
    assert shown["corpus: name"] == "food.csv good"
    score("slor:./model", Request("the soup was great", ()))
    rows = read_corpus("food.csv")
    held = rows.loc[(rows["part"] == "test") & (rows["style"] == "good"), "text"].tolist()
    assert 0 < len(held) < int(shown["corpus: train"]) <= 16 - len(held)
    corpus = registry.get("corpus-perplexity:./model")
    details = [score.detail for score in corpus.score([Request(text, ()) for text in held])]
    per_token = float(shown["perplexity: held out: per token"])
    assert per_token == pytest.approx(corpus.combine(details), rel=1e-3)


def test_with_a_base_the_course_is_the_printed_one_and_a_split_is_kept(train, tmp_path):
    (tmp_path / "split.csv").write_text("text,split\na,train\nb,train\nc,test\nd,dev\nb,test\n")
    tiny.folder(tmp_path / "base", "gpt2")
    words = "lm --corpus split.csv --base ./base --out tuned --seed 5 --set epochs=1"
    shown, _ = values(train(*words.split()))
    assert [shown[f"corpus: {part}"] for part in ("train", "held out")] == ["1", "2"]
    report = read_report(tmp_path / "tuned")
    assert (report["seed"], report["options"]["length"], report["options"]["epochs"]) == (5, 512, 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("classifier --corpus yelp", "tstmeta data fetch yelp"),
        ("classifier --corpus moods.csv --set colour=3", "one of epochs, rate"),
        ("classifier --corpus single.csv", "has one style only"),
        ("lm --corpus gone.csv", "gone.csv: there is no such file"),
        ("lm --corpus food.csv --style kind", "the style 'kind'; it has: bad, good"),
        ("lm --corpus tiny.csv", "needs sentences to train on"),
    ],
)
def test_a_mistake_is_told_before_anything_is_written(train, tmp_path, words, message):
    (tmp_path / "single.csv").write_text("text,style\na,b\nc,b\n")
    (tmp_path / "tiny.csv").write_text("text\nhello there\n")
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.*")}
    result = train(*words.split())
    assert message in refusal(result)
    assert result.stdout == ""
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.*")} == before
