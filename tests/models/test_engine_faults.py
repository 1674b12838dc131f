"""Memory that runs out, and models that the engine must not trust."""

import gc
import weakref

import pytest
import torch

from tests.models import tiny
from tstmeta.models import engine as engine_module
from tstmeta.models.causal import Continuation
from tstmeta.schema import TstmetaError

NEAR = 1e-4


class Small:
    """A body that has room for so many tokens in a pass."""

    def __init__(self, body, room):
        self.body, self.room, self.tensors = body, room, []

    def __call__(self, input_ids, **options):
        # an error keeps its frames, frames their tensors: a retry inside the handler fails too
        assert all(tensor() is None for tensor in self.tensors)
        big = torch.zeros(10)
        if input_ids.numel() > self.room:
            self.tensors.append(weakref.ref(big))
            raise torch.OutOfMemoryError
        return self.body(input_ids=input_ids, **options)


def off(subject, requests):
    wanted = [tiny.oracle(subject.model, request) for request in requests]
    return tiny.distance(tiny.answers(subject, requests), wanted)


# ---------------------------------------------------------------------------------------- memory


def test_a_batch_that_does_not_fit_is_halved_until_it_does():
    subject = tiny.engine("llama", budget=4096)
    subject.body = Small(subject.body, 150)
    gc.disable()
    try:
        assert off(subject, tiny.draw(0)) < NEAR
    finally:
        gc.enable()
    assert subject.body.tensors


def test_a_row_that_does_not_fit_is_an_error_that_says_how_long_it_is(llama):
    requests = [Continuation((3,), (4,)), Continuation(tuple(range(30)), tuple(range(20)))]
    llama.body = Small(llama.body, 48)
    with pytest.raises(TstmetaError, match=r"does not suffice for \d+ tokens; use a smaller model"):
        tiny.answers(llama, requests)


# ------------------------------------------------------------------------------------ self-check


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        # a high cap moves hardly a logit of the trial
        ("llama", {"final_logit_softcapping": 1000.0}),
        ("granite", {"logits_scaling": 4.0}),
    ],
)
def test_a_model_that_caps_or_scales_its_logits_is_refused(kind, changes, dtype):
    with pytest.raises(TstmetaError, match="scaled or capped"):
        tiny.engine(kind, dtype=dtype, **changes)
    assert tiny.engine("granite", dtype=dtype, logits_scaling=1.0).reuse


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


def test_layers_that_do_not_see_the_whole_text_turn_trees_off():
    subject, requests = tiny.engine("mistral"), tiny.draw(0)
    assert not subject.reuse
    assert off(subject, requests) < NEAR
    wide = tiny.network("mistral", sliding_window=None)
    assert tiny.Engine(wide, subject.tokenizer, "wide").reuse
    # the window does change the numbers, so the oracle knows of it
    other = [tiny.oracle(wide, request) for request in requests]
    assert tiny.distance(tiny.answers(subject, requests), other) > 0.1


@pytest.mark.parametrize("broken", ["zeros", "error"])
def test_the_trial_goes_through_the_trunk_too(monkeypatch, broken):
    update = engine_module._TrunkLayer.update

    def forgets(self, *args, **options):
        if broken == "error":
            raise ValueError("no such cache")
        keys, values = update(self, *args, **options)
        return keys, torch.zeros_like(values)

    monkeypatch.setattr(engine_module._TrunkLayer, "update", forgets)
    subject = tiny.engine("llama", rounded=True)
    assert (subject.reuse, subject.rounded, subject.computed) == (False, True, 0)
    subject.rounded = False
    assert off(subject, tiny.draw(0)) < NEAR
