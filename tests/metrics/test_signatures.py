"""Signatures: they name all that changes a value, and no place of a file."""

import pytest

from tests.models import tiny, tiny_encoder, tiny_text
from tests.parsing import CAT, DOG, sentence
from tstmeta import metrics
from tstmeta.models import lm

#: What is written to a file, at first and then.
FILES = {
    "a.conllu": (sentence(CAT), sentence(DOG)),
    "a.amr": ("# ::snt A.\n(a / a)\n", "# ::snt A.\n(b / b)\n"),
    "v.txt": ("b 1 2\n", "b 1 3\n"),
    "texts.txt": ("b\n", "c\n"),
    "words.csv": ("word,style,weight\nbad,s,1\n", "word,style,weight\nworse,s,1\n"),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("signatures")
    tokenizer = tiny.tokenizer("gpt2")
    tiny.folder(root / "gpt2", "gpt2")
    counts = lm.count_tokens(["the soup was cold"], tokenizer)
    lm.write_unigrams(root / "gpt2" / lm.UNIGRAMS, counts, tokenizer)
    tiny_encoder.folder(root / "bert")
    tiny_text.folder(root / "bleurt", tiny_text.bert())
    return root


@pytest.fixture(autouse=True)
def files(root):
    for name, (content, _) in FILES.items():
        (root / name).write_text(content)


STYLES = ("accuracy", "emd", "regressor")
WINDOW = "answers:ThomasNLG/t5-qa_squad2neg-en@main window:512 new:19"
SIGNATURES = {
    "smatch-dep:{}/a.conllu": ["measure:f1", "label:form", "seed:0", "restarts:", "parses:conllu@"],
    "smatch-amr:{}/a.amr": ["parses:amr@"],
    "ted:{}/a.conllu": ["label:form", "scale:edits", "parses:conllu@"],
    "synwmd:{0}/a.conllu+vectors={0}/v.txt": [
        *("parts:full", "hops:3", "damping:0.2", "parses:conllu@", "vectors:v.txt@", "POT:")
    ],
    "masked-bleu": ["lexicon:ours@"],
    "masked-bleu:{}/words.csv": ["lexicon:words.csv@", "mask:■", "tok:13a"],
    "wmd:vectors={}/v.txt": ["vectors:v.txt@"],
    "sim:vectors={0}/v.txt+idf={0}/texts.txt": ["vectors:v.txt@", "idf:texts.txt@"],
    "bertscore:layer2+{}/bert": ["model:bert@"],
    "bertscore:idf={0}/texts.txt+layer2+{0}/bert": ["model:bert@"],
    "bleurt": ["model:Elron/bleurt-large-512@00397b0917e4"],
    "bleurt:{}/bleurt": ["model:bleurt@", "transformers:"],
    "perplexity:{}/gpt2+word": [
        *("model:gpt2@", "context:bos-else-eos", "per:word", "long:first-window", "transformers:")
    ],
    "questeval": ["questions:ThomasNLG/t5-qg_squad1-en@", "about:rule-1,5 sentences", "prefix:sv1"],
    "questeval:released": [WINDOW],
    **{f"style-{kind}": ["model:embedded", "scikit-learn:"] for kind in STYLES},
    **{f"style-{kind}:{{}}/bert+bad=blue": ["called:blue:bad"] for kind in STYLES},
}  # fmt: skip


def signature(name, root):
    metric = metrics.get(name.format(root))
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
