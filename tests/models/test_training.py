"""Training on vectors: scikit-learn's answers, parts, temperature, what is refused."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from statsmodels.stats.proportion import proportion_confint

from tests.models import style
from tstmeta.data.corpora import LEAST, divided
from tstmeta.models import classifiers, training
from tstmeta.models.causal import MissingModel, backbone
from tstmeta.schema import TstmetaError


@pytest.fixture
def vectors(monkeypatch):
    """In place of the encoder: counts of letters."""

    def counts(texts):
        rows = np.array([[text.count(letter) for letter in "aeioulrw"] for text in texts], float)
        return classifiers.Estimates(rows, [""] * len(texts))

    for module in (classifiers, training):
        monkeypatch.setattr(module, "vectors", counts)
        monkeypatch.setattr(module, "encoder_identity", lambda: "letters")
    monkeypatch.setattr(classifiers, "missing", lambda model: "")
    return counts


@pytest.mark.parametrize("task", [style.MOOD, style.MANNER])
def test_probabilities_are_those_of_scikit_learn(vectors, tmp_path, task):
    corpus = style.corpus(task, count=90)
    training.train(tmp_path / "mine", corpus, (task,))
    model = classifiers.load(backbone(str(tmp_path / "mine")))
    rows = corpus[corpus["part"] == "train"]
    options = {"use_legacy_attributes": False, "l1_ratios": (0.0,), "max_iter": 1000}
    oracle = LogisticRegressionCV(Cs=training.INVERSE, cv=5, scoring="neg_log_loss", **options).fit(
        vectors(rows["text"]).values, rows["place"]
    )
    texts = corpus["text"].tolist()
    wanted = oracle.predict_proba(vectors(texts).values)
    model.about = replace(model.about, tasks=(replace(model.about.tasks[0], temperature=1.0),))
    np.testing.assert_allclose(model.probabilities(texts, 0).values, wanted, atol=1e-6)


@style.needs_encoder
def test_a_report_says_how_good_the_model_is_on_sentences_that_it_never_saw(tmp_path):
    corpus = style.corpus(count=60)
    report = training.train(tmp_path / "mine", corpus, facts={"corpora": "ours"})
    assert json.loads((tmp_path / "mine" / training.REPORT).read_text()) == json.loads(
        json.dumps(report)
    )
    assert report["sizes"] == corpus["part"].value_counts().to_dict()
    model = classifiers.load(backbone(str(tmp_path / "mine")))
    test = corpus[corpus["part"] == "test"]
    shares, _ = model.probabilities(test["text"].tolist(), 0)
    result = report["results"]["mood"]
    assert result["accuracy"] == (shares.argmax(axis=1) == test["place"]).mean() > 0.8
    assert result["log_loss"] == pytest.approx(log_loss(test["place"], shares))
    limits = proportion_confint(round(result["accuracy"] * 12), 12, method="wilson")
    assert (result["low"], result["high"]) == pytest.approx(limits)
    [cut] = model.logits(["warm " * 2000], 0).cut
    assert cut.endswith("first 256 used")


def test_a_model_of_another_encoder_and_a_folder_with_files_are_refused(
    vectors, tmp_path, monkeypatch
):
    training.train(tmp_path, style.corpus())
    with pytest.raises(TstmetaError, match=r"is not empty. Remedy: name a new folder"):
        training.train(tmp_path, style.corpus())
    monkeypatch.setattr(classifiers, "encoder_identity", lambda: "another")
    with pytest.raises(MissingModel, match="trained on vectors of another encoder; train it anew"):
        classifiers.load(backbone(str(tmp_path)))


def moods(count=LEAST, **changes):
    rows = [(f"it was {word} {n}", word) for n in range(count) for word in ("good", "bad")]
    return pd.DataFrame(rows, columns=["text", "style"]).assign(task="style", **changes)


def test_a_sentence_and_a_group_are_in_one_part_and_repeats_count_once():
    corpus = moods(1000)
    corpus["group"] = corpus.index // 2
    corpus["group"] = corpus["group"].astype(str)
    table = divided(pd.concat([corpus, corpus.assign(text=corpus["text"].str.upper())]))
    assert len(table) == 2000
    assert set(table.groupby(table["text"].str.split().str[-1])["part"].nunique()) == {1}
    assert table["part"].value_counts(normalize=True)["train"] == pytest.approx(0.8, abs=0.05)
    assert divided(corpus.sample(frac=1, random_state=0)).equals(divided(corpus))


def test_a_style_has_no_more_texts_than_are_used(monkeypatch):
    monkeypatch.setattr("tstmeta.data.corpora.MOST", 120)
    assert divided(moods(300)).groupby("style").size().tolist() == [120, 120]


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        (moods(style="good"), "all texts have the style 'good'. Remedy: give a second style"),
        (moods(99), "99 texts can be learned from that have the style 'bad'. Remedy: give 100"),
        (moods(text="same"), "^0 texts can be learned from"),
        (moods(text=" "), "^0 texts can be learned from"),
    ],
)
def test_a_corpus_that_teaches_nothing_is_refused(corpus, message):
    with pytest.raises(TstmetaError, match=message):
        divided(corpus)


def drawn(heat, count=4000, seed=0):
    """Logits whose probabilities are right once they are divided by ``heat``."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (count, 3))
    return logits * heat, np.array([rng.choice(3, p=row) for row in softmax(logits, axis=1)])


@pytest.mark.parametrize("heat", [0.5, 1, 3])
def test_the_temperature_is_the_one_that_was_put_in_and_is_one_where_all_is_right(heat):
    logits, labels = drawn(heat)
    assert training.temperature(logits, labels) == pytest.approx(heat, rel=0.1)
    assert training.temperature(np.eye(2) * heat, np.arange(2)) == 1
    report = training.quality(logits, labels, heat)
    wanted = -log_softmax(logits / heat, axis=1)[np.arange(4000), labels].mean()
    assert report["log_loss"] == pytest.approx(wanted)
