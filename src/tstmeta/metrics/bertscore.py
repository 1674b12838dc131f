"""BERTScore on any encoder; the library bert-score tells its layer."""

import math
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo

from ..models import encoders, hub, vectors
from ..models.causal import Backbone
from ..models.encoders import DECIMALS, ENCODERS, MINILM, TokenVectors
from ..models.forest import batches
from ..schema import Status, TstmetaError
from .base import Score, cut_note, scored
from .batched import ModelMetric, Pair
from .settings import ModelSettings, Short, existing

#: The layers that the bert-score library found best on WMT16, of six-layer BERTs for ours.
LAYERS = {"all-minilm-l6-v2": 5, "deberta-xlarge-mnli": 40, "roberta-large": 17}
LAYERS |= {"xlm-roberta-large": 17, "mbert": 9, "mpnet": 8}
#: Pairs whose vectors are held at a time, and numbers of a padded batch: 16 MiB a side.
_CHUNK, _BATCH = 1024, 2**22


class Matched(NamedTuple):
    """Precision, recall and their harmonic mean, in [-1, 1]; NaN where no token has a weight."""

    p: float
    r: float
    f1: float


def _counts(name: str, info: ValidationInfo) -> Path:
    return vectors.COUNTS if name == "yes" else existing(name, info)


class BertScoreSettings(ModelSettings):
    """``idf`` is yes, or a file with texts, one a line."""

    part: Literal["p", "r", "f1"] = "f1"
    idf: Annotated[
        Path | None, *(Short("idf", "yes"), BeforeValidator(_counts), Field(description="yes|FILE"))
    ] = None
    layer: Annotated[
        int | None, Short("layer([0-9]{1,3})", r"\1"), Field(description="N", ge=0, lt=1000)
    ] = None


class BertScore(ModelMetric):
    """BERTScore (Zhang et al., 2020, Section 3): at most 1, seldom below 0; higher is better.

    Each token is matched with the token of the other text whose vector is nearest by cosine.  ``p``
    is the mean over the output's tokens, ``r`` over the other text's, ``f1`` their harmonic mean.
    """

    name = "bertscore"
    VARIANTS: ClassVar[tuple[str, ...]] = (
        *("p", "r", "idf", "deberta-xlarge-mnli", "roberta-large", "xlm-roberta-large", "mbert"),
    )
    Settings = BertScoreSettings
    models, default = ENCODERS, MINILM.name
    facts = "rescaled:no refs:max transformers"

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self._texts = self.settings.idf
        if self._texts is vectors.COUNTS and self.model is not MINILM:
            raise TstmetaError(
                f"the shipped counts are of tokens of {MINILM.name}; for another model name "
                "texts to count in: idf=FILE, one text a line"
            )
        layer = self.settings.layer
        self.layer = _layer(self.model) if layer is None else layer

    @property
    def missing(self) -> str:
        return encoders.missing(self.model)

    def fields(self) -> dict[str, object]:
        return {
            "model": hub.identity(self.model),
            "layer": self.layer,
            "part": self.settings.part,
            "idf": vectors.identity(self._texts) if self._texts else "none",
            **super().fields(),
        }

    def pairs(self, pairs: Sequence[Pair]) -> list[Score]:
        encoder = encoders.load(self.model)
        control = encoder.tokenizer.num_special_tokens_to_add()
        answers: list[Score] = []
        for start in range(0, len(pairs), _CHUNK):
            chunk = pairs[start : start + _CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in pair))
            tokens = dict(zip(texts, encoder.tokens(texts, self.layer), strict=True))
            compared, outputs = ([tokens[pair[side]] for pair in chunk] for side in (0, 1))
            matches = greedy(compared, outputs, self._weights)
            for a, b, matched in zip(compared, outputs, matches, strict=True):
                if min(len(a.ids), len(b.ids)) <= control:
                    answers.append(Score(self.empty_value, Status.EMPTY, "a text without a token"))
                    continue
                value = getattr(matched, self.settings.part)
                note = cut_note(max(a.length, b.length), encoder.window)
                answers.append(scored(round(value, DECIMALS), note))
        return answers

    @cached_property
    def _weights(self) -> np.ndarray:
        """The weight of each token, float32; with idf, log((N + 1) / (n + 1)), n of N texts."""
        encoder = encoders.load(self.model)
        size = max(len(encoder.tokenizer), int(encoder.config.vocab_size))
        if self._texts is None:
            weights = np.ones(size, dtype=np.float32)
            weights[[encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id]] = 0
            return weights
        counts, total = vectors.read_counts(encoder, self._texts)
        weights = np.full(size, math.log(total + 1), dtype=np.float32)
        for token, count in counts.items():
            weights[token] = math.log((total + 1) / (count + 1))
        return weights


