"""Judges: language models that are asked for a rating.

``tstmeta judge run`` asks them, with limits and in bulk; its file of scores goes where scores of
any metric go.  What a paper's judge takes is listed by :mod:`.catalogue`.
"""

from ..schema import TstmetaError
from .batched import BatchedMetric
from .settings import MetricSettings


class Judge(BatchedMetric):
    """A language model asked for a rating of content, style, fluency or the whole."""

    name = "judge"
    dimensions = ("content", "style", "fluency", "overall")
    bases = ("source",)
    profile = "real"
    facts = "model:none answer:number"
    Settings = MetricSettings

    def __init__(self, words: str = ""):
        if words:
            raise TstmetaError(self.missing)

    @property
    def missing(self) -> str:
        return (
            "no server: a judge is asked by a command, tstmeta judge run --data DATA --prompt "
            "PROMPT --server URL --model MODEL --scores-out FILE, then read FILE with tstmeta "
            "evaluate --scores; prompts are listed by tstmeta judge prompts"
        )
