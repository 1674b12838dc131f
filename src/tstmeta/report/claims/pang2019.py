"""Claims of Pang and Gimpel (2019), Unsupervised Evaluation Metrics for Textual Transfer."""

from __future__ import annotations

from .evidence import FAILS, HOLDS, OPEN, Claim, Evidence, Verdict

#: Style would stand in for content if they shared half their variance.
HALF_SHARED = 0.5**0.5


def _accuracy_alone(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks("mir"):
        return lacking
    found = [
        evidence.between("mir", "style", "content"),
        evidence.agreement(
            "mir", ("human-style", "none"), statistic="kendall", level="system", units="systems"
        )._replace(what="style with content ratings over systems on `mir`, Kendall's tau-b"),
    ]
    if found[0].high < HALF_SHARED:
        return Verdict(
            HOLDS,
            "Shown on other systems than the paper's, with people's style rating in the place of a"
            " classifier: not even that rating could stand in for the content rating.",
            found,
        )
    if found[0].low > HALF_SHARED:
        return Verdict(FAILS, "Style success stands for content well.", found)
    return Verdict(OPEN, "How far style success stands for content cannot be told.", found)


def _sentence_level(evidence: Evidence) -> Verdict:
    found = [
        evidence.published("pang2019.t5.sim.yelp", "Sim with semantic preservation, Yelp"),
        evidence.published("pang2019.t5.pp.yelp", "PP with fluency, Yelp"),
        evidence.published("pang2019.t5.acc.yelp", "Acc against people, Yelp, percent"),
    ]
    return Verdict(OPEN, "Neither the ratings nor the outputs were released.", found)


def _single_score(evidence: Evidence) -> Verdict:
    found = [
        evidence.published("pang2019.t5.gm.yelp-literature", "pairs GM orders as people do, %")
    ]
    return Verdict(
        OPEN,
        "That the printed GM follows from the printed parts is in the ledger. Whether it orders"
        " systems as people do rests on preferences that were not released.",
        found,
    )


CLAIMS = (
    Claim(
        "pang2019.accuracy-alone",
        "Tables 2 and 3",
        "Accuracy of style alone does not tell whether a transfer is good.",
        "Pearson's r of style and content ratings: style would stand in for content if they shared"
        f" half their variance (r = {HALF_SHARED:.2f}); holds if the interval lies below that.",
        _accuracy_alone,
    ),
    Claim(
        "pang2019.sentence-level",
        "Table 5",
        "Accuracy, similarity and perplexity agree well with people on single sentences.",
        "Their correlations with ratings of sentences, with intervals.",
        _sentence_level,
    ),
    Claim(
        "pang2019.single-score",
        "Table 5",
        "The geometric mean of the three orders systems mostly as people do.",
        "The share of pairs of systems that both order alike, systems drawn again.",
        _single_score,
    ),
)
