"""What a notebook asks first: which data sets there are, what they rest on, and their scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from . import metrics as registry
from . import scoring
from .data import Dataset
from .data.catalogue import overview
from .metrics import Metric
from .schema import TstmetaError

PROFILES = ("embedded", "real")


def datasets() -> pd.DataFrame:
    """All data sets: name, title, task, items, raters, dimensions, access, here (yes, partly, no).

    ``items`` and ``raters`` (ratings an item and dimension) are known of data sets that are here.
    """
    return overview()


def about(data: Iterable[Dataset]) -> str:
    """What a page rests on, as Markdown: real ratings and whose, or none."""
    chosen = list(data)
    rated = [data.name for data in chosen if len(data.ratings)]
    if rated:
        listed = ", ".join(f"`{name}`" for name in rated)
        return f"**This page was built with real human ratings**: {listed}."
    contrast = "It shows the contrast set, whose labels hold by construction."
    shown = contrast if chosen else "What rests on ratings is left out."
    return (
        "**This page was built without human ratings**: none of the rated data sets was on the"
        f" machine. {shown} Get the ratings with `tstmeta data fetch --all`, then build again."
    )


def score(
    data: Dataset,
    metrics: Sequence[str | Metric] | str = ("lexical", "sentinel", scoring.HUMAN_STYLE),
    bases: Sequence[str] | None = None,
    profile: str = "",
    store: Path | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """The scores of a data set: taken from the score store where they are, else computed.

    Args:
        metrics: names (``bleu``, ``bleu:pauli2025``), families (``lexical``, ``sentinel``),
            ``human-style``, metric objects such as :func:`tstmeta.wrap` makes of a function.
        bases: source, reference, none; default all that a metric has.
        profile: ``embedded`` leaves out what needs a model from a hub, ``real`` takes families
            whole; by default single names are taken as they are and families as ``embedded``.
        store: folder of the score store (default ``data/scores``).
        progress: show a bar on standard error (only on a terminal).

    Returns:
        One row an item, metric and basis: dataset, item_id, metric, dimension, basis, signature,
        sample, value, status (ok, empty, truncated, refused, invalid, error), detail.

    Raises:
        UnknownMetric: a name that nobody registered.
        TstmetaError: an unknown profile.
    """
    wanted = [metrics] if isinstance(metrics, str) else list(metrics)
    if profile:
        if profile not in PROFILES:
            raise TstmetaError(f"profile is {profile!r}; use one of {', '.join(PROFILES)}")
        wanted = [name for metric in wanted for name in _allowed(metric, profile)]
    return scoring.score(data, wanted, bases=bases, store=store, progress=progress)


def _allowed(metric: str | Metric, profile: str) -> list[str | Metric]:
    """A name expanded, without what the profile does not let run."""
    if not isinstance(metric, str) or metric == scoring.HUMAN_STYLE:
        return [metric]
    names = registry.resolve([metric], profile)
    if profile == "real":
        return list(names)
    return [name for name in names if registry.get(name, imports=True).profile == profile]
