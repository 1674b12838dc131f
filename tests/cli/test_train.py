"""``tstmeta train``: what each command learns from, writes and refuses; metrics take the result."""

import csv
import json

import pytest

from tests.command import command_line, table
from tests.models import style, tiny
from tstmeta import metrics
from tstmeta.cli.train import read_corpus
from tstmeta.metrics import Request
from tstmeta.models import encoders, lexicon, lm, vectors
from experiments.training.loop import CHECKPOINT, REPORT
from tstmeta.schema import DataError, MissingData, TstmetaError

SMALL = ["--set", "bits=8", "--set", "epochs=3"]
SIZES = {"vocabulary": 300, "width": 16, "layers": 1, "heads": 2, "inner": 24}
TOY = [word for name, value in SIZES.items() for word in ("--set", f"{name}={value}")]
FOOD = ("soup", "bread", "cake", "tea", "fish", "rice", "corn", "stew")
TASTE = {"good": ("fine", "great"), "bad": ("cold", "awful")}


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def train(tmp_path, monkeypatch):
    """``tstmeta train`` beside corpora of two styles."""
    run = command_line(tmp_path, monkeypatch)
    moods = style.corpus().rename(columns={"part": "split"})
    moods.to_csv(tmp_path / "moods.csv", index=False)
    rows = [(f"the {food} was {word}", s) for s in TASTE for food in FOOD for word in TASTE[s]]
    write_csv(tmp_path / "food.csv", [("text", "style"), *rows])
    return lambda *words: run("train", *words, "--format", "csv")


def values(result):
    """What a command printed, and the word that it gives to a metric."""
    rows = table(result)
    use = result.stderr.strip().splitlines()[-1]
    assert "use it: tstmeta score --data DATA --metric " in use
    return dict(zip(rows["what"], rows["value"], strict=True)), use.rpartition(" ")[2]


def score(name, *units):
    scores = [one for (one,) in metrics.get(name).score([(unit,) for unit in units])]
    assert {one.status for one in scores} == {"ok"}
    return [one.value for one in scores]


# ------------------------------------------------------------------------------------ classifiers


def test_a_csv_becomes_a_metric_of_style(train, tmp_path):
    shown, metric = values(train("classifier", "--corpus", "moods.csv", "-o", "mine", *SMALL))
    report = json.loads((tmp_path / "mine" / REPORT).read_text())
    quality = report["results"]["mood"]
    assert shown["sentences: train"] == "36"
    assert float(shown["mood: accuracy"]) == pytest.approx(quality["accuracy"])
    assert shown["mood: confusion: bad: good"] == str(quality["confusion"]["bad"]["good"])
    assert metric == "style-accuracy:./mine"
    assert not (tmp_path / "mine" / CHECKPOINT).exists()
    [value] = score("style-confidence:./mine", Request("lovely cat of street 1", (), "", "good"))
    assert 0.5 < value <= 1
    again = train("classifier", "--corpus", "moods.csv", "-o", "mine", *SMALL)
    assert values(again)[0] == shown


def test_no_text_of_a_data_set_that_is_kept_out_is_trained_on(train, tmp_path):
    row = ("AWFUL house of street  0", "cold soup of street 2", "lovely cat of street 1")
    write_csv(tmp_path / "held.csv", [("source", "output", "reference"), row])
    words = ["classifier", "--corpus", "moods.csv", *SMALL]
    sizes = [
        values(train(*words, "-o", f"out{n}", *more))[0]["sentences: train"]
        for n, more in enumerate(([], ["--keep-out", "held.csv"]))
    ]
    assert sizes == ["36", "33"]


def test_a_regressor_says_what_low_and_high_mean(train, tmp_path):
    words = ["classifier", "--corpus", "moods.csv", "-o", "mine", "--regress", *SMALL]
    assert "--styles LOW,HIGH" in str(train(*words).exception)
    shown, metric = values(train(*words, "--styles", "bad,good"))
    assert metric == "style-regressor:./mine"
    assert -1 <= float(shown["style: pearson"]) <= 1
    [task] = json.loads((tmp_path / "mine" / REPORT).read_text())["tasks"]
    assert (task["styles"], task["values"]) == (["bad", "good"], [0, 1])


# -------------------------------------------------------------------------------- language models


def test_a_csv_becomes_a_metric_of_fluency(train, tmp_path):
    words = ["lm", "--corpus", "food.csv", "--style", "good", "--out", "model", *TOY]
    shown, metric = values(train(*words))
    assert metric == "perplexity:./model"
    assert shown["corpus: name"] == "food.csv good"
    score("slor:./model", Request("the soup was great", ()))
    rows = read_corpus("food.csv")
    held = rows.loc[(rows["part"] == "test") & (rows["style"] == "good"), "text"].tolist()
    trained = int(shown["corpus: train"])
    assert 0 < len(held) < trained <= 16 - len(held)
    corpus = metrics.get("corpus-perplexity:./model")
    details = [one.detail for (one,) in corpus.score([(Request(text, ()),) for text in held])]
    per_token = float(shown["perplexity: held out: per token"])
    assert per_token == pytest.approx(corpus.combine(details), rel=1e-3)
    other = train("lm", "--corpus", "food.csv", "--out", "model", *TOY)
    assert "holds a model of another run" in str(other.exception)


