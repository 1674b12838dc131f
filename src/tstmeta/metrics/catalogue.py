"""The list of metrics that ``tstmeta metrics`` and the book show.

It also has combined metrics, which join scores of others by :mod:`tstmeta.combine`, and open forms,
which take a file or folder that only the user can name.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from . import families, get, more_is_better

COLUMNS = (
    *("name", "family", "profile", "dimension", "unit", "bases", "languages", "better"),
    *("max_tokens", "status", "remedy", "signature"),
)
#: The family of metrics that combine scores of others.
COMBINED_FAMILY = "combined"


class Combined(NamedTuple):
    """A metric that combines scores of others."""

    name: str
    #: The human dimensions that it claims, with spaces between.
    dimension: str
    #: What of :mod:`tstmeta.combine` makes its scores.
    maker: str
    #: How the option ``--combine`` calls it, where that is not its name.
    words: str = ""


COMBINED = (
    Combined("gm", "overall", "gm_scores; learned_gm learns its thresholds"),
    Combined("hybrid-simulation", "content style", "hybrid, which is fitted on ratings"),
    Combined("hybrid-learned", "content style", "hybrid, which is fitted on ratings"),
    Combined("overall-existing", "overall", "overall_scores"),
    Combined("overall-ours1", "overall", "overall_scores"),
    Combined("overall-ours2", "overall", "overall_scores"),
    Combined("j", "overall", "j (FL: a fluency metric with values in [0, 1])", "j:FL"),
)

_CLASSIFIER = "tstmeta train classifier --help, then name the folder that it wrote"
#: Form of a metric that a paper prints and that takes a file or folder, which stands in capitals
#: -> what to name, and how it is had.
OPEN = {
    "sim:vectors=FILE+idf=FILE": "name word vectors (GloVe's text format) and a file of texts",
    "perplexity:FOLDER": (
        "tstmeta train lm --base gpt2 (or mgpt) --corpus FILE --style STYLE, then name its folder"
    ),
    "judge:http://HOST/v1#MODEL+PROMPT": (
        "name a server, what it calls the model, and a prompt: tstmeta judge prompts lists them"
    ),
    "style-confidence:FOLDER": _CLASSIFIER,
    "style-accuracy:FOLDER": _CLASSIFIER,
    "style-regressor:FOLDER": f"{_CLASSIFIER}; --regress trains a regressor",
}


def combined(name: str) -> Combined | None:
    """The combined metric of that name, whatever stands after a colon; None if it is none."""
    stem = name.partition(":")[0]
    return next((metric for metric in COMBINED if metric.name == stem), None)


def names() -> list[str]:
    """All names of the list in its order: registered metrics by family, open forms, combined."""
    registered = [name for members in families().values() for name in members]
    return [*registered, *OPEN, *(metric.name for metric in COMBINED)]


def overview() -> pd.DataFrame:
    """One row a metric, columns :data:`COLUMNS`, all text.

    One that cannot run here has status ``error`` and a remedy, as an open form has; the remedy of a
    combined metric says how its scores are had.
    """
    rows = {}
    for family, members in families().items():
        for name in members:
            try:
                rows[name] = _row(name, family)
            except Exception as error:  # a third party's broken metric must not hide the others
                remedy = f"{type(error).__name__}: {error}"
                blank = dict.fromkeys(COLUMNS, "")
                rows[name] = {**blank, "name": name, "status": "error", "remedy": remedy}
    for name, remedy in OPEN.items():
        form = {"name": name, "profile": "real", "status": "error", "remedy": remedy}
        rows[name] = {**rows[name.partition(":")[0]], **form, "signature": ""}
    rows |= {metric.name: _combined(metric) for metric in COMBINED}
    return pd.DataFrame(list(rows.values()), columns=list(COLUMNS))


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


def how(metric: Combined) -> str:
    """How the scores of a combined metric are had: an option, and what makes them in Python."""
    return (
        f"tstmeta score (or evaluate) --data DATA --combine {metric.words or metric.name}; in "
        f"Python made from scores of others by tstmeta.combine: {metric.maker}"
    )


def _combined(metric: Combined) -> dict[str, str]:
    return dict.fromkeys(COLUMNS, "") | {
        "name": metric.name,
        "family": COMBINED_FAMILY,
        "profile": "embedded",
        "dimension": metric.dimension,
        "unit": "item",
        "bases": "as its parts",
        "languages": "as its parts",
        "better": "higher",
        "status": "ok",
        "remedy": how(metric),
    }
