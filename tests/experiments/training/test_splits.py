"""Parts of a corpus: one sentence, one part; nothing that is tested on is trained on."""

import json
from dataclasses import replace
from hashlib import sha256

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.training.loop import read_report
from experiments.training.splits import PARTS, USUAL, corpus_hash, divide, key, read_corpus
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import yelp
from tstmeta.data.paths import raw
from tstmeta.models import classifiers, lm
from tstmeta.schema import TstmetaError


def corpus(*rows):
    return pd.DataFrame(rows, columns=["text", "split"]).assign(style="s")


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        ([("a", "train"), ("b", "dev"), ("c", "test"), ("d", "tune")], "train dev test dev"),
        ([("a b", "train"), ("A  B", "test"), ("a b", "dev")], "test test test"),
        ([("never", "train"), ("x", "train"), ("NEVER ", "dev")], "test train test"),
        ([], ""),
    ],
)
def test_the_strictest_split_of_a_sentence_counts_for_all_its_rows(rows, parts):
    assert divide(corpus(*rows), never=["Never"])["part"].tolist() == parts.split()


def test_a_split_that_nobody_knows_is_refused():
    with pytest.raises(TstmetaError, match=r"'training'. Remedy: name it one of train, dev"):
        divide(corpus(("a", "training")))


@given(
    st.lists(st.tuples(st.sampled_from(["a", "A", "b", "c"]), st.sampled_from(sorted(USUAL)))),
    st.sets(st.sampled_from("abc")),
)
def test_no_sentence_is_in_two_parts_and_none_that_is_kept_out_is_trained_on(rows, never):
    divided = divide(corpus(*rows), never=never)
    parts = divided.groupby(divided["text"].map(key))["part"].agg(set)
    assert all(len(of) == 1 for of in parts)
    assert all(parts[sentence] == {"test"} for sentence in never & set(parts.index))


@pytest.fixture(scope="module")
def divided():
    """The real sentences of yelp, divided as every training of them does."""
    return read_corpus("yelp")


@needs("yelp", "li2018", "dualrl", "mir")
def test_no_dev_sentence_and_no_text_of_a_rated_set_is_learned_from_in_the_real_files(divided):
    lines = {split: set(divided.loc[divided["split"] == split, "text"]) for split in yelp.SPLITS}
    assert len(lines["dev"] & lines["test"]) == 2884  # what this guards against
    texts = {part: set(divided.loc[divided["part"] == part, "text"].map(key)) for part in PARTS}
    assert all(len(part) > 25_000 for part in texts.values())
    assert not texts["dev"] & texts["test"]
    assert not texts["train"] & (texts["dev"] | texts["test"] | set(map(key, lines["dev"])))
    for name in ("li2018@yelp", "dualrl", "mir"):
        items = data.load(name).items
        texts_of_set = {*items["source"], *items["output"], *items["references"].explode().dropna()}
        assert not (texts["train"] | texts["dev"]) & set(map(key, texts_of_set)), name


@needs("yelp")
def test_no_source_of_the_preferences_of_pang2019_is_learned_from(divided):
    files = [*raw("yelp").parent.glob("mis/benchmarking/source_data/textual*/*.jsonl")]
    if not files:
        pytest.skip("the preferences are not on this machine")
    compared = pd.concat(pd.read_json(file, lines=True) for file in files)["ori_sent"].dropna()
    seen = set(divided.loc[divided["part"] == "train", "text"].map(key))
    assert compared.nunique() == 293
    assert not seen & set(compared.map(key))


@pytest.mark.parametrize("model", [classifiers.MODELS["yelp"], lm.MODELS["yelp"]])
def test_a_model_of_yelp_says_how_it_is_trained_and_was_trained_on_nothing_else(
    model, tmp_path, request
):
    absent = replace(model, where=str(tmp_path / "gone"))
    command = f"python -m experiments.training {model.course} --out {absent.where}"
    assert f"train it in the repository: {command}" in classifiers.missing(absent)
    if not (report := read_report(model.folder)) or not data.available("yelp"):
        pytest.skip("it is not trained on this machine: make book")
    divided = request.getfixturevalue("divided")
    if "results" in report:
        assert report["corpus"] == corpus_hash(divided, ("text", "task", "style", "part"))
    else:
        sides = [list(dict.fromkeys(divided.loc[divided["part"] == p, "text"])) for p in PARTS[::2]]
        assert report["corpus"]["sha256"] == sha256(json.dumps(sides).encode()).hexdigest()[:16]
