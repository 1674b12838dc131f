"""Counts of tokens: what is counted, the file, and what is refused."""

import json
import math

import pytest
from bert_score.utils import get_idf_dict

from tests.models import tiny_encoder
from tests.models.tiny_encoder import TEXTS
from tstmeta import data
from tstmeta.metrics.bertscore import BertScore
from tstmeta.models import encoders, idf
from tstmeta.models.causal import MissingModel, backbone
from tstmeta.models.encoders import MINILM
from tstmeta.schema import TstmetaError

embedded = pytest.mark.skipif(bool(encoders.missing(MINILM)), reason="no embedded encoder here")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tiny_encoder.folder(tmp_path_factory.mktemp("idf") / "bert", "bert", limit=True)
    return encoders.load(backbone(str(folder)))


def test_a_token_counts_once_a_text(encoder):
    texts = ["cat cat", "cat dog", "dog bird bird"]
    rows = [set(row) for row in encoder.ids(texts)]
    found = idf.counted(encoder, texts)
    assert found.total == 3
    assert found.counts == {one: sum(one in row for row in rows) for one in set().union(*rows)}
    assert found.counts[encoder.tokenizer.cls_token_id] == 3


def test_a_table_says_the_same_as_the_texts_that_it_was_counted_in(encoder, tmp_path):
    made = idf.write(encoder, TEXTS, tmp_path / "made" / "table.json")
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS), encoding="utf-8")
    assert idf.of_file(encoder, tmp_path / "made" / "table.json") == made
    words = [
        f"idf={path}+layer2+{encoder.model.where}" for path in (texts, tmp_path / "made/table.json")
    ]
    weights = [BertScore(one)._weights for one in words]
    assert weights[0].tolist() == weights[1].tolist()
    assert weights[0].max() == pytest.approx(math.log(made.total + 1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "is no table of counts"),
        ("{", "is no table of counts"),
        ('{"texts": 3, "tokens": {}}', "is no table of counts"),
        ('{"texts": 3, "tokens": {"cat": 4}}', "is no table of counts"),
        ('{"texts": 3, "tokens": {"cat": 0}}', "is no table of counts"),
        ('{"texts": true, "tokens": {"cat": true}}', "is no table of counts"),
        ('{"texts": 3, "tokens": {"no such token": 1}}', "made for another encoder"),
    ],
)
def test_what_is_no_table_of_this_encoder_is_refused(encoder, tmp_path, text, said):
    path = tmp_path / "table.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MissingModel, match=said):
        idf.of_file(encoder, path)


def test_without_a_text_or_a_file_there_is_no_table(encoder, tmp_path):
    with pytest.raises(TstmetaError, match="no text to count"):
        idf.write(encoder, [], tmp_path / "table.json")
    with pytest.raises(MissingModel, match="cannot read"):
        idf.of_file(encoder, tmp_path / "table.json")


@embedded
def test_the_shipped_table_is_sound_and_of_the_embedded_encoder():
    found = idf.of_file(encoders.load(MINILM), idf.SHIPPED)
    tokens = json.loads(idf.SHIPPED.read_text(encoding="utf-8"))["tokens"]
    assert len(found.counts) == len(tokens) > 1000
    assert tokens["[CLS]"] == tokens["[SEP]"] == found.total
    assert min(tokens["the"], tokens["."]) > found.total / 2


@embedded
def test_weights_of_the_shipped_table_are_the_librarys():
    sources = [text for name in idf.SETS for text in data.load(name).items["source"].unique()]
    encoder = encoders.load(MINILM)
    wanted = get_idf_dict(sources, encoder.tokenizer, nthreads=0)
    found = BertScore("idf")._weights
    assert found.tolist() == pytest.approx([wanted[token] for token in range(len(found))], abs=1e-5)
