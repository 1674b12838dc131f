"""On a GPU models give the values that they give on a CPU: 1e-4 in float32, 0.1 in bfloat16.

(bfloat16 has 8 bits of precision; log-probabilities of these models go down to about -20.)
"""

import copy

import numpy as np
import pytest
import torch

from tests.models import tiny
from tstmeta.models import encoders
from tstmeta.models.encoders import MINILM

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU on this machine")
TEXTS = ["The food was awful.", "I had a wonderful day.", "Grüße aus Köln!", "a " * 300]


@pytest.mark.parametrize(("dtype", "most"), [(torch.float32, 1e-4), (torch.bfloat16, 0.1)])
@pytest.mark.parametrize("kind", tiny.KINDS)
def test_the_scorer_gives_the_log_probabilities_of_a_cpu(kind, dtype, most):
    family = tiny.tokenizer(tiny.FAMILY[kind])
    model = tiny.network(kind, dtype=dtype)
    requests = tiny.draw(0)
    here = tiny.answers(tiny.Engine(model, family, kind), requests)
    there = tiny.answers(tiny.Engine(copy.deepcopy(model).cuda(), family, kind), requests)
    assert tiny.distance(there, here) < most


def test_the_encoder_gives_the_vectors_of_a_cpu():
    here, there = (encoders.Encoder(MINILM, device) for device in ("cpu", "cuda"))
    for ours, theirs in zip(here.sentences(TEXTS), there.sentences(TEXTS), strict=True):
        assert np.abs(ours.vector - theirs.vector).max() < 1e-4
    for ours, theirs in zip(here.tokens(TEXTS, 5), there.tokens(TEXTS, 5), strict=True):
        assert np.abs(ours.vectors.cpu().numpy() - theirs.vectors.cpu().numpy()).max() < 1e-4
