"""The engine against one sequence at a time, the full softmax and float64."""

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models import tiny
from tstmeta.models import engine as engine_module
from tstmeta.models import forest
from tstmeta.models.causal import Continuation, LanguageModel
from tstmeta.models.template import Template
from tstmeta.schema import TstmetaError

NEAR = 1e-4


@cache
def network(kind, attention="sdpa"):
    return tiny.network(kind, seed=1, attention=attention)


def engine(kind, attention="sdpa", **options):
    family = tiny.FAMILY[kind]
    name = f"tiny-{kind}"
    return tiny.Engine(network(kind, attention), tiny.tokenizer(family), name, **options)


@cache
def wanted(kind, seed):
    return [tiny.oracle(network(kind), request) for request in tiny.draw(seed)]


def held(one, kind, seed):
    """The distance from the oracle over the requests of a seed."""
    return tiny.distance(tiny.answers(one, tiny.draw(seed)), wanted(kind, seed))


# ------------------------------------------------------------------------------ against brute force


@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize("padding", ["right", "left"])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_every_token_is_as_likely_as_one_sequence_at_a_time_says(kind, attention, padding, reuse):
    one = engine(kind, attention, padding=padding, reuse=reuse)
    assert one.attention == attention
    assert one.reuse == reuse
    assert not one.notes
    assert held(one, kind, 0) < NEAR


@pytest.mark.parametrize(
    "options",
    [
        {"budget": 1},
        {"budget": 7, "padding": "left"},
        {"budget": 10**6},
        {"budget": 10**6, "padding": "left", "reuse": False},
        {"budget": 100, "reuse": False},
        {"row_tokens": 1},
        {"row_tokens": 10**6},
        {"split_tokens": 1},
        {"split_tokens": 3, "row_tokens": 30, "budget": 64},
    ],
    ids=str,
)
def test_neither_batches_nor_rows_change_a_number(kind, options):
    assert held(engine(kind, **options), kind, 2) < NEAR


@settings(max_examples=25)
@given(
    st.sampled_from(tiny.KINDS),
    st.integers(0, 4),
    st.fixed_dictionaries(
        {
            "budget": st.integers(1, 300),
            "row_tokens": st.integers(1, 200),
            "split_tokens": st.integers(1, 100),
            "padding": st.sampled_from(["left", "right"]),
            "reuse": st.booleans(),
        }
    ),
    st.randoms(use_true_random=False),
)
def test_any_layout_and_any_order_agree_with_brute_force(kind, seed, options, random):
    requests, truth = tiny.draw(seed), wanted(kind, seed)
    order = list(range(len(requests)))
    random.shuffle(order)
    found = tiny.answers(engine(kind, **options), [requests[place] for place in order])
    assert tiny.distance(found, [truth[place] for place in order]) < NEAR


def test_the_requests_of_these_tests_do_share_prefixes():
    plan = forest.plan(tiny.draw(0))
    assert len(plan.trunk) > 4
    assert any(len(row.members) > 1 for row in plan.rows)
    assert plan.computed < 0.6 * plan.naive


def test_a_number_hardly_depends_on_what_else_is_in_the_batch(kind):
    one = engine(kind)
    requests = tiny.draw(3)
    together = tiny.answers(one, requests)
    alone = [tiny.answers(one, [request])[0] for request in requests]
    assert tiny.distance(together, alone) < 1e-5


def test_two_runs_give_the_same_bytes(kind):
    requests = tiny.draw(4)
    first, second = (tiny.answers(engine(kind), requests) for _ in range(2))
    assert [one.tobytes() for one in first] == [one.tobytes() for one in second]


def test_the_vocabulary_may_be_cut_into_slices_and_positions_into_chunks(kind, monkeypatch):
    monkeypatch.setattr(engine_module, "_SLICE", 7)
    monkeypatch.setattr(engine_module, "_LOGITS", 21)  # three positions a time
    assert held(engine(kind), kind, 0) < NEAR


@pytest.mark.parametrize("rounded", [False, True])
def test_a_bias_of_the_output_layer_counts(rounded, monkeypatch):
    monkeypatch.setattr(engine_module, "_SLICE", 50)
    one = tiny.engine("phi", rounded=rounded)
    assert one.bias is not None
    requests = tiny.draw(0)
    truth = [tiny.oracle(one.model, request) for request in requests]
    assert tiny.distance(tiny.answers(one, requests), truth) < (0.1 if rounded else NEAR)


