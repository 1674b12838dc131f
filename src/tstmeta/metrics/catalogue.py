"""The list of metrics that ``tstmeta metrics`` and the book show.

Two kinds stand in it that are no metrics of texts by these names.  Combined metrics join scores of
others, some of them fitted on ratings, by :mod:`tstmeta.combine`: the option ``--combine`` names
them.  Open forms take a file or folder that only the user can name; those that a paper prints are
listed, with what to name.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from . import Metric, families, get, more_is_better

COLUMNS = (
    *("name", "family", "profile", "dimension", "unit", "bases", "languages", "better"),
    *("max_tokens", "status", "remedy", "signature"),
)
#: The family of metrics that combine scores of others.
COMBINED_FAMILY = "combined"


class Combined(NamedTuple):
    """A metric that combines scores of others.

    Attributes:
        name: what its scores are called.
        dimension: the human dimensions that it claims, with spaces between.
        maker: what of :mod:`tstmeta.combine` makes its scores.
        words: how the option ``--combine`` calls it, where that is not its name.
    """

    name: str
    dimension: str
    maker: str
    words: str = ""


COMBINED = (
    Combined("gm", "overall", "gm_scores and gm_of_systems; learned_gm learns its thresholds"),
    Combined("hybrid-simulation", "content style", "hybrid, which is fitted on ratings"),
    Combined("hybrid-learned", "content style", "hybrid, which is fitted on ratings"),
    Combined("overall-existing", "overall", "overall_scores"),
    Combined("overall-ours1", "overall", "overall_scores"),
    Combined("overall-ours2", "overall", "overall_scores"),
    Combined("j", "overall", "j and j_of_systems", "j:FL"),
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

    One that cannot run here has status ``error`` and a remedy, as an open form has; one that cannot
    even be loaded has nothing else.  The remedy of a combined metric says how its scores are had;
    its signature stands with them, as it depends on what they combine.
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
    return {
        "name": name,
        "family": family,
        "profile": metric.profile,
        "dimension": " ".join(metric.dimensions),
        "unit": metric.unit,
        "bases": " ".join(metric.bases),
        "languages": " ".join(metric.languages) or "any",
        "better": _better(metric),
        "max_tokens": "" if metric.max_tokens is None else str(metric.max_tokens),
        "status": "error" if missing else "ok",
        "remedy": missing,
        # of a metric that cannot run here it would hang on devices that are not asked for
        "signature": "" if missing else str(metric.signature(metric.bases[0])),
    }


def _better(metric: Metric) -> str:
    """``higher`` or ``lower``; with the basis where it is not the same on all."""
    words = {b: "higher" if more_is_better(metric, b) else "lower" for b in metric.bases}
    if len(set(words.values())) == 1:
        return words[metric.bases[0]]
    return ", ".join(f"{word} ({basis})" for basis, word in words.items())


def how(metric: Combined) -> str:
    """How the scores of a combined metric are had: an option, and what makes them in Python."""
    word = metric.words or metric.name
    option = f"tstmeta score (or evaluate) --data DATA --combine {word}"
    note = "; FL is a metric of fluency with values in [0, 1]" if word.endswith(":FL") else ""
    return (
        f"{option}{note}; in Python made from scores of others by tstmeta.combine: {metric.maker}"
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
