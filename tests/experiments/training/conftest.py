"""Toy trainings of every kind, by one call."""

from contextlib import contextmanager
from hashlib import sha256

import pytest

from experiments.training import classifier, lm
from experiments.training.loop import FINE_TUNING, Learner, LmOptions
from tests.models import style, tiny, tiny_encoder
from tstmeta.models.causal import backbone

TEXTS = [f"{who} {did} the {what}" for who in ("we", "they") for did in ("sold", "opened", "saw")
         for what in ("shop", "loaf", "train", "soup")]  # fmt: skip
HELD = ["we sold the platform", "they told the waiter"]
TOY = LmOptions(
    vocabulary=300, width=16, layers=1, heads=2, inner=24, length=32, batch=4, epochs=2,
    warmup=2, rate=1e-2, checkpoint=2,
)  # fmt: skip
#: A rate at which a step shows, and dropout with it.
TUNED = FINE_TUNING.model_copy(update={"rate": 1e-2, "epochs": 1, "batch": 5, "checkpoint": 2})
KINDS = ("lm", "tuned", "linear", "textcnn", "transformer")


def digests(out):
    """SHA-256 of what a training leaves, by name."""
    files = [path for path in out.rglob("*") if path.is_file()]
    return {str(path.relative_to(out)): sha256(path.read_bytes()).hexdigest() for path in files}


class Killed(BaseException):
    """Not an Exception: nothing may catch it."""


@contextmanager
def killed(at):
    """A training inside dies before the step ``at``."""
    step = Learner.step

    def dying(self, number, *rest):
        if number == at:
            raise Killed
        return step(self, number, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Learner, "step", dying)
        with pytest.raises(Killed):
            yield


@pytest.fixture(scope="session")
def bases(tmp_path_factory):
    """Tiny models to begin with; GPT-2 and ``base`` have dropout, as they come.

    ``calm`` has none: so small a model needs that to learn anything.
    """
    folder = tmp_path_factory.mktemp("bases")
    tiny.folder(folder / "gpt2", "gpt2")
    tiny_encoder.folder(folder / "base", width=0.1)
    calm = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    calm |= {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1}
    tiny_encoder.folder(folder / "calm", width=0.1, **calm)
    return {name: backbone(str(folder / name)) for name in ("gpt2", "base", "calm")}


@pytest.fixture(scope="session")
def run(bases):
    """Train a model of a kind in a folder."""

    def trained(
        out, kind, *, texts=TEXTS, corpus=None, tasks=(style.MOOD,), base="base", **changes
    ):
        usual = {"lm": {"options": TOY}, "tuned": {"options": TUNED, "base": bases["gpt2"]}}
        if kind in usual:
            return lm.train(out, texts, HELD, **(usual[kind] | changes))
        table = style.corpus(*tasks) if corpus is None else corpus
        begin = bases.get(base) if kind == "transformer" else None
        options = {"options": style.SMALL[kind], "base": begin, **changes}
        return classifier.train(out, table, kind, tasks=tasks, **options)

    return trained


@pytest.fixture(scope="session")
def finished(run, tmp_path_factory):
    """A run of each kind that nobody stopped: the folder and the report."""
    folder = tmp_path_factory.mktemp("whole")
    return {kind: (folder / kind, run(folder / kind, kind)) for kind in KINDS}
