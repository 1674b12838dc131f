"""Parses by spaCy and of files, looked up by text."""

import os
import pickle
import re
from pathlib import Path

import pytest
import srsly

from tests.parsing import CAT, DOG, needs_spacy, sentence, tree, write
from tstmeta.models import fetching
from tstmeta.models.parses import MODEL, English, Word, read_conllu, trees
from tstmeta.schema import TstmetaError

HI = "Hi/0/root !/1/punct"
BOTH = sentence(CAT) + sentence(DOG)


def test_a_file_is_read_once_and_anew_when_it_changes(tmp_path):
    path = write(tmp_path / "a.conllu", sentence(CAT))
    before = trees(path)
    assert trees(path) is before
    assert before.find(" the cat\n sees  a dog ") == tree(CAT)  # whatever its white space
    with pytest.raises(TstmetaError, match=r"has no parse of 'the cat the .*…': parse it"):
        before.find("the cat " * 40)
    write(tmp_path / "a.conllu", sentence(DOG))
    os.utime(path, ns=(1, 1))
    after = trees(path)
    assert after.identity != before.identity
    assert after.find("the dog sees a cat") == tree(DOG)


@needs_spacy
def test_spacy_parses_what_no_file_has():
    parser = trees()
    assert trees() is parser
    assert re.fullmatch(r"en_core_web_sm-3\.8\.0\+spacy-[\d.]+", parser.identity)
    found = parser.find(" Dr. Smith\nwent  home. It's late ")  # whatever its white space
    assert " ".join(word.form for word in found) == "Dr. Smith went home . It 's late"
    assert [word.head for word in found] == [2, 3, 0, 3, 3, 7, 0, 7]
    assert found[1] == Word("Smith", "PROPN", 3, "nsubj")
    assert parser.find("\n") == ()


@needs_spacy
def test_a_tree_does_not_depend_on_the_batch():
    texts = ["i dont no if its true , but ok", "Stop!!", "", *(f"He left {n} dogs." for n in "ab")]
    alone = [trees().find(text) for text in texts]
    trees().prepare(texts[::-1])
    assert [trees().find(text) for text in texts] == alone


@needs_spacy
def test_nothing_is_unpickled(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a pickle")

    for module, name in ((pickle, "loads"), (pickle, "load"), (srsly, "pickle_loads")):
        monkeypatch.setattr(module, name, refuse)
    folder = fetching.folder(MODEL)
    assert English(folder).find("It is so.")[0].relation == "nsubj"
    assert not any(b"pickle" in path.read_bytes() for path in folder.rglob("*.cfg"))


def test_the_sentences_of_a_document_are_one_text_with_several_roots(tmp_path):
    lines = [sentence(HI, "newdoc id = 1", text="Hi!"), sentence(CAT), sentence(DOG, "newdoc")]
    trees = read_conllu(tmp_path / write(tmp_path / "a", *lines))
    both = trees["Hi! the cat sees a dog"]
    assert both[:2] == tree(HI)
    assert [word.head for word in both] == [0, 1, 4, 5, 0, 7, 5]
    assert trees["the dog sees a cat"] == tree(DOG)


def test_of_equal_texts_the_largest_kind_counts_and_then_the_first(tmp_path):
    other = CAT.replace("5/det", "3/dep")
    lines = [sentence(other), sentence(DOG), sentence(CAT, "newdoc"), sentence(DOG, "newdoc")]
    trees = read_conllu(tmp_path / write(tmp_path / "a", *lines))
    assert trees["the cat sees a dog"] == tree(CAT)
    trees = read_conllu(tmp_path / write(tmp_path / "a", sentence(other), sentence(CAT)))
    assert trees["the cat sees a dog"] == tree(other)


def test_a_text_that_is_not_written_is_that_of_its_tokens(tmp_path):
    rows = [
        "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_",
        "1\tdo\tdo\tAUX\t_\t_\t3\taux\t_\t_",
        "2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_",
        "2.1\tyou\tyou\tPRON\t_\t_\t_\t_\t3:nsubj\t_",
        "3\tgo\tgo\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No",
        "4\t!\t!\tPUNCT\t_\t_\t3\tpunct\t_\tSpaceAfter=No\n",
        "1\tnow\tnow\tADV\t_\t_\t0\troot\t_\t_",
    ]
    path = tmp_path / "a"
    path.write_text("\r\n".join(["# newdoc", *rows]) + "\r\n", encoding="utf-8-sig")
    both, first, _ = read_conllu(path).items()
    assert (both[0], first[0]) == ("don't go!now", "don't go!")
    assert first[1][1] == Word("n't", "PART", 3, "advmod")
    assert len(first[1]) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOTH.replace("\tdog\t", " dog ", 1), "does not contain 10 columns.*CoNLL-U writer"),
        (BOTH.replace("_\t0\troot", "_\t_\troot"), "'the' .* not lead to a root.*parse the text"),
        (BOTH.replace("_\t0\troot", "_\t5\troot"), "'the' .* not lead to a root.*parse the text"),
        ("\n\n", "no word.*CoNLL-U writer"),
    ],
)
def test_a_fault_is_named_with_its_sentence_and_what_to_do(tmp_path, text, words):
    path = write(tmp_path / "broken.conllu", text)
    with pytest.raises(TstmetaError, match=rf"broken.conllu.*, sentence 1: .*{words}"):
        read_conllu(Path(path))
