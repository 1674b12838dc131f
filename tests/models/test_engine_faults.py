"""Memory that runs out, and models that the engine must not trust."""

import gc
import weakref

import numpy as np
import pytest
import torch

from tests.models import tiny
from tstmeta.models import engine as engine_module
from tstmeta.models.causal import Continuation
from tstmeta.schema import TstmetaError

NEAR = 1e-4
OUT_OF_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried 1 bytes"),
    RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    MemoryError(),
]


class Small:
    """A body that has room for so many tokens in a pass, and remembers what was asked."""

    def __init__(self, body, room, error=OUT_OF_MEMORY[0]):
        self.body, self.room, self.error = body, room, error
        self.sizes = []

    def __call__(self, input_ids, **options):
        self.sizes.append(input_ids.numel())
        if input_ids.numel() > self.room:
            raise self.error
        return self.body(input_ids=input_ids, **options)

    @property
    def failures(self):
        return sum(size > self.room for size in self.sizes)


def truth(one, requests):
    return [tiny.oracle(one.model, request) for request in requests]


# ---------------------------------------------------------------------------------------- memory


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=lambda error: f"{type(error).__name__}")
@pytest.mark.parametrize("reuse", [True, False])
def test_a_batch_that_does_not_fit_is_halved_until_it_does(reuse, error):
    one = tiny.engine("llama", reuse=reuse, budget=4096)
    requests = tiny.draw(0)
    one.body = Small(one.body, 100, error)
    assert tiny.distance(tiny.answers(one, requests), truth(one, requests)) < NEAR
    assert one.body.failures
    assert one.budget < 4096


def test_a_row_that_does_not_fit_is_split_into_its_requests(llama):
    context = tuple(range(20, 60))
    requests = [Continuation(context, (token, 9, 8, 7)) for token in range(60, 70)]
    llama.body = Small(llama.body, 50)  # the context and three of the ten
    assert tiny.distance(tiny.answers(llama, requests), truth(llama, requests)) < NEAR
    assert llama.body.failures == 3


def test_a_smaller_budget_holds_for_the_batches_to_come_and_is_not_lowered_for_each(llama):
    requests = [
        Continuation((token, *range(100, 110)), (7, 8, 9)) for token in range(10, 90)
    ]  # eighty contexts of their own: nothing is shared
    llama.row_tokens, llama.budget = 13, 13 * 16
    llama.body = Small(llama.body, 13 * 8)
    tiny.answers(llama, requests)
    assert llama.body.failures == 1
    assert llama.budget == 13 * 8
    tiny.answers(llama, requests)
    assert llama.body.failures == 1


def test_tensors_of_a_pass_that_failed_are_let_go_before_the_next(llama):
    # an error keeps its frames, frames their tensors: on a GPU a retry inside the handler fails too
    held = []

    class Body(Small):
        def __call__(self, input_ids, **options):
            big = torch.zeros(10)
            if input_ids.numel() > self.room:
                held.append(weakref.ref(big))
                raise torch.OutOfMemoryError("out of memory")
            assert not any(one() is not None for one in held)
            return super().__call__(input_ids, **options)

    llama.body = Body(llama.body, 60)
    gc.disable()
    try:
        tiny.answers(llama, [one for one in tiny.draw(0) if len(one.context + one.tokens) < 60])
    finally:
        gc.enable()
    assert held


@pytest.mark.parametrize("reuse", [True, False])
def test_one_request_that_does_not_fit_is_an_error_that_says_how_long_it_is(reuse):
    one = tiny.engine("llama", reuse=reuse)
    requests = [Continuation((3,), (4,)), Continuation(tuple(range(30)), tuple(range(20)))]
    one.body = Small(one.body, 48)
    with pytest.raises(TstmetaError, match=r"one text of 30 \+ 20 tokens; use a smaller model"):
        tiny.answers(one, requests)