TEXTS = [
    "",
    " ",
    "a",
    "京都 は 美しい",
    "e\u0301 or é",
    "\U0001f469\u200d\U0001f52c, \u202eright to left",
    "{braces} {0} %s",
    "a b\n\n c",
]


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("kind", tiny.KINDS)
def test_texts_of_any_script_under_an_instruction_agree_with_brute_force(kind, bare):
    template = Template(tiny.tokenizer(tiny.FAMILY[kind]), bare=bare)
    model = tiny.network(kind, seed=5, **{tiny.POSITIONS[kind]: 512})
    one = tiny.Engine(model, template.tokenizer, kind)
    requests = [
        Continuation(template.context("Be brief.", f"Say it again: {source}"), tokens)
        for source in TEXTS[3:6]
        for text in TEXTS
        for tokens in [template.tokens(text), (*template.tokens(text), template.end_of_turn)]
    ]
    truth = [tiny.oracle(model, request) for request in requests]
    assert tiny.distance(tiny.answers(one, requests), truth) < NEAR
    assert one.computed < one.naive / 2


# ----------------------------------------------------------------------------------- the borders


def test_the_first_token_can_be_all_the_context(llama):
    # perplexity: every token but the first is foreseen
    requests = [
        Continuation((start,), tuple(range(20, 20 + n))) for start in (3, 4) for n in (1, 9)
    ]
    truth = [tiny.oracle(llama.model, request) for request in requests]
    assert tiny.distance(tiny.answers(llama, requests), truth) < NEAR


@pytest.mark.parametrize("reuse", [True, False])
def test_no_requests_and_requests_without_tokens_have_answers_too(reuse):
    one = tiny.engine("llama", reuse=reuse)
    assert list(one.logprobs([])) == []
    found = tiny.answers(one, [Continuation((5,), ()), Continuation((5,), (6,))])
    assert [len(values) for values in found] == [0, 1]
    assert tiny.answers(one, [Continuation((5,), ())])[0].size == 0


def test_a_request_fits_up_to_the_last_position_and_is_refused_beyond(kind):
    one = engine(kind)
    tokens = tuple(int(token) for token in np.random.default_rng(0).integers(0, 300, 97))
    for cut in (1, 40, 96):
        request = Continuation(tokens[:cut], tokens[cut:])
        truth = tiny.oracle(one.model, request)
        assert tiny.distance(tiny.answers(one, [request]), [truth]) < NEAR
    with pytest.raises(
        TstmetaError, match=r"40 tokens of context and 58 to score do not fit .* 96"
    ):
        next(one.logprobs([Continuation(tokens[:40], (*tokens[40:], 1))]))


def test_a_request_without_context_is_refused(llama):
    with pytest.raises(TstmetaError, match="context of at least one token"):
        next(llama.logprobs([Continuation((), (1, 2))]))


@pytest.mark.parametrize("token", [-1, 320, 10**6])
@pytest.mark.parametrize("where", ["context", "tokens"])
def test_a_token_that_the_model_does_not_have_is_refused(llama, where, token):
    request = Continuation((1, token), (2,)) if where == "context" else Continuation((1,), (token,))
    with pytest.raises(TstmetaError, match=f"token {token} .*320"):
        next(llama.logprobs([request]))


def test_equal_requests_are_computed_once(llama):
    request = Continuation((3, 4, 5), (6, 7, 8))
    found = tiny.answers(llama, [request] * 5)
    assert llama.computed == llama.naive == 5
    assert len({values.tobytes() for values in found}) == 1


def test_what_is_known_is_left_out_and_the_rest_keeps_its_bytes(kind):
    one, requests = engine(kind, budget=64), tiny.draw(1)
    whole = tiny.answers(one, requests)
    for known in ([], [0], range(0, len(requests), 2), range(len(requests))):
        found = {}
        for batch in one.logprobs(requests, known=set(known)):
            found.update(batch)
        assert sorted(found) == sorted(set(range(len(requests))) - set(known))
        for place, values in found.items():
            assert values.tobytes() == whole[place].tobytes()


