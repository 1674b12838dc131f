"""Evaluations as a report: one page to read, print and pass on, and the files that a paper needs.

The page stands alone: no script, and nothing is fetched.  Every number is computed, and the same
evaluations give the same bytes.  Texts of data sets may be hostile: all are escaped.
"""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import console, storage
from ..console import TableFormat
from ..data import Dataset
from ..data.catalogue import counted
from ..extras import needs
from ..schema import MEAN_RATER, TstmetaError, empty
from . import advice, comparison, render, summary
from .evaluation import Evaluation
from .people import agreement_facts

#: Packages whose version can move a value; of those that are not here nothing is said.
LIBRARIES = (
    *("numpy", "scipy", "pandas", "nltk", "sacrebleu", "rouge-score", "torch", "transformers"),
    *("sentence-transformers", "bert-score", "pot"),
)
#: What a level is over.
LEVELS = {
    "pooled": "over all rewrites",
    "source": "within each source, then averaged over sources",
    "same-source": "over the pairs of rewrites of one source, of all sources together",
    "within-system": "within each system, then averaged over systems",
    "system": "over the means of systems",
    "task": "within each task, then averaged over tasks",
    "within-task": "over all rewrites, standardised within tasks",
}
_ALIKE = "takes a pair as right where both sides order it alike or both tie it"
#: What a statistic does with ties.
TIES = {
    "pearson": "needs no rule for ties",
    "spearman": "gives ties their mean rank",
    "kendall": "corrects for ties on both sides",
    "tau-c": "counts a pair that either side ties as neither right nor wrong",
    "pairwise-accuracy": _ALIKE,
    "acc_eq": f"{_ALIKE}; a metric ties scores that differ by no more than a threshold fitted on"
    " other sources",
    "preference": "leaves out pairs that people tie, and counts one that a metric ties as half",
    "soft-pairwise-accuracy": "compares p-values of pairs of systems and needs no rule for ties",
}


def report(
    evaluations: Evaluation | Sequence[Evaluation],
    data: Dataset | Iterable[Dataset],
    folder: Path | str,
) -> list[Path]:
    """Write a report of evaluations into a folder, each file whole or not at all.

    Args:
        evaluations: what :func:`tstmeta.evaluate` gave; each is a section of the page.
        data: the data sets that they are of.

    Returns:
        The files: values.csv, table.tex, methods.txt, figure.pdf, figure.svg, report.html.

    Raises:
        TstmetaError: no metric has a value beside ratings, a data set is not given, an extra is
            not installed, or a file cannot be written.
    """
    needs("matplotlib", "seaborn", "IPython", "jinja2", extra="book")
    own = [evaluations] if isinstance(evaluations, Evaluation) else list(evaluations)
    given = {each.name: each for each in ([data] if isinstance(data, Dataset) else data)}
    names = dict.fromkeys(each.dataset for each in own)
    if lacks := ", ".join(names.keys() - given.keys()):
        raise TstmetaError(f"a report needs the data sets that were evaluated; missing: {lacks}")
    sets = {name: given[name] for name in names}
    words, (pdf, svg) = methods(own, sets), render.images(render.draw(own), "pdf", "svg")
    signed = signatures(pd.concat(each.frame for each in own))
    lines = ["Signatures of metrics:", *(f"{name}: {text}" for text, name in signed.items())]
    files: dict[str, str | bytes] = {
        "values.csv": render.rendered(own, TableFormat.csv),
        "table.tex": render.rendered(own, TableFormat.latex),
        "methods.txt": "\n\n".join([*words, "\n".join(lines), citation()]) + "\n",
        "figure.pdf": pdf,
        "figure.svg": svg,
        "report.html": _page(
            sets=[_of_set(each, own) for each in sets.values()],
            sections=[_section(each, f"e{place}") for place, each in enumerate(own, 1)],
            signatures=signed,
            methods=words,
            citation=citation(),
        ),
    }
    for name, content in files.items():
        storage.write(Path(folder) / name, content)
    return [Path(folder) / name for name in files]


# ------------------------------------------------------------------------------------- in words


def headline(own: Evaluation) -> str:
    """Which metric leads, how it stands to the best sentinel, and what cannot be told from it."""
    metrics, sentinels = own.places
    top, best = summary.names(own, metrics[:1]), summary.names(own, sentinels)
    if not (metrics and own.tested):
        why = f"{top} has the highest value, but nothing was tested" if top else "none has a value"
        return f"No metric can be recommended: {why}."
    value, differ = own.frame["value"], own.p <= comparison.ALPHA
    first, alike, _ = summary.leaders(own)
    agrees, it = ("agrees", "it") if len(first) == 1 else ("agree", "them")
    words = f"{summary.names(own, first)} {agrees} best with people"
    for place in sentinels:
        if (apart := differ[first, place].all()) and value[first[0]] < value[place]:
            return (
                f"No metric can be recommended: the best, {top}, agrees with people less than the"
                f" best sentinel, {best}."
            )
        shown = "and better than" if apart else "but cannot be told from"
        words += f", {shown} the best sentinel, {best}"
    return words + f"; {summary.names(own, alike)} cannot be told from {it}" * bool(alike) + "."


