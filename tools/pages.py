"""The pages that are made from data: what stands in them is gathered here, the words stand in
``book/templates``.

A page is a template and a context, a dict of plain values and frames; :func:`write` fills in all.
Tables are pandas Stylers; every text in them is escaped, for texts of data sets may be hostile.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import matplotlib as mpl
import numpy as np
import pandas as pd
import yaml
from matplotlib.figure import Figure
from pandas.io.formats.style import Styler

from tools import front
from tstmeta import data, schema, scoring
from tstmeta.data import Card, Dataset, paths
from tstmeta.data.contrast import parse_span
from tstmeta.metrics import Score, catalogue, get
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
    groups = metric_groups()
    yield "metrics", ("metrics", {"families": metric_families(groups)})
    for stem, rows in groups.items():
        yield f"metrics/{stem}", ("metric", metric_page(metric_card(stem), rows))
    yield "backbone", ("backbone", backbone())
    yield "trained", ("trained", trained())
    yield "speed", ("speed", {"results": results(lambda name: name not in ELSEWHERE)})
    yield "certainty", ("certainty", {"results": results(SIMULATIONS.__contains__)})
    yield from papers()


# ------------------------------------------------------------------------------------ templates


def render(template: str, context: Context) -> str:
    """A template of ``book/templates`` as MyST Markdown."""
    return environment().get_template(f"{template}.md.j2").render(**context)


@cache
def environment() -> jinja2.Environment:
    """Templates refuse names that the context lacks; see the filters for what they can call."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "book" / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # a page is Markdown; what comes from data goes through the filters
    )
    made.filters |= {"table": table, "facts": facts, "cell": cell, "one_line": one_line}
    made.filters["escape"] = escape
    return made


def raw(html: str) -> str:
    """HTML as a MyST directive."""
    return f"```{{raw}} html\n{html}\n```\n"


def table(frame: pd.DataFrame, caption: str = "") -> str:
    """A frame, without its index, as an HTML table that scrolls inside a box of its own.

    Floats have three decimals, tiny ones a power of ten; a missing value is a dash.
    """
    plain = frame.map(lambda value: one_line(value) if isinstance(value, str) else value)
    styler = Styler(plain).hide(axis="index").format_index(escape="html", axis="columns")
    formats = {name: formatter(plain[name]) for name in plain}
    styler = styler.format(formats, escape="html", na_rep="–")
    if caption:
        styler = styler.set_caption(escape(caption))
    html = styler.to_html(exclude_styles=True)
    html = re.sub(r"<td >(?=(–|−?\d[\d.,]*(e[−+]\d+)?)</td>)", "<td class='num'>", html)
    html = re.sub(r"<td >(?=[^<]{40})", "<td class='long'>", html)
    return raw(f"<div class='tst-table' tabindex='0'>{html}</div>")


def formatter(column: pd.Series) -> Any:
    """How the values of a column are shown."""
    if column.dtype == bool:
        return lambda value: "yes" if value else "no"
    if column.dtype.kind in "iu" or (column.dtype.kind == "f" and (column.dropna() % 1 == 0).all()):
        return lambda value: f"{value:,.0f}"
    return number if column.dtype.kind == "f" else None


def number(value: float, decimals: int = 3) -> str:
    """A number with a true minus sign, as a power of ten where decimals would show zero."""
    tiny = 0 < abs(value) < 0.5 * 10**-decimals
    return (f"{value:.0e}" if tiny else f"{value:z.{decimals}f}").replace("-", "−")


def facts(pairs: Mapping[str, Any]) -> str:
    """Names and values, one a line; a value that is a web address becomes a link."""
    frame = pd.DataFrame({"value": {name: one_line(str(value)) for name, value in pairs.items()}})
    styler = Styler(frame).hide(axis="columns").format_index(escape="html")
    html = styler.format(escape="html", hyperlinks="html").to_html(exclude_styles=True)
    return raw(f"<div class='tst-table tst-facts'>{html}</div>")


def one_line(text: str) -> str:
    """White space as single blanks: a line of its own could end the fence that it stands in."""
    return " ".join(text.split())