def test_with_a_base_the_course_is_the_printed_one_and_a_split_is_kept(
    train, tmp_path, monkeypatch
):
    from experiments.training import lm as training

    given = {}

    def record(out, texts, held_out, **options):
        given.update(options, texts=texts, held_out=held_out)
        raise TstmetaError("enough")

    monkeypatch.setattr(training, "train", record)
    rows = [("text", "split"), ("a", "train"), ("b", "train"), ("c", "test"), ("d", "dev")]
    write_csv(tmp_path / "split.csv", [*rows, ("b", "test")])
    tiny.folder(tmp_path / "base", "gpt2")
    words = ["--base", "./base", "--seed", "5", "--set", "epochs=1", "--device", "cuda"]
    train("lm", "--corpus", "split.csv", *words)
    assert (given["texts"], given["held_out"]) == (["a"], ["b", "c"])
    assert (given["options"].length, given["options"].epochs) == (512, 1)
    assert (given["seed"], given["base"].where) == (5, "base")
    assert given["device"] == "cuda"
    train("lm", "--corpus", "split.csv", "--base", "gpt2")
    assert given["base"] == lm.MODELS["gpt2"]


# ------------------------------------------------------------------------------ lexicons, counts


def test_words_are_learned_from_the_training_part_and_masked(train, tmp_path):
    warm, cold = ["dear friend of mine", "dear me, a lovely day"], ["go away now", "a day to go"]
    rows = [(text, "warm", "train") for text in warm * 300]
    rows += [(text, "cold", "train") for text in cold * 300]
    rows += [("heldout", "warm", "test"), ("tuned", "cold", "dev")] * 300
    write_csv(tmp_path / "mine.csv", [("text", "style", "split"), *rows])
    words = ["lexicon", "--corpus", "mine.csv", "--out"]
    shown, metric = values(train(*words, "w.csv"))
    learned = {entry.word: entry.style for entry in lexicon.read(tmp_path / "w.csv").entries}
    expected = {"dear": "warm", "friend": "warm", "go": "cold", "away": "cold"}
    assert expected.items() <= learned.items()
    assert not {"day", "heldout", "tuned"} & learned.keys()
    assert shown["warm: sentences"] == shown["cold: sentences"] == 600
    assert shown["warm: words kept"] + shown["cold: words kept"] == len(learned)
    score(metric, Request("my dear friend now", ("go away now",), "go away now"))
    train(*words, "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "w.csv").read_bytes()


@pytest.mark.skipif(bool(encoders.missing(encoders.MINILM)), reason="no embedded encoder here")
def test_counts_in_ones_own_file_change_the_score_and_the_signature(train, tmp_path):
    shown, metric = values(train("idf", "--data", "mine.csv", "--out", "mine.json"))
    assert (str(shown["texts"]), metric) == ("4", "bertscore:idf=./mine.json")
    names = {"bertscore": "none", "bertscore:idf": vectors.identity(vectors.COUNTS)}
    names["bertscore:idf=mine.json"] = vectors.identity(tmp_path / "mine.json")
    request = Request("he went", ("he ran to the shop",), "he ran to the shop")
    assert len({score(name, request)[0] for name in names}) == 3
    for name, counts in names.items():
        assert f"idf:{counts}" in str(metrics.get(name).signature("source"))


# --------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("words", "message", "kind"),
    [
        ("classifier --corpus nothing", "no corpus is called 'nothing': use yelp", TstmetaError),
        ("classifier --corpus yelp", "tstmeta data fetch yelp", MissingData),
        ("classifier --corpus gone.csv", "gone.csv: there is no such file", DataError),
        ("classifier --corpus moods.csv --styles a,b", "--styles LOW,HIGH", TstmetaError),
        ("classifier --corpus moods.csv --set colour=3", "one of epochs, rate", TstmetaError),
        ("classifier --corpus broken.csv", "row 2, column style: missing value", DataError),
        ("classifier --corpus single.csv", "has one style only", TstmetaError),
        ("lm --corpus food.csv --style kind", "the style 'kind'; it has: bad, good", TstmetaError),
        ("lm --corpus tiny.csv", "needs sentences to train on", TstmetaError),
        ("lexicon --corpus food.csv --out food.csv", "another file than the corpus", TstmetaError),
        ("idf --data mine.csv --out idf.txt", "has to end in .json", TstmetaError),
    ],
)
def test_a_mistake_is_told_before_anything_is_written(train, tmp_path, words, message, kind):
    (tmp_path / "broken.csv").write_text("text,style\na,b\nc, \n")
    (tmp_path / "single.csv").write_text("text,style\na,b\nc,b\n")
    (tmp_path / "tiny.csv").write_text("text\nhello there\n")
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.*")}
    result = train(*words.split())
    assert isinstance(result.exception, kind), result.exception
    assert message in str(result.exception)
    assert result.stdout == ""
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.*")} == before