def test_it_counts_the_tokens_that_it_computes_and_those_that_it_saves():
    one = tiny.engine("llama", budget=10**6)
    context = tuple(range(30, 50))
    requests = [Continuation(context, (token, 7, 8)) for token in range(10, 19)]
    tiny.answers(one, requests)
    assert one.naive == 9 * 22
    assert one.computed == 20 + 9 * 2
    slow = tiny.engine("llama", reuse=False)
    tiny.answers(slow, requests)
    assert slow.computed == slow.naive == 9 * 22


def test_an_engine_is_a_language_model_that_names_all_that_changes_a_number():
    one = tiny.engine("llama", rounded=True, dtype=torch.bfloat16)
    assert isinstance(one, LanguageModel)
    assert (one.window, one.vocabulary) == (96, 320)
    identities = {
        tiny.engine("llama", **options).identity
        for options in [
            {},
            {"rounded": True},
            {"dtype": torch.bfloat16},
            {"attention": "eager"},
            {"dtype": torch.bfloat16, "rounded": True, "attention": "eager"},
            # what changes no number is no part of it
            {"budget": 9, "padding": "left", "row_tokens": 3, "reuse": False},
        ]
    }
    assert len(identities) == 5


# ------------------------------------------------------------------------------------- bfloat16


def in_bfloat16(model, request, rounded_by=lambda logits: logits):
    """log softmax of logits in bfloat16 as torch itself computes it, at the tokens of a request."""
    ids = torch.tensor([[*request.context, *request.tokens[:-1]]])
    with torch.inference_mode():
        logits = rounded_by(model(ids, use_cache=False).logits[0])
    assert logits.dtype == torch.bfloat16
    table = logits.float().log_softmax(-1)[len(request.context) - 1 :]
    return table[torch.arange(len(request.tokens)), list(request.tokens)].numpy()


@pytest.mark.parametrize("reuse", [True, False])
def test_rounded_logits_of_a_float32_model_are_those_that_torch_rounds(kind, reuse):
    # the same numbers before rounding, so a tie apart the same after it: an ulp of a logit of
    # about 8 is 2 ** -5, hence nearly all must agree to 1e-4
    one = engine(kind, rounded=True, reuse=reuse)
    requests = [request for request in tiny.draw(0) if request.tokens]
    truth = [in_bfloat16(one.model, r, lambda logits: logits.bfloat16()) for r in requests]
    off = np.abs(np.concatenate(tiny.answers(one, requests)) - np.concatenate(truth))
    assert np.mean(off < NEAR) > 0.97
    assert off.max() < 2**-4
    plain = np.concatenate(tiny.answers(engine(kind, reuse=reuse), requests))
    assert np.abs(plain - np.concatenate(truth)).max() > 1e-3


def test_a_bfloat16_model_agrees_with_torch_run_on_one_sequence_a_time(kind):
    # without trees the body sees what torch sees, and the head rounds what torch rounds
    model = tiny.network(kind, seed=1, dtype=torch.bfloat16)
    requests = [request for request in tiny.draw(0) if request.tokens]
    truth = [in_bfloat16(model, request) for request in requests]
    family = tiny.tokenizer(tiny.FAMILY[kind])
    alone = tiny.Engine(model, family, kind, rounded=True, reuse=False, budget=1)
    assert tiny.distance(tiny.answers(alone, requests), truth) < NEAR
    trees = tiny.answers(tiny.Engine(model, family, kind, rounded=True), requests)
    assert np.abs(np.concatenate(trees) - np.concatenate(truth)).mean() < 0.1


def test_the_output_layer_of_a_bfloat16_model_is_computed_in_float32_unless_rounded():
    model = tiny.network("llama", dtype=torch.bfloat16)
    one = tiny.Engine(model, tiny.tokenizer("llama"), "x", reuse=False, budget=1)
    request = Continuation((9, 10, 11), (12, 13, 14, 15))
    ids = torch.tensor([[*request.context, *request.tokens[:-1]]])
    with torch.inference_mode():
        states = model.base_model(ids).last_hidden_state[0, 2:].double()
        table = (states @ model.lm_head.weight.double().T).log_softmax(-1)
    truth = table[torch.arange(4), list(request.tokens)].numpy()
    assert tiny.distance(tiny.answers(one, [request]), [truth]) < 1e-5
