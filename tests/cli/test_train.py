"""``tstmeta train``: what each command counts, writes and refuses; metrics take the result."""

import json
from collections import Counter

import pytest

from tests.command import command_line, score, table, write_csv
from tests.models.style import needs_encoder
from tstmeta.metrics import Request, registry
from tstmeta.models import lexicon, training, vectors
from tstmeta.schema import DataError, MissingData, TstmetaError

FOOD = ("soup", "bread", "cake", "tea", "fish", "rice", "corn", "stew")
TASTE = {"good": ("fine", "great"), "bad": ("cold", "awful")}


@pytest.fixture
def train(tmp_path, monkeypatch):
    """``tstmeta train`` beside a corpus of two styles."""
    run = command_line(tmp_path, monkeypatch)
    rows = [(f"the {food} was {word}", s) for s in TASTE for food in FOOD for word in TASTE[s]]
    write_csv(tmp_path / "food.csv", [("text", "style"), *rows])
    return lambda *words: run("train", *words)


# ------------------------------------------------------------------------------ lexicons, counts


def test_words_are_learned_from_the_training_part_and_masked(train, tmp_path):
    warm, cold = ["dear friend of mine", "dear me, a lovely day"], ["go away now", "a day to go"]
    rows = [(text, "warm", "train") for text in warm * 300]
    rows += [(text, "cold", "train") for text in cold * 300]
    rows += [("heldout", "warm", "test"), ("tuned", "cold", "dev")] * 300
    write_csv(tmp_path / "mine.csv", [("text", "style", "split"), *rows])
    words = ["lexicon", "--corpus", "mine.csv", "--out"]
    result = train(*words, "w.csv")
    learned = {entry.word: entry.style for entry in lexicon.read(tmp_path / "w.csv").entries}
    expected = {"dear": "warm", "friend": "warm", "go": "cold", "away": "cold"}
    assert expected.items() <= learned.items()
    assert not {"day", "heldout", "tuned"} & learned.keys()
    counts = Counter(learned.values())
    assert result.stdout.splitlines() == [
        f"{style}: 600 sentences, {counts[style]} words kept" for style in ("cold", "warm")
    ]
    score(result.stderr.split()[-1], Request("my dear friend now", ("go away now",), "go away now"))
    train(*words, "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "w.csv").read_bytes()


@needs_encoder
def test_texts_of_two_styles_become_a_metric_of_style(train, tmp_path):
    rows = [(f"the {food} was {word} {n}", s) for s in TASTE for food in FOOD for word in TASTE[s]
            for n in range(8)]  # fmt: skip
    write_csv(tmp_path / "tastes.csv", [("text", "style"), *rows])
    write_csv(tmp_path / "held.csv", [("source", "output"), rows[0][:1] * 2])
    for out, more in (("whole", ()), ("held", ("--keep-out", "held.csv"))):
        result = train("style", "tastes.csv", "--out", out, "--format", "csv", *more)
        [row] = table(result).to_dict("records")
        report = json.loads((tmp_path / out / training.REPORT).read_text(encoding="utf-8"))
        assert sum(report["sizes"].values()) == 256 - len(more) // 2
        assert row == pytest.approx({"task": "style", **report["results"]["style"]})
        assert row["accuracy"] > 0.9
        assert result.stderr.split()[-1] == f"style-confidence:./{out}"
    request = Request("the fish was awful", (), style="bad")
    assert score("style-confidence:./whole", request)[0] > 0.5
    assert score("style-accuracy:./whole", request) == [1]


@needs_encoder
def test_counts_in_ones_own_file_change_the_score_and_the_signature(train, tmp_path):
    result = train("idf", "--data", "mine.csv", "--out", "mine.json")
    assert result.stdout.startswith("4 texts, ")
    assert result.stderr.split()[-1] == "bertscore:idf=./mine.json"
    names = {"bertscore": "none", "bertscore:idf": vectors.identity(vectors.COUNTS)}
    names["bertscore:idf=mine.json"] = vectors.identity(tmp_path / "mine.json")
    request = Request("he went", ("he ran to the shop",), "he ran to the shop")
    assert len({score(name, request)[0] for name in names}) == 3
    for name, counts in names.items():
        assert f"idf:{counts}" in str(registry.get(name).signature("source"))


# --------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("words", "message", "kind"),
    [
        ("lexicon --corpus nothing", "no corpus is called 'nothing': use yelp", TstmetaError),
        ("lexicon --corpus yelp", "tstmeta data fetch yelp", MissingData),
        ("lexicon --corpus broken.csv", "row 2, column style: missing value", DataError),
        ("lexicon --corpus held.csv", "has no sentence to learn from", TstmetaError),
        ("lexicon --corpus food.csv --out food.csv", "another file or folder", TstmetaError),
        ("style nothing --out x", "no corpus is called 'nothing': use yelp", TstmetaError),
        ("style broken.csv --out x", "row 2, column style: missing value", DataError),
        ("style blank.csv --out x", "row 1, column text: missing value", DataError),
        ("style lacks.csv --out x", "style", DataError),
        ("style food.csv --out x", "16 texts can be learned from", TstmetaError),
        ("style single.csv --out x", "all texts have the style 'a'", TstmetaError),
        ("style food.csv --out taken", "is not empty. Remedy: name a new folder", TstmetaError),
        ("style food.csv --out held.csv", "is not empty. Remedy: name a new folder", TstmetaError),
        ("idf --data mine.csv --out idf.txt", "has to end in .json", TstmetaError),
    ],
)
def test_a_mistake_is_told_before_anything_is_written(train, tmp_path, words, message, kind):
    (tmp_path / "broken.csv").write_text("text,style\na,b\nc, \n")
    (tmp_path / "held.csv").write_text("text,style,split\na,b,test\nc,d,dev\n")
    (tmp_path / "blank.csv").write_text("text,style\n ,b\nc,d\n")
    (tmp_path / "lacks.csv").write_text("text,mood\na,b\nc,d\n")
    (tmp_path / "single.csv").write_text("text,style\n" + "b,a\n" * 300)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("precious")
    before = {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")}
    result = train(*words.split())
    assert isinstance(result.exception, kind), result.exception
    assert message in str(result.exception)
    assert result.stdout == ""
    assert {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
