"""Claims of Mukherjee et al. (2025), Evaluating TST Evaluation.

The ratings are not public, so the printed numbers stand as published.  Beside them stands what
public ratings say of the same question, with metrics that need no model and with scores that were
released.  Only the claim about combinations is about a method: it is judged on those ratings.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..published import cells
from .evidence import FAILS, HOLDS, OPEN, Claim, Evidence, Finding, Metric, Verdict, above, sides

#: Public ratings of content: of sentiment transfer, of formality transfer, of simplification.
SENTIMENT, FORMALITY, RELEASED = "mir", "lai@pauli2025-systems", "lai@lai2023"
SIMPLIFICATION = ("alva@asset", "lens@simpda_2022")
#: Metrics of Table 2 that need no model, grouped as there: used before, and newly applied.
BEFORE = ("bleu", "meteor", "rouge2", "rougeL")
NEW = ("-ter", "-pinc")
#: All metrics of words that are combined; chrF is not in that table.
WORDS = (*BEFORE, "chrf", *(name.removeprefix("-") for name in NEW))
#: The same of the scores that were released with lai; the last is a prompted language model.
BEFORE_RELEASED = tuple(f"released:{name}" for name in ("bleu", "meteor", "rouge-2", "rouge-l"))
NEW_RELEASED = tuple(f"released:{name}" for name in ("bertscore", "bleurt", "chatgpt"))
#: What is combined of the released scores: all but those of a prompted model.
ALL_RELEASED = (
    *BEFORE_RELEASED,
    *NEW_RELEASED[:2],
    *(f"released:{name}" for name in ("rouge-1", "chrf", "wmd", "comet-20", "comet-22")),
)
_WHY = "The human ratings are not public, so no interval can be given to the printed numbers."


def _newly_applied(evidence: Evidence) -> Verdict:
    found = [
        evidence.published(f"mukherjee2025.t2.{key}.sentiment.en.pearson", f"{name}, content")
        for key, name in (
            ("bleu", "BLEU"),
            ("bertscore", "BERTScore"),
            ("s3bert", "S3BERT"),
            ("gpt4", "GPT-4, prompted"),
            ("llama", "LLaMA 3.1 8B, prompted"),
        )
    ]
    shown: list[Finding] = []
    for data, new, before in (
        (SENTIMENT, NEW, BEFORE),
        (RELEASED, NEW_RELEASED, BEFORE_RELEASED),
    ):
        if not evidence.lacks(data):
            others = _source(before)
            shown += [
                evidence.best_gap(data, one, others, statistic="pearson") for one in _source(new)
            ]
    why = _WHY
    if shown:
        why += (
            " Public ratings of content in English, each new metric less the best one used before,"
            f" {len(shown)} intervals: {sides(shown)}."
        )
    return Verdict(OPEN, why, [*found, *shown])


def _source(names: Sequence[str]) -> list[Metric]:
    return [(name, "source") for name in names]


def _ensembles(evidence: Evidence) -> Verdict:
    printed = [
        evidence.published(f"mukherjee2025.t4.{key}.{data}.en.pearson", f"{name}, {data}")
        for data in ("sentiment", "detoxification")
        for key, name in (("existing", "existing practice"), ("ours2", "learned ensemble"))
    ]
    fitted = (
        f"{_WHY} The weights were fitted on ratings too, and whether on others than they are judged"
        " on cannot be seen from what is public."
    )
    if lacking := evidence.lacks(SENTIMENT, FORMALITY, RELEASED):
        return Verdict(OPEN, f"{fitted} {lacking.why}", printed)
    words = f"{len(WORDS)} metrics of words"
    ours = [
        *evidence.combined(SENTIMENT, WORDS, words),
        *evidence.combined(FORMALITY, WORDS, words),
        *evidence.combined(RELEASED, ALL_RELEASED, f"{len(ALL_RELEASED)} released metrics"),
    ]
    judged = above(
        ours,
        0.0,
        {
            HOLDS: "On every set of ratings of style transfer both combinations are better.",
            FAILS: "On at least one set of ratings of style transfer a combination is worse.",
            OPEN: "On some set of ratings of style transfer it cannot be told from chance.",
        },
    )
    beside = [
        one
        for data in SIMPLIFICATION
        if not evidence.lacks(data)
        for one in evidence.combined(data, WORDS, f"{words} (simplification)")
    ]
    why = (
        f"{judged.why} Of {len(ours)} intervals {sides(ours)}; these are other ratings and other"
        " metrics than the paper's."
    )
    if beside:
        why += f" On simplification, which does not count here: {sides(beside)}."
    return Verdict(judged.verdict, f"{why} {fitted}", [*ours, *beside, *printed])


def _no_universal(evidence: Evidence) -> Verdict:
    found = []
    for data in ("sentiment", "detoxification"):
        for language in ("en", "hi", "bn"):
            here = [
                cell
                for cell in cells()
                if (cell.paper, cell.table, cell.statistic) == ("mukherjee2025", "2", "pearson")
                and (cell.dataset, cell.language) == (data, language)
            ]
            if here:
                best = max(here, key=lambda cell: cell.value)
                what = f"best for content, {data}, {language}: {best.metric}"
                found.append(Finding(what, best.value, note=best.cell, published=True))
    why = f"{_WHY} In print the first place changes hands, which chance alone could bring about."
    shown, words = _first_places(evidence)
    return Verdict(OPEN, why + words, [*found, *shown])


def _first_places(evidence: Evidence) -> tuple[list[Finding], str]:
    """The best metric of words for content on two sets, each against the other on its own set."""
    if evidence.lacks(SENTIMENT, FORMALITY):
        return [], ""
    metrics = _source([*BEFORE, "chrf", *NEW])
    first, second = (evidence.best(data, metrics) for data in (SENTIMENT, FORMALITY))
    if first == second:
        return [], f" Of the metrics of words `{first[0]}` comes first on both public sets."
    found = [
        evidence.gap(SENTIMENT, first, second),
        evidence.gap(FORMALITY, second, first),
    ]
    return found, (
        f" On public ratings in English `{first[0]}` comes first of the metrics of words on"
        f" `{SENTIMENT}`, `{second[0]}` on `{FORMALITY}`; each less the other on its own"
        f" set: {sides(found)}."
    )


CLAIMS = (
    Claim(
        "mukherjee2025.newly-applied",
        "Tables 1 to 3",
        "Metrics taken from other fields and prompted language models agree better with people than"
        " the metrics that style transfer used before.",
        "The difference of correlations in each language and task, with an interval.",
        _newly_applied,
    ),
    Claim(
        "mukherjee2025.ensembles",
        "Tables 4 to 6",
        "Weighted combinations of metrics agree better with people than single ones.",
        "Pearson's r of both hybrids minus that of the best single metric, everything chosen and"
        " fitted on other sources than those that judge; holds if every interval on public ratings"
        " of style transfer lies above zero, does not hold if one lies below.",
        _ensembles,
    ),
    Claim(
        "mukherjee2025.no-universal",
        "Tables 1 to 3",
        "No single metric is the best one in all languages and tasks.",
        "Rank sets of the metrics in each language and task.",
        _no_universal,
    ),
)
