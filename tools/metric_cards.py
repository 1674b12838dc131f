"""The pages of metrics: their cards, what the registry knows, and values on four rewrites.

The labels of the four rewrites, one source of the contrast set, hold by construction.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pandas as pd

import tstmeta as tst
from tools.tables import number, single_line
from tstmeta import data, scoring
from tstmeta.analysis.synthesis import ACCURACY
from tstmeta.analysis.verdicts import FAMILIES, UNKNOWN, Recommendation
from tstmeta.data import Card, Dataset, paths
from tstmeta.data.contrast import Span
from tstmeta.metrics import Metric, catalogue
from tstmeta.models import fetching
from tstmeta.models.causal import DEFAULT

Context = dict[str, Any]
#: The source of the contrast set whose rewrites are the example of every metric's page.
EXAMPLE = "sentiment-01"
#: Columns of the catalogue that a page shows, and what they are called there.
FACTS = {
    **{"family": "family", "dimension": "meant for", "unit": "unit", "bases": "compared with"},
    **{"languages": "languages", "better": "better is", "max_tokens": "longest text, in words"},
    "profile": "profile",
}
#: Models that `make setup` does not get.
FETCHED = {*fetching.catalogue()} - {DEFAULT}
_PARTS = re.compile("[:+]")
_SPAN = re.compile(r"(?:\[-(?P<removed>.+?)-\])?(?:\{\+(?P<added>.+?)\+\})?", re.DOTALL)


def card(name: str) -> Card:
    """What people wrote about a metric; the body is MyST.  Another package's card is empty."""
    return Card.read(name, paths.project("metric_cards", f"{name}.md"))


def groups() -> dict[str, pd.DataFrame]:
    """Rows of the catalogue by metric: the bare name first, then its variants."""
    rows = tst.metrics()
    stems = rows["name"].str.partition(":")[0]
    return {str(stem): part for stem, part in rows.groupby(stems, sort=False)}


def families(by_metric: Mapping[str, pd.DataFrame]) -> dict[str, list[Context]]:
    """The catalogue: for each family its metrics, with what stands in their cards."""
    listed: dict[str, list[Context]] = {}
    for stem, rows in by_metric.items():
        runs = (rows["status"] == "ok").tolist()
        here = "yes" if all(runs) else "some variants" if any(runs) else "no"
        if rows["family"].iloc[0] == catalogue.COMBINED_FAMILY:
            here = "from scores of others"
        verdicts = judged()[judged()["metric"] == stem].groupby("of", sort=False)["verdict"].first()
        row = {"card": card(stem), "here": here, **plainly(rows.head(1))}
        by: dict[str, list[str]] = {}
        for dimension in rows["dimension"].iloc[0].split():
            by.setdefault(verdicts.get(dimension, UNKNOWN), []).append(dimension)
        row["verdict"] = "; ".join(f"{verdict}: {', '.join(dims)}" for verdict, dims in by.items())
        listed.setdefault(rows["family"].iloc[0], []).append(row)
    return listed


def plainly(rows: pd.DataFrame) -> dict[str, str]:
    """Cells of the catalogue by the labels of :data:`FACTS`; empty ones are left out."""
    cells = rows[list(FACTS)].rename(columns=FACTS)
    cells["languages"] = cells["languages"].replace("en", "English, others are refused")
    for label in ("meant for", "compared with"):
        listed = cells[label] != "as its parts"
        cells[label] = cells[label].mask(listed, cells[label].str.replace(" ", ", "))
    facts = {label: "; ".join(filter(None, cells[label].unique())) for label in cells}
    return {label: text for label, text in facts.items() if text}


@cache
def printed() -> dict[str, dict[str, list[str]]]:
    """Metric without variant -> paper -> the names printed there, from ``names.csv``."""
    frame = pd.read_csv(paths.project("published", "names.csv"), dtype=str, keep_default_na=False)
    names: dict[str, dict[str, list[str]]] = {}
    for row in frame[frame["kind"] == "metric"].to_dict("records"):
        for stem in dict.fromkeys(name.partition(":")[0] for name in row["listed"].split()):
            names.setdefault(stem, {}).setdefault(row["paper"], []).append(row["printed"])
    return names


def page(about: Card, rows: pd.DataFrame) -> Context:
    """A metric's page; ``rows`` are its rows of the catalogue, the bare name first."""
    papers = printed().get(about.name, {})
    facts = {"known failure": about.facts.get("fails"), "cost": about.facts.get("cost")}
    facts |= plainly(rows)
    facts["printed as"] = "; ".join(f"{paper}: {', '.join(n)}" for paper, n in papers.items())
    signatures = rows[["name", "status"]].copy()
    signatures["signature, or what to do"] = rows["signature"].where(
        rows["signature"] != "", rows["remedy"]
    )
    run = rows.loc[rows["status"] == "ok", "name"].tolist()
    context: Context = {"card": about, "facts": {k: v for k, v in facts.items() if v}, "run": run}
    context["signatures"] = signatures
    context["missing"] = "" if rows["status"].iloc[0] == "ok" else rows["remedy"].iloc[0]
    context |= {"known": known(about.name), "lacking": lacking(rows)}
    context["recommended"] = for_tasks(about.name)
    context["combined"] = bool((rows["family"] == catalogue.COMBINED_FAMILY).all())
    if run and not context["combined"]:
        context["source"], context["example"] = rewrites(example())
        # the same page on every machine: without models that somebody fetched besides
        context["values"] = values([name for name in run if not FETCHED & {*_PARTS.split(name)}])
    return context


