"""Counts of tokens: what is counted, the file, and what is refused."""

import math

import pytest
from bert_score.utils import get_idf_dict

from tests.metrics import needs_encoder
from tests.models import tiny_encoder
from tests.models.tiny_encoder import TEXTS
from tstmeta import data
from tstmeta.metrics.bertscore import BertScore
from tstmeta.models import encoders, idf
from tstmeta.models.causal import MissingModel, backbone
from tstmeta.models.encoders import MINILM
from tstmeta.schema import TstmetaError


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tiny_encoder.folder(tmp_path_factory.mktemp("idf") / "bert", "bert", limit=True)
    return encoders.load(backbone(str(folder)))


def test_a_table_says_the_same_as_the_texts_that_it_was_counted_in(encoder, tmp_path):
    table = tmp_path / "new" / "table.json"
    counts = idf.write(encoder, TEXTS, table)
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS), encoding="utf-8")
    assert idf.of_file(encoder, table) == counts
    words = [f"idf={path}+layer2+{encoder.model.where}" for path in (texts, table)]
    weights = [BertScore(each)._weights for each in words]
    assert weights[0].tolist() == weights[1].tolist()
    assert weights[0].max() == pytest.approx(math.log(counts.total + 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "is no table of counts"),
        ('{"texts": 3, "tokens": {}}', "is no table of counts"),
        ('{"texts": 3, "tokens": {"cat": 4}}', "is no table of counts"),
        ('{"texts": true, "tokens": {"cat": true}}', "is no table of counts"),
        ('{"texts": 3, "tokens": {"no such token": 1}}', "made for another encoder"),
    ],
)
def test_what_is_no_table_of_this_encoder_is_refused(encoder, tmp_path, text, message):
    path = tmp_path / "table.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MissingModel, match=message):
        idf.of_file(encoder, path)


def test_without_a_text_or_a_file_there_is_no_table(encoder, tmp_path):
    with pytest.raises(TstmetaError, match="no text to count"):
        idf.write(encoder, [], tmp_path / "table.json")
    with pytest.raises(MissingModel, match="cannot read"):
        idf.of_file(encoder, tmp_path / "table.json")


@needs_encoder
def test_weights_of_the_shipped_table_are_the_librarys():
    sources = [text for name in idf.SETS for text in data.load(name).items["source"].unique()]
    encoder = encoders.load(MINILM)
    wanted = get_idf_dict(sources, encoder.tokenizer, nthreads=0)
    weights = BertScore("idf")._weights
    assert weights.tolist() == pytest.approx(
        [wanted[token] for token in range(len(weights))], abs=1e-5
    )
