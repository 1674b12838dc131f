"""Claims of Lai et al. (2023), Multidimensional Evaluation for TST Using ChatGPT.

All from released scores and ratings, so that every claim can be judged here.
"""

from __future__ import annotations

from ...stats.matrices import Level
from ...stats.resampling import Units
from .evidence import FAILS, HOLDS, OPEN, SMALL, Claim, Evidence, Finding, Verdict, above

DATA = "lai@lai2023"
SURFACE = ("bleu", "rouge-1", "rouge-2", "rouge-l", "chrf", "meteor")
LEARNED = ("bertscore", "bleurt", "comet-20", "comet-22")
#: Level of the paper, our name of it, our statistic for it, what is drawn again.
LEVELS: tuple[tuple[str, Level, Units], ...] = (
    ("pairwise-accuracy", "system", "both"),
    ("kendall", "source", "sources"),
    ("kendall", "pooled", "sources"),
)
_WORDS = {"system": "system level", "source": "sample level", "pooled": "data set level"}


def _released(names: tuple[str, ...], basis: str) -> list[tuple[str, str]]:
    return [(f"released:{name}", basis) for name in names]


def _at_levels(
    evidence: Evidence, own: str, others: list[tuple[str, str]], dimension: str, basis: str
) -> list[Finding]:
    found = []
    for statistic, level, units in LEVELS:
        gap = evidence.best_gap(
            DATA,
            (f"released:{own}", basis),
            others,
            dimension,
            statistic=statistic,
            level=level,
            units=units,
        )
        found.append(gap._replace(what=f"{_WORDS[level]}: {gap.what}"))
    return found


def _content(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks(DATA):
        return lacking
    others = [*_released(SURFACE + LEARNED, "source"), ("-released:wmd", "source")]
    return _not_worse(_at_levels(evidence, "chatgpt", others, "content", "source"))


def _style(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks(DATA):
        return lacking
    others = _released(("r-pt16", "c-pt16", "c-gyafc"), "none")
    return _not_worse(_at_levels(evidence, "chatgpt", others, "style", "none"))


def _fluency(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks(DATA):
        return lacking
    others = [("-released:gpt2_ppl", "none")]
    return _not_worse(_at_levels(evidence, "chatgpt", others, "fluency", "none"))


def _not_worse(found: list[Finding]) -> Verdict:
    """Competitive: below the best other metric by less than a small correlation, at all levels.

    An interval that reaches further down and up to zero tells neither.
    """
    worse = [one for one in found if one.high < 0]
    wide = [one for one in found if not one.low > -SMALL]
    better = [one for one in found if one.low > 0]
    above = f" At {_levels(better)} it is above." if better else ""
    if worse:
        return Verdict(
            FAILS, f"At {_levels(worse)} the judge is below the best other metric.", found
        )
    if wide:
        why = f"At {_levels(wide)} the judge may be clearly below the best other metric, or above."
        return Verdict(OPEN, why + above, found)
    return Verdict(
        HOLDS, "At no level is the judge below by more than a small difference." + above, found
    )


def _levels(found: list[Finding]) -> str:
    return " and ".join(one.what.partition(":")[0] for one in found)


def _prompts(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks(DATA):
        return lacking
    found = []
    for dimension, basis in (("content", "source"), ("style", "none"), ("fluency", "none")):
        gap = evidence.gap(
            DATA,
            ("released:chatgpt", basis),
            ("released:chatgpt-multi", basis),
            dimension,
            statistic="kendall",
        )
        found.append(gap._replace(what=f"{dimension}: one prompt a dimension minus one for all"))
    return above(
        found,
        0.0,
        {
            HOLDS: "For all three dimensions the difference lies above zero at data set level.",
            FAILS: "For one dimension at least the difference lies below zero.",
            OPEN: "For some dimensions the difference cannot be told from zero.",
        },
    )


def _learned(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks(DATA):
        return lacking
    found = []
    for name in LEARNED:
        for statistic, level, units in LEVELS[1:]:
            gap = evidence.best_gap(
                DATA,
                (f"released:{name}", "source"),
                _released(SURFACE, "source"),
                statistic=statistic,
                level=level,
                units=units,
            )
            found.append(gap._replace(what=f"{_WORDS[level]}: {gap.what}"))
    return above(
        found,
        0.0,
        {
            HOLDS: "Each learned metric lies above the best one of words, at both levels of items.",
            FAILS: "At least one lies below the best metric of words.",
            OPEN: "At least one cannot be told from the best metric of words.",
        },
    )


def _direction(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks(DATA):
        return lacking
    found = [evidence.slots(DATA, "style", direction) for direction in ("I2F", "F2I")]
    formal, informal = found
    if informal.high < formal.low:
        return Verdict(HOLDS, "The two intervals do not touch.", found)
    if formal.high < informal.low:
        return Verdict(FAILS, "The two intervals do not touch, the other way round.", found)
    return Verdict(OPEN, "The two intervals overlap.", found)


def _best_style(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks(DATA):
        return lacking
    gap = evidence.gap(
        DATA,
        ("released:c-pt16", "none"),
        ("released:c-gyafc", "none"),
        "style",
        statistic="kendall",
    )
    return above(
        [gap],
        0.0,
        {
            HOLDS: "The difference lies above zero.",
            FAILS: "The difference lies below zero; the paper's own table says so too.",
            OPEN: "The difference cannot be told from zero.",
        },
    )


_RULE = (
    "Kendall's tau-b by source and pooled, pairwise accuracy over systems: the judge minus the best"
    f" other released metric, paired. Holds if every interval lies above {-SMALL:g} (a small"
    " difference, a convention), does not hold if one lies below zero. That an interval holds zero"
    " is not enough: a wide one always does."
)
CLAIMS = (
    Claim(
        "lai2023.content",
        "Table 1",
        "On content, ChatGPT is competitive: it agrees with people about as well as the best"
        " existing metric.",
        _RULE,
        _content,
    ),
    Claim(
        "lai2023.style",
        "Table 2",
        "On style strength, ChatGPT is competitive with trained classifiers.",
        _RULE,
        _style,
    ),
    Claim(
        "lai2023.fluency",
        "Table 3",
        "On fluency, ChatGPT agrees with people at least as well as perplexity does.",
        _RULE,
        _fluency,
    ),
    Claim(
        "lai2023.prompts",
        "Table 4",
        "Asking for one dimension at a time agrees better with people than asking for all at once.",
        "Kendall's tau-b, pooled, one prompt minus the other for each dimension; holds if all three"
        " intervals lie above zero.",
        _prompts,
    ),
    Claim(
        "lai2023.learned",
        "Table 1",
        "On content, metrics with learned representations agree better with people than metrics of"
        " words.",
        "Kendall's tau-b by source and pooled, each learned metric minus the best metric of words;"
        " holds if all intervals lie above zero.",
        _learned,
    ),
    Claim(
        "lai2023.direction",
        "Table 2",
        "People agree on style when informal becomes formal, and hardly when formal becomes"
        " informal.",
        "Kendall's tau-b of the two rating slots in each direction, pooled; holds if the two"
        " intervals do not touch and the first is higher.",
        _direction,
    ),
    Claim(
        "lai2023.best-style",
        "Section on style, Table 2",
        "At data set level the classifier trained on PT16 is the best metric of style.",
        "Kendall's tau-b of C-PT16 minus that of C-GYAFC, pooled; holds if it lies above zero.",
        _best_style,
    ),
)