#: What readers call a task, in the order of the rows; the table of sets says more of captions.
TASKS = ("formality", "sentiment", "detoxification", "simplification", "author style", "captions")


@cache
def recommended() -> dict[tuple[str, str], Recommendation]:
    """The verdict by dimension and task, in English."""
    dimensions = ("content", "style", "fluency")
    return {(d, task): tst.verdict(d, task, "en") for d in dimensions for task in TASKS}


def for_tasks(name: str) -> list[str]:
    """The verdicts that name a metric or a variant of it, in the words of the front page."""
    return [
        f"{dimension}, {task}: {choice}"
        for (dimension, task), choice in recommended().items()
        if name in [v.metric.partition(":")[0] for v in (choice, choice.anywhere) if v]
    ]


@cache
def judged() -> pd.DataFrame:
    """Where each metric agrees with people and where it fails, a row a dimension and side."""
    tables = []
    for dimension in ("content", "style", "fluency"):
        effects = tst.evidence(dimension, differences=True)
        rules = pd.concat(tst.verdicts(effects, dimension, side) for side in (False, True))
        fits = (
            (effects["against"] == "")
            & (effects["kind"] != "people")
            & (effects["level"] != "system")
        )
        values = effects[fits & (effects["statistic"] == ACCURACY)].dropna(subset="value")
        pooled = tst.pool(values.assign(level="")).drop(columns="reason")
        table = pooled.merge(rules[["metric", "basis", "verdict", "reason"]], "left")
        for row in table.fillna({"verdict": "sentinel", "reason": ""}).itertuples():
            rows = values[(values["metric"] == row.metric) & (values["basis"] == row.basis)]
            head = f"{row.metric}: {dimension} ({row.basis})".replace(" (none)", "")
            shown = {"metric": row.metric, "of": dimension, "": head, "verdict": row.verdict}
            mean = f"{span(row.mean, row.low, row.high)} ({row.families} families)"
            shown |= {"because": row.reason, "accuracy": mean.strip()}
            shown["a new set"] = span(None, row.predict_low, row.predict_high)
            ordered = rows[rows["panel"] == "pool"].sort_values("value", ascending=False)
            parts = {"best on": ordered[:3], "worst on": ordered[3:][:-4:-1]}
            parts |= {"stress sets": rows[rows["panel"] == "stress"]}
            tables.append(shown | {label: sets(part) for label, part in parts.items()})
    return pd.DataFrame(tables)


def known(name: str) -> pd.DataFrame:
    """What is known of a metric and its variants, a column a variant, dimension and side."""
    rows = judged()[judged()["metric"].str.partition(":")[0] == name]
    return rows.drop(columns=["metric", "of"]).set_index("").T.rename_axis("").reset_index()


def sets(rows: pd.DataFrame) -> str:
    """Data sets with their values and 95 % intervals from the standard error."""
    cells = rows[["dataset", "value", "se"]].itertuples(index=False)
    return "; ".join(f"{name} {span(v, v - 1.96 * se, v + 1.96 * se)}" for name, v, se in cells)


def span(value: float | None, low: float, high: float) -> str:
    """An accuracy and its interval, which stays on the scale; empty where there is none."""
    ends = "" if pd.isna(low) else f"[{max(low, 0):.2f}, {min(high, 1):.2f}]"
    return f"{value:.2f} {ends}" if ends and value is not None else ends


def lacking(rows: pd.DataFrame) -> str:
    """Why nothing is known of a metric; ``rows`` are its rows of the catalogue."""
    if rows["unit"].iloc[0] == "corpus":
        return "it has no score for a single rewrite, so it orders no rewrites of one source"
    if rows["family"].iloc[0] == catalogue.COMBINED_FAMILY:
        return "it is made from scores of others, and was made for no rated set here"
    return f"it was not run on {FAMILIES} families of rated data sets, which a verdict takes"


def example() -> Dataset:
    """Four rewrites of one source of the contrast set: strong or light, with an error or not."""
    dataset = data.load("contrast")
    return dataset.where(dataset.items["source_id"] == EXAMPLE, "example")


def parse_span(text: str) -> Span:
    """Read the words taken out and put in from ``[-old-]{+new+}``."""
    match = _SPAN.fullmatch(text)
    if not text or not match:
        raise ValueError(f"cannot read {text!r}")
    return Span(match["removed"] or "", match["added"] or "")


def rewrites(dataset: Dataset) -> tuple[Context, pd.DataFrame]:
    """The source with its target style, and the rewrites with the words that the error changed."""
    items = dataset.items
    spans = [parse_span(span) if span else ("", "") for span in dataset.label("span")]
    frame = items[["system", "output"]].set_axis(["rewrite", "text"], axis="columns")
    frame[["taken out", "put in"]] = spans
    return {"text": items["source"].iloc[0], "style": items["style"].iloc[0]}, frame


def values(metrics: Sequence[str | Metric]) -> pd.DataFrame:
    """What metrics say of the example: a row a metric and basis, a column a rewrite.

    A score without a value is its status with the detail.
    """
    dataset = example()
    scores = scoring.score(dataset, metrics, progress=False)
    scores["system"] = scores["item_id"].map(dataset.items.set_index("item_id")["system"])
    why = scores["status"] + ": " + scores["detail"].map(single_line)
    scores["shown"] = scores["value"].map(number).where(scores["value"].notna(), why)
    keys = ["metric", "basis"]
    wide = scores.pivot_table("shown", keys, "system", aggfunc="first", sort=False)
    wide = wide.reindex(columns=dataset.items["system"]).reset_index()
    return wide.rename(columns={"basis": "compared with"})
