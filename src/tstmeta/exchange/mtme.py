"""The file layout of mt-metrics-eval, out and in (github.com/google-research/mt-metrics-eval).

A folder is a test set, in it each language pair a grid of systems and sources: text files have a
line a source, score files a block of such lines a system.  Names are percent-encoded, since blanks
and slashes end them.  The domain of a source is its direction; styles and labels have no place.
"""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
import pandas as pd

from .. import metrics as registry
from .. import schema
from ..analysis.frame import corpus_metric
from ..data.base import Card, Dataset
from ..data.checks import check, fault, number
from ..data.files import read_text
from ..data.tables import items_table, ratings_table, rename_raters, scores_table
from ..metrics.base import code_of
from ..schema import DIMENSIONS, MEAN_RATER, USABLE, TstmetaError, together
from ..storage import write

_REMEDY = "write UTF-8 with a line a source; of scores, SYSTEM SCORE, a block of these a system"


def write_mtme(data: Dataset, folder: Path, scores: pd.DataFrame | None = None) -> list[str]:
    """Write a test set with ratings and scores of segments and of systems; their sign stays.

    Written are sources that every system rewrote, with as many references as all of them have.
    Line ends in texts become blanks.

    Returns:
        What was left out, in words.

    Raises:
        TstmetaError: a system has two outputs of a source, or no source has an output of each; a
            metric has two scores of an item.
        MissingData: the texts are not here.
    """
    items, notes = data.with_texts("in a test set"), []
    for code, rows in items.groupby(items["language"].map(code_of), sort=False):
        grid, pair = _grid(data.name, rows), f"{code}-{code}"
        if left := len(rows) - grid.size:
            notes.append(f"{left} rewrites left out: no system, or a source that some system lacks")
        references = _texts(folder, pair, grid, rows.set_index("item_id"))
        for dimension in data.dimensions:  # content is the mean, content.r1 a single rater
            single = data.raters(dimension).drop(columns=MEAN_RATER, errors="ignore")
            columns = single.add_prefix(f"{dimension}.").assign(
                **{dimension: data.means[dimension]}
            )
            for name, values in columns.items():
                means = [values[grid[system]].mean() for system in grid]
                _scores(folder / f"human-scores/{pair}.{name}", grid, values, means)
        known = schema.empty("scores") if scores is None else scores
        for (metric, basis), own in known.groupby(["metric", "basis"], sort=False):
            kind = "all" if basis == "reference" else "src"
            names = [name for name in grid if basis != "reference" or name not in references]
            own = own[own["status"].isin(USABLE)].set_index("item_id")
            if own.index.has_duplicates:
                raise TstmetaError(f"{metric} has several scores of an item: export one at a time")
            if lacking := int((~grid[names].isin(own.index)).sum().sum()):
                notes.append(f"{metric} ({basis}) left out: {lacking} segments have no value")
                continue
            whole, parts = corpus_metric(metric), [own.loc[grid[name]] for name in names]
            means = [whole.combine([*x["detail"]]) if whole else x["value"].mean() for x in parts]
            path = folder / f"metric-scores/{pair}/{_name(metric)}-{kind}"
            _scores(path, grid[names], own["value"], means)
    return notes


def _name(text: str) -> str:
    return quote(text, safe="")


