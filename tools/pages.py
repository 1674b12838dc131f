"""The pages that are made from data: templates of ``book/templates`` and what stands in them.

Tables are pandas Stylers; every text in them is escaped, for texts of data sets may be hostile.
"""

import json
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from tools import front, metric_cards, papers
from tools.tables import cell, facts, single_line, table
from tstmeta import data
from tstmeta.data import Card, paths
from tstmeta.data.catalogue import describe, here
from tstmeta.metrics import catalogue

ROOT = Path(__file__).resolve().parents[1]
Context = dict[str, Any]


def write(folder: Path) -> None:
    """Write all pages below ``folder``."""
    for name, (template, context) in pages():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(render(template, context), encoding="utf-8")


def pages() -> Iterator[tuple[str, tuple[str, Context]]]:
    """Every page: its name without ending, its template, its context."""
    yield "front", ("front", front.context())
    yield "data", ("data", {"rows": [data_row(name) for name in data.names()]})
    for name in data.names():
        yield f"cards/{name}", ("card", data_card(name))
    groups = metric_cards.groups()
    summary = catalogue.summary(pd.concat(groups.values()).to_dict("records"))
    listed = {"families": metric_cards.families(groups), "summary": summary}
    yield "metrics", ("metrics", listed)
    for stem, rows in groups.items():
        yield f"metrics/{stem}", ("metric", metric_cards.page(metric_cards.card(stem), rows))
    yield "trained", ("trained", trained())
    yield "reliability", ("reliability", reliability())
    yield "speed", ("speed", {"results": results(lambda name: name not in ELSEWHERE)})
    yield "certainty", ("certainty", {"results": results(SIMULATIONS.__contains__)})
    yield "reviewer", ("reviewer", reviewer())
    yield "board", ("board", {"examples": board()})
    yield from papers.pages()


# ------------------------------------------------------------------------------------ templates


def render(template: str, context: Context) -> str:
    """A template of ``book/templates`` as MyST Markdown."""
    return environment().get_template(f"{template}.md.j2").render(**context)


