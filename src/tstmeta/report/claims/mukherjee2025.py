"""Claims of Mukherjee et al. (2025), Evaluating TST Evaluation.

The ratings are not public: nothing can be judged here.  What is printed is shown, marked as such.
"""

from __future__ import annotations

from ..published import cells
from .evidence import OPEN, Claim, Evidence, Finding, Verdict

_WHY = "The human ratings are not public, so no interval can be given to any of these numbers."


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
    return Verdict(OPEN, _WHY, found)


def _ensembles(evidence: Evidence) -> Verdict:
    found = [
        evidence.published(f"mukherjee2025.t4.{key}.{data}.en.pearson", f"{name}, {data}")
        for data in ("sentiment", "detoxification")
        for key, name in (("existing", "existing practice"), ("ours2", "learned ensemble"))
    ]
    why = f"{_WHY} The weights were fitted on ratings too, and whether on others than they are"
    return Verdict(OPEN, f"{why} judged on cannot be seen from what is public.", found)


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
    return Verdict(OPEN, why, found)


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
        "The combination minus its best part on ratings that it was not fitted on, with an"
        " interval.",
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
