"""BERTScore: the library's numbers, whatever the batch; words after the colon; what goes wrong."""

import shutil

import bert_score
import numpy as np
import pytest
import torch
from bert_score.utils import model2layers
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.metrics import values
from tests.models import tiny_encoder
from tests.models.tiny_encoder import TEXTS
from tstmeta.metrics.bertscore import LAYERS, BertScore, greedy
from tstmeta.models.encoders import MINILM, TokenVectors

PAIRS = [(a, b) for a in TEXTS for b in TEXTS[::2]]
PARTS = ("p", "r", "f1")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Encoders with a maximum length, and one without (as DeBERTa's tokenizer is)."""
    root = tmp_path_factory.mktemp("bertscore")
    kinds = {"bert": True, "roberta": True, "deberta": False}
    return {
        kind: tiny_encoder.folder(root / kind, kind, limit=limit, width=0.15)
        for kind, limit in kinds.items()
    }


def library(where, layer, pairs, part, **options):
    """The oracle, a pair at a time: in its batches padding can count as a match."""
    upstream = bert_score.BERTScorer(
        model_type=str(where), num_layers=layer, nthreads=0, device="cpu", **options
    )
    upstream._tokenizer.model_max_length = min(upstream._tokenizer.model_max_length, 512)
    sources, outputs = (list(side) for side in zip(*pairs, strict=True))
    return upstream.score(outputs, sources, batch_size=1)[PARTS.index(part)].numpy()


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta"])
@pytest.mark.parametrize("part", PARTS)
def test_the_numbers_are_the_librarys(folders, kind, part):
    metric = BertScore(f"{part}+layer2+{folders[kind]}")
    wanted = library(folders[kind], 2, PAIRS, part)
    assert np.abs(values(metric, PAIRS) - wanted).max() < 1e-5
    assert np.ptp(wanted) > 0.1


@pytest.mark.parametrize("part", PARTS)
def test_idf_weights_are_the_librarys(folders, tmp_path, part):
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS[:5]), encoding="utf-8")
    metric = BertScore(f"idf={texts}+{part}+layer2+{folders['bert']}")
    wanted = library(folders["bert"], 2, PAIRS, part, idf=True, idf_sents=TEXTS[:5])
    plain = values(BertScore(f"{part}+layer2+{folders['bert']}"), PAIRS)
    assert np.abs(values(metric, PAIRS) - wanted).max() < 1e-5
    assert np.abs(plain - wanted).max() > 1e-3


def test_layers_are_the_librarys():
    names = {"deberta-xlarge-mnli": "microsoft/deberta-xlarge-mnli"}
    names |= {"mbert": "bert-base-multilingual-cased", "mpnet": "microsoft/mpnet-base"}
    for name in sorted({*LAYERS} - {MINILM.name}):
        assert LAYERS[name] == model2layers[names.get(name, name)]
    six = {
        layer
        for name, layer in model2layers.items()
        if name.startswith("google/bert_unc") and "_L-6_" in name
    }
    assert six == {LAYERS[MINILM.name]}


def test_converted_weights_are_what_their_folder_is_called(folders, tmp_path):
    folder = tmp_path / "deberta-xlarge-mnli"
    shutil.copytree(folders["deberta"], folder)
    assert BertScore(str(folder)).layer == 40


rows = st.integers(0, 2**31).map(np.random.default_rng)


@settings(max_examples=40, deadline=None)
@given(rows, st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=8))
def test_matching_is_what_two_loops_say_even_where_all_cosines_are_negative(rng, shapes):
    weights = rng.random(20).astype(np.float32)

    def text(length, away):
        vectors = away + 0.3 * rng.standard_normal((length, 4))
        built = torch.from_numpy(vectors.astype(np.float32))
        return TokenVectors(built, rng.integers(0, 20, length), length)

    away = np.array([1.0, 0, 0, 0])
    pairs = [(text(m, away), text(n, -away if rng.random() < 0.5 else away)) for m, n in shapes]
    result = greedy([a for a, _ in pairs], [b for _, b in pairs], weights)
    for (a, b), first in zip(pairs, result, strict=True):
        sides = [t.vectors.numpy() / np.linalg.norm(t.vectors, axis=1)[:, None] for t in (a, b)]
        table = sides[1] @ sides[0].T
        p = np.average([max(row) for row in table], weights=weights[b.ids])
        r = np.average([max(column) for column in table.T], weights=weights[a.ids])
        assert first.p == pytest.approx(p, abs=1e-5)
        assert first.r == pytest.approx(r, abs=1e-5)
