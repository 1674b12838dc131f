"""The scorer against its equations, one text at a time; empty, long, odd and hostile texts."""

import math

import numpy as np
import pytest
import torch

from tests.likelihood import small
from tests.models import tiny
from tstmeta.likelihood import instructions
from tstmeta.likelihood.scorer import Rewrite, Scorer
from tstmeta.likelihood.tokens import columns
from tstmeta.models.template import DATE
from tstmeta.schema import Status, TstmetaError

PAPER = instructions.get("paper")
REWRITES = {
    "plain": Rewrite("The food was bad.", "The food was great.", "positive"),
    "one token": Rewrite("Then it rained.", "a", "formal"),
    "unicode": Rewrite("Café 😀 שלום", "Kaffee 👩‍👩‍👧 नमस्ते\n\tno", "polite"),
    "braces": Rewrite("{style} {source} {0} {{", "}} {output}", "catchy"),
    "spaces": Rewrite("  two  spaces ", " starts with a space ", "formal"),
    "a style with its own wording": Rewrite("So the thing is", "The thing is", "layman"),
    "a style that is in no table": Rewrite("In a bin", "The bin", "like a pirate's"),
}


def written(kind: str, system: str, user: str, bare: bool) -> str:
    """The prompt by hand: what each kind of model reads before the output."""
    if kind == "llama":
        gap, system = ("", system) if bare else ("\n\n", f"Today: {DATE}\n\n{system}")
        head = "<|start_header_id|>{}<|end_header_id|>" + gap
        turns = f"{head.format('system')}{system}<|eot_id|>{head.format('user')}{user}<|eot_id|>"
        return f"<|begin_of_text|>{turns}{head.format('assistant')}"
    if kind == "qwen":
        turns = f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n"
        return f"{turns}<|im_start|>assistant" + "\n" * (not bare)
    return f"{system}\n\n{user}".rstrip() if bare else f"{system}\n\n{user}\n\n"


def contexts(kind: str, rewrite: Rewrite, bare: bool) -> list[list[int]]:
    """Token ids of the three prompts; Llama's own template cuts white space off a message."""
    wording = {"layman": "understandable for layman"}.get(rewrite.style, rewrite.style)
    users = [
        f"Rewrite the following sentence to be {wording}: {rewrite.source}",
        f"Paraphrase the following sentence: {rewrite.source}",
        f"Repeat the following sentence: {rewrite.source}",
    ]
    trim = str.strip if kind == "llama" and not bare else str
    prompts = [written(kind, PAPER.system, trim(user), bare) for user in users]
    return [tiny.tokenizer(kind)(text, add_special_tokens=False)["input_ids"] for text in prompts]


@torch.inference_mode()
def brute(model: torch.nn.Module, before: list[list[int]], tokens: list[int], released: bool):
    """Eq. 1 and 2 of Pauli et al. (2025), one text at a time with a full softmax."""
    kind, places = torch.bfloat16 if released else torch.float64, range(len(tokens))
    logits = [model(torch.tensor([a + tokens])).logits[0, len(a) - 1 : -1] for a in before]
    p = torch.stack([x.to(kind).softmax(-1)[places, tokens] for x in logits])
    p = p.double()[:, 1:] if released else p  # the released program skips the first token
    best = p.max(0).values
    return float(best.log().mean()), float((p[0] - p[1:].max(0).values).mean()), p.numpy()


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
@pytest.mark.parametrize("kind", small.KINDS)
def test_equation_is_what_the_equations_say(kind, rewrite):
    scorer = Scorer(small.engine(kind))
    [scores] = scorer.judge([rewrite])
    tokens = tiny.tokenizer(kind)(rewrite.output, add_special_tokens=False)["input_ids"]
    exact = small.network(kind).double()
    content, style, p = brute(exact, contexts(kind, rewrite, bare=False), tokens, released=False)
    assert (scores.status, list(scores.tokens)) == (Status.OK, tokens)
    assert scores.logprobs.dtype == np.float32
    np.testing.assert_allclose(scores.logprobs[:, :-1], np.log(p), atol=1e-4)
    assert scorer.content(scores) == pytest.approx(content, abs=1e-4)
    assert scorer.style(scores) == pytest.approx(style, abs=1e-4)


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
@pytest.mark.parametrize("kind", small.KINDS)
def test_released_is_what_the_paper_s_program_computes(kind, rewrite):
    scorer = Scorer(small.engine(kind, rounded=True), variant="released")
    [scores] = scorer.judge([rewrite])
    words = tiny.tokenizer(kind)
    tokens = words(rewrite.output, add_special_tokens=False)["input_ids"]
    tokens.append(words.eos_token_id)  # which ends a turn, too
    model = small.network(kind)
    content, style, p = brute(model, contexts(kind, rewrite, bare=True), tokens, released=True)
    ours = np.exp(columns(scores.logprobs, released=True))
    assert ours.shape == p.shape
    # float32 sums in another order may fall on the other side of a bfloat16's border: 2^-8
    np.testing.assert_allclose(ours, p, rtol=2**-7)
    assert scorer.content(scores) == pytest.approx(content, abs=2**-7)
    assert scorer.style(scores) == pytest.approx(style, abs=2**-7)