def test_an_error_that_is_not_about_memory_is_not_hidden(llama):
    llama.body = Small(llama.body, 0, RuntimeError("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes do not match"):
        tiny.answers(llama, tiny.draw(0))
    assert len(llama.body.sizes) == 1


# ------------------------------------------------------------------------------------ self-check


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("cap", [30.0, 1000.0])  # a high cap moves hardly a logit of the trial
def test_a_model_that_caps_its_logits_is_refused(dtype, cap):
    with pytest.raises(TstmetaError, match="scaled or capped"):
        tiny.engine("gemma2", attention="eager", dtype=dtype, final_logit_softcapping=cap)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_model_that_scales_its_logits_is_refused(dtype):
    with pytest.raises(TstmetaError, match="scaled or capped"):
        tiny.engine("granite", dtype=dtype, logits_scaling=4.0)
    one = tiny.engine("granite", dtype=dtype, logits_scaling=1.0)
    assert one.reuse


def test_a_model_whose_numbers_are_none_is_refused():
    model = tiny.network("llama")
    with torch.no_grad():
        model.model.layers[1].mlp.down_proj.weight.fill_(float("nan"))
    with pytest.raises(TstmetaError, match="no numbers"):
        tiny.Engine(model, tiny.tokenizer(), "broken")


def test_a_model_with_other_arguments_is_refused_in_words():
    model = tiny.network("llama")
    model.model.forward = lambda input_ids: None
    with pytest.raises(TstmetaError, match=r"does not take token ids .* \(TypeError: "):
        tiny.Engine(model, tiny.tokenizer(), "other")


@pytest.mark.parametrize("padding", ["right", "left"])
def test_a_model_that_takes_no_mask_of_trees_goes_without(padding):
    one = tiny.engine("bloom", attention="eager", padding=padding)  # ALiBi is made out of the mask
    assert not one.reuse
    assert len(one.notes) == 1
    requests = tiny.draw(0)
    assert tiny.distance(tiny.answers(one, requests), truth(one, requests)) < NEAR


@pytest.mark.parametrize("padding", ["right", "left"])
def test_layers_that_do_not_see_the_whole_text_turn_trees_off_with_a_note(padding):
    one = tiny.engine("mistral", padding=padding)
    assert not one.reuse
    assert one.notes == ["prefixes are not shared: some layers do not see the whole text"]
    requests = tiny.draw(0)
    found = tiny.answers(one, requests)
    assert tiny.distance(found, truth(one, requests)) < NEAR
    wide = tiny.network("mistral", sliding_window=None)
    assert tiny.Engine(wide, one.tokenizer, "wide").reuse
    # the window does change what is said, so the oracle knows of it
    assert tiny.distance(found, [tiny.oracle(wide, request) for request in requests]) > 0.1


def test_a_model_that_counts_positions_itself_turns_trees_off_with_a_note():
    model = tiny.network("gpt2")
    forward = model.transformer.forward
    model.transformer.forward = lambda *args, position_ids=None, **options: forward(
        *args, **options
    )
    one = tiny.Engine(model, tiny.tokenizer("gpt2"), "own positions")
    assert not one.reuse
    assert one.notes == ["prefixes are not shared: this model's positions do not allow trees"]
    requests = tiny.draw(0)
    wanted = [tiny.oracle(tiny.network("gpt2"), request) for request in requests]
    assert tiny.distance(tiny.answers(one, requests), wanted) < NEAR


@pytest.mark.parametrize("broken", ["zeros", "error"])
def test_the_trial_goes_through_the_trunk_too(monkeypatch, broken):
    update = engine_module._Trunk.update

    def forgets(self, *args, **options):
        if broken == "error":
            raise ValueError("no such cache")
        keys, values = update(self, *args, **options)
        return keys, torch.zeros_like(values)

    monkeypatch.setattr(engine_module._Trunk, "update", forgets)
    one = tiny.engine("llama")
    assert not one.reuse
    assert len(one.notes) == 1
    requests = tiny.draw(0)
    assert tiny.distance(tiny.answers(one, requests), truth(one, requests)) < NEAR


def test_the_trial_leaves_no_trace(kind):
    one = tiny.engine(kind, rounded=True)
    assert (one.computed, one.naive, one.reuse, one.rounded, one.notes) == (0, 0, True, True, [])
    off = tiny.engine(kind, reuse=False)
    assert (off.reuse, off.rounded, off.notes) == (False, False, [])


def test_a_model_with_two_sets_of_angles_ends_where_the_first_does():
    # longrope: a text beyond the first window turns by other angles, its own first tokens too
    angles = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [8.0] * 4}
    rope = {**angles, "rope_theta": 1e4, "original_max_position_embeddings": 32, "factor": 3.0}
    one = tiny.engine("phi3", rope_parameters=rope, original_max_position_embeddings=32)
    assert one.window == 32
    requests = [request for request in tiny.draw(0) if sum(map(len, request)) <= 33]
    assert tiny.distance(tiny.answers(one, requests), truth(one, requests)) < NEAR
    with pytest.raises(TstmetaError, match="window of 32"):
        next(one.logprobs([Continuation(tuple(range(33)), (1,))]))
    whole = Continuation(tuple(range(30)), tuple(range(20)))
    cut = Continuation(whole.context, whole.tokens[:2])
    assert np.abs(tiny.oracle(one.model, whole)[:2] - tiny.oracle(one.model, cut)).max() > 1e-3
