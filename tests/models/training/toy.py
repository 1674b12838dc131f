"""A toy run: instruction sets of three words and a model that trains in a second."""

from dataclasses import dataclass

from tstmeta.models.training.options import TrainingOptions


@dataclass(frozen=True)
class Toy:
    name: str = "toy"
    system: str = "You write."

    def fill(self, source, style):
        return f"Make {style}: {source}", f"Reword: {source}", f"Repeat: {source}"


PROMPTS = [Toy(), Toy("other", "")]
OPTIONS = TrainingOptions(
    vocabulary=400,
    width=16,
    layers=1,
    heads=2,
    inner=24,
    positions=512,
    batch=4,
    rate=1e-2,
    warmup=2,
    checkpoint=2,
)
