"""The pages that are made from data: templates of ``book/templates`` and what stands in them.

Tables are pandas Stylers; every text in them is escaped, for texts of data sets may be hostile.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from matplotlib.figure import Figure
from safetensors.numpy import load_file

from tools import front, metric_cards, papers
from tools.tables import cell, facts, one_line, table
from tstmeta import data, schema
from tstmeta.data import Card, paths
from tstmeta.models.causal import BACKBONES, EMBEDDED
from tstmeta.schema import TstmetaError

ROOT = Path(__file__).resolve().parents[1]
Context = dict[str, Any]


def write(folder: Path) -> None:
    """Write all pages below ``folder``."""
    warnings.simplefilter("ignore", schema.DemonstrationWarning)  # a box on the pages says it
    draw_losses(folder / "losses.png")
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
    yield "metrics", ("metrics", {"families": metric_cards.families(groups)})
    for stem, rows in groups.items():
        yield f"metrics/{stem}", ("metric", metric_cards.page(metric_cards.card(stem), rows))
    yield "backbone", ("backbone", backbone())
    yield "trained", ("trained", trained())
    yield "speed", ("speed", {"results": results(lambda name: name not in ELSEWHERE)})
    yield "certainty", ("certainty", {"results": results(SIMULATIONS.__contains__)})
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
    templates.filters |= {"table": table, "facts": facts, "cell": cell, "one_line": one_line}
    templates.filters["escape"] = escape
    templates.globals["embedded"] = embedded()
    return templates


# ------------------------------------------------------------------------------------ data sets


def data_row(name: str) -> Context:
    card = {key: Card.read(name).facts.get(key, "") for key in ("task", "rated", "access")}
    return {"name": name, "here": data.available(name), **card}


def data_card(name: str) -> Context:
    """A data card: facts, prose, and counts where the files are here."""
    card = Card.read(name)
    keys = ("task", "rated", "raters", "licence", "access", "url", "commit")
    shown = {key: value for key in keys if (value := card.facts.get(key))}
    shown |= {f"scale of {key}": f"{low:g} to {high:g}" for key, (low, high) in card.scale.items()}
    shown["sentences may be shown"] = "yes" if card.may_show_examples else "no"
    if not card.facts.get("verified", True):
        shown["verified"] = "no: the loader was never run on the real files"
    context = {"card": card, "facts": shown, "cite": card.facts.get("citation", "")}
    context |= {"here": data.available(name), "counts": {}, "fault": ""}
    if context["here"]:
        try:
            context["counts"] = counts(name)
        except TstmetaError as reason:
            context["fault"] = str(reason)
    return context


def counts(name: str) -> dict[str, str]:
    """How much there is in a data set as it is loaded."""
    loaded = data.load(name)
    numbers = {
        "items": len(loaded.items),
        "sources": loaded.items["source_id"].nunique(),
        "systems": loaded.items["system"].nunique(),
        "items with a reference": int(loaded.items["references"].str.len().gt(0).sum()),
        "single ratings": int((loaded.ratings["rater"] != "mean").sum()),
        "released means": int((loaded.ratings["rater"] == "mean").sum()),
        "raters or rating slots": loaded.ratings["rater"].nunique(),
        "preferences": len(loaded.preferences),
        "released scores": len(loaded.scores),
    }
    shown = {what: f"{count:,}" for what, count in numbers.items() if count}
    return shown | {key: f"{len(data.load(key).items):,} items" for key in data.subsets(name)}


# ---------------------------------------------------------------------------- the embedded model


def embedded() -> Context:
    """What has to be said wherever scores of the embedded model are shown."""
    model, gated = BACKBONES["embedded"], [known for known in BACKBONES.values() if known.gated]
    parameters = read(EMBEDDED / "training.json")["parameters"]
    return {"model": model, "millions": f"{parameters / 1e6:.1f}", "gated": gated}


def backbone(folder: Path = EMBEDDED) -> Context:
    """The embedded model: its facts, conversations it learnt from, losses, and what it is worth."""
    report, config = read(folder / "training.json"), read(folder / "config.json")
    demonstration = ["likelihood", "likelihood-style"]
    context: Context = {"report": report, "demonstration": demonstration, "facts": {}}
    if not report or not config:
        return context
    options, steps = report["options"], report["steps"]
    files = sorted(folder.glob("*.safetensors"))
    size = sum(file.stat().st_size for file in files)
    types = {str(tensor.dtype) for file in files for tensor in load_file(file).values()}
    context["facts"] = {
        "name": f"embedded ({BACKBONES['embedded'].about})",
        "architecture": config["architectures"][0],
        "parameters": f"{report['parameters']:,}",
        "layers": f"{config['num_hidden_layers']}, each with {config['num_attention_heads']} heads",
        "width": f"{config['hidden_size']}, inside {config['intermediate_size']}",
        "vocabulary": f"{config['vocab_size']:,} pieces of words (byte-level BPE)",
        "window": f"{config['max_position_embeddings']:,} tokens",
        "file": f"{size / 1e6:.1f} MB in safetensors, {', '.join(sorted(types))}",
        "computed in": "float32, on a CPU",
        "training steps": f"{steps:,}",
        "conversations a step": f"{options['batch']:,}",
        "seed": str(report["seed"]),
        "instruction sets": ", ".join(report["prompts"]),
        **{f"trained with {name}": text for name, text in report.get("versions", {}).items()},
    }
    context["conversations"] = conversations()
    context["phases"] = [
        f"{options[key] * steps:,.0f}" for key in ("drill", "systems") if key in options
    ]
    names = {"training": "words of the training", "held_out": "held-out words and frames"}
    losses = pd.DataFrame(report["losses_by_task"]).rename(columns=names)
    context["losses"] = losses.rename_axis("asked to").sort_index().reset_index()
    context["shares"] = pd.DataFrame(
        {"data": name, "metric": metric, **share}
        for name, by_metric in report.get("shares", {}).items()
        for metric, share in by_metric.items()
    )
    return context


def read(path: Path) -> dict[str, Any]:
    """A JSON file; empty where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def conversations(count: int = 8) -> pd.DataFrame:
    """Conversations such as the training shows the model."""
    from tools.world.conversations import example
    from tstmeta.likelihood.instructions import shipped

    prompts = list(shipped().values())
    drawn = [example(f"page/{place}", prompts) for place in range(count)]
    return pd.DataFrame(
        [{"task": each.task, "instruction": each.user, "answer": each.output} for each in drawn]
    )


