"""M0 to M7 from one file; training, also after a kill; what the command writes and refuses."""

import json

import pandas as pd
import pytest
import torch

from experiments.training.splits import key, texts_of
from experiments.transfer import configuration, trainer
from experiments.transfer.__main__ import transfer_app
from experiments.transfer.corpus import EXCLUDED, paraphrased, referenced, select
from experiments.transfer.runs import trajectories
from tests.command import command_line
from tests.experiments.training.conftest import digests, killed
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import yelp
from tstmeta.schema import TstmetaError

#: Section 5.2; the losses of each model are those of Section 5.1.
PRINTED = {
    **{"M0": {}, "M1": {"paraphrase": 0.2}, "M2": {"cyclic": 5.0}},
    **{"M3": {"cyclic": 5.0, "language": 1e-3}, "M4": {"cyclic": 5.0, "paraphrase": 0.2}},
    "M5": {"cyclic": 5.0, "paraphrase": 0.2, "language": 1e-3},
    "M6": {"cyclic": 5.0, "wasserstein": 1.0},
    "M7": {"cyclic": 5.0, "wasserstein": 1.0, "paraphrase": 0.2, "language": 1e-3},
}
PAPER = configuration.read()
TOML = configuration.paths.project("transfer", "models.toml").read_text(encoding="utf-8")
QUICK = PAPER.model_copy(update={"options": PAPER.options.model_copy(update=PAPER.quick)})
WORDS = {"good": ("lovely", "warm", "nice"), "bad": ("awful", "cold", "rude")}
TABLE = pd.DataFrame(
    [
        (f"the {thing} is n't {word} in {place} number {number}", style)
        for style, words in WORDS.items()
        for word in words
        for thing in ("soup", "shop", "bread")
        for place in ("town", "street")
        for number in range(9)
    ],
    columns=["text", "style"],
)
CORPUS = select(TABLE, QUICK.options, PAPER.paraphrases)


def train(out, name, seed=0, **changes):
    options = QUICK.options.model_copy(update=changes)
    return trainer.train(out, name, CORPUS, QUICK.model_copy(update={"options": options}), seed)


def test_the_models_differ_by_their_losses_in_one_file():
    always = {"reconstruction": 1.0, "adversarial": 1.0}
    assert {name: PAPER.weights_of(name) for name in PAPER.models} == {
        **{name: {**always, **more} for name, more in PRINTED.items()},
        "M0-Sim": {**always, "reward": 100.0},
    }
    with pytest.raises(TstmetaError, match="called 'M8'; use one of M0, M1"):
        PAPER.weights_of("M8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('M0 = ["reconstruction"', 'M0 = ["rec"', r"models.M0.0\n +Input should be"),
        ("word = 64", "word = ", "Invalid value"),
    ],
)
def test_a_configuration_of_another_form_is_refused(tmp_path, old, new, message):
    (tmp_path / "own.toml").write_text(TOML.replace(old, new, 1))
    with pytest.raises(TstmetaError, match=message):
        configuration.read(tmp_path / "own.toml")


@pytest.mark.parametrize("name", ["M0", "M7", "M0-Sim"])  # which have all losses among them
def test_a_model_takes_its_steps_and_changes_nothing_outside(tmp_path, name):
    before = torch.get_rng_state()
    report = train(tmp_path, name)
    assert torch.tensor(1e-310, dtype=torch.float64) * 1 > 0  # as torch was before
    assert torch.equal(before, torch.get_rng_state())
    assert (report["steps"], report["points"]) == (6, [2, 4, 6])
    assert report["weights"] == PAPER.weights_of(name)
    for point in report["points"]:
        outputs = pd.read_csv(tmp_path / "outputs" / f"{point:06d}.csv", keep_default_na=False)
        assert len(outputs) == len(CORPUS.sources)
        assert outputs["output"].str.split().str.len().between(1, QUICK.options.longest).all()
    assert train(tmp_path, name) == report
    with pytest.raises(TstmetaError, match="holds a model of another run"):
        train(tmp_path, name, seed=1)