def elsewhere(data: Dataset, own: Sequence[Evaluation]) -> tuple[list[str], list[str]]:
    """What other rated data sets say of the metric that leads here, by dimension; and other notes.

    It is asked of the rewrites without their ratings, so that nothing more is scored for it.
    """
    of = {each.dimension: each for each in own if each.dimension in advice.DIMENSIONS}
    unrated = replace(data, ratings=empty("ratings"), labels=empty("labels"))
    advised, words = advice.advise(unrated, dimensions=[*of]), []
    known = advised.frame.dropna(subset="accuracy").set_index(["dimension", "metric", "basis"])
    for name, each in of.items():
        for place in each.places[0][:1]:
            key = (*each.frame.loc[place, ["dimension", "metric", "basis"]],)
            words.append(f"{name}: too little is known of {summary.name_of(*key[1:])}.")
            for row in known[known.index == key].itertuples():
                limits = summary.with_limits(row.accuracy, row.predict_low, row.predict_high)
                words[-1] = (
                    f"{name}: on other sets {summary.name_of(*key[1:])} orders {limits} of the"
                    " pairs of rewrites of one source as people do; verdict:"
                    f" {row.verdict}" + f" ({row.reason})" * bool(row.reason) + "."
                )
    ours = [note for note in advised.notes if note.startswith(tuple(f"{name}: " for name in of))]
    return words + ours, [note for note in advised.notes if note not in ours]


def methods(own: Sequence[Evaluation], sets: Mapping[str, Dataset]) -> list[str]:
    """What a paper has to say of how its numbers came about, a paragraph a topic."""
    libraries = [f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            libraries.append(f"{name} {version(name)}")
    words = [f"Computed with tstmeta {version('tstmeta')} ({', '.join(libraries)})."]
    for name, data in sets.items():
        parts = dict.fromkeys(_counts(each, data) for each in own if each.dataset == name)
        words.append(f"{name} has the content sha256:{content_hash(data)}; {'; '.join(parts)}.")
    for setting in {str(each.analysis.setting): each.analysis.setting for each in own}.values():
        label, name = setting.function.label, setting.function.name
        words.append(f"Agreement is {label} at level {setting.level}: {LEVELS[setting.level]}.")
        words[-1] += f" {label} {TIES[name]}."
    words += dict.fromkeys(map(_intervals, own))
    rows = dict.fromkeys(int(each.frame["rank"].count()) for each in own if each.tested)
    if rows:
        pairs = ", ".join(f"{math.comb(n, 2):,}" for n in rows)
        words.append(
            f"All pairs of rows of a table ({pairs}) were compared at once, in the same resamples,"
            " by a single-step max-t test (Romano and Wolf 2005) with a family-wise error rate of"
            f" {comparison.ALPHA:.2g}; ranks and clusters follow from it. Which difference the data"
            " could show was found by simulation, for the two best metrics alone."
        )
    frames = pd.concat(each.frame for each in own)
    less = signatures(frames[frames["better"] == "lower"]).values()
    words.append(
        "A rewrite without a rating or without a score is left out of a value; a group without a"
        " value is left out of a mean over groups, and two metrics are compared over the groups"
        " where both have one; a resample without a value counts on both sides of an interval."
        + f" Flipped, since lower is better: {', '.join(less)}."
        * bool(less)
    )
    return [*words, "Please cite tstmeta as below, and the data sets and metrics as well."]


def _counts(own: Evaluation, data: Dataset) -> str:
    """Over how much an evaluation is, in words."""
    words = f"for {own.dimension} it is over {own.items:,} of {len(data.items):,} rewrites, of"
    words += f" {own.sources:,} sources" + f" by {own.systems:,} systems" * bool(own.systems)
    raters = len(data.raters(own.dimension).columns.drop(MEAN_RATER, errors="ignore"))
    who = "raters" if own.human.persons or raters < 2 else "rating slots"
    return f"{words}, with the {own.against}" + f" ({who}: {raters:,})" * bool(raters)


def _intervals(own: Evaluation) -> str:
    """What the intervals of an evaluation are, in words."""
    plan, how = own.analysis.plan, own.frame.dropna(subset="low")["method"].unique()
    units = plan.units.replace("both", "sources and systems")
    units += ", groups of them whole" * (plan.clusters is not None)
    units += ", as many of each task as there are" * (plan.strata is not None)
    return (
        f"Intervals are {100 * (1 - comparison.ALPHA):g} % bootstrap confidence intervals"
        f" ({', '.join(how) or 'none has one'}) from {plan.n:,} resamples of {units}, for"
        f" {plan.estimand}; the seed is {own.analysis.seed}."
    )


def content_hash(data: Dataset) -> str:
    """Sixteen hexadecimal digits of what is evaluated: ids, sources, systems, texts, ratings and
    labels; neither the name of the data set nor the order of rows counts.
    """
    items = data.items[["item_id", "source_id", "system"]].assign(of=data.digests.to_numpy(object))
    digest = sha256()
    for table in (items, data.ratings, data.labels):
        rows = table.drop(columns="dataset", errors="ignore").astype(str)
        digest.update(rows.sort_values([*rows]).to_csv(index=False).encode())
    return digest.hexdigest()[:16]


def citation() -> str:
    """How to cite the package, for BibTeX, as its metadata say."""
    about = metadata("tstmeta")
    facts = {
        "title": f"{{{about['Name']}}}: {about['Summary']}",
        "author": f"{{{about['Author']}}}",
    }
    facts |= {"version": about["Version"], "license": about["License-Expression"]}
    for link in about.get_all("Project-URL") or []:
        facts["url"] = link.partition(", ")[2]
    lines = [f"  {name} = {{{value}}}" for name, value in facts.items()]
    return ",\n".join([f"@software{{{about['Name']}", *lines]) + "\n}"


def signatures(rows: pd.DataFrame) -> dict[str, str]:
    """Signature -> metric, R- for reference-based."""
    return dict(
        zip(rows["signature"], map(summary.name_of, rows["metric"], rows["basis"]), strict=True)
    )


# -------------------------------------------------------------------------------------- the page


def _page(**context: Any) -> str:
    import jinja2

    templates = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: console.escaped(value) if type(value) is str else value,
    )
    templates.filters["cell"] = _cell
    template = Path(__file__).with_name("report.html.j2").read_text(encoding="utf-8")
    return templates.from_string(template).render(**context)