@cache
def environment() -> jinja2.Environment:
    """Templates refuse names that the context lacks; see the filters for what they can call."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "book" / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # a page is Markdown; what comes from data goes through the filters
    )
    templates.filters |= {"table": table, "facts": facts, "cell": cell, "single_line": single_line}
    templates.filters["escape"] = escape
    return templates


# ------------------------------------------------------------------------------------ data sets


def data_row(name: str) -> Context:
    card = {key: Card.read(name).facts.get(key, "") for key in ("task", "rated", "access")}
    return {"name": name, "here": here(name), **card}


def data_card(name: str) -> Context:
    """A data card: facts, prose, and what is counted where the files are here."""
    about = describe(name)
    parts = dict(iter(about.facts.groupby("part", sort=False)))
    facts = parts.pop("card").set_index("what")["value"]
    cite = [facts.get(key, "") for key in ("citation", "also_cite")]
    facts = facts.drop(["name", "title", "citation", "also_cite"], errors="ignore")
    facts = facts[~facts.index.str.startswith("subset_scales")]
    facts = facts.rename({"examples": "sentences may be shown"})
    counts = pd.concat(parts.values()) if parts else pd.DataFrame(columns=about.facts.columns)
    persons = counts["value"].str.count(r"\br\d")
    several = (counts["what"] == "raters") & (persons > 0)
    counts["value"] = counts["value"].mask(several, persons.astype(str))
    context = {"name": name, "title": Card.read(name).title, "body": about.body, "note": about.note}
    context |= {"facts": facts, "counts": counts, "here": here(name)}
    return context | {"cite": ", ".join(filter(None, cite))}


# ----------------------------------------------------------------------------------- benchmarks

#: Results that are simulations of what intervals and tests deliver, and those with other pages.
SIMULATIONS = ("coverage", "pooling", "rejection")
ELSEWHERE = (*SIMULATIONS, "training", "attacks", "soak")


def results(wanted: Any) -> list[Context]:
    """Committed results of ``benchmarks/`` whose name is wanted: goals, then the full table."""
    contexts = []
    for path in sorted((paths.home() / "benchmarks" / "results").glob("*.json")):
        if wanted(path.stem):
            result = json.loads(path.read_text(encoding="utf-8"))
            rows = pd.DataFrame(result["rows"]).drop(columns="signature", errors="ignore")
            rows.columns = rows.columns.str.replace("_", " ")
            title = result["name"].replace("_gpu", " on a GPU").replace("_", " ")
            result |= {"title": title[0].upper() + title[1:], "rows": rows}
            contexts.append(result | {"checks": pd.DataFrame(result["checks"])})
    return contexts


def reliability() -> Context:
    """What was tried against the program, and what came of it: the table, and its sums by kind."""
    shown = results(("attacks", "soak").__contains__)
    rows = shown[0]["rows"]
    sums = rows.groupby("attack").sum(numeric_only=True).astype(int)
    sums.columns = sums.columns.str.replace(" ", "_")
    return {"results": shown, "totals": sums.T.to_dict(), "every": sums.sum().to_dict()}


def trained() -> Context:
    """What training reaches, beside what pang2019 prints for its own models."""
    shown = results("training".__eq__)
    commands = shown[0]["rows"].pop("command").tolist()
    models = pd.read_csv(paths.project("published", "pang2019_evaluation_models.csv"), dtype=str)
    names = {"parameter": "published", "applies_to": "corpus", "value": "value"}
    printed = models[list(names)].rename(columns=names)
    return {"results": shown, "commands": commands, "printed": printed}


# ----------------------------------------------------------------------------------- for teachers


def board() -> list[Context]:
    """The first source of each target style of the contrast set, with its four rewrites."""
    items = data.load("contrast").items
    first = items.drop_duplicates("style")["source_id"]
    groups = items[items["source_id"].isin(first)].groupby("source_id", sort=False)
    columns = {"system": "rewrite", "output": "text"}
    return [
        {
            **{name: rows[name].iloc[0] for name in ("style", "source")},
            "rewrites": rows[list(columns)].rename(columns=columns),
        }
        for _, rows in groups
    ]


# --------------------------------------------------------------------------- what a reviewer asks


def reviewer() -> Context:
    """The flow of the sets, their questions, and what metrics and systems had seen of them."""
    sets = pd.read_csv(paths.project("cards", "synthesis.csv"), keep_default_na=False)
    panels = {name: sets[sets["panel"] == name] for name in ("out", "stress", "pool")}
    pool, used = panels["pool"], sets[sets["panel"] != "out"]
    rated = {name: pool[pool["dimensions"].str.contains(name)] for name in front.DIMENSIONS}
    columns = ["set", "family", "panel", "task", "dimensions", "outputs", "year"]
    return {
        "all": counted(sets),
        "panels": {name: counted(rows) for name, rows in panels.items()},
        "reasons": {name: together(panels[name], "reason") for name in ("out", "stress")},
        "pool": {name: counted(rows) for name, rows in rated.items()},
        "sets": sets[columns].astype({"year": str}),
        "questions": questions(used),
        "trained": read_by(used),
        "optimised": together(sets[sets["optimised"] != ""], "optimised"),
    }


def counted(sets: pd.DataFrame) -> dict[str, int]:
    return {"sets": len(sets), "families": sets["family"].nunique()}


def together(sets: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """One row for all sets that share the values of ``keys``."""
    return sets.groupby([*keys], sort=False)["set"].agg(", ".join).reset_index()[["set", *keys]]


def questions(sets: pd.DataFrame) -> pd.DataFrame:
    """What raters were asked; what the set does not rate, or is left out of the pool, is a dash."""
    texts = sets.assign(**{name: sets[f"question_{name}"] for name in front.DIMENSIONS})
    for name in front.DIMENSIONS:
        enters = texts["dimensions"].str.contains(name)
        texts[name] = texts[name].replace("", "not stated in what was released").where(enters)
    return together(texts.fillna("–"), *front.DIMENSIONS)


def read_by(sets: pd.DataFrame) -> pd.DataFrame:
    """What metrics and judges were trained on, and the sets of the families that are near it."""
    rows = pd.read_csv(paths.project("metric_cards", "trained_on.csv"), keep_default_na=False)
    near = together(sets, "family").set_index("family")["set"].to_dict()
    near |= {"": "–", "any": "any set"}
    rows["near"] = [", ".join(near.get(f, f) for f in text.split("; ")) for text in rows["near"]]
    return rows.rename(columns={"trained": "trained on", "near": "sets on or near that"})