@pytest.mark.parametrize("name", [pytest.param("M0", marks=pytest.mark.nightly), "M7"])
def test_a_run_that_dies_ends_with_the_same_bytes(tmp_path, name):
    train(tmp_path / "whole", name)
    for at in (1, 3, 5):
        with killed(at):
            train(tmp_path / "died", name)
    train(tmp_path / "died", name)
    assert digests(tmp_path / "died") == digests(tmp_path / "whole")
    train(tmp_path / "other", name, seed=5)
    assert digests(tmp_path / "other")["model.safetensors"] not in digests(tmp_path / "whole")


def test_all_models_of_a_seed_begin_with_the_same_reconstruction(tmp_path):
    for name in ("M0", "M7"):
        assert train(tmp_path / name, name, alone=3)["points"] == [4, 5, 6]
    first, last = (
        [(tmp_path / name / "outputs" / f"{at:06d}.csv").read_text() for name in ("M0", "M7")]
        for at in (3, 6)
    )
    assert first[0] == first[1]
    assert last[0] != last[1]
    with pytest.raises(TstmetaError, match="3 steps of reconstruction come before M0"):
        train(tmp_path / "short", "M0", alone=3, steps=3)


@pytest.mark.nightly
def test_learning_makes_sentences_likelier(tmp_path):
    first, *_, last = train(tmp_path, "M0", steps=60, rate=1e-2)["losses"]
    assert last < 0.7 * first


def test_a_sentence_is_in_one_part_and_excluded_ones_in_none():
    never = ["THE soup is n't  lovely in town number 0", "the shop is n't rude in street number 3"]
    corpus = select(TABLE, QUICK.options, PAPER.paraphrases, never)
    texts = [*corpus.train["text"], *corpus.sources["text"]]
    assert len(texts) == len(set(texts))
    assert not {key(text) for text in texts} & {key(text) for text in never}
    again = select(TABLE.sample(frac=1, random_state=1), QUICK.options, PAPER.paraphrases)
    assert again.identity() == CORPUS.identity()


def test_paraphrases_are_sentences_with_words_exchanged():
    train = pd.DataFrame({"text": ["it is n't really far", "a tea"], "number": [1, 0]})
    pair = {"text": "it is n't really far", "paraphrase": "it is not very far", "number": 1}
    assert paraphrased(train, PAPER.paraphrases).to_dict("records") == [pair]


def test_too_few_sentences_or_paraphrases_are_refused(tmp_path):
    with pytest.raises(TstmetaError, match=r"lacks paraphrases\. Remedy: .*--config"):
        trainer.train(tmp_path, "M1", select(TABLE, QUICK.options), QUICK)
    with pytest.raises(TstmetaError, match="between two styles; the corpus has 1"):
        select(TABLE[TABLE["style"] == "good"], QUICK.options)
    with pytest.raises(TstmetaError, match="lacks a style"):
        select(pd.DataFrame({"text": ["so", "so"], "style": ["good", "bad"]}), QUICK.options)


@needs("yelp", *(name.partition("@")[0] for name in EXCLUDED))
def test_no_rated_sentence_and_no_source_of_a_preference_is_learned_from():
    table = yelp.corpus(data.paths.raw("yelp"))
    table = table[table["split"] == "dev"]
    corpus = select(table, PAPER.options, (), texts_of(*EXCLUDED), referenced())
    held = corpus.sources[corpus.sources["part"] != "reference"]
    learned = {key(text) for text in [*corpus.train["text"], *held["text"]]}
    for name in ("mir", "li2018@yelp", "dualrl", "mis@yelp"):
        items = data.load(name).items
        rated = {key(text) for text in items["source"].dropna()}
        assert rated & {key(text) for text in table["text"]}  # or there would be nothing to exclude
        assert not rated & learned
        assert not learned & {key(text) for texts in items["references"] for text in texts}
    assert corpus.train["number"].value_counts().to_dict() == {0: 10_000, 1: 10_000}
    assert corpus.sources.groupby(["part", "number"]).size().to_dict() == {
        (p, n): 250 for p in ("choose", "report", "reference") for n in (0, 1)
    }
    assert (corpus.sources["references"].str.len() > 0).sum() == 500


