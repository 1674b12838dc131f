"""Cosines of sentence vectors and of their parts, held against sentence-transformers and numpy."""

import json
import math
import shutil

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import pairwise_cos_sim

from tests.models import tiny_encoder
from tests.models.tiny_encoder import TEXTS
from tstmeta.metrics.base import Request
from tstmeta.metrics.sentences import FEATURES, Cosine, S3Bert
from tstmeta.models import encoders
from tstmeta.models.encoders import MINILM
from tstmeta.schema import Status, TstmetaError

PAIRS = [(a, b) for a in TEXTS for b in TEXTS[::2]]
#: Three parts of a vector of 32 numbers; 17 are left over.
SIZES = {"negations": 4, "roles": 10, "one": 1}
embedded = pytest.mark.skipif(
    bool(encoders.missing(MINILM, "sentence_transformers")), reason="no embedded encoder here"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tiny_encoder.pooled(tmp_path_factory.mktemp("sentences") / "tiny", normalize=False)
    (made / "features.json").write_text(json.dumps(SIZES), encoding="utf-8")
    return made


def scored(metric, *pairs):
    units = [(Request(output, (against,), against),) for against, output in pairs]
    return [score for unit in metric.score(units) for score in unit]


def values(metric, pairs):
    return np.array([one.value for one in scored(metric, *pairs)])


def upstream(where, pairs):
    model = SentenceTransformer(str(where), device="cpu")
    return [model.encode(list(side), show_progress_bar=False) for side in zip(*pairs, strict=True)]


def test_cosine_is_that_of_sentence_transformers(folder):
    wanted = pairwise_cos_sim(*upstream(folder, PAIRS)).numpy()
    assert np.abs(values(Cosine(str(folder)), PAIRS) - wanted).max() < 1e-5
    assert np.ptp(wanted) > 0.2


@embedded
def test_the_embedded_cosine_is_that_of_sentence_transformers():
    wanted = pairwise_cos_sim(*upstream(MINILM.where, PAIRS)).numpy()
    assert np.abs(values(Cosine(), PAIRS) - wanted).max() < 1e-5


def test_batches_order_and_repeats_change_no_score(folder):
    metric, alone = Cosine(str(folder)), []
    for pair in PAIRS:
        encoders.forget()
        alone.append(scored(metric, pair)[0].value)
    encoders.forget()
    together = values(metric, [*PAIRS[::-1], *PAIRS])
    assert np.abs(together[: len(PAIRS)][::-1] - alone).max() < 1e-5
    assert np.abs(together[len(PAIRS) :] - alone).max() < 1e-5


@embedded
@pytest.mark.parametrize("odd", ["\u200b", "\ufeff\u00ad", "\x01\x02", "\ufffd"])
def test_a_text_without_a_token_is_as_a_blank_one(odd):
    found = scored(Cosine(), ("the soup", odd), (odd, "the soup"), (odd, odd), ("!", "?"))
    assert [one.status for one in found] == [Status.EMPTY] * 3 + [Status.OK]
    assert [(one.value, one.detail) for one in found[:3]] == [(0, "a text without a token")] * 3


def test_a_batch_with_odd_texts_loses_nothing_else(folder):
    odd = scored(Cosine(str(folder)), ("a", "b"), ("", "b"), ("so cold " * 9000, "a"), ("a", "\n"))
    wanted = [Status.OK, Status.EMPTY, Status.TRUNCATED, Status.EMPTY]
    assert [one.status for one in odd] == wanted
    assert odd[2].detail.endswith(" tokens, first 24 used")
    assert odd[0].value == pytest.approx(scored(Cosine(str(folder)), ("a", "b"))[0].value, abs=1e-5)


@pytest.mark.parametrize(
    ("feature", "part"),
    [
        ("", slice(None)),
        ("global", slice(None)),
        ("negations", slice(0, 4)),
        ("roles", slice(4, 14)),
        ("one", slice(14, 15)),
        ("residual", slice(15, None)),
    ],
)
def test_a_feature_is_the_cosine_of_its_part_of_the_vector(folder, feature, part):
    words = f"{feature}+{folder}" if feature else str(folder)
    ours, theirs = (side[:, part].astype(float) for side in upstream(folder, PAIRS))
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    wanted = (ours * theirs).sum(1) / lengths
    assert np.abs(values(S3Bert(words), PAIRS) - wanted).max() < 1e-5


def test_the_parts_differ_from_each_other(folder):
    found = [values(S3Bert(f"{one}+{folder}"), PAIRS) for one in ("global", *SIZES, "residual")]
    for place, one in enumerate(found):
        assert all(np.abs(one - other).max() > 0.01 for other in found[:place])


def test_without_a_file_of_features_they_are_those_of_the_papers_models(tmp_path, folder):
    plain = tmp_path / "plain"
    shutil.copytree(folder, plain)
    (plain / "features.json").unlink()
    assert len(FEATURES) == 15
    assert S3Bert(f"wwlk+{plain}").part == slice(224, 240)
    assert S3Bert(f"residual+{plain}").part == slice(240, None)
    [found] = scored(S3Bert(f"wwlk+{plain}"), ("a", "b"))
    assert found.status is Status.ERROR
    assert "its vectors have 32 numbers, too few for features that end at 240" in found.detail


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1]", "no object of feature -> size"),
        ("{", "no object of feature -> size"),
        ('{"a": "many"}', "no object of feature -> size"),
        ("{}", "a size of at least 1"),
        ('{"a": 0}', "a size of at least 1"),
        ('{"residual": 3}', "none may be called global"),
    ],
)
def test_a_file_of_features_with_a_fault_is_told(tmp_path, content, said):
    (tmp_path / "features.json").write_text(content, encoding="utf-8")
    with pytest.raises(TstmetaError, match=said):
        S3Bert(str(tmp_path))


