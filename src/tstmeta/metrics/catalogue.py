"""The list of metrics that ``tstmeta metrics`` and the book show, with combined and open ones."""

from ..console import TableRows
from ..schema import TstmetaError
from .base import more_is_better
from .registry import COMBINED, OPEN, families, get, how

COLUMNS = (
    *("name", "family", "profile", "dimension", "unit", "bases", "languages", "better"),
    *("max_tokens", "status", "remedy", "signature"),
)
COMBINED_FAMILY = "combined"


def rows() -> TableRows:
    """One row a metric, columns :data:`COLUMNS`, all text; what cannot run here has a remedy."""
    rows: dict[str, dict[str, str]] = {}
    for family, members in families().items():
        for name in members:
            try:
                rows[name] = _row(name, family)
            except Exception as error:  # a third party's broken metric must not hide the others
                kind = "" if isinstance(error, TstmetaError) else f"{type(error).__name__}: "
                fault = {"status": "error", "remedy": f"{kind}{error}"}
                rows[name] = {"name": name, "family": family, **fault}
    for name, remedy in OPEN.items():
        form = {"name": name, "profile": "real", "status": "error", "remedy": remedy}
        form |= {"signature": "", "languages": "any"}  # of a model of one's own not known
        rows[name] = {**rows[name.partition(":")[0]], **form}
    rows |= {name: _combined(name) for name in COMBINED}
    return [dict.fromkeys(COLUMNS, "") | row for row in rows.values()]


def summary(rows: TableRows) -> str:
    """How many names of the list run here as they stand, in words; combined ones count apart."""
    combined = sum(row["family"] == COMBINED_FAMILY for row in rows)
    lack = sum(row["status"] != "ok" for row in rows)
    runs = len(rows) - combined - lack
    return (
        f"{runs} of {len(rows)} names run here as they stand, {combined} are made from scores"
        f" of others, and {lack} need a model, parses or a server first"
    )


def _row(name: str, family: str) -> dict[str, str]:
    metric = get(name)
    missing = getattr(metric, "missing", "")
    better = {b: "higher" if more_is_better(metric, b) else "lower" for b in metric.bases}
    if len(set(better.values())) > 1:
        better = {basis: f"{word} ({basis})" for basis, word in better.items()}
    return {
        "name": name,
        "family": family,
        "profile": metric.profile,
        "dimension": " ".join(metric.dimensions),
        "unit": metric.unit,
        "bases": " ".join(metric.bases),
        "languages": " ".join(metric.languages) or "any",
        "better": ", ".join(dict.fromkeys(better.values())),
        "max_tokens": "" if metric.max_tokens is None else str(metric.max_tokens),
        "status": "error" if missing else "ok",
        "remedy": missing,
        # of a metric that cannot run here it would hang on devices that are not asked for
        "signature": "" if missing else str(metric.signature(metric.bases[0])),
    }


def _combined(name: str) -> dict[str, str]:
    facts = {"family": COMBINED_FAMILY, "profile": "embedded", "unit": "item", "better": "higher"}
    facts |= dict.fromkeys(("bases", "languages"), "as its parts")
    facts |= {"dimension": COMBINED[name]["dimension"], "status": "ok", "remedy": how(name)}
    return {"name": name, **facts}
