"""The cards of metrics as pages: what each measures, how it fails, and what it says of an example.

Prose comes from ``data/metric_cards/<name>.md``.  All else on a page is computed when it is built:
facts and signatures from the registry, who printed it from ``names.csv``, values on four rewrites
of one source of the contrast set, whose labels are known by construction.
"""

from __future__ import annotations

import math
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import yaml

from .. import data, metrics, schema, scoring
from ..data import Dataset, paths
from ..likelihood.zeroshot import DemonstrationWarning
from ..metrics import catalogue
from ..schema import TstmetaError
from . import demonstration, html

#: The source of the contrast set whose rewrites are the example.
EXAMPLE = "sentiment-01"
_RAW = "```{{raw}} html\n{}\n```\n"
_TEXTS = ("title", "measures", "fails", "cost")
#: Columns of the catalogue that a page shows, and what they are called there.
_FACTS = {
    "family": "family",
    "dimension": "meant for",
    "unit": "looks at",
    "bases": "compared with",
    "languages": "languages",
    "better": "better is",
    "max_tokens": "longest text, in words",
    "profile": "profile",
}
_UNITS = {
    "item": "one rewrite at a time",
    "source": "all rewrites of a source together",
    "corpus": "all outputs of a system together",
}


class MetricCard(NamedTuple):
    """What people wrote about a metric.

    Attributes:
        name: without variants.
        cites: keys of ``book/references.bib``.
        measures, fails, cost: a sentence or two each.
        body: MyST Markdown.
    """

    name: str
    title: str
    cites: tuple[str, ...] = ()
    measures: str = ""
    fails: str = ""
    cost: str = ""
    body: str = ""


# ------------------------------------------------------------------------------------- reading


def names() -> list[str]:
    """Metrics that have a card, sorted."""
    return sorted(path.stem for path in paths.own("metric_cards").glob("*.md"))


def read(name: str, path: Path | None = None) -> MetricCard:
    """Read a card; a metric without one (another package's) gets an empty card.

    Raises:
        TstmetaError: a card without front matter, or with parts missing.
    """
    path = path or paths.own("metric_cards", f"{name}.md")
    if not path.is_file():
        return MetricCard(name, name)
    parts = path.read_text(encoding="utf-8").split("---\n", 2)
    if len(parts) != 3 or parts[0]:
        raise TstmetaError(f"{path.name}: no front matter; begin with a line --- and end it so")
    try:
        facts = yaml.safe_load(parts[1])
    except yaml.YAMLError as error:
        raise TstmetaError(f"{path.name}: the front matter is no YAML: {error}") from error
    facts = facts if isinstance(facts, dict) else {}
    lacking = [key for key in _TEXTS if not isinstance(facts.get(key), str) or not facts[key]]
    cites: list = facts["cites"] if isinstance(facts.get("cites"), list) else [None]
    if not all(isinstance(key, str) for key in cites):
        lacking.append("cites")
    if lacking:
        missing = ", ".join(lacking)
        raise TstmetaError(f"{path.name}: {missing} missing or no text (cites: a list); add it")
    return MetricCard(name, cites=tuple(cites), body=parts[2].strip(), **_texts(facts))


def _texts(facts: dict) -> dict[str, str]:
    return {key: facts[key] for key in _TEXTS}


@cache
def printed() -> dict[str, list[tuple[str, str]]]:
    """Metric without variant -> (paper, the name printed there), from ``names.csv``."""
    frame = pd.read_csv(paths.own("published", "names.csv"), dtype=str, keep_default_na=False)
    found: dict[str, list[tuple[str, str]]] = {}
    for row in frame[frame["kind"] == "metric"].to_dict("records"):
        for stem in dict.fromkeys(one.partition(":")[0] for one in row["listed"].split()):
            found.setdefault(stem, []).append((row["paper"], row["printed"]))
    return found


# --------------------------------------------------------------------------------------- pages


def pages() -> dict[str, str]:
    """All pages by the name of their file: the list, and one a metric below ``metrics/``."""
    rows = catalogue.overview()
    rows["stem"] = rows["name"].str.partition(":")[0]
    groups = {str(stem): part for stem, part in rows.groupby("stem", sort=False)}
    found = {f"metrics/{stem}.md": page(read(stem), part) for stem, part in groups.items()}
    return {"metric_cards.md": index(groups)} | found


