"""Settings in a metric's name: understood, refused, or of what is not here; signatures."""

import math
import re
from pathlib import Path

import pytest

from experiments.training.lm import write_unigrams
from tests.metrics import item, scores
from tests.models import tiny, tiny_encoder, tiny_text
from tests.parsing import CAT, DOG, sentence
from tstmeta.judge import prompts
from tstmeta.metrics import registry
from tstmeta.metrics.base import more_is_better
from tstmeta.metrics.catalogue import OPEN
from tstmeta.models import fetching, hub, lm
from tstmeta.schema import TstmetaError

#: Short words and the same spelt out.
SPELLINGS = [
    ("bertscore:idf+p", "bertscore:part=p+idf=yes"),
    ("bertscore:layer9+p+mbert", "bertscore:layer=9+part=p+model=mbert"),
    ("perplexity:gpt2+word", "perplexity:model=gpt2+per=word"),
    ("masked-cosine:sentiment+labse", "masked-cosine:lexicon=sentiment+model=labse"),
    ("style-emd:directed+LABEL_1=x", "style-emd:LABEL_1=x+sign=directed"),
    ("likelihood:8b+released", "likelihood:variant=released+model=8b"),
]


@pytest.mark.parametrize(("short", "spelt_out"), SPELLINGS)
def test_short_words_are_settings_and_their_order_does_not_matter(short, spelt_out):
    metric, same = registry.get(short), registry.get(spelt_out)
    assert (metric.name, metric.settings) == (short, same.settings)
    for basis in metric.bases:
        assert metric.signature(basis).fields == same.signature(basis).fields
        assert registry.lower_is_better(short, basis) is not more_is_better(metric, basis)


BRACKETS = [
    ("bleu[variant=intl]", "bleu:intl"),
    ("bleu[]", "bleu"),
    ("bertscore[layer=9,part=p,model=mbert]", "bertscore:layer=9+part=p+model=mbert"),
    ("synwmd[parses=/a+b,c/d]", "synwmd:parses=/a+b,c/d"),
    ("likelihood[server=http://h/v1#m,model=8b]", "likelihood:server=http://h/v1#m+model=8b"),
]


@pytest.mark.parametrize(("brackets", "name"), BRACKETS)
def test_settings_in_brackets_are_those_after_a_colon(brackets, name):
    assert registry.get(brackets).name == name
    assert registry.resolve([brackets, name]) == [name]
    assert registry.known(brackets).name == registry.known(name).name


@pytest.mark.parametrize("path", ["/data/c++/p.conllu", "c++", "+a", "a+b", "/a+b/c++/d", "a=b/c"])
def test_a_path_keeps_its_signs(path):
    assert registry.get(f"ted:{path}").file == path
    assert registry.get(f"synwmd:vectors={__file__}+/folder{path}").file == f"/folder{path}"


def test_a_label_may_stand_for_several_styles():
    metric = registry.get("style-accuracy:LABEL_1=positive+LABEL_1=good+LABEL_0=c++")
    assert metric.wordings == {"positive": "LABEL_1", "good": "LABEL_1", "c++": "LABEL_0"}


REFUSED = [
    ("blue", "did you mean bleu"),
    ("random:1.5", "is no setting: use seed=N"),
    ("gm", "--combine gm"),
    ("judge:gpt-4", "tstmeta judge run --data DATA"),
    ("bertscore:p+r", "'p.r' sets part twice$"),
    ("bertscore:cosine", r"use model=MODEL, part=p\|r\|f1, .*layer=N; MODEL is all.*, an id"),
    ("bleu:variant=intl", "no metric is called 'bleu:variant=intl'; did you mean bleu:intl"),
    ("style-accuracy:http://h/?k=a", "'http://h/' names no setting and no model"),
    ("bleu[variant=none]", r"no metric is called 'bleu\[variant=none\]'"),
    ("bertscore:idf+layer3+roberta-large", "idf=FILE, one text a line"),
    ("bertscore:owner/unknown", "name it, as in bertscore:layer9"),
    ("bertscore:rescaled", "names no setting and no model"),
    ("questeval:owner/model", r"use rule=equation\|released, qg=MODEL, qa=MODEL"),
    ("slor:gpt2", "slor:gpt2 needs token frequencies, which come with smollm2-135m"),
    ("masked-bleu:sentiment+x.csv", "sets lexicon twice"),
    ("style-cosine:directed", "directed"),
    (
        "likelihood:relased",
        r"'relased' names no setting and no model: use model=MODEL, variant=equation\|rel",
    ),
    ("likelihood:qwen2.5-coder-1.5", "MODEL is smollm2-135m, qwen2.5-coder-1.5b, 3b, 8b, "),
    ("likelihood:paper+my.toml", "sets instructions twice"),
    ("likelihood:http://h/v1", r"which model does http://h/v1 run\? Write http://h/v1#NAME"),
    (
        "likelihood:http://me:pw@h/v1#m",
        "the address of the server holds a user, a password or a query, and a key comes from the "
        "environment alone. Remedy: write it into OPENAI_API_KEY",
    ),
]


