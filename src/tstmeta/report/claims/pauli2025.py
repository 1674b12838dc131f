"""Claims of Pauli et al. (2025), A Meta-Evaluation of Style and Attribute Transfer Metrics."""

from __future__ import annotations

import warnings

from ...likelihood.zeroshot import DemonstrationWarning
from ...models import hub
from ...models.causal import backbone
from .evidence import (
    FAILS,
    HOLDS,
    MEDIUM,
    OPEN,
    RELIABLE,
    Claim,
    Evidence,
    Finding,
    Verdict,
    above,
    below,
    sides,
)

BLEU, METEOR = ("bleu:pauli2025", "source"), ("meteor", "source")
#: Learned metrics of the same tables, by the scores that were released with lai.
RELEASED = (("released:bertscore", "source"), ("released:bleurt", "source"))
#: Output of systems only, so that people's rewrites do not mix in.
SYSTEMS = ("mir", "lai@pauli2025-systems")


def _similarity_agrees(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks(*SYSTEMS):
        return lacking
    found = [evidence.agreement(data, one) for data in SYSTEMS for one in (BLEU, METEOR)]
    return above(
        found,
        MEDIUM,
        {
            HOLDS: "Every interval lies above a medium correlation.",
            FAILS: "At least one interval lies below a medium correlation.",
            OPEN: "Some intervals reach below a medium correlation.",
        },
    )


def _fails_on_built(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks("pauli"):
        return lacking
    found = [evidence.agreement("pauli", one) for one in (BLEU, METEOR)]
    return below(
        found,
        MEDIUM,
        {
            HOLDS: "Every interval lies below a medium correlation.",
            FAILS: "At least one interval lies above a medium correlation.",
            OPEN: "Some intervals reach above a medium correlation.",
        },
    )


def _data_decide(evidence: Evidence) -> Verdict:
    words = (("bleu", "source"), METEOR)
    found = [evidence.across(one, "contrast", "contrast", "contrast@tied") for one in words]
    return above(
        found,
        0.0,
        {
            HOLDS: "The sources and the metrics are the same; only the mixture of cells differs,"
            " and the correlation moves with it. Shown on the contrast set, whose labels hold by"
            " construction: a mixture can mislead. How far an existing set does depends on its"
            " own mixture.",
            FAILS: "On the contrast set the mixture of cells does not move the correlation so.",
            OPEN: "On the contrast set the move cannot be told from chance.",
        },
    )


def _likelihood(evidence: Evidence) -> list[Finding]:
    """The method on the built set: computed where the printed model is here, else as published."""
    found = []
    for name in ("3b", "8b"):
        if hub.here(backbone(name)) and not evidence.lacks("pauli"):
            found.append(evidence.agreement("pauli", (f"likelihood:{name}+released", "source")))
        else:
            key = f"pauli2025.t5.likelihood-{name}.constructed-all"
            found.append(evidence.published(key, f"likelihood method, {name.upper()}"))
    return found


def _demonstration(evidence: Evidence) -> tuple[list[Finding], str]:
    """The method on the embedded model, marked as what it is, and the sentence about it."""
    if evidence.lacks("pauli") or not hub.here(backbone("embedded")):
        return [], ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DemonstrationWarning)
        found = evidence.agreement("pauli", ("likelihood", "source"))
    note = f"a demonstration on the embedded model; {found.note}"
    return [found._replace(note=note)], (
        " The row of the embedded model shows that the method runs here. That model is small and"
        " was trained on generated text, so its value counts neither for the claim nor against it."
    )


def _style_aware(evidence: Evidence) -> Verdict:
    judge = "pauli2025.t5.llama3-prompt.constructed-all"
    found = [evidence.published(judge, "prompted judge"), *_likelihood(evidence)]
    if not evidence.lacks("pauli"):
        found.append(evidence.agreement("pauli", ("human-style", "none")))
    shown, words = _demonstration(evidence)
    return Verdict(
        OPEN,
        "Neither judge nor likelihood scores were released: what is marked as published has no"
        " interval, and without the judge's scores nothing can be told of both together. People's"
        " style rating alone, which looks at no content, sets the mark on this set: a style-aware"
        f" metric has shown that it reads content only as far as it goes beyond.{words}",
        [*found, *shown],
    )


def _small_models(evidence: Evidence) -> Verdict:
    judge = "pauli2025.t5.llama3-prompt.constructed-all"
    found = [*_likelihood(evidence), evidence.published(judge, "prompted judge")]
    shown, words = _demonstration(evidence)
    return Verdict(
        OPEN,
        "The judge's scores were not released and the models are gated. The text calls the judge a"
        " 70B model, the appendix names an 8B one, so even what was compared is not certain."
        f"{words}",
        [*found, *shown],
    )


def _source_beats_reference(evidence: Evidence) -> Verdict:
    data = "lai@pauli2025-systems"
    if lacking := evidence.lacks(data):
        return lacking
    found = [
        evidence.gap(data, ("bleu:pauli2025", "source"), ("bleu:pauli2025", "reference")),
        evidence.gap(data, ("meteor", "source"), ("meteor", "reference")),
    ]
    return above(
        found,
        0.0,
        {
            HOLDS: "Both differences lie above zero, on this one set with references.",
            FAILS: "At least one difference lies below zero.",
            OPEN: "At least one difference cannot be told from zero.",
        },
    )


def _people_harder(evidence: Evidence) -> Verdict:
    sets = ("lai@pauli2025-systems", "lai@pauli2025-references")
    if lacking := evidence.lacks(*sets):
        return lacking
    found = [evidence.across(one, "lai@pauli2025", *sets) for one in (BLEU, METEOR, *RELEASED)]
    return above(
        found,
        0.0,
        {
            HOLDS: "All differences lie above zero.",
            FAILS: "At least one difference lies below zero.",
            OPEN: "With one rewrite by people for each source, not every difference can be told"
            f" from chance on this set: of {len(found)} intervals {sides(found)}. The other sets of"
            " the table are not public.",
        },
    )


def _rank_systems(evidence: Evidence) -> Verdict:
    sets = ("mir", "lai@pauli2025")
    if lacking := evidence.lacks(*sets):
        return lacking
    found = [
        evidence.agreement(data, one, statistic="kendall", level="system", units="systems")
        for data in sets
        for one in (BLEU, METEOR)
    ]
    found += [
        evidence.gap(data, BLEU, METEOR, statistic="kendall", level="system", units="systems")
        for data in sets
    ]
    return above(
        found,
        0.0,
        {
            HOLDS: "All values and all differences lie above zero.",
            FAILS: "At least one value or difference lies below zero.",
            OPEN: "With so few systems the intervals are wide: which metric ranks systems better"
            " cannot be told, on some sets not even that it ranks them better than chance.",
        },
    )


def _style_and_content(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks("mir", "lai@pauli2025"):
        return lacking
    mir = evidence.between("mir", "style", "content")
    lai = evidence.between("lai@pauli2025", "style", "content")
    found = [mir, lai]
    if not evidence.lacks("pauli"):
        found.append(evidence.between("pauli", "style", "content"))
    if mir.high < 0 < lai.low:
        return Verdict(HOLDS, "One interval lies below zero, another above.", found)
    if (mir.low > 0 and lai.low > 0) or (mir.high < 0 and lai.high < 0):
        return Verdict(FAILS, "Both intervals lie on the same side of zero.", found)
    return Verdict(OPEN, "The signs do not differ beyond chance.", found)


def _raters_agree(evidence: Evidence) -> Verdict:
    if lacking := evidence.lacks("pauli"):
        return lacking
    found = [evidence.alpha("pauli", "content"), evidence.alpha("pauli", "style")]
    judged = above(
        found[:1],
        RELIABLE,
        {
            HOLDS: "The interval for content lies above the bound.",
            FAILS: "The interval for content lies below the bound.",
            OPEN: "The interval for content covers the bound.",
        },
    )
    style = " The one for style lies below it." if found[1].high < RELIABLE else ""
    return Verdict(judged.verdict, judged.why + style, found)


CLAIMS = (
    Claim(
        "pauli2025.similarity-agrees",
        "Table 3",
        "On ratings of ordinary system output, metrics that only measure similarity agree"
        " reasonably well with people on content.",
        "Pearson's r of S-BLEU and S-METEOR with content on each set of system output; holds if"
        f" every interval lies above a medium correlation ({MEDIUM:g}, a convention).",
        _similarity_agrees,
    ),
    Claim(
        "pauli2025.similarity-fails-on-built",
        "Table 5",
        "On a set built from strong shifts that keep the content and light shifts that break it,"
        " the same metrics do not agree with people.",
        "Pearson's r on the built set; holds if every interval lies below a medium correlation"
        f" ({MEDIUM:g}, a convention).",
        _fails_on_built,
    ),
    Claim(
        "pauli2025.data-decide",
        "Tables 3 and 5",
        "How well such metrics seem to do comes from what the test data mix, so existing data sets"
        " mislead.",
        "On the contrast set: Pearson's r over all four cells minus r over the two cells of the"
        " published design, the same sources in both; holds if both intervals lie above zero.",
        _data_decide,
    ),
    Claim(
        "pauli2025.style-aware",
        "Table 5",
        "A metric of content suits style transfer only if it knows the style that was asked for;"
        " a prompted judge and a likelihood under such an instruction do best.",
        "Pearson's r on the built set, minus that of the best style-blind metric and of the style"
        " rating itself, with an interval.",
        _style_aware,
    ),
    Claim(
        "pauli2025.small-models",
        "Tables 3 to 5",
        "The likelihood method makes small models agree with people better than prompting a model"
        " of like size.",
        "The difference of both methods on the same model, paired, with an interval.",
        _small_models,
    ),
    Claim(
        "pauli2025.source-basis",
        "Table 3",
        "For content, comparing an output with its source agrees better with people than comparing"
        " it with one human reference.",
        "r of S- minus r of R- on the same draws; holds if both intervals lie above zero.",
        _source_beats_reference,
    ),
    Claim(
        "pauli2025.people-harder",
        "Tables 3 and 4",
        "Metrics agree less with people on rewrites that people wrote than on output of systems.",
        "r on system output minus r on references of the same sources, of two metrics of words and"
        " of two learned ones as released; holds if all intervals lie above zero.",
        _people_harder,
    ),
    Claim(
        "pauli2025.ranking",
        "Table 9",
        "Metrics of content can rank systems, and some do it better than others.",
        "Kendall's tau-b over system means, and differences of it, systems drawn again; holds if"
        " every interval lies above zero.",
        _rank_systems,
    ),
    Claim(
        "pauli2025.style-and-content",
        "Table 1",
        "Ratings of style and of content hang together, upwards on some data sets and downwards on"
        " others.",
        "Pearson's r of the two human dimensions; holds if the interval of one set lies above zero"
        " and that of another below, does not hold if both lie on one side.",
        _style_and_content,
    ),
    Claim(
        "pauli2025.raters-agree",
        "Table 2",
        "The raters of the built set agree well enough to judge metrics by them.",
        "Krippendorff's alpha of content; holds if its interval lies above the usual bound for"
        f" tentative conclusions, {RELIABLE:g}.",
        _raters_agree,
    ),
)