def cell(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return one_line(str(text).replace("|", "/"))


# ------------------------------------------------------------------------------------ data sets


def data_row(name: str) -> Context:
    """A data set in the list of all."""
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
    found = {
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
    said = {what: f"{count:,}" for what, count in found.items() if count}
    return said | {key: f"{len(data.load(key).items):,} items" for key in data.subsets(name)}


# -------------------------------------------------------------------------------------- metrics

#: The source of the contrast set whose rewrites are the example of every metric's page.
EXAMPLE = "sentiment-01"
#: Columns of the catalogue that a page shows, and what they are called there.
FACTS = {
    **{"family": "family", "dimension": "meant for", "unit": "looks at", "bases": "compared with"},
    **{"languages": "languages", "better": "better is", "max_tokens": "longest text, in words"},
    "profile": "profile",
}
UNITS = {
    "item": "one rewrite at a time",
    "source": "all rewrites of a source together",
    "corpus": "all outputs of a system together",
}


class MetricCard(NamedTuple):
    """What people wrote about a metric, in ``data/metric_cards/<name>.md``.

    Attributes:
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


def metric_card(name: str, path: Path | None = None) -> MetricCard:
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
        front = yaml.safe_load(parts[1])
    except yaml.YAMLError as error:
        raise TstmetaError(f"{path.name}: the front matter is no YAML: {error}") from error
    front = front if isinstance(front, dict) else {}
    texts = {key: front.get(key) for key in ("title", "measures", "fails", "cost")}
    lacking = [key for key, text in texts.items() if not (isinstance(text, str) and text)]
    cites = front["cites"] if isinstance(front.get("cites"), list) else [None]
    lacking += [] if all(isinstance(key, str) for key in cites) else ["cites"]
    if lacking:
        missing = ", ".join(lacking)
        raise TstmetaError(f"{path.name}: {missing} missing or no text (cites: a list); add it")
    return MetricCard(name, cites=tuple(cites), body=parts[2].strip(), **texts)


def metric_groups() -> dict[str, pd.DataFrame]:
    """Rows of the catalogue by metric: the bare name first, then its variants."""
    rows = catalogue.overview()
    return {str(stem): part for stem, part in rows.groupby(stems(rows), sort=False)}


def stems(rows: pd.DataFrame) -> pd.Series:
    """The names without variants."""
    return rows["name"].str.partition(":")[0]


def metric_families(groups: Mapping[str, pd.DataFrame]) -> dict[str, list[Context]]:
    """The catalogue: for each family its metrics, with what stands in their cards."""
    families: dict[str, list[Context]] = {}
    for stem, rows in groups.items():
        runs = (rows["status"] == "ok").tolist()
        here = "yes" if all(runs) else "some variants" if any(runs) else "no"
        row = {"card": metric_card(stem), "here": here, **plainly(rows.head(1))}
        families.setdefault(rows["family"].iloc[0], []).append(row)
    return families


def plainly(rows: pd.DataFrame) -> dict[str, str]:
    """Cells of the catalogue in words, by the labels of :data:`FACTS`; empty ones are left out."""
    words = {*schema.DIMENSIONS, *schema.BASES}
    found = {}
    for column, label in FACTS.items():
        cells = (UNITS.get(one, one) if column == "unit" else one for one in rows[column] if one)
        lists = (", ".join(one.split()) if set(one.split()) <= words else one for one in cells)
        found[label] = "; ".join(dict.fromkeys(lists))
    return {label: text for label, text in found.items() if text}


@cache
def printed() -> dict[str, dict[str, list[str]]]:
    """Metric without variant -> paper -> the names printed there, from ``names.csv``."""
    frame = pd.read_csv(paths.own("published", "names.csv"), dtype=str, keep_default_na=False)
    found: dict[str, dict[str, list[str]]] = {}
    for row in frame[frame["kind"] == "metric"].to_dict("records"):
        for stem in dict.fromkeys(name.partition(":")[0] for name in row["listed"].split()):
            found.setdefault(stem, {}).setdefault(row["paper"], []).append(row["printed"])
    return found


def metric_page(card: MetricCard, rows: pd.DataFrame) -> Context:
    """A metric's page; ``rows`` are its rows of the catalogue, the bare name first."""
    papers = printed().get(card.name, {})
    told = {"known failure": card.fails, "cost": card.cost, **plainly(rows)}
    told["printed as"] = "; ".join(f"{paper}: {', '.join(n)}" for paper, n in papers.items())
    signatures = rows[["name", "status"]].copy()
    signatures["signature, or what to do"] = rows["signature"].where(
        rows["signature"] != "", rows["remedy"]
    )
    run = rows.loc[rows["status"] == "ok", "name"].tolist()
    context = {"card": card, "facts": {k: v for k, v in told.items() if v}, "run": run}
    context |= {"signatures": signatures, "demonstration": None}
    context["combined"] = bool((rows["family"] == catalogue.COMBINED_FAMILY).all())
    if run and not context["combined"]:
        shown = [
            name for name in run if name.partition(":")[0] in ("likelihood", "likelihood-style")
        ]
        context["demonstration"] = demonstration(shown) if shown else None
        context["source"], context["example"] = rewrites(example())
        context["values"], context["notes"] = values(run)
    return context


def example() -> Dataset:
    """Four rewrites of one source of the contrast set: strong or light, with an error or not."""
    whole = data.load("contrast")
    return whole.where(whole.items["source_id"] == EXAMPLE, "example")


def rewrites(dataset: Dataset) -> tuple[Context, pd.DataFrame]:
    """The source with its target style, and the rewrites with the words that the error changed."""
    items = dataset.items
    spans = [parse_span(span) if span else ("", "") for span in dataset.label("span")]
    frame = items[["system", "output"]].set_axis(["rewrite", "text"], axis="columns")
    frame[["taken out", "put in"]] = spans
    return {"text": items["source"].iloc[0], "style": items["style"].iloc[0]}, frame


def values(names: list[str], dataset: Dataset | None = None) -> tuple[pd.DataFrame, list[str]]:
    """What metrics say of the example: a row a metric and basis, a column a rewrite; and notes.

    A score without a value is its status with the detail.  Notes are the warnings of our own that
    were given meanwhile.  Nothing is kept: what a page shows was computed for it.
    """
    dataset = example() if dataset is None else dataset
    systems = dict(zip(dataset.items["item_id"], dataset.items["system"], strict=True))
    rows = []
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", UserWarning)
        for name in names:
            for plan in scoring.plans(dataset, get(name)):
                scores = [score for unit in plan.metric.score(plan.units) for score in unit]
                ids = [item_id for unit in plan.item_ids for item_id in unit]
                told = {systems[i]: value(score) for i, score in zip(ids, scores, strict=True)}
                if ids:
                    rows.append({"metric": name, "compared with": plan.basis, **told})
    ours = (one for one in given if one.category.__module__.startswith("tstmeta."))
    notes = dict.fromkeys(str(one.message) for one in ours)
    # that the embedded model demonstrates stands in a box of its own
    return pd.DataFrame(rows), [text for text in notes if "embedded model demonstrates" not in text]


def value(score: Score) -> str:
    """A score as shown."""
    if score.status.has_value and math.isfinite(score.value):
        return number(score.value)
    return one_line(f"{score.status}: {score.detail}")


# ---------------------------------------------------------------------------- the embedded model


#: The metrics that run on a language model.
LIKELIHOOD = ["likelihood", "likelihood-style"]


def demonstration(names: list[str]) -> Context:
    """What has to be said wherever scores of the embedded model are shown."""
    model, gated = BACKBONES["embedded"], [one for one in BACKBONES.values() if one.gated]
    millions = read(EMBEDDED / "training.json").get("parameters", 0) / 1e6 or model.parameters
    return {"names": names, "model": model, "millions": f"{millions:.1f}", "gated": gated}


def backbone(folder: Path = EMBEDDED) -> Context:
    """The embedded model: its facts, conversations it learnt from, losses, and what it is worth."""
    report, config = read(folder / "training.json"), read(folder / "config.json")
    context: Context = {
        "report": report,
        "demonstration": demonstration(["likelihood", "likelihood-style"]),
    }
    if not report or not config:
        return context
    options, steps = report["options"], report["steps"]
    size = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    context["facts"] = {
        "name": f"embedded ({BACKBONES['embedded'].about})",
        "architecture": config["architectures"][0],
        "parameters": f"{report['parameters']:,}",
        "layers": f"{config['num_hidden_layers']}, each with {config['num_attention_heads']} heads",
        "width": f"{config['hidden_size']}, inside {config['intermediate_size']}",
        "vocabulary": f"{config['vocab_size']:,} pieces of words (byte-level BPE)",
        "window": f"{config['max_position_embeddings']:,} tokens",
        "file": f"{size / 1e6:.1f} MB in safetensors, {', '.join(stored(folder))}",
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
    losses = (
        pd.DataFrame(report["losses_by_task"]).rename_axis("asked to").sort_index().reset_index()
    )
    names = {"training": "words of the training", "held_out": "held-out words and frames"}
    context["losses"] = losses.rename(columns=names)
    context["shares"] = pd.DataFrame(
        {"data": name, "metric": metric, **found}
        for name, by_metric in report.get("shares", {}).items()
        for metric, found in by_metric.items()
    )
    return context


def read(path: Path) -> dict[str, Any]:
    """A JSON file; empty where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def stored(folder: Path) -> list[str]:
    """The types of numbers in the weights, read off the headers of the files."""
    found = set()
    for file in folder.glob("*.safetensors"):
        with open(file, "rb") as stream:  # eight bytes of length, then so many bytes of JSON
            header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
        found |= {one["dtype"] for name, one in header.items() if name != "__metadata__"}
    return sorted({"F16": "float16", "BF16": "bfloat16", "F32": "float32"}.get(n, n) for n in found)


def conversations(count: int = 8) -> pd.DataFrame:
    """Conversations such as the training shows the model."""
    from tstmeta.likelihood.instructions import shipped
    from tstmeta.models.training.examples import example

    made = [example(f"page/{place}", list(shipped().values())) for place in range(count)]
    return pd.DataFrame(
        [{"task": one.task, "instruction": one.user, "answer": one.output} for one in made]
    )


def draw_losses(path: Path, folder: Path = EMBEDDED) -> None:
    """The loss of each training step, and its mean over ten neighbours, as a picture."""
    curve = read(folder / "training.json").get("loss_curve", [])
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "tstmeta"}):
        axis = (figure := Figure(figsize=(5.2, 2.9), layout="constrained")).subplots()
        axis.plot(range(1, len(curve) + 1), curve, color="0.6", lw=0.6, label="each step")
        means = np.convolve(curve, np.full(10, 0.1), "valid") if len(curve) >= 10 else []
        axis.plot(range(10, 10 + len(means)), means, color="C0", lw=1.6, label="mean of 10 steps")
        axis.set(xlabel="step", ylabel="loss, nats a token", ylim=(0, None))
        axis.legend(frameon=False)
        figure.savefig(path, dpi=144, metadata={"Software": None})


# ----------------------------------------------------------------------------------- benchmarks

#: Results that are simulations of what intervals and tests deliver, and those with other pages.
SIMULATIONS = ("coverage", "rejection")
ELSEWHERE = (*SIMULATIONS, "training")


def results(wanted: Any) -> list[Context]:
    """Committed results of ``benchmarks/`` whose name is wanted: goals, then the full table."""
    found = []
    for path in sorted((paths.home() / "benchmarks" / "results").glob("*.json")):
        if wanted(path.stem):
            made = read(path)
            rows = pd.DataFrame(made["rows"]).drop(columns="signature", errors="ignore")
            rows.columns = rows.columns.str.replace("_", " ")
            title = made["name"].replace("_gpu", " on a GPU").replace("_", " ")
            made |= {"title": title[0].upper() + title[1:], "rows": rows}
            found.append(made | {"checks": pd.DataFrame(made["checks"])})
    return found


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


# --------------------------------------------------------------------------- claims and ledger


def papers() -> Iterator[tuple[str, tuple[str, Context]]]:
    """What the papers print and conclude, beside ours."""
    from tstmeta.report import claims, pages
    from tstmeta.report.bench import Bench
    from tstmeta.report.ledger import PAPERS, ledger

    bench = Bench()
    text = claims.page(claims.judged(bench, draws=2000), pages._CITATIONS, 2000)
    yield "claims", ("_text", {"text": text})
    rows = ledger(bench=bench)
    yield "ledger", ("_text", {"text": pages.ledger_index(rows)})
    for paper in PAPERS:
        yield f"ledger/{paper}", ("_text", {"text": pages.ledger_page(paper, rows)})
