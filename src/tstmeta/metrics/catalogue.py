"""The list of metrics that ``tstmeta metrics`` and the book show.

Combined metrics stand in it although they are not asked for by name like the others: they are made
from scores of other metrics, some of them fitted on ratings, by :mod:`tstmeta.combine`.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from . import families, get

COLUMNS = (
    "name",
    "family",
    "profile",
    "dimension",
    "unit",
    "bases",
    "languages",
    "better",
    "max_tokens",
    "status",
    "remedy",
    "signature",
)
#: The family of metrics that are made from scores of others.
COMBINED_FAMILY = "combined"


class Combined(NamedTuple):
    """A metric that is made from scores of others.

    Attributes:
        name: what its scores are called.
        dimension: the human dimensions that it claims, with spaces between.
        unit: ``item`` or ``corpus``.
        made: how its scores are had, for somebody who asks for them.
    """

    name: str
    dimension: str
    unit: str
    made: str


_FITTED = "fitted on ratings of other sources than it scores"
COMBINED = (
    Combined("gm", "overall", "corpus", "made of accuracy, similarity and perplexity"),
    Combined("hybrid-simulation", "content style", "item", _FITTED),
    Combined("hybrid-learned", "content style", "item", _FITTED),
    Combined("overall-existing", "overall", "item", "made of scores of the three dimensions"),
    Combined("overall-ours1", "overall", "item", "made of scores of the three dimensions"),
    Combined("overall-ours2", "overall", "item", "made of scores of the three dimensions"),
    Combined("j", "overall", "corpus", "made of accuracy, similarity and fluency"),
)


def names() -> list[str]:
    """All names of the list in its order: registered metrics by family, then combined ones."""
    registered = [name for members in families().values() for name in members]
    return [*registered, *(one.name for one in COMBINED)]


def stems() -> list[str]:
    """The names without variants, each once: what a card is about."""
    return list(dict.fromkeys(name.partition(":")[0] for name in names()))


def overview() -> pd.DataFrame:
    """One row a metric, columns :data:`COLUMNS`, all text.

    One that cannot run here has status ``error`` and a remedy; one that cannot even be loaded has
    nothing else.  The remedy of a combined metric says how its scores are made; its signature
    stands with them, as it depends on what they are made of.
    """
    rows: list[dict] = []
    for family, members in families().items():
        for name in members:
            try:
                rows.append(_row(name, family))
            except Exception as error:  # a third party's broken metric must not hide the others
                blank = dict.fromkeys(COLUMNS, "")
                remedy = f"{type(error).__name__}: {error}"
                rows.append({**blank, "name": name, "status": "error", "remedy": remedy})
    rows += [_combined(one) for one in COMBINED]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(name: str, family: str) -> dict[str, object]:
    metric = get(name)
    missing = getattr(metric, "missing", "")
    return {
        "name": name,
        "family": family,
        "profile": metric.profile,
        "dimension": " ".join(metric.dimensions),
        "unit": metric.unit,
        "bases": " ".join(metric.bases),
        "languages": " ".join(metric.languages) or "any",
        "better": "higher" if metric.higher_is_better else "lower",
        "max_tokens": "" if metric.max_tokens is None else str(metric.max_tokens),
        "status": "error" if missing else "ok",
        "remedy": missing,
        # of a metric that cannot run here it would hang on devices that are not asked for
        "signature": "" if missing else str(metric.signature(metric.bases[0])),
    }


def _combined(one: Combined) -> dict[str, str]:
    return dict.fromkeys(COLUMNS, "") | {
        "name": one.name,
        "family": COMBINED_FAMILY,
        "profile": "embedded",
        "dimension": one.dimension,
        "unit": one.unit,
        "bases": "as its parts",
        "languages": "as its parts",
        "better": "higher",
        "status": "ok",
        "remedy": f"{one.made}; see tstmeta.combine",
    }
