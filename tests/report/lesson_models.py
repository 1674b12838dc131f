"""What the tests of lessons 6 and 7 stand on: a random tiny model and a few sources."""

from pathlib import Path

from tests.models import tiny
from tstmeta import data
from tstmeta.data import Dataset
from tstmeta.report.bench import Bench

#: Two sources of each kind of error.
SOURCES = ("persuasive-37", "polite-01", "formal-06", "catchy-32", "formal-15", "sentiment-24")


def model(path: Path) -> str:
    """A folder with a random model that has room for every instruction."""
    tiny.network("llama", 0, max_position_embeddings=1024).save_pretrained(path)
    tiny.tokenizer("llama").save_pretrained(path)
    return str(path)


def few(name: str, count: int = len(SOURCES)) -> Dataset:
    """A few sources of a set, under the set's own name."""
    whole = data.load(name)
    return whole.where(whole.items["source_id"].isin(SOURCES[:count]), name)


def bench(path: Path) -> Bench:
    """A bench that knows a few sources of both sets."""
    made = Bench(path)
    made._datasets |= {name: few(name) for name in ("contrast", "world")}
    return made