def _grid(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The item of each source and system."""
    named = rows[rows["system"] != ""]
    remedy = "leave rewrites out of the file"
    for row in named[named.duplicated(["source_id", "system"])].itertuples():
        what = f"{row.system} has several outputs of the source {row.source_id}"
        raise TstmetaError(f"{name}: {what}, and the layout has room for one: {remedy}")
    grid = named.pivot_table("item_id", "source_id", "system", "first", sort=False).dropna()
    if grid.empty:
        raise TstmetaError(f"{name}: no source was rewritten by every system: {remedy}")
    return grid


def _texts(folder: Path, pair: str, grid: pd.DataFrame, rows: pd.DataFrame) -> set[str]:
    """Sources, documents (one a source), outputs, references; gives the names of references."""
    first, names = rows.loc[grid.iloc[:, 0]], set()
    domains = [_name(direction) or "all" for direction in first["direction"]]
    documents = zip(domains, map(_name, grid.index), strict=True)
    _lines(folder / f"documents/{pair}.docs", map(" ".join, documents))
    _lines(folder / f"sources/{pair}.txt", first["source"])
    outputs = {system: tuple(rows.loc[grid[system], "output"]) for system in grid}
    for system, texts in outputs.items():
        _lines(folder / f"system-outputs/{pair}/{_name(system)}.txt", texts)
    lists = rows.groupby("source_id")["references"].agg(lambda x: [*dict.fromkeys(chain(*x))])
    for place, texts in enumerate(zip(*lists[grid.index], strict=False), 1):
        # an output that is a reference gives its name, and needs no score against itself
        same = [name for name in grid if outputs[name] == texts and name.isalnum()]
        names.add(name := [*same, f"ref{place}"][0])
        _lines(folder / f"references/{pair}.{name}.txt", texts)
    return names


def _scores(path: Path, grid: pd.DataFrame, values: pd.Series, means: Iterable[float]) -> None:
    """The files of segments and of systems, in order; NaN is None."""
    segments = ((name, value) for name in grid for value in values.reindex(grid[name]))
    for level, pairs in (("seg", segments), ("sys", zip(grid, means, strict=True))):
        lines = (f"{_name(name)} {None if np.isnan(v) else repr(float(v))}" for name, v in pairs)
        _lines(path.with_name(f"{path.name}.{level}.score"), lines)


def _lines(path: Path, lines: Iterable[str]) -> None:
    ends = str.maketrans("\r\n", "  ")
    write(path, "".join(f"{line.translate(ends)}\n" for line in lines))


def read_mtme(folder: Path, human: str = "") -> tuple[Dataset, pd.DataFrame]:
    """A test set as a data set and a table of scores; of scores, those of segments are read.

    Args:
        human: which ratings to take where several have a name that is no dimension of ours, such as
            ``mqm``; they count as ``overall``.

    Raises:
        DataError: a file that does not fit the sources, or scores that are no numbers.
        TstmetaError: no test set is there, or ``human`` has to be given.
    """
    name, sources = folder.resolve().name, sorted(folder.glob("sources/*.txt"))
    if not sources:
        raise TstmetaError(f"{folder} holds no test set: there is no sources/SRC-TGT.txt in it")
    tables = [_read(folder, name, path.stem, human, len(sources) > 1) for path in sources]
    items, ratings, scores = (together(*parts) for parts in zip(*tables, strict=True))
    rename_raters(ratings)
    return Dataset.of(name, items, Card(name, name), ratings=ratings), scores


def _read(folder: Path, name: str, pair: str, human: str, several: bool) -> list[pd.DataFrame]:
    """Items, ratings and scores of a language pair."""
    sources = _column(folder / f"sources/{pair}.txt")
    n, prefix = len(sources), f"{pair}/" if several else ""
    documents = [line.split() for line in _column(folder / f"documents/{pair}.docs", n)]
    single = len({*map(tuple, documents)}) == n  # a document a source, named after it
    files = {path.name.split(".")[-2]: path for path in folder.glob(f"references/{pair}.*.txt")}
    references = {name: _column(files[name], n) for name in sorted(files)}
    parts = [
        items_table(
            name,
            item_id=[f"{prefix}{unquote(path.stem)}/{place}" for place in range(n)],
            source_id=[
                prefix + (unquote(document[-1]) if single else str(place))
                for place, document in enumerate(documents)
            ],
            direction=[unquote(document[0]).removesuffix("all") for document in documents],
            system=unquote(path.stem),
            language=pair.partition("-")[2],
            source=sources,
            output=_column(path, n),
            references=[*zip(*references.values(), strict=True)] or [()] * n,
            is_reference=unquote(path.stem) in references,
        )
        for path in sorted(folder.glob(f"system-outputs/{pair}/*.txt"))
    ]
    items, scores = together(schema.empty("items"), *parts), [schema.empty("scores")]
    for path in sorted(folder.glob(f"metric-scores/{pair}/*.seg.score")):
        stem, _, kind = path.name.removesuffix(".seg.score").rpartition("-")
        metric = unquote(stem) + f"-{kind}" * (kind not in ("all", "src"))
        known = registry.known(metric)
        basis = "source" if known is None or "source" in known.bases else "none"
        values = _values(path, n, prefix, items).dropna()
        facts = {"metric": metric, "dimension": known.dimensions[0] if known else "content"}
        facts["basis"] = basis if kind == "src" else "reference"
        scores.append(scores_table(name, values.index, values, fields={"file": path.name}, **facts))
    paths = sorted(folder.glob(f"human-scores/{pair}.*.seg.score"))
    rated = {path.name[len(pair) + 1 :].removesuffix(".seg.score"): path for path in paths}
    foreign = [name for name in rated if name.partition(".")[0] not in DIMENSIONS]
    if len(foreign) > 1 and human not in foreign:
        raise TstmetaError(f"{folder}: choose which ratings to take: {', '.join(foreign)}")
    ratings = {}
    for rating, path in rated.items():
        dimension, _, rater = rating.partition(".")
        if rating in foreign and rating == (human if len(foreign) > 1 else rating):
            ratings["overall", MEAN_RATER] = _values(path, n, prefix, items)
        elif rating not in foreign and (
            rater or not any(x.startswith(f"{dimension}.") for x in rated)
        ):
            ratings[dimension, rater or MEAN_RATER] = _values(path, n, prefix, items)
    return [items, ratings_table(name, items["item_id"], ratings), together(*scores)]


def _column(path: Path, n: int | None = None) -> list[str]:
    """The lines of a file, which has to be there and to have ``n`` of them."""
    lines = read_text(path).removesuffix("\n").split("\n")
    if n not in (None, len(lines)):
        check([fault(path, f"{len(lines)} lines for {n} sources", remedy=_REMEDY)])
    return lines


def _values(path: Path, n: int, prefix: str, items: pd.DataFrame) -> pd.Series:
    """The scores of segments, by item in item order; NaN where there is none."""
    rows = [line.split() for line in _column(path)]
    check(
        fault(path, "no system with a number or None", place, remedy=_REMEDY)
        for place, row in enumerate(rows, 1)
        if len(row) != 2 or (row[1] != "None" and np.isnan(number(row[1])))
    )
    table = pd.DataFrame(rows, columns=["system", "score"])
    place = table.groupby("system").cumcount().astype(str)
    ids = prefix + table["system"].map(unquote) + "/" + place
    values = pd.Series(table["score"].map(number).to_numpy(float), ids)
    counts = table["system"].value_counts()
    strange = [*counts.index[counts != n], *values.index.difference(items["item_id"])]
    what = f"not a line a source for each system that has outputs, such as {strange[:1]}"
    check([fault(path, what, remedy=_REMEDY)] * bool(strange))
    return values.reindex(items["item_id"])


def sheet(data: Dataset) -> pd.DataFrame:
    """Items and their ratings, a column a dimension and rater: what :func:`tstmeta.read` takes."""
    rated = data.ratings.assign(column=data.ratings["dimension"] + "." + data.ratings["rater"])
    wide = rated.pivot_table("value", "item_id", "column", sort=False)
    return data.items.drop(columns=["dataset", "style"]).merge(wide, "left", "item_id")