def _layer(model: Backbone) -> int:
    if model.name in LAYERS and ENCODERS.get(model.name) is model:
        return LAYERS[model.name]  # the library takes seconds to import
    if find_spec("bert_score"):
        from bert_score.utils import model2layers

        # a folder is what its name says, as converted weights are
        near = ENCODERS.get(Path(model.where).resolve().name) if model.local else None
        where = near.where if near and not near.local else model.where
        name = where.removeprefix("FacebookAI/").removeprefix("google-bert/")
        if name in model2layers:
            return int(model2layers[name])
    raise TstmetaError(
        f"which layer of {model.where} BERTScore should use is not known: name it, as in "
        f"bertscore:layer9+{model.name}"
    )


def greedy(
    compared: Sequence[TokenVectors], outputs: Sequence[TokenVectors], weights: np.ndarray
) -> list[Matched]:
    """How well tokens match (Zhang et al., 2020, Section 3); ``weights`` are of the vocabulary."""
    import torch

    results = [Matched(math.nan, math.nan, math.nan)] * len(outputs)
    lengths = [max(len(a.ids), len(b.ids)) for a, b in zip(compared, outputs, strict=True)]
    width = int(compared[0].vectors.shape[-1])
    # vectors [n, d] or cosines [n, n], whichever is more
    for batch in batches([n * max(n, width) for n in lengths], _BATCH):
        with torch.inference_mode():
            # [pairs, m, d], [pairs, m] twice; [pairs, n, d], [pairs, n] twice
            out, out_weights, out_real = _padded([outputs[place] for place in batch], weights)
            ref, ref_weights, ref_real = _padded([compared[place] for place in batch], weights)
            cosines = torch.bmm(out, ref.transpose(1, 2))  # [pairs, m, n]
            # padding must lose against every token, whatever its cosine
            low = torch.tensor(-2.0, device=cosines.device)
            nearest_ref = torch.where(ref_real[:, None, :], cosines, low).amax(2)
            nearest_out = torch.where(out_real[:, :, None], cosines, low).amax(1)
            p = (nearest_ref * out_weights).sum(1) / out_weights.sum(1)
            r = (nearest_out * ref_weights).sum(1) / ref_weights.sum(1)
            both = torch.stack([p, r], 1).cpu().double().tolist()
        for place, (precision, recall) in zip(batch, both, strict=True):
            total = precision + recall
            # as in the library: 0 where the two cancel out
            f1 = 2 * precision * recall / total if total else 0.0
            results[place] = Matched(precision, recall, f1)
    return results


def _padded(texts: list[TokenVectors], weights: np.ndarray) -> tuple[Any, Any, Any]:
    """Unit vectors [texts, longest, d], weights [texts, longest], and where there is a token."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    vectors = pad_sequence([text.vectors for text in texts], batch_first=True)
    vectors = torch.nn.functional.normalize(vectors, dim=-1)
    rows = [torch.from_numpy(weights[text.ids]) for text in texts]
    heavy = pad_sequence(rows, batch_first=True).to(vectors.device)
    real = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True).bool()
    return vectors, heavy, real.to(vectors.device)
