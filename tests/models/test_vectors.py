"""Word vectors of files and of encoders, and how rare words are."""

from pathlib import Path

import pytest

from tstmeta.models import vectors
from tstmeta.models.vectors import VectorFile
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
        ("The soup", [[1, 0], [0.5, -0.2]]),
        ("soup the soup", [[0.5, -0.2], [1, 0], [0.5, -0.2]]),
        ("don't", [[3, 4]]),
        ("Ä unknown", [[7, 8]]),
        ("unknown", []),
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
        ("a 1 2\nb 1\n", "line 2: not a word and 2 numbers"),
        ("alone\n", "line 1: not a word and its numbers"),
        (b"a 1 2\n\xff\xfe 1 2\n", "line 2: .* in UTF-8"),
        ("b 1 2\na 1 x\n", "line 2: not a word"),
        ("b 1 2\n\na inf 1\n", "line 3: not a word"),
        ("The food was good.\nSo was the soup.\n", "line 1: not a word"),  # prose
        ("", "holds no word vectors"),
    ],
)
def test_a_line_that_is_wrong_is_named_with_its_file(tmp_path, text, words):
    file = VectorFile(written(tmp_path / "bad.txt", text))
    with pytest.raises(TstmetaError, match=f"bad.txt.*{words}"):
        rows(file, "a")


@pytest.mark.parametrize(
    "use", [lambda path: VectorFile(path).places(["a"]), vectors.texts_of, vectors.identity]
)
def test_a_file_that_is_not_there_is_named(tmp_path, use):
    with pytest.raises(TstmetaError, match=r"cannot read .*gone\.txt"):
        use(tmp_path / "gone.txt")


def test_texts_are_lines_that_are_not_blank(tmp_path):
    file = written(tmp_path / "texts.txt", b"\xef\xbb\xbfone two\n\n  three \r\n")
    assert vectors.texts_of(file) == ["one two", "three"]


@pytest.mark.parametrize(("content", "words"), [(b"\n \n", "has no text"), (b"\xff", "not UTF-8")])
def test_files_without_texts_are_refused(tmp_path, content, words):
    with pytest.raises(TstmetaError, match=words):
        vectors.texts_of(written(tmp_path / "texts.txt", content))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It wasn't GOOD.", ["it", "was", "n't", "good", "."]),
        ("वह अच्छा है।", ["वह", "अच्छा", "है", "।"]),
        ("সে ভালো॥", ["সে", "ভালো", "॥"]),
    ],
)
def test_words_are_cut_in_latin_devanagari_and_bengali_script(text, wanted):
    assert vectors.words(text) == wanted