def scores_by(scorer: Scorer, *words: str):
    return scorer.judge([Rewrite(*words)])[0]


@pytest.mark.parametrize("text", ["", " \t\n\u3000"])
def test_a_blank_output_is_scored_as_a_blind_draw(text):
    scorer = Scorer(small.engine())
    scores = scores_by(scorer, "The food.", text, "positive")
    assert (scores.status, scores.tokens, scores.detail) == (Status.EMPTY, (), "empty output")
    assert scorer.content(scores) == -math.log(tiny.VOCABULARY)
    assert scorer.style(scores) == 0


def room(window: int, source: str) -> int:
    """Tokens of an output that a window leaves room for."""
    return window - max(map(len, contexts("llama", Rewrite(source, "", "positive"), bare=False)))


def test_an_output_longer_than_the_window_is_cut_and_scored_as_its_kept_part():
    scorer = Scorer(small.engine(window=400))
    fits = room(400, "The food.")
    text = "xyz" * 200
    cut, short = (scores_by(scorer, "The food.", part, "positive") for part in (text, text[:fits]))
    assert (cut.status, short.status) == (Status.TRUNCATED, Status.OK)
    assert cut.detail == f"600 tokens, first {fits} fit into the model's window"
    assert cut.tokens == short.tokens
    np.testing.assert_allclose(cut.logprobs[:, :-1], short.logprobs[:, :-1], atol=1e-5)
    assert np.isnan(cut.logprobs[:, -1]).all()
    assert scorer.content(cut) == pytest.approx(scorer.content(short), abs=1e-5)
    assert columns(cut.logprobs, released=True).shape == (3, fits - 1), (
        "an end of turn that was not scored does not count"
    )


@pytest.mark.parametrize("more", [0, 1, 2])
def test_a_source_as_long_as_the_window_is_invalid(more):
    window = 400
    source = "x" * (room(window, "x") + more)
    scores = scores_by(Scorer(small.engine(window=window)), source, "ab", "positive")
    assert scores.status is (Status.INVALID if more else Status.TRUNCATED)
    assert scores.logprobs.shape == ((3, 0) if more else (3, 2))
    assert not more or f"take {window - 1 + more} of the {window} tokens" in scores.detail


def values(scorer: Scorer, rewrites: list[Rewrite]) -> np.ndarray:
    return np.array([(scorer.content(s), scorer.style(s)) for s in scorer.judge(rewrites)])


def test_scores_do_not_depend_on_order_batches_company_or_repeats():
    rewrites = [
        *REWRITES.values(),
        Rewrite("The food was bad.", "", "positive"),
        Rewrite("The food was bad.", "The food was great, then.", "positive"),
        Rewrite("The food was bad.", "The food was great.", "negative"),
    ]
    together = values(Scorer(small.engine()), rewrites)
    alone = np.concatenate([values(Scorer(small.engine()), [single]) for single in rewrites])
    np.testing.assert_allclose(alone, together, atol=1e-5)
    backwards = values(Scorer(small.engine()), rewrites[::-1])[::-1]
    np.testing.assert_allclose(backwards, together, atol=1e-5)
    twice = values(Scorer(small.engine()), rewrites + rewrites)
    np.testing.assert_array_equal(twice[: len(rewrites)], twice[len(rewrites) :])


class Constant:
    """A backend that gives every token one value."""

    identity, window, vocabulary = "constant", 1000, 100

    def __init__(self, value: float):
        self.value = value
        self.tokenizer = tiny.tokenizer("llama")

    def logprobs(self, requests, *, known=(), progress=False):
        for place, request in enumerate(requests):
            yield [(place, np.full(len(request.tokens), self.value, dtype=np.float32))]


def test_a_token_without_a_number_makes_the_rewrite_invalid():
    scorer = Scorer(Constant(math.nan))
    scores = scores_by(scorer, "The food.", "a", "positive")
    assert (scores.status, scores.tokens, scores.logprobs.dtype) == (Status.INVALID, (), np.float32)
    assert scores.detail == "the model's answer for a token is no number"
    assert math.isnan(scorer.content(scores))
    assert math.isnan(scorer.style(scores))


def test_a_variant_that_nobody_knows_is_refused():
    with pytest.raises(TstmetaError, match="'relased'; use equation or released"):
        Scorer(small.engine(), variant="relased")