@pytest.mark.parametrize(("name", "message"), REFUSED)
def test_words_that_name_nothing_or_contradict_each_other_are_refused(name, message):
    with pytest.raises(TstmetaError, match=message):
        registry.get(name)


REMEDIES = [
    ("bertscore:roberta-large", "hf download"),
    ("judge:3b+style", "hf download"),
    ("s3bert", "name the folder, cosine:/path/s3bert"),
    ("sim", "install it anew"),
    ("bleurt", "upstream's weights are pickles, which are never read: convert them to safetensors"),
    ("questeval", "ThomasNLG/t5-qa_squad2neg-en is not here"),
    ("questeval:released", "google-bert/bert-base-multilingual-cased is not here"),
    ("style-emd:nobody/nothing", "hf download nobody/nothing"),
    ("smatch-amr", "is not computed here, for no parser comes with us: parse the texts"),
    ("ted:/nowhere.conllu", "cannot read /nowhere.conllu: No such file"),
    ("synwmd", "en_core_web_sm is not here: tstmeta models fetch en_core_web_sm"),
    (f"synwmd:{__file__}", "is not read as CoNLL-U"),
]


@pytest.mark.parametrize(("name", "remedy"), REMEDIES)
def test_what_is_not_here_gives_rows_with_the_remedy(name, remedy, monkeypatch):
    monkeypatch.setattr(hub, "here", lambda model: False)
    monkeypatch.setattr(fetching, "folder", lambda name: Path("/nowhere"))
    metric = registry.get(name)
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


#: What is written to a file, at first and then.
FILES = {
    "a.conllu": (sentence(CAT), sentence(DOG)),
    "v.txt": ("b 1 2\n", "b 1 3\n"),
    "texts.txt": ("b\n", "c\n"),
    "words.csv": ("word,style,weight\nbad,s,1\n", "word,style,weight\nworse,s,1\n"),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("signatures")
    tokenizer = tiny.tokenizer("gpt2")
    tiny.folder(root / "gpt2", "gpt2")
    write_unigrams(root / "gpt2" / lm.UNIGRAMS, ["the soup was cold"], tokenizer)
    tiny_encoder.folder(root / "bert")
    tiny.save(root / "bleurt", *tiny_text.bert())
    return root


@pytest.fixture(autouse=True)
def files(root):
    for name, (content, _) in FILES.items():
        (root / name).write_text(content)


STYLES = ("accuracy", "emd")
WINDOW = "answers:ThomasNLG/t5-qa_squad2neg-en@main window:512 new:19"
SIGNATURES = {
    "smatch-dep:{}/a.conllu": ["measure:f1", "label:form", "seed:0", "restarts:", "parses:conllu@"],
    "ted:{}/a.conllu": ["label:form", "scale:edits", "parses:conllu@"],
    "synwmd:{0}/a.conllu+vectors={0}/v.txt": ["hops:3", "parses:conllu@", "vectors:v.txt@", "POT:"],
    "masked-bleu": ["lexicon:ours@"],
    "masked-bleu:{}/words.csv": ["lexicon:words.csv@", "mask:■", "tok:13a"],
    "wmd:vectors={}/v.txt": ["vectors:v.txt@"],
    "sim:vectors={0}/v.txt+idf={0}/texts.txt": ["vectors:v.txt@", "idf:texts.txt@"],
    "bertscore:layer2+{}/bert": ["model:bert@"],
    "bertscore:idf={0}/texts.txt+layer2+{0}/bert": ["model:bert@"],
    "bleurt:{}/bleurt": ["model:bleurt@", "transformers:"],
    "perplexity:{}/gpt2+word": ["model:gpt2@", "per:word", "long:first-window", "transformers:"],
    "questeval": ["questions:ThomasNLG/t5-qg_squad1-en@", "about:rule-2,5 sentences", "prefix:sv1"],
    "questeval:released": [WINDOW],
    **{f"style-{kind}": ["model:embedded", "sentence-transformers:"] for kind in STYLES},
    **{f"style-{kind}:{{}}/bert+bad=blue": ["called:blue:bad"] for kind in STYLES},
}  # fmt: skip


def signature(name, root):
    metric = registry.get(name.format(root))
    return str(metric.signature(metric.bases[0]))


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_signature_names_what_changes_a_value_and_no_path(root, name):
    shown = signature(name, root)
    assert shown.startswith(name.partition(":")[0])
    assert [part for part in SIGNATURES[name] if f"|{part}" not in shown] == []
    assert str(root) not in shown.removeprefix(name.format(root))


def test_other_words_give_another_signature(root):
    assert len({signature(name, root) for name in SIGNATURES}) == len(SIGNATURES)


@pytest.mark.parametrize("file", FILES)
def test_an_edited_file_gives_another_signature(root, file):
    names = [name for name in SIGNATURES if file in name]
    before = [signature(name, root) for name in names]
    (root / file).write_text(FILES[file][1])
    assert not set(before) & {signature(name, root) for name in names}
