"""The place of judges in the list: ``tstmeta judge run`` asks them and writes a file of scores."""

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