def test_a_trajectory_has_means_corpus_values_of_each_point_and_part(tmp_path):
    facts = {"text": ["the soup is cold", "the tea is warm"], "style": ["bad", "good"]}
    rewrites = [["the soup is warm"], ["the tea is cold", "it is a cold tea"]]
    rewritten = pd.DataFrame({**facts, "references": rewrites})
    corpus = select(TABLE, QUICK.options, referenced=rewritten)
    perfect = ["the soup is warm", "it is a cold tea"]
    outputs = {2: [*corpus.sources["text"][:-2], *perfect], 4: ["a soup"] * len(corpus.sources)}
    for point, texts in outputs.items():
        (tmp_path / "outputs").mkdir(exist_ok=True)
        file = tmp_path / "outputs" / f"{point:06d}.csv"
        pd.DataFrame({"output": texts}).to_csv(file, index=False)
    names = {"source": ["copy-rate", "edit-similarity"], "reference": ["corpus-bleu"], "none": []}
    changed = QUICK.model_copy(update={"metrics": names})
    table = trainer.trace(tmp_path, corpus, changed, {"model": "M0", "seed": 3, "points": [2, 4]})
    values = table.set_index(["step", "part", "metric"])["value"]
    assert values[2, "report", "copy-rate"] == 1 > values[4, "report", "copy-rate"]
    assert values[2, "reference", "corpus-bleu"] == pytest.approx(100)
    assert values[4, "reference", "corpus-bleu"] < 50
    assert ("choose", "corpus-bleu") not in {(p, m) for _, p, m in values.index}
    assert table["n"].tolist() == [8 if p != "reference" else 2 for p in table["part"]]
    assert set(table.loc[table["part"] == "reference", "metric"]) == {"corpus-bleu"}
    written = pd.read_csv(tmp_path / "trajectory.csv")
    assert written["value"].tolist() == pytest.approx(table["value"].tolist(), rel=1e-5)
    signatures = json.loads((tmp_path / "signatures.json").read_text())
    assert signatures["corpus-bleu reference"].startswith("corpus-bleu|")
    ends = data.load(str(tmp_path / "outputs.csv"))  # the last point, as a file of one's own
    assert set(ends.items["system"]) == {"M0-3"}
    assert ends.items["output"].tolist() == outputs[4]
    assert ends.label("part").tolist() == corpus.sources["part"].tolist()


def test_the_command_writes_metrics_along_the_training(tmp_path, monkeypatch):
    run = command_line(tmp_path, monkeypatch, transfer_app)
    TABLE.to_csv(tmp_path / "mine.csv", index=False)
    lines = [line for line in TOML.splitlines() if not line.startswith(("source =", "none ="))]
    (tmp_path / "own.toml").write_text("\n".join([*lines, 'source = ["bleu", "copy-rate"]']))
    words = "run --model M6 --corpus mine.csv --quick --config own.toml --steps 9 --out whole"
    result = run(*words.split())
    assert result.exit_code == 0, result.exception
    table = pd.read_csv(tmp_path / "whole" / "trajectory.csv")
    assert sorted(set(table["step"])) == [3, 6, 9]
    assert set(table["part"]) == {"choose", "report"}
    assert set(table["metric"]) == {"bleu", "copy-rate"}


def test_a_file_of_a_run_that_lacks_columns_is_named(tmp_path):
    (file := tmp_path / "M0-0" / "trajectory.csv").parent.mkdir()
    file.write_text("model,seed,step,value,n\nM0,0,1,0.5,9\n")
    with pytest.raises(TstmetaError, match=r"trajectory\.csv: no column part, metric, basis"):
        trajectories(tmp_path)
