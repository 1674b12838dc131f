"""Looking parses up by text, and parsing with a UDPipe model."""

import os
from pathlib import Path

import pytest

from tests.parsing import CAT, DOG, sentence, train_udpipe, tree, write
from tstmeta.models.parses import MissingParse, trees
from tstmeta.schema import TstmetaError


@pytest.fixture(scope="module")
def udpipe(tmp_path_factory):
    return train_udpipe(tmp_path_factory.mktemp("udpipe") / "tiny.udpipe")


def test_a_text_is_found_whatever_its_white_space(tmp_path):
    parser = trees(write(tmp_path / "a.conllu", sentence(CAT), sentence(DOG)))
    assert parser.find(" the cat\n sees  a dog ") == tree(CAT)


def test_a_text_without_a_parse_is_told_by_its_beginning(tmp_path):
    parser = trees(write(tmp_path / "a.conllu", sentence(CAT)))
    with pytest.raises(MissingParse) as error:
        parser.find("the cat " * 40)
    assert str(error.value).startswith("a.conllu has no parse of 'the cat the cat ")
    assert "...': parse the text and add it" in str(error.value)
    assert len(str(error.value)) < 150


def test_a_file_is_read_once_and_anew_when_it_changes(tmp_path):
    path = write(tmp_path / "a.conllu", sentence(CAT))
    before = trees(path)
    assert trees(path) is before
    write(tmp_path / "a.conllu", sentence(DOG))
    os.utime(path, ns=(1, 1))
    after = trees(path)
    assert after.identity != before.identity
    assert after.find("the dog sees a cat") == tree(DOG)


def test_udpipe_parses_a_text_of_several_sentences(udpipe):
    parser = trees(udpipe)
    words = parser.find("the cat likes a dog .\nthe dog sees the food .")
    assert [word.form for word in words][:4] == ["the", "cat", "likes", "a"]
    assert [place for place, word in enumerate(words, 1) if not word.head] == [3, 9]
    assert (words[8].lemma, words[8].upos) == ("see", "VERB")
    assert parser.identity.startswith("udpipe@")


@pytest.mark.parametrize(
    "text",
    [
        "the cat likes a dog.",
        "the cat likes a dog. the dog sees the food.\n\nthe bad dog!  a cat likes the old food.",
        "बिल्ली खाना देखती है। कुत्ता खाता है।",
    ],
)
def test_what_udpipe_writes_is_read_as_what_it_says(udpipe, tmp_path, text):
    from ufal.udpipe import Model, Pipeline

    model = Model.load(udpipe)
    written = Pipeline(model, "tokenize", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
    path = tmp_path / "written.conllu"
    path.write_text(written.process("the dog sees a cat.") + written.process(text))
    words = trees(str(path))
    assert words.find(text) == trees(udpipe).find(text)
    assert words.find("the dog sees a cat.") == trees(udpipe).find("the dog sees a cat.")


@pytest.mark.parametrize("text", ["the\0cat sees", "the cat \ud800"])
def test_marks_that_are_no_text_end_neither_text_nor_process(udpipe, text):
    assert [word.form for word in trees(udpipe).find(text)][:2] == ["the", "cat"]


def test_a_text_without_a_word_is_told(udpipe):
    with pytest.raises(MissingParse, match="UDPipe cannot parse '': no word"):
        trees(udpipe).find("\r\r")


def test_a_model_without_a_parser_says_what_it_lacks(tmp_path):
    parser = trees(train_udpipe(tmp_path / "tags.udpipe", parser=False))
    with pytest.raises(MissingParse, match=r"tags.udpipe cannot parse texts: take one with"):
        parser.find("the cat sees a dog")


@pytest.mark.parametrize("keep", [0, 100, 20_000])
def test_a_broken_model_is_told(udpipe, tmp_path, keep):
    path = tmp_path / "cut.udpipe"
    path.write_bytes(Path(udpipe).read_bytes()[:keep])
    with pytest.raises(TstmetaError, match="is no UDPipe model: fetch it again"):
        trees(str(path))
