"""Word vectors of files and of encoders, and how rare words are."""

import json
import math
from pathlib import Path

import pytest

from tests.models import tiny_encoder
from tests.models.tiny_encoder import TEXTS
from tstmeta.metrics.bertscore import BertScore
from tstmeta.models import encoders, vectors
from tstmeta.models.causal import MissingModel, backbone
from tstmeta.models.vectors import VectorFile, read_counts
from tstmeta.schema import TstmetaError

GLOVE = "the 1 0\nsoup 0.5 -2e-1\nn't 3 4\nä 7 8\n. . . 9 9\nsoup 100 100\n"


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows(file: VectorFile, text: str) -> list[list[float]]:
    [places] = file.places([text])
    return file.vectors(places).tolist() if len(places) else []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("soup The soup", [[0.5, -0.2], [1, 0], [0.5, -0.2]]),
        ("don't", [[3, 4]]),
        ("Ä unknown", [[7, 8]]),
        ("", []),
    ],
)
def test_words_get_the_numbers_of_their_line(tmp_path, text, wanted):
    assert rows(VectorFile(written(tmp_path / "glove.txt", GLOVE)), text) == wanted


@pytest.mark.parametrize("text", [GLOVE, f"5 2\n{GLOVE}", GLOVE.replace("\n", " \n"), GLOVE[:-1]])
def test_headers_and_spaces_at_the_end_of_lines_are_no_numbers(tmp_path, text):
    file = VectorFile(written(tmp_path / "any.vec", text))
    assert rows(file, "the soup") == [[1, 0], [0.5, -0.2]]
    assert set(file._index) == {"the", "soup", "n't", "ä", ". . ."}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("b 1 2\na 1\n", "line 'a 1': not a word and 2 numbers"),
        ("alone\n", "line 'alone': not a word and its numbers"),
        ("b 1 2\n\na inf 1\n", "line 'a inf 1': not a word"),
        ("The food was good.\nSo was the soup.\n", "line 'The food was good.': not"),  # prose
        ("", "holds no word vectors"),
    ],
)
def test_a_line_that_is_wrong_is_named_with_its_file(tmp_path, text, words):
    file = VectorFile(written(tmp_path / "bad.txt", text))
    with pytest.raises(TstmetaError, match=f"bad.txt.*{words}"):
        rows(file, "a")


def test_texts_are_lines_that_are_not_blank_and_a_file_without_any_is_refused(tmp_path):
    file = written(tmp_path / "texts.txt", b"\xef\xbb\xbfone two\n\n  three \r\n")
    assert vectors.texts_of(file) == ["one two", "three"]
    for content, words in ((b"\n \n", "has no text"), (b"\xff", "not UTF-8")):
        with pytest.raises(MissingModel, match=words):
            vectors.texts_of(written(tmp_path / "texts.txt", content))
    with pytest.raises(TstmetaError, match=r"cannot read .*gone\.txt"):
        VectorFile(tmp_path / "gone.txt").places(["a"])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It wasn't GOOD.", ["it", "was", "n't", "good", "."]),
        ("वह अच्छा है।", ["वह", "अच्छा", "है", "।"]),
    ],
)
def test_words_are_cut_in_latin_and_devanagari_script(text, wanted):
    assert vectors.words(text) == wanted


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tiny_encoder.folder(tmp_path_factory.mktemp("idf") / "bert", "bert", limit=True)
    return encoders.load(backbone(str(folder)))


def test_a_table_says_the_same_as_the_texts_that_it_was_counted_in(encoder, tmp_path):
    counts = vectors.frequencies(encoder.ids(TEXTS))
    tokens = encoder.tokenizer.convert_ids_to_tokens(list(counts.counts))
    facts = {
        "texts": counts.total,
        "tokens": dict(zip(tokens, counts.counts.values(), strict=True)),
    }
    table = written(tmp_path / "table.json", json.dumps(facts))
    texts = written(tmp_path / "texts.txt", "\n".join(TEXTS))
    assert read_counts(encoder, table) == counts
    words = [f"idf={path}+layer2+{encoder.model.where}" for path in (texts, table)]
    weights = [BertScore(option)._weights for option in words]
    assert weights[0].tolist() == weights[1].tolist()
    assert weights[0].max() == pytest.approx(math.log(counts.total + 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "is no table of counts"),
        ('{"texts": 3, "tokens": {"cat": 4}}', "is no table of counts"),
        ('{"texts": 3, "tokens": {"no such token": 1}}', "made for another encoder"),
    ],
)
def test_what_is_no_table_of_this_encoder_is_refused(encoder, tmp_path, text, message):
    with pytest.raises(MissingModel, match=message):
        read_counts(encoder, written(tmp_path / "table.json", text))
