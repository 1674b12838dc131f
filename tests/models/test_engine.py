"""The engine against one sequence at a time, the full softmax and float64; what it must refuse."""

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models import tiny
from tstmeta.models import engine as engine_module
from tstmeta.models.causal import Continuation
from tstmeta.models.forest import Row
from tstmeta.schema import TstmetaError

NEAR = 1e-4


@cache
def network(kind):
    return tiny.network(kind, seed=1)


def engine(kind, **options):
    return tiny.Engine(network(kind), tiny.tokenizer(tiny.FAMILY[kind]), f"tiny-{kind}", **options)


@cache
def truth(kind, seed):
    return [tiny.oracle(network(kind), request) for request in tiny.draw(seed)]


def off(subject, requests):
    """The distance from the oracle."""
    wanted = [tiny.oracle(subject.model, request) for request in requests]
    return tiny.distance(tiny.answers(subject, requests), wanted)


@settings(max_examples=30)
@given(
    st.sampled_from(tiny.KINDS),
    st.integers(0, 4),
    st.sampled_from([1, 7, 64, 300, 10**6]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_any_layout_and_any_order_agree_with_brute_force(kind, seed, budget, reuse, random):
    requests, wanted = tiny.draw(seed), truth(kind, seed)
    order = list(range(len(requests)))
    random.shuffle(order)
    subject = engine(kind, budget=budget, reuse=reuse)
    assert subject.reuse == reuse
    answers = tiny.answers(subject, [requests[place] for place in order])
    assert tiny.distance(answers, [wanted[place] for place in order]) < NEAR


def test_the_vocabulary_may_be_cut_into_slices_and_positions_into_chunks(kind, monkeypatch):
    monkeypatch.setattr(engine_module, "_SLICE", 7)
    monkeypatch.setattr(engine_module, "_LOGITS", 21)  # three positions a time
    assert off(engine(kind), tiny.draw(0)) < NEAR


@pytest.mark.parametrize(
    ("context", "tokens", "words"),
    [
        ((), (1, 2), "at least one token of context"),
        ((5,), (), "and one to score"),
        ((5,) * 40, (5,) * 58, r"40 tokens of context and 58 to score do not fit .* 96"),
        ((1,), (320,), "token 320 .* do the tokenizer and the weights belong together"),
    ],
)
def test_a_request_that_cannot_be_answered_is_refused(context, tokens, words):
    with pytest.raises(TstmetaError, match=words):
        next(engine("llama").logprobs([Continuation(context, tokens)]))


def test_what_is_known_is_left_out_and_the_rest_keeps_its_bytes(kind):
    subject, requests = engine(kind, budget=64), tiny.draw(1)
    assert list(subject.logprobs([])) == []
    everything = tiny.answers(subject, requests)
    for known in ([0], range(0, len(requests), 2), range(len(requests))):
        batches = subject.logprobs(requests, known=set(known))
        answers = {place: values for batch in batches for place, values in batch}
        assert sorted(answers) == sorted(set(range(len(requests))) - set(known))
        for place, values in answers.items():
            assert values.tobytes() == everything[place].tobytes()


def test_what_is_shared_is_computed_once():
    context = tuple(range(30, 50))
    requests = [Continuation(context, (token, 7, 8)) for token in range(10, 19)]
    for reuse, computed in [(True, 20 + 9 * 2), (False, 9 * 22)]:
        subject = engine("llama", reuse=reuse, budget=10**6)
        tiny.answers(subject, [*requests, *requests[:3]])  # equal requests, too
        assert subject.computed == computed


@torch.inference_mode()
def in_bfloat16(model, request):
    """log softmax of logits in bfloat16 as torch itself rounds them, at the tokens of a request."""
    ids = torch.tensor([[*request.context, *request.tokens[:-1]]])
    logits = model(ids, use_cache=False).logits[0].bfloat16()
    table = logits.float().log_softmax(-1)[len(request.context) - 1 :]
    return table[torch.arange(len(request.tokens)), list(request.tokens)].numpy()


@pytest.mark.parametrize("reuse", [True, False])
def test_rounded_logits_of_a_float32_model_are_those_that_torch_rounds(kind, reuse):
    # the same numbers before rounding, so a tie apart the same after it: an ulp of a logit of
    # about 8 is 2 ** -5, hence nearly all must agree to 1e-4
    requests = tiny.draw(0)
    wanted = np.concatenate([in_bfloat16(network(kind), request) for request in requests])
    plain, rounded = (
        np.concatenate(tiny.answers(engine(kind, reuse=reuse, rounded=rounded), requests))
        for rounded in (False, True)
    )
    assert np.mean(np.abs(rounded - wanted) < NEAR) > 0.97
    assert np.abs(rounded - wanted).max() < 2**-4
    assert np.abs(plain - wanted).max() > 1e-3


def test_a_batch_that_does_not_fit_is_an_error_with_the_remedy():
    def full(**inputs):
        raise torch.OutOfMemoryError

    llama = tiny.engine("llama")
    llama.body = full
    with pytest.raises(TstmetaError, match=r"does not suffice for \d+ tokens .* budget=\d+"):
        tiny.answers(llama, tiny.draw(0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_model_that_caps_or_scales_its_logits_is_refused(dtype):
    # a high cap moves hardly a logit of the trial
    for kind, change in (("llama", {"final_logit_softcapping": 1e3}), ("granite", {})):
        with pytest.raises(TstmetaError, match="scaled or capped"):
            tiny.engine(kind, dtype=dtype, **({"logits_scaling": 4.0} | change))
    assert tiny.engine("granite", dtype=dtype, logits_scaling=1.0).reuse


def test_a_model_whose_numbers_are_none_or_that_takes_other_arguments_is_refused():
    model = tiny.network("llama")
    with torch.no_grad():
        model.model.layers[1].mlp.down_proj.weight.fill_(float("nan"))
    with pytest.raises(TstmetaError, match="no numbers"):
        tiny.Engine(model, tiny.tokenizer(), "broken")
    model.model.forward = lambda input_ids: None
    with pytest.raises(TstmetaError, match=r"does not take token ids .* \(TypeError: "):
        tiny.Engine(model, tiny.tokenizer(), "other")


def test_layers_that_do_not_see_the_whole_text_turn_trees_off():
    subject, requests = tiny.engine("mistral"), tiny.draw(0)
    assert not subject.reuse
    assert off(subject, requests) < NEAR
    wide = tiny.network("mistral", sliding_window=None)
    assert tiny.Engine(wide, subject.tokenizer, "wide").reuse
    # the window does change the numbers, so the oracle knows of it
    other = [tiny.oracle(wide, request) for request in requests]
    assert tiny.distance(tiny.answers(subject, requests), other) > 0.1


def test_trees_that_are_wrong_are_turned_off(monkeypatch):
    monkeypatch.setattr(Row, "sees", lambda row: np.tri(row.size, dtype=bool))
    subject = tiny.engine("llama", rounded=True)
    assert (subject.reuse, subject.rounded, subject.computed) == (False, True, 0)
    subject.rounded = False
    assert off(subject, tiny.draw(0)) < NEAR
