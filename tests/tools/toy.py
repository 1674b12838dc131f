"""A toy run of the backbone: instruction sets of three words, a model that trains in a second."""

from dataclasses import dataclass

from tstmeta.models.training.options import LmOptions


@dataclass(frozen=True)
class Toy:
    name: str = "toy"
    system: str = "You write."

    def fill(self, source, style):
        return f"Make {style}: {source}", f"Reword: {source}", f"Repeat: {source}"


PROMPTS = [Toy(), Toy("other", "")]
OPTIONS = LmOptions(
    vocabulary=400,
    width=16,
    layers=1,
    heads=2,
    inner=24,
    length=512,
    batch=4,
    steps=7,
    rate=1e-2,
    warmup=2,
    cooling=0.4,
    checkpoint=2,
)