def index(groups: dict[str, pd.DataFrame]) -> str:
    """The table of all cards; ``groups`` are rows of the catalogue by metric."""
    lines = [
        "# What the metrics measure\n",
        "One card a metric: what it measures, how it fails, what it costs, where it comes from, and"
        " what it says of the same four rewrites. A metric that is *not here* needs a model, a"
        " parser or a server that this machine lacks; its card says how to get it.\n",
        "| metric | measures | known failure | here |",
        "|---|---|---|---|",
    ]
    for stem, rows in groups.items():
        card = read(stem)
        link = f"[`{stem}`](metrics/{stem}.md)"
        lines.append(f"| {link} | {_cell(card.measures)} | {_cell(card.fails)} | {_here(rows)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return _one_line(text.replace("|", "/")) or "no card"


def _here(rows: pd.DataFrame) -> str:
    """Whether a metric runs on this machine; of several variants some may."""
    runs = (rows["status"] == "ok").tolist()
    if not any(runs):
        return "no"
    return "yes" if all(runs) else "some variants"


def page(card: MetricCard, rows: pd.DataFrame) -> str:
    """One metric's page; ``rows`` are its rows of the catalogue, the bare name first."""
    lines = [f"# {card.title}\n"]
    if card.cites:
        lines.append(f"{{cite}}`{','.join(card.cites)}`\n")
    if card.measures:
        lines.append(f"{card.measures}\n")
    lines += [
        _RAW.format(html.facts(facts(card, rows)).text),
        card.body,
        "",
        "## Names and signatures\n",
        _RAW.format(_signatures(rows)),
        *_shown(card.name, rows),
    ]
    return "\n".join(lines) + "\n"


def facts(card: MetricCard, rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Names and values of what is known of a metric; rows without a value are left out."""
    found = [("known failure", card.fails), ("cost", card.cost)]
    for column, label in _FACTS.items():
        values = [_plainly(column, value) for value in dict.fromkeys(rows[column]) if value]
        found.append((label, "; ".join(values)))
    papers: dict[str, list[str]] = {}
    for paper, name in printed().get(card.name, []):
        papers.setdefault(paper, []).append(name)
    told = "; ".join(f"{paper}: {', '.join(names)}" for paper, names in papers.items())
    found.append(("printed as", told))
    return [(label, value) for label, value in found if value]


def _plainly(column: str, value: str) -> str:
    """A cell of the catalogue in words: lists with commas, units as what goes together."""
    if column == "unit":
        return _UNITS.get(value, value)
    words = value.split()
    return ", ".join(words) if set(words) <= {*schema.DIMENSIONS, *schema.BASES} else value


def _signatures(rows: pd.DataFrame) -> str:
    frame = rows[["name", "status"]].copy()
    told = rows["signature"].where(rows["signature"] != "", rows["remedy"])
    frame["signature, or what to do"] = told.map(_one_line)
    formats = {
        "name": lambda value: f"<code>{html.breakable(str(value))}</code>",
        "signature, or what to do": lambda value: html.breakable(str(value)),
    }
    return html.table(frame, formats).text


# ------------------------------------------------------------------------------------- examples


def example() -> Dataset:
    """Four rewrites of one source of the contrast set: strong or light, with an error or not."""
    whole = data.load("contrast")
    return whole.where(whole.items["source_id"] == EXAMPLE, "example")


def values(names: list[str], dataset: Dataset | None = None) -> tuple[pd.DataFrame, list[str]]:
    """What metrics say of the example: a row a metric and basis, a column a rewrite; and notes.

    A value has three decimals; a score without a value is its status with the detail.  Notes are
    the warnings of our own that were given meanwhile.  Nothing is kept: what a page shows was
    computed for it.
    """
    dataset = example() if dataset is None else dataset
    systems = dict(zip(dataset.items["item_id"], dataset.items["system"], strict=True))
    rows = []
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", UserWarning)
        for name in names:
            for basis, scores in _scores(name, dataset):
                told = {systems[item_id]: text for item_id, text in scores.items()}
                rows.append({"metric": name, "compared with": basis, **told})
    ours = [one for one in given if one.category.__module__.startswith("tstmeta.")]
    # the likelihood metrics have a box of their own
    notes = [str(one.message) for one in ours if one.category is not DemonstrationWarning]
    return pd.DataFrame(rows), list(dict.fromkeys(notes))


def _scores(name: str, dataset: Dataset) -> list[tuple[str, dict[str, str]]]:
    """For each basis that the data set has: item -> the score as shown."""
    found = []
    for plan in scoring.plans(dataset, metrics.get(name)):
        scores = [one for unit in plan.metric.score(plan.units) for one in unit]
        ids = [item_id for unit in plan.item_ids for item_id in unit]
        if ids:
            told = {one: _told(score) for one, score in zip(ids, scores, strict=True)}
            found.append((plan.basis, told))
    return found


def _told(score: metrics.Score) -> str:
    if score.status.has_value and math.isfinite(score.value):
        return html.signed(score.value, 3)
    return _one_line(f"{score.status}: {score.detail}")


def _one_line(text: str) -> str:
    """White space as single blanks: a line of its own could end the fence that it stands in."""
    return " ".join(text.split())


def _shown(name: str, rows: pd.DataFrame) -> list[str]:
    """The section with the example; without a metric that runs here it says so."""
    lines = ["## On one sentence\n"]
    if (rows["family"] == catalogue.COMBINED_FAMILY).all():
        return [*lines, "It is made from scores of other metrics and cannot be shown on its own.\n"]
    run = rows.loc[rows["status"] == "ok", "name"]
    if run.empty:
        return [*lines, f"`{name}` was not run for this page: see what to do above.\n"]
    dataset = example()
    found, notes = values(run.tolist(), dataset)
    if demonstration.shown(run.tolist()):
        lines.append(_RAW.format(demonstration.warning(run.tolist()).text))
    ids = dataset.items["item_id"].tolist()
    lines += [
        "A source of our contrast set and four rewrites: a strong or a light change of style, with"
        " or without an error in the content. A metric of content should prefer those without one;"
        " a metric of style should prefer the strong ones, and the error should not matter.\n",
        _RAW.format(html.examples(dataset, ids).text),
    ]
    if found.empty:
        return [*lines, "It is compared with references, and the contrast set has none.\n"]
    lines.append(_RAW.format(html.table(found).text))
    return [*lines, *(_RAW.format(f"<p>{html.code(_one_line(note))}</p>") for note in notes)]
