"""Transformers that read one text or two and classify them, or write a short one for a prompt.

Neither the batch nor the order changes a number (float32, differences below 1e-5).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from . import hub
from .causal import Backbone, window_of
from .forest import batches


def by_length(
    rows: Sequence[Any], lengths: Sequence[int], width: int, size: int, answer: Callable
) -> np.ndarray:
    """Logits [n, width]; ``answer`` gives those of ``size`` rows of similar lengths."""
    import torch

    values = np.empty((len(rows), width))
    order = sorted(range(len(rows)), key=lambda place: lengths[place])
    with torch.inference_mode():
        for start in range(0, len(order), size):
            places = order[start : start + size]
            values[places] = answer([rows[place] for place in places]).float().cpu().numpy()
    return values


def encode(
    tokenizer: Any, *sides: Sequence[str], window: int
) -> tuple[list[dict[str, list[int]]], list[int]]:
    """The input of each text, or pair of texts, cut to the window; its tokens before the cut.

    Of a pair the longer text is cut first.  ``[SEP]`` in a text is read as letters.
    """
    options: dict[str, Any] = {"verbose": False, "split_special_tokens": True}
    batch = tokenizer(*map(list, sides), **options)
    lengths = [len(ids) for ids in batch["input_ids"]]
    if max(lengths, default=0) > window:
        options |= {"truncation": "longest_first", "max_length": window}
        batch = tokenizer(*map(list, sides), **options)
    return [{name: batch[name][place] for name in batch} for place in range(len(lengths))], lengths


def token_ids(tokenizer: Any, texts: Sequence[str], *, control: bool = False) -> list[list[int]]:
    """Token ids of each text, between control tokens if wanted; ``[SEP]`` in it is letters."""
    options = {"add_special_tokens": control, "split_special_tokens": True, "verbose": False}
    return list(tokenizer(list(texts), **options)["input_ids"])


def padded(tokenizer: Any, rows: Sequence[dict[str, list[int]]], device: Any) -> Any:
    """Tensors [rows, longest row]; padding stands at the right and is masked."""
    batch = tokenizer.pad(list(rows), padding_side="right", return_tensors="pt", verbose=False)
    return batch.to(device)


def longest(config: Any, tokenizer: Any) -> int:
    """Longest text in tokens: the least of what the positions and the tokenizer allow."""
    positions = window_of(config)
    if "roberta" in config.model_type or config.model_type in ("camembert", "xmod", "mpnet"):
        positions -= (config.pad_token_id or 0) + 1  # they count from behind the padding's number
    # a tokenizer without a limit says an enormous number
    return int(min(positions, tokenizer.model_max_length))


# ------------------------------------------------------------------------------- writing

#: Pieces that are joined by the end-of-sequence token, such as (question, text).
Prompt = tuple[str, ...]
#: Tokens of a batch of prompts, padding included.
_BUDGET = {"cpu": 2048, "cuda": 16384}


class Written(NamedTuple):
    """What a model writes for a prompt of ``tokens`` tokens; the chance of the watched word."""

    text: str
    chance: float
    tokens: int


class Seq2Seq:
    """A loaded encoder-decoder model, which writes the likeliest token at each step.

    ``window`` and ``new_tokens`` are the most tokens that are read and written.
    """

    def __init__(self, model: Any, tokenizer: Any, window: int, new_tokens: int):
        self.model, self.tokenizer = model.eval(), tokenizer
        self.window, self.new_tokens = window, new_tokens
        self.budget = _BUDGET["cpu" if model.device.type == "cpu" else "cuda"]
        self.start, self.end = model.config.decoder_start_token_id, tokenizer.eos_token_id

    def write(self, prompts: Sequence[Prompt], watched: str = "") -> list[Written]:
        """What the model writes for each prompt, and how likely ``watched`` begins it (or NaN)."""
        import torch

        split = [token_ids(self.tokenizer, prompt) for prompt in prompts]
        rows = [[token for ids in pieces for token in (*ids, self.end)] for pieces in split]
        # a prompt always ends with the mark of its end
        cut = [[*ids[:-1][: self.window - 1], self.end] for ids in rows]
        first = token_ids(self.tokenizer, [watched])[0][0] if watched else None
        answers: dict[int, Written] = {}
        with torch.inference_mode():
            for batch in batches([len(ids) for ids in cut], self.budget):
                written = self._written([cut[place] for place in batch], first)
                for place, (text, chance) in zip(batch, written, strict=True):
                    answers[place] = Written(text, chance, len(rows[place]))
        return [answers[place] for place in range(len(prompts))]

    def _written(self, prompts: list[list[int]], first: int | None) -> list[tuple[str, float]]:
        import torch
        from transformers import GenerationConfig

        device = self.model.device
        inputs = padded(self.tokenizer, [{"input_ids": ids} for ids in prompts], device)
        encoded = {
            "encoder_outputs": self.model.get_encoder()(**inputs),
            "attention_mask": inputs["attention_mask"],
        }
        chances = [float("nan")] * len(prompts)
        if first is not None:
            start = torch.full((len(prompts), 1), self.start, device=device)
            step = self.model(**encoded, decoder_input_ids=start)
            chances = step.logits[:, -1].float().softmax(-1)[:, first].tolist()
        config = GenerationConfig(
            max_new_tokens=self.new_tokens,
            num_beams=1,
            do_sample=False,
            decoder_start_token_id=self.start,
            eos_token_id=self.end,
            pad_token_id=self.tokenizer.pad_token_id,
        )
        written = self.model.generate(**encoded, generation_config=config)
        texts = self.tokenizer.batch_decode(written, skip_special_tokens=True)
        return [(text.strip(), chance) for text, chance in zip(texts, chances, strict=True)]


@lru_cache(maxsize=2)
def load(model: Backbone, **options: int) -> Seq2Seq:
    """A model of a hub or a folder, in float32, with options of :class:`Seq2Seq`; two are kept."""
    from transformers import AutoModelForSeq2SeqLM

    network = hub.weights(model, AutoModelForSeq2SeqLM, dtype="float32").to(hub.device_of())
    return Seq2Seq(network, hub.tokenizer(model), **options)
