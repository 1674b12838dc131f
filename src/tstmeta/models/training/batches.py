"""From conversations to padded tensors: ids, and where the answer stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..world.draws import Draws
from .examples import Example

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerFast


class Encoded(NamedTuple):
    """Token ids of a conversation; the answer and its end begin at ``start``."""

    ids: list[int]
    start: int


class Batch(NamedTuple):
    """Conversations of similar length, padded on the right.

    ``ids`` is [B, T].  ``rows`` and ``places`` (both [N]) point at the positions that foresee the N
    tokens of all answers, ``targets`` [N] holds those tokens.
    """

    ids: torch.Tensor
    rows: torch.Tensor
    places: torch.Tensor
    targets: torch.Tensor


def encode(examples: Sequence[Example], tokenizer: PreTrainedTokenizerFast) -> list[Encoded]:
    """Token ids of conversations; prompt and answer are cut into tokens each by itself."""
    prompts, outputs = [], []
    for one in examples:
        messages = [{"role": "system", "content": one.system}] if one.system else []
        messages.append({"role": "user", "content": one.user})
        prompt = str(
            tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        )
        prompts.append(prompt.removesuffix("\n\n") if one.bare else prompt)
        outputs.append(one.output)
    before = tokenizer(prompts, add_special_tokens=False)["input_ids"]
    after = tokenizer(outputs, add_special_tokens=False)["input_ids"]
    end = tokenizer.eos_token_id
    return [Encoded([*a, *b, end], len(a)) for a, b in zip(before, after, strict=True)]


def drill(draws: Draws, tokenizer: PreTrainedTokenizerFast, most: int) -> Encoded:
    """Four to ``most`` random tokens to repeat: nothing in them can be foreseen but by copying."""
    first = len(tokenizer.get_added_vocab())  # special tokens stand before all others
    count = 4 + draws.number("count", most - 3)
    string = [first + draws.number(f"token{at}", len(tokenizer) - first) for at in range(count)]
    header = tokenizer(
        "<|start_header_id|>assistant<|end_header_id|>\n\n", add_special_tokens=False
    )["input_ids"]
    before = [tokenizer.bos_token_id, *string, tokenizer.eos_token_id, *list(header)]
    return Encoded([*before, *string, tokenizer.eos_token_id], len(before))


def bucketed(encoded: Sequence[Encoded], tokens: int, pad: int) -> list[Batch]:
    """Batches of at most ``tokens`` padded tokens (one conversation at least), short ones first.

    The order depends on the conversations only, so that sums over batches do, too.
    """
    batches: list[Batch] = []
    group: list[Encoded] = []
    for one in sorted(encoded, key=lambda item: (len(item.ids), item.ids)):
        if group and (len(group) + 1) * len(one.ids) > tokens:
            batches.append(_padded(group, pad))
            group = []
        group.append(one)
    return [*batches, _padded(group, pad)] if group else batches


def _padded(group: Sequence[Encoded], pad: int) -> Batch:
    import torch

    longest = max(len(one.ids) for one in group)
    # no attention mask is needed: padding stands on the right, and attention looks to the left
    ids = torch.tensor([one.ids + [pad] * (longest - len(one.ids)) for one in group])
    spots = [
        (row, place)
        for row, one in enumerate(group)
        for place in range(one.start - 1, len(one.ids) - 1)
    ]
    rows, places = torch.tensor(spots).T
    return Batch(ids, rows, places, ids[rows, places + 1])