def test_features_that_fill_the_vector_leave_no_residual(tmp_path, folder):
    full = tmp_path / "full"
    shutil.copytree(folder, full)
    (full / "features.json").write_text('{"half": 16, "other": 16}', encoding="utf-8")
    assert scored(S3Bert(f"other+{full}"), ("a", "b"))[0].status is Status.OK
    [found] = scored(S3Bert(f"residual+{full}"), ("a", "b"))
    assert found.status is Status.ERROR


def test_s3bert_without_a_folder_says_where_to_get_one():
    metric = S3Bert()
    assert (metric.profile, metric.part) == ("real", slice(0, None))
    [found] = scored(metric, ("a", "b"))
    assert found.status is Status.ERROR
    assert "name the folder: s3bert:/path/folder" in found.detail
    assert str(metric.signature("source")) == "s3bert|basis:source|feature:global[0:]"


@pytest.mark.parametrize("kind", [Cosine, S3Bert])
def test_words_that_mean_nothing_are_told(kind):
    with pytest.raises(TstmetaError, match="names no option and no model"):
        kind("nonsense")


def test_a_vector_of_zeros_has_no_direction(folder, tmp_path, monkeypatch):
    silent = encoders.TextVector(np.zeros(32, dtype=np.float32), 3)
    monkeypatch.setattr(encoders.Encoder, "sentences", lambda self, texts: [silent] * len(texts))
    [found] = scored(Cosine(str(folder)), ("a", "b"))
    assert found.status is Status.INVALID
    assert math.isnan(found.value)


def test_labse_is_named_and_asks_for_its_download(monkeypatch):
    monkeypatch.setattr(encoders.hub, "here", lambda model: False)
    metric = Cosine("labse")
    [found] = scored(metric, ("a", "b"))
    assert found.status is Status.ERROR
    assert "hf download sentence-transformers/LaBSE" in found.detail
    assert (metric.profile, metric.languages) == ("real", ())


def test_signatures_tell_model_pooling_and_feature(folder):
    one, two = (str(S3Bert(f"{name}+{folder}").signature("source")) for name in ("one", "roles"))
    assert "|feature:one[14:15]|model:tiny@" in one
    assert "|feature:roles[4:14]|" in two
    cosine = str(Cosine(str(folder)).signature("reference"))
    assert cosine.startswith("cosine|basis:reference|model:tiny@")
    assert "|pooling:Transformer>Pooling@" in cosine
    assert str(folder) not in cosine