def draw_losses(path: Path, folder: Path = EMBEDDED) -> None:
    """The loss of each training step, and its mean over ten neighbours, as a picture."""
    curve = read(folder / "training.json").get("loss_curve", [])
    path.parent.mkdir(parents=True, exist_ok=True)
    axis = (figure := Figure(figsize=(5.2, 2.9), layout="constrained")).subplots()
    steps = pd.Series(curve, range(1, len(curve) + 1), dtype=float)
    axis.plot(steps, color="0.6", lw=0.6, label="each step")
    axis.plot(steps.rolling(10).mean(), lw=1.6, label="mean of 10 steps")
    axis.set(xlabel="step", ylabel="loss, nats a token", ylim=(0, None))
    axis.legend(frameon=False)
    figure.savefig(path, dpi=144, metadata={"Software": None})


# ----------------------------------------------------------------------------------- benchmarks

#: Results that are simulations of what intervals and tests deliver, and those with other pages.
SIMULATIONS = ("coverage", "rejection")
ELSEWHERE = (*SIMULATIONS, "training")


def results(wanted: Any) -> list[Context]:
    """Committed results of ``benchmarks/`` whose name is wanted: goals, then the full table."""
    contexts = []
    for path in sorted((paths.home() / "benchmarks" / "results").glob("*.json")):
        if wanted(path.stem):
            result = read(path)
            rows = pd.DataFrame(result["rows"]).drop(columns="signature", errors="ignore")
            rows.columns = rows.columns.str.replace("_", " ")
            title = result["name"].replace("_gpu", " on a GPU").replace("_", " ")
            result |= {"title": title[0].upper() + title[1:], "rows": rows}
            contexts.append(result | {"checks": pd.DataFrame(result["checks"])})
    return contexts


def trained() -> Context:
    """What training reaches, beside what pang2019 prints for its own models."""
    report = read(paths.home() / "benchmarks" / "results" / "training.json")
    own = pd.read_csv(paths.own("published", "pang2019_evaluation_models.csv"), dtype=str)
    names = {"parameter": "published", "applies_to": "corpus", "value": "value"}
    context: Context = {"report": report, "printed": own[list(names)].rename(columns=names)}
    holds = {check["name"]: check["holds"] for check in report.get("checks", [])}
    context["rows"] = pd.DataFrame(
        {
            "model": row["model"],
            "sentences": row["trained_on"],
            "tested on": row["tested_on"],
            "result": result(row),
            "processor minutes": f"{row['minutes']:.1f}",
            "same bytes": {True: "yes", False: "no", None: "not measured"}[
                holds.get(f"weights of the {row['model']} that differ after a kill")
            ],
            "weights": row["weights"],
        }
        for row in report.get("rows", [])
    )
    return context


def result(row: Context) -> str:
    """What a trained model reaches on sentences that it never saw."""
    if "accuracy" in row:
        return f"accuracy {row['accuracy']:.4f} [{row['low']:.4f}, {row['high']:.4f}]"
    return (
        f"perplexity {row['perplexity']:.1f} a token, {row['perplexity_a_word']:.1f} a word;"
        f" {row['perplexity_of_unigrams']:.1f} a token by counts of tokens alone"
    )
