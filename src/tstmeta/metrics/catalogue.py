"""The list of metrics that ``tstmeta metrics`` and the book show."""

from __future__ import annotations

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


def overview() -> pd.DataFrame:
    """One row a registered metric; one that cannot be loaded has status ``error`` and a remedy."""
    rows = []
    for family, members in families().items():
        for name in members:
            try:
                rows.append(_row(name, family))
            except Exception as error:  # a third party's broken metric must not hide the others
                blank = dict.fromkeys(COLUMNS, "")
                remedy = f"{type(error).__name__}: {error}"
                rows.append({**blank, "name": name, "status": "error", "remedy": remedy})
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