def _of_set(data: Dataset, own: Sequence[Evaluation]) -> dict[str, Any]:
    """A data set: its facts, and what others say of its kind."""
    own = [each for each in own if each.dataset == data.name]
    rows = pd.DataFrame(counted(data), columns=["part", "what", "value"])
    rows = pd.concat([rows, agreement_facts(data)], ignore_index=True)
    facts = {key: str(data.card.facts.get(key, "")) for key in ("title", "task", "licence", "url")}
    facts["content hash"] = f"sha256:{content_hash(data)}"
    for part, own_rows in rows.groupby("part", sort=False):
        facts[part] = "; ".join(own_rows["what"] + " " + own_rows["value"])
    levels = dict.fromkeys(each.analysis.setting.level for each in own)
    facts["levels"] = "; ".join(f"{level}: {LEVELS[level]}" for level in levels)
    words, notes = elsewhere(data, own)
    return {"name": data.name, "facts": facts, "words": words, "notes": notes}


def _section(own: Evaluation, anchor: str) -> dict[str, Any]:
    """An evaluation: sentences, figure, table, notes.  What is flipped has an arrow."""
    rows = own.frame
    named = pd.Series(map(summary.name_of, rows["metric"], rows["basis"]), rows.index)
    named += np.where(rows["better"] == "lower", " ↓", "")
    shown, rule = render.table(replace(own, frame=rows.assign(metric=named)))
    notes = shown.get("note", pd.Series("", shown.index))
    marks = {note: place for place, note in enumerate(filter(None, notes.unique()), 1)}
    if "low" in shown:
        ends = [shown[name].map(summary.number) for name in ("low", "high")]
        words = (ends[0] + " to " + ends[1]).where(shown["low"].notna(), "")
        shown.insert([*shown].index("low"), "95 % interval", words)
    table = shown.drop(columns=["basis", "low", "high", "note", "signature"], errors="ignore")
    names = {"ranks": "could be", "as_rater": "as a rater"}
    power = 1 + len(own.places[1])  # sentences before the one on it
    return {
        "anchor": anchor,
        "name": f"{own.dataset}: {own.dimension}",
        "how": f"{own.label}, level {own.analysis.setting.level}",
        "title": render.title(own),
        "headline": headline(own),
        "details": own.summary[:power],
        "power": own.summary[power:],
        "figure": _inline(own, anchor) if own.frame["value"].notna().any() else "",
        "rule": rule,
        "marks": [marks.get(note, "") for note in notes],
        "remarks": marks,
        "notes": render.notes(own),
        "head": [names.get(name, name) for name in table],
        "rows": table.astype(object).where(table.notna(), "").to_numpy().tolist(),
    }


def _cell(value: Any) -> str:
    """A value of a table as text: three decimals and a true minus sign."""
    words = summary.number(value) if isinstance(value, float) else str(value)
    return re.sub(r"(?<![\w.-])-(?=\d)", "−", words)


def _inline(own: Evaluation, anchor: str) -> Any:
    """The figure as a part of the page: ids of its own, texts escaped by matplotlib."""
    from markupsafe import Markup

    svg = render.images(own.plot(), "svg")[0].decode()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return Markup(re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{anchor}-", svg))
