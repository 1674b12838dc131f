"""The list of metrics that ``tstmeta metrics`` and the book show.

Two kinds stand in it that are no metrics of texts by these names.  Combined metrics are made from
scores of others, some of them fitted on ratings, by :mod:`tstmeta.combine`: ``--combine`` asks for
them.  Open forms take a file or folder that only the user can name; those that a paper prints are
listed, with what to name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from . import Metric, families, get, more_is_better

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
        made: what of :mod:`tstmeta.combine` makes its scores.
        words: how the option ``--combine`` calls it, where that is not its name.
    """

    name: str
    dimension: str
    made: str
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


def combined(name: str) -> Combined | None:
    """The combined metric of that name, whatever stands after a colon; None if it is none."""
    stem = name.partition(":")[0]
    return next((one for one in COMBINED if one.name == stem), None)


class Open(NamedTuple):
    """A form of a metric that a paper prints and that takes a file or folder of the user's.

    Attributes:
        name: with the place of the file or folder in capitals.
        remedy: what to name, and how it is had.
    """

    name: str
    remedy: str


_CLASSIFIER = "tstmeta train classifier --help, then name the folder that it wrote"
OPEN = (
    Open(
        "sim:vectors=FILE+idf=FILE", "name word vectors (GloVe's text format) and a file of texts"
    ),
    Open(
        "perplexity:FOLDER",
        "tstmeta train lm --base gpt2 (or mgpt) --corpus FILE --style STYLE, then name its folder",
    ),
    Open(
        "judge:http://HOST/v1#MODEL+PROMPT",
        "name a server, what it calls the model, and a prompt: tstmeta judge prompts lists them",
    ),
    Open("style-confidence:FOLDER", _CLASSIFIER),
    Open("style-accuracy:FOLDER", _CLASSIFIER),
    Open("style-regressor:FOLDER", f"{_CLASSIFIER}; --regress trains a regressor"),
)


def names() -> list[str]:
    """All names of the list in its order: registered metrics by family, open forms, combined."""
    registered = [name for members in families().values() for name in members]
    return [*registered, *(one.name for one in _opened()), *(each.name for each in COMBINED)]


def _opened() -> list[Open]:
    """Open forms of the metrics that are registered."""
    known = {name for members in families().values() for name in members}
    return [one for one in OPEN if one.name.partition(":")[0] in known]


def stems() -> list[str]:
    """The names without variants, each once: what a card is about."""
    return list(dict.fromkeys(name.partition(":")[0] for name in names()))


def overview() -> pd.DataFrame:
    """One row a metric, columns :data:`COLUMNS`, all text.

    One that cannot run here has status ``error`` and a remedy, as an open form has, whose remedy
    says what to name; one that cannot even be loaded has nothing else.  The remedy of a combined
    metric says how its scores are made; its signature stands with them, as it depends on what they
    are made of.
    """
    rows: list[dict[str, Any]] = []
    for family, members in families().items():
        for name in members:
            try:
                rows.append(_row(name, family))
            except Exception as error:  # a third party's broken metric must not hide the others
                blank = dict.fromkeys(COLUMNS, "")
                remedy = f"{type(error).__name__}: {error}"
                rows.append({**blank, "name": name, "status": "error", "remedy": remedy})
    found = {row["name"]: row for row in rows}
    for one in _opened():
        plain = found[one.name.partition(":")[0]]
        open_form = {"name": one.name, "profile": "real", "status": "error", "remedy": one.remedy}
        rows.append({**plain, **open_form, "signature": ""})
    rows += [_combined(each) for each in COMBINED]
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
        "better": _better(metric),
        "max_tokens": "" if metric.max_tokens is None else str(metric.max_tokens),
        "status": "error" if missing else "ok",
        "remedy": missing,
        # of a metric that cannot run here it would hang on devices that are not asked for
        "signature": "" if missing else str(metric.signature(metric.bases[0])),
    }


def _better(metric: Metric) -> str:
    """``higher`` or ``lower``; with the basis where it is not the same on all."""
    said = {basis: "higher" if more_is_better(metric, basis) else "lower" for basis in metric.bases}
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return ", ".join(f"{better} ({basis})" for basis, better in said.items())


def how(one: Combined) -> str:
    """How the scores of a combined metric are had: an option, and what makes them in Python."""
    word = one.words or one.name
    option = f"tstmeta score (or evaluate) --data DATA --combine {word}"
    given = "; FL is a metric of fluency with values in [0, 1]" if word.endswith(":FL") else ""
    return f"{option}{given}; in Python made from scores of others by tstmeta.combine: {one.made}"


def _combined(one: Combined) -> dict[str, str]:
    return dict.fromkeys(COLUMNS, "") | {
        "name": one.name,
        "family": COMBINED_FAMILY,
        "profile": "embedded",
        "dimension": one.dimension,
        "unit": "item",
        "bases": "as its parts",
        "languages": "as its parts",
        "better": "higher",
        "status": "ok",
        "remedy": how(one),
    }
