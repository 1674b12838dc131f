"""Words after a metric's colon: which are understood, refused, or need what is not here."""

import math
import re

import pytest

from tests.metrics import item, scores
from tstmeta import metrics
from tstmeta.judge import prompts
from tstmeta.metrics.batched import parse
from tstmeta.metrics.catalogue import OPEN
from tstmeta.models import hub
from tstmeta.models.causal import Backbone
from tstmeta.schema import TstmetaError

OPTIONS = {"part": ("p", "r"), "weights": ("idf", "idf=FILE"), "layer": ("layerN",)}
SMALL = Backbone("small", "owner/small")


@pytest.mark.parametrize(
    ("words", "model", "chosen"),
    [
        ("", None, {}),
        ("idf", None, {"weights": "idf"}),
        ("small", "owner/small", {}),
        ("p+small+idf", "owner/small", {"part": "p", "weights": "idf"}),
        ("layer12+idf=a b.txt", None, {"layer": "layer12", "weights": "idf=a b.txt"}),
        ("other/model@main", "other/model", {}),
        (".", ".", {}),
    ],
)
def test_words_are_options_and_at_most_one_model(words, model, chosen):
    named, options = parse(words, OPTIONS, {"small": SMALL})
    assert (named and named.where, options) == (model, chosen)


REFUSED = [
    ("blue", "did you mean bleu"),
    ("ROUGE-L", "did you mean rougeL"),
    *((f"random:{seed}", "random") for seed in ("1.5", "07", "١")),
    ("zzzzzz", "see them with: tstmeta metrics"),
    ("gm", "--combine gm"),
    ("judge:gpt-4", "tstmeta judge run --data DATA"),
    ("bertscore:p+r", "two words of the kind part"),
    ("bertscore:cosine", "use all-minilm.*, p, r, f1, rescaled, idf, idf=FILE, layerN, an id such"),
    ("bertscore:idf=/no/such/file", "which is no file"),
    ("bertscore:idf+layer3+roberta-large", "idf=FILE, one text a line"),
    ("bertscore:owner/unknown", "name it, as in bertscore:layer9"),
    ("bertscore:rescaled", "has no baseline for layer 5"),
    ("wmd:owner/name", "'owner/name' names no option.*use vectors=FILE"),
    ("bleurt:nothing", "use bleurt-large-512, an id"),
    ("questeval:owner/model", "use released, qg=MODEL, qa=MODEL"),
    ("slor:gpt2", "slor:gpt2 needs the token frequencies"),
    ("masked-bleu:drop", "'drop' is no lexicon: use sentiment, FILE.csv, FILE.json"),
    ("masked-bleu:sentiment+x.csv", "two words of the kind lexicon"),
    ("style-cosine:directed", "directed"),
]


@pytest.mark.parametrize(("name", "message"), REFUSED)
def test_words_that_name_nothing_or_contradict_each_other_are_refused(name, message):
    with pytest.raises(TstmetaError, match=message):
        metrics.get(name)


REMEDIES = [
    ("bertscore:roberta-large", "hf download"),
    ("s3bert", "name the folder: s3bert:/path/folder"),
    ("sim", "install it anew"),
    ("bleurt", "upstream's weights are pickles, which are never read: convert them to safetensors"),
    ("comet-22", "released:comet-22"),
    ("questeval", "ThomasNLG/t5-qa_squad2neg-en is not here"),
    ("questeval:released", "google-bert/bert-base-multilingual-cased is not here"),
    ("style-emd:nobody/nothing", "hf download nobody/nothing"),
    ("smatch-amr", "no parser comes with us: parse the texts with an AMR parser"),
    ("smatch-dep", "smatch-dep:/path/parses.conllu and smatch-dep:/path/model.udpipe"),
    ("ted:/nowhere.conllu", "/nowhere.conllu is no file: parse the texts"),
    ("synwmd", "as in synwmd:/path/parses.conllu"),
    (f"synwmd:{__file__}", "is not read as CoNLL-U"),
]


@pytest.mark.parametrize(("name", "remedy"), REMEDIES)
def test_what_is_not_here_gives_rows_with_the_remedy(name, remedy, monkeypatch):
    monkeypatch.setattr(hub, "here", lambda model: False)
    metric = metrics.get(name)
    assert remedy in metric.missing
    for score in scores(metric, item("so", "so", style="formal"), item("a", "b", style="formal")):
        assert (score.status, score.detail) == ("error", metric.missing)
        assert math.isnan(score.value)
    assert str(metric.signature(metric.bases[0])).startswith(name.partition(":")[0])


@pytest.mark.parametrize("name", [name for name in OPEN if "--prompt" in OPEN[name]])
def test_the_remedy_of_a_papers_judge_is_a_command_whose_prompt_there_is(name):
    (prompt,) = re.findall(r"--prompt (\S+)", OPEN[name])
    loaded = prompts.load(prompt)
    assert loaded.cites
    assert "--scores-out FILE" in OPEN[name]
    assert (loaded.answer == "yes-no") == name.endswith("+binary")
