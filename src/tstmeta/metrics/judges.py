"""Judges as metrics: language models that are asked for a rating.  Listed here, asked by no one.

A judge needs a server that runs its model.  The project has no client for one yet, so every score
is a row with status ``error`` and the remedy, and lists of metrics show who is missing and why.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from .batched import BatchedMetric
from .text import chosen


class Model(NamedTuple):
    """A model that papers asked for ratings.

    Attributes:
        where: its id where it is served.
        released: where ratings that it gave were published; empty if they were not.
    """

    where: str
    released: str = ""


#: Judges of the four papers.  pauli2025 says 70B in its text and names an 8B model in its appendix.
MODELS = {
    "chatgpt": Model("ChatGPT", "its ratings come with the data set lai, as released:chatgpt"),
    "gpt-4": Model("GPT-4"),
    "llama-3.1-8b": Model("meta-llama/Llama-3.1-8B-Instruct"),
    "llama-3-70b": Model("meta-llama/Meta-Llama-3-70B-Instruct"),
}
#: Judges that were asked for yes or no as well as for a number (mukherjee2025, Table 1).
_BINARY = ("gpt-4", "llama-3.1-8b")


class Judge(BatchedMetric):
    """A language model asked for a rating of content, style, fluency or the whole.

    ``judge:gpt-4`` is asked for a number, ``judge:gpt-4+binary`` whether the style was changed,
    yes or no (mukherjee2025, Table 1).
    """

    name = "judge"
    dimensions: tuple[str, ...] = ("content", "style", "fluency", "overall")
    bases: tuple[str, ...] = ("source",)
    profile = "real"
    max_tokens = None
    VARIANTS: ClassVar[tuple[str, ...]] = (*MODELS, *(f"{name}+binary" for name in _BINARY))

    def __init__(self, variant: str = ""):
        name, _, binary = chosen(self, variant).partition("+")
        self.model = MODELS.get(name)
        self.binary = bool(binary)
        if self.binary:
            self.dimensions = ("style",)

    @property
    def missing(self) -> str:
        """Which server is needed; never empty."""
        if self.model is None:
            return f"no server: name a judge, for instance {self.name}:{next(iter(MODELS))}"
        instead = self.model.released or "ratings that it gave elsewhere can be read with --scores"
        return f"no server: nothing here asks {self.model.where} yet; {instead}"

    def fields(self) -> dict[str, object]:
        return {
            "model": self.model.where if self.model else "none",
            "answer": "binary" if self.binary else "number",
        }
