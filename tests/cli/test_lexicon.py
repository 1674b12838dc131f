"""The command ``train lexicon``: what it learns from, writes and refuses."""

import pytest

from tests.command import command_line, table
from tests.helpers import needs
from tstmeta import data
from tstmeta.models import lexicon
from tstmeta.models.splits import key
from tstmeta.schema import DataError, TstmetaError

WARM = ["dear friend of mine", "dear me, a lovely day"] * 50
COLD = ["go away now", "a day to go"] * 50
WORDS = {"dear": "warm", "friend": "warm", "go": "cold", "away": "cold"}


@pytest.fixture
def tstmeta(tmp_path, monkeypatch):
    return command_line(tmp_path, monkeypatch)


def corpus(folder, rows, columns="text,style"):
    path = folder / "mine.csv"
    lines = [",".join(f'"{cell}"' for cell in row) for row in rows]
    path.write_text("\n".join([columns, *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def mine(tmp_path):
    return corpus(tmp_path, [(t, "warm") for t in WARM] + [(t, "cold") for t in COLD])


def learn(tstmeta, *options):
    """Run the command with a prior for few sentences; its failure is the test's."""
    result = tstmeta("train", "lexicon", "--corpus", "mine.csv", "--prior", "10", *options)
    if result.exception:
        raise result.exception
    return result


def words(path):
    return {entry.word: entry.style for entry in lexicon.read(path).entries}


def test_words_are_learned_from_a_csv_and_used_by_a_metric(tstmeta, tmp_path, mine):
    shown = table(learn(tstmeta, "--out", "w.csv", "--format", "csv"))
    found = words(tmp_path / "w.csv")
    assert WORDS.items() <= found.items()
    assert "day" not in found
    values = dict(zip(shown["what"], shown["value"], strict=True))
    assert values["warm: sentences"] == values["cold: sentences"] == "100"
    assert int(values["warm: words kept"]) + int(values["cold: words kept"]) == len(found)
    (tmp_path / "rewrites.csv").write_text("source,output\ngo away now,my dear friend now\n")
    score = ("score", "--data", "rewrites.csv", "--metric", "masked-bleu:./w.csv")
    [row] = table(tstmeta(*score, "--format", "csv")).to_dict("records")
    assert row["status"] == "ok"
    assert row["detail"].startswith("style words: ")


def test_the_same_command_writes_the_same_bytes(tstmeta, tmp_path, mine):
    for name in ("a.csv", "b.csv"):
        learn(tstmeta, "--out", name)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_only_the_training_part_is_looked_at(tstmeta, tmp_path):
    rows = [(t, "warm", "train") for t in WARM] + [(t, "cold", "train") for t in COLD]
    rows += [("heldout", "warm", "test")] * 50 + [("tuned", "cold", "dev")] * 50
    corpus(tmp_path, rows, "text,style,split")
    learn(tstmeta, "--out", "w.csv")
    found = words(tmp_path / "w.csv")
    assert WORDS.items() <= found.items()
    assert not {"heldout", "tuned"} & found.keys()


@pytest.mark.parametrize(
    ("options", "kept", "lost"),
    [
        ([], {"dear", "friend", "go"}, {"day"}),
        (["--least", "60"], {"dear", "go"}, {"friend", "away"}),
        (["--ratio", "1", "--threshold", "0.01"], {"day", "friend"}, set()),
        (["--threshold", "4"], {"dear"}, {"friend"}),
    ],
)
def test_bounds_can_be_set(tstmeta, tmp_path, mine, options, kept, lost):
    learn(tstmeta, "--out", "w.csv", *options)
    found = words(tmp_path / "w.csv").keys()
    assert kept <= found
    assert not lost & found


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--corpus", "reviews"], "no corpus is called 'reviews': use yelp or a file FILE.csv"),
        (["--corpus", "none.csv"], "none.csv"),
        (["--out", "w.txt"], "w.txt has to end in .csv"),
        (["--out", "mine.csv"], "mine.csv is the corpus"),
        (["--prior", "0"], "the prior is 0.0"),
        (["--threshold", "1000"], "lower the threshold"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_written(tstmeta, tmp_path, mine, options, said):
    before = sorted(tmp_path.iterdir()), mine.read_bytes()
    with pytest.raises(TstmetaError) as caught:
        learn(tstmeta, *options)
    assert said in str(caught.value)
    assert (sorted(tmp_path.iterdir()), mine.read_bytes()) == before


def test_a_cell_that_is_empty_is_named(tstmeta, tmp_path):
    corpus(tmp_path, [("a b", "warm"), ("c", "")])
    with pytest.raises(DataError, match=r"mine\.csv, row 2: no style"):
        learn(tstmeta)


@needs("yelp", "mir")
def test_reviews_are_learned_from_without_the_sentences_that_others_test_on():
    from tstmeta.cli.lexicon import _training_part

    learned = {key(text) for text in _training_part("yelp", None)["text"]}
    assert learned
    assert not learned & set(map(key, data.load("mir").items["source"]))
    # all sources of li2018 and dualrl lie in dev
    assert not learned & set(map(key, data.yelp.sentences(data.root("yelp"), "dev")["text"]))


def test_the_help_names_the_defaults_that_are_used(tstmeta):
    shown = " ".join(tstmeta("train", "lexicon", "--help").stdout.split())
    for before, value in (
        ("z-score is at least this", lexicon.THRESHOLD),
        ("odds so many times as high", lexicon.RATIO),
        ("that occur so often", lexicon.LEAST),
    ):
        assert f"{before} [{value:g}]." in shown
    assert f"above 0 [{lexicon.PRIOR:g}]." in shown
