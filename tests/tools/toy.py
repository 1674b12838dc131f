"""A toy run of the backbone: instruction sets of three words, a model that trains in a second."""

from experiments.training.loop import LmOptions
from tstmeta.likelihood.instructions import Instructions

_WORDS = ("Make {style}: {source}", "Reword: {source}", "Repeat: {source}")
PROMPTS = [Instructions("toy", "You write.", *_WORDS), Instructions("other", "", *_WORDS)]
OPTIONS = LmOptions(
    vocabulary=400, width=16, layers=1, heads=2, inner=24, length=512, batch=4, steps=7,
    rate=1e-2, warmup=2, cooling=0.4, checkpoint=2,
)  # fmt: skip
