"""Evaluations as a report: one page to read, print and pass on, and the files that a paper needs.

The page stands alone: no script, and nothing is fetched.  Every number is computed, and the same
evaluations give the same bytes.  Texts of data sets may be hostile: all are escaped.
"""

import platform
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Any

import pandas as pd

from .. import console, storage
from ..console import TableFormat
from ..data import Dataset
from ..extras import needs
from ..schema import TstmetaError
from . import render
from .findings import Evaluation
from .people import agreement_facts

#: Packages whose version can change a value; those that are not installed are left out.
LIBRARIES = (
    *("tstmeta", "numpy", "scipy", "pandas", "nltk", "sacrebleu", "rouge-score", "torch"),
    *("transformers", "sentence-transformers", "bert-score", "pot"),
)


def report(
    evaluations: Evaluation | Sequence[Evaluation],
    data: Dataset | Iterable[Dataset],
    folder: Path | str,
) -> list[Path]:
    """Write a report of evaluations into a folder; no file is ever left half-written.

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
    results = [evaluations] if isinstance(evaluations, Evaluation) else list(evaluations)
    sets = {dataset.name: dataset for dataset in ([data] if isinstance(data, Dataset) else data)}
    names = dict.fromkeys(result.dataset for result in results)
    if lacks := ", ".join(names.keys() - sets.keys()):
        raise TstmetaError(f"a report needs the data sets that were evaluated; missing: {lacks}")
    words, (pdf, svg) = methods(results), render.images(render.draw(results), "pdf", "svg")
    signed = _signatures(pd.concat(result.frame for result in results))
    lines = ["Signatures of metrics:", *(f"{name}: {text}" for text, name in signed.items())]
    words.append("\n".join(map(console.escaped, lines)))
    files: dict[str, str | bytes] = {
        "values.csv": render.rendered(results, TableFormat.csv),
        "table.tex": render.rendered(results, TableFormat.latex),
        "methods.txt": "\n\n".join([*words, citation()]) + "\n",
        "figure.pdf": pdf,
        "figure.svg": svg,
        "report.html": _template(
            "report.html.j2",
            sets={name: _facts(sets[name]) for name in names},
            sections=[_section(result, f"e{place}") for place, result in enumerate(results, 1)],
            signatures=signed,
            methods=words[:-1],
            citation=citation(),
        ),
    }
    for name, content in files.items():
        storage.write(Path(folder) / name, content)
    return [Path(folder) / name for name in files]


def _template(name: str, **context: Any) -> str:
    import jinja2

    templates = jinja2.Environment(
        autoescape=".html" in name,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: console.escaped(value) if type(value) is str else value,
    )
    source = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return templates.from_string(source).render(**context)


def methods(results: Sequence[Evaluation]) -> list[str]:
    """The methods section of a paper: how the numbers were computed, a paragraph a topic."""
    libraries = [f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            libraries.append(f"{name} {version(name)}")
    frame = pd.concat(result.frame for result in results)
    settings = [result.analysis.setting for result in results]
    tested = dict.fromkeys(result.comparisons for result in results if result.tested)
    text = _template(
        "methods.txt.j2",
        libraries=libraries,
        titles=list(map(render.title, results)),
        settings={str(setting): setting for setting in settings}.values(),
        units=list(dict.fromkeys(map(_units, results))),
        tested=[f"{number:,}" for number in tested],
        flipped=list(_signatures(frame[frame["better"] == "lower"]).values()),
    )
    return text.strip().split("\n\n")


def _units(result: Evaluation) -> str:
    """What was resampled, in words."""
    plan = result.analysis.plan
    units = plan.units.replace("both", "sources and systems")
    units += ", groups of them whole" * (plan.clusters is not None)
    return units + ", as many of each task as there are" * (plan.strata is not None)


def citation() -> str:
    """How to cite the package, for BibTeX, as its metadata say."""
    about = metadata("tstmeta")
    facts = {"title": f"{{tstmeta}}: {about['Summary']}", "author": f"{{{about['Author']}}}"}
    facts |= {"version": about["Version"], "license": about["License-Expression"]}
    for link in about.get_all("Project-URL") or []:
        facts["url"] = link.partition(", ")[2]
    lines = [f"  {name} = {{{value}}}" for name, value in facts.items()]
    return ",\n".join(["@software{tstmeta", *lines]) + "\n}"


def _signatures(rows: pd.DataFrame) -> dict[str, str]:
    """Signature -> metric, R- for reference-based."""
    names = map(render.name_of, rows["metric"], rows["basis"])
    return dict(zip(rows["signature"], names, strict=True))


def _facts(data: Dataset) -> dict[str, str]:
    """What the card says of a data set, and how far its raters agree."""
    facts = {key: str(data.card.facts.get(key, "")) for key in ("title", "task", "licence", "url")}
    rows = agreement_facts(data)
    return facts | dict(zip(rows["part"], rows["what"] + " " + rows["value"], strict=True))


def _section(result: Evaluation, anchor: str) -> dict[str, Any]:
    """An evaluation: sentences, figure, table, notes."""
    shown, rule = render.table(result)
    levels = result.levels.drop(columns="basis").assign(
        metric=shown["metric"][-len(result.frame) :].to_numpy()
    )
    heads = [n.replace("pearson", "r,").replace("accuracy", "accuracy,") for n in levels]
    figure = result.frame["value"].notna().any() and render.images(result.plot(), "svg")
    table = shown.drop(columns=["note", "signature"], errors="ignore")
    return {
        "anchor": anchor,
        "name": f"{result.dataset}: {result.dimension}",
        "how": f"{result.label}, level {result.analysis.setting.level}",
        "title": render.title(result),
        "answer": result.summary or ["Nothing was tested, so no metric can be recommended."],
        "figure": b64encode(figure[0]).decode() if figure else "",
        "rule": rule,
        "below": render.below(result),
        "levels": [heads, *(list(map(_cell, row)) for row in levels.astype(object).to_numpy())],
        "notes": [*render.notes(result), *render.remarks(result)],
        "head": [*table],
        "rows": [list(map(_cell, row)) for row in table.astype(object).itertuples(index=False)],
    }


def _cell(value: Any) -> str:
    """A value of a table as text: three decimals and a true minus sign."""
    if pd.isna(value):
        return ""
    words = render.number(value) if isinstance(value, float) else str(value)
    return re.sub(r"(?<![\w.-])-(?=\d)", "−", words)
