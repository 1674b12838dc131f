"""(data set x metric) -> scores, kept in a store that resumes and never computes a score twice.

A score's key is a hash of the metric's signature and of every text of its rewrite.  Rewrites go to
the metric in blocks, which processes at work on one metric share.  Rows with status ``error`` are
not stored.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from . import schema
from .data import Dataset, paths, shipped
from .data.base import RATING
from .data.tables import scores_table
from .metrics import registry
from .metrics.base import Metric, Request, Score, blank_value, for_language
from .metrics.weighted import TstContent
from .schema import Status, TstmetaError
from .secrecy import conceal
from .store import Rows

#: The mean human rating of style, shown as if it were a metric.
HUMAN_STYLE = "human-style"
#: The same where the style shift is known by construction: 1 strong, 0 light.
STYLE_LABEL = "style-label"
#: Scores that came with a data set: the family, and how their names begin.
RELEASED = "released"
#: Rewrites that a metric takes at a time and a process claims: an eighth, within these bounds.
LEAST_BLOCK, LARGEST_BLOCK = 2**8, 2**10
_TYPES = {"key": str, "value": float, "status": str, "detail": str}
_Row = tuple[str, float, str, str]
#: An item, and what a metric is asked of it.
Rewrite = tuple[str, Request]
#: Scores of rewrites of a data set by a metric on a basis.
Compute = Callable[[Dataset, Metric, str, list[Rewrite]], pd.DataFrame]


def score(
    data: Dataset,
    metrics: Sequence[str | Metric] | str = ("lexical", "sentinel", HUMAN_STYLE),
    bases: Sequence[str] | None = None,
    profile: str = "",
    store: Path | str | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """The scores of a data set: taken from the score store where they are, else computed.

    Args:
        metrics: names (``bleu``, ``bleu:pauli2025``), families (``lexical``, ``sentinel``),
            ``all``, ``human-style``, metric objects such as :func:`tstmeta.wrap` makes, and
            scores that came with the data set (``released:bleu``, or ``released`` for all).
        bases: source, reference, none; default all that a metric has.
        profile: ``embedded`` leaves out what needs a model from a hub, ``real`` takes families
            whole; by default single names are taken as they are and families as ``embedded``.
        store: folder of the score store (default ``data/scores``, and the scores that the project
            passes on, see :mod:`tstmeta.data.shipped`).
        progress: show a bar on standard error (only on a terminal).

    Returns:
        One row an item, metric and basis, in the order of metrics, bases and items: dataset,
        item_id, metric, dimension, basis, signature, sample, value, status (ok, empty, truncated,
        refused, invalid, error), detail.  On basis reference, items without a reference have no
        row, and a reference is not compared with itself.

    Raises:
        UnknownMetric: a name that nobody registered, or that no score of the data set has; an
            object that is no metric.
        TstmetaError: an unknown profile.
    """
    if profile not in ("", "embedded", "real"):
        raise TstmetaError(f"profile is {profile!r}; use one of embedded, real")
    folder = None if store is None else Path(store)
    stored = partial(stored_scores, store=folder, progress=progress)
    rewrites = cache(partial(requests, data))  # metrics share those of a basis
    tables = [schema.empty("scores")]
    named = [*_resolve(data, [metrics] if isinstance(metrics, str) else metrics, profile)]
    hidden = None if progress and len(named) > 1 else True
    what = " ".join([data.name.partition("@")[0], *(bases or ())])
    for metric in tqdm(named, what, unit="metric", leave=False, disable=hidden):
        if metric == HUMAN_STYLE:
            tables.append(human_style(data))
        elif isinstance(metric, str):
            rows = data.scores[data.scores["metric"] == metric]
            tables.append(rows if bases is None else rows[rows["basis"].isin(bases)])
        else:
            for basis in [name for name in metric.bases if bases is None or name in bases]:
                tables.append(score_basis(data, metric, basis, rewrites(basis), stored))
    table = together(*tables)
    objects = any(not isinstance(metric, str) for metric in metrics)  # may be a metric twice
    return schema.validate(table, "scores", data.name) if objects else table


def _resolve(data: Dataset, wanted: Sequence[str | Metric], profile: str) -> Iterable[Metric | str]:
    """Metrics to compute, and names of scores that need no computing, in order and once."""
    resolved: dict[str, Metric | str] = {}
    for place, metric in enumerate(wanted):
        if not isinstance(metric, str):
            resolved[f"object {place}"] = registry.check(metric)
            continue
        if metric.partition(":")[0] == RELEASED:
            resolved |= {name: name for name in _released(data, metric)}
            continue
        for name in registry.resolve([metric], profile or "embedded"):
            loaded = name if name == HUMAN_STYLE else registry.get(name, imports=True)
            if profile != "embedded" or isinstance(loaded, str) or loaded.profile == profile:
                resolved.setdefault(name, loaded)
    return resolved.values()


def _released(data: Dataset, name: str) -> list[str]:
    """The released scores that a name means: itself, or all that the data set has."""
    known = list(data.scores["metric"].unique())
    if known and name in (RELEASED, *known):
        return known if name == RELEASED else [name]
    there = f"its scores: {', '.join(known)}" if known else "no scores came with it"
    raise registry.UnknownMetric(f"{data.name} has no scores called {name!r}; {there}")


def requests(dataset: Dataset, basis: str) -> list[Rewrite]:
    """The rewrites of a data set that are scored on a basis."""
    items = dataset.with_texts("by a metric") if dataset.has_texts else dataset.items.iloc[:0]
    names = ["item_id", "output", "source", "style", "language", "references", "is_reference"]
    rewrites = []
    for row in items[names].itertuples(index=False, name=None):
        item, output, source, style, language, references, itself = row
        against: tuple[str, ...] = (source,) if basis == "source" else ()
        if basis == "reference":
            against = tuple(text for text in references if not itself or text != output)
            if not against:
                continue
        rewrites.append((item, Request(output, against, source, style, language)))
    return rewrites


def score_basis(
    data: Dataset, metric: Metric, basis: str, rewrites: list[Rewrite], compute: Compute
) -> pd.DataFrame:
    """Scores in the order of the items; languages that a metric is not for are refused."""
    languages = {request.language for _, request in rewrites}
    form_of = {language: for_language(metric, language) for language in languages}
    forms: dict[Any, list[Rewrite]] = {}
    for item, request in rewrites:
        forms.setdefault(form_of[request.language], []).append((item, request))
    tables = []
    for form, members in (forms or {metric: []}).items():
        if isinstance(form, str):  # rows without a value, which the store does not keep
            row = ("", math.nan, str(Status.REFUSED), conceal(form))
            tables.append(_table(data, metric, basis, members, [row] * len(members)))
        else:
            table, worst = compute(data, form, basis, members), blank_value(form, basis)
            tables.append(table if worst is None else _blank_at(table, worst, members))
    table = together(*tables)
    order = pd.Index(data.items["item_id"]).get_indexer(table["item_id"])
    return table.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def _blank_at(table: pd.DataFrame, worst: float, rewrites: list[Rewrite]) -> pd.DataFrame:
    """Scores, with ``worst`` for blank outputs; of texts that are not here the status says it."""
    texts = {item: request.output.strip() for item, request in rewrites}
    blank = table["item_id"].map(texts).eq("") if texts else table["status"] == "empty"
    blank &= ~table["status"].isin([Status.REFUSED, Status.ERROR])
    value, status = table["value"].mask(blank, worst), table["status"].mask(blank, "empty")
    return table.assign(value=value, status=status)


def compute(data: Dataset, metric: Metric, basis: str, rewrites: list[Rewrite]) -> pd.DataFrame:
    """Scores, computed now and not stored."""
    scores = answers(metric, [[request for _, request in rewrites]])
    return _table(data, metric, basis, rewrites, [("", *score) for score in scores])


def _table(
    data: Dataset, metric: Metric, basis: str, rewrites: Sequence[tuple], rows: list[_Row]
) -> pd.DataFrame:
    """A table of scores of rewrites, in the order of the rows."""
    return (
        pd.DataFrame(rows, columns=[*_TYPES])
        .astype(_TYPES)
        .assign(
            dataset=data.name.partition("@")[0],
            item_id=[item for item, *_ in rewrites],
            metric=conceal(metric.name),
            dimension=metric.dimensions[0],
            basis=basis,
            signature=str(metric.signature(basis)),
            sample=0,
        )[schema.columns("scores")]
    )


def stored_scores(
    data: Dataset,
    metric: Metric,
    basis: str,
    rewrites: list[Rewrite],
    store: Path | None,
    progress: bool,
) -> pd.DataFrame:
    """Scores: passed on with the project, from the store, or computed now.

    Where the texts are not here, a registered metric is known by its name: the scores say by their
    signature how they were computed, which may be with other libraries than those of this machine.
    """
    if isinstance(metric, TstContent):
        stored = partial(stored_scores, store=store, progress=progress)
        tables = [score_basis(data, part, basis, rewrites, stored) for part in metric.parts]
        return _summed(data, metric, basis, tables)
    signature, folder = "", store or paths.scores()
    if data.has_texts or type(registry.known(metric.name)) is not type(metric):
        metric.keep_in(folder, progress)
        signature = str(metric.signature(basis))
    known = pd.DataFrame(columns=schema.columns("scores"))
    if store is None or not data.has_texts:
        known = shipped.scores(data, conceal(metric.name), basis, signature)
    if not data.has_texts:
        return known if len(known) else _lacking(data, metric, basis, signature or metric.name)
    if len(known):
        done = set(known["item_id"])
        rewrites = [rewrite for rewrite in rewrites if rewrite[0] not in done]
    if metric.stored:
        rows = _stored(folder, metric, basis, rewrites, progress)
        table = _table(data, metric, basis, rewrites, rows)
    else:
        table = compute(data, metric, basis, rewrites)
    table = schema.validate(table, "scores", data.name)
    return together(table, known)  # of two empty ones the first, which has columns


def _summed(
    data: Dataset, metric: TstContent, basis: str, tables: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Scores of a sum of metrics, of the rewrites that have a score of each part."""
    parts = [table.set_index("item_id")[["value", "status", "detail"]] for table in tables]
    shared = set.intersection(*(set(part.index) for part in parts))
    ids = [item for item in tables[0]["item_id"] if item in shared]
    columns = [[Score(*row) for row in part.loc[ids].itertuples(index=False)] for part in parts]
    rows: list[_Row] = [("", *metric.summed(scores)) for scores in zip(*columns, strict=True)]
    return _table(data, metric, basis, [(item,) for item in ids], rows)


def _lacking(data: Dataset, metric: Metric, basis: str, signature: str) -> pd.DataFrame:
    """A row for each item that a metric would score if its texts were here."""
    items = data.items
    if basis == "reference":
        items = items[items["references"].str.len() > 0]
    lack = f"its texts are not here, and {metric.name} was not passed on: get them with: "
    lack += f"tstmeta data fetch {data.name.partition('@')[0]}"
    rows: list[_Row] = []
    for form in (for_language(metric, language) for language in items["language"]):
        status, words = (Status.REFUSED, form) if isinstance(form, str) else (Status.ERROR, lack)
        rows.append(("", math.nan, status, words))
    table = _table(data, metric, basis, [(item,) for item in items["item_id"]], rows)
    return table.assign(signature=signature)


def key_of(signature: str, request: Request) -> str:
    """SHA-256 (first 32 hexadecimal digits) of the signature and all texts of a request."""
    digest = hashlib.sha256(signature.encode())
    for text in (*request.against, request.output, request.source, request.style):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    digest.update(f"/{len(request.against)}/{request.language}".encode())
    return digest.hexdigest()[:32]


def _stored(
    folder: Path, metric: Metric, basis: str, rewrites: list[Rewrite], progress: bool
) -> list[_Row]:
    """A row for every rewrite, in order, from the store or computed now."""
    if not rewrites:
        return []
    text = str(metric.signature(basis))
    rows = Rows(folder, "scores", text)
    wanted = [key_of(text, request) for _, request in rewrites]
    known = {row[0]: row for row in rows.read(wanted)}
    todo, blocks = dict[str, Request](), dict[int, list[str]]()
    # a rewrite's block does not depend on what is known, so that batches of a model seldom do
    size = min(LARGEST_BLOCK, max(LEAST_BLOCK, len(rewrites) // 8))
    for place, (key, (_, request)) in enumerate(zip(wanted, rewrites, strict=True)):
        if key not in known and key not in todo:
            todo[key] = request
            blocks.setdefault(place // size, []).append(key)
    if todo:
        failed = _compute(rows, metric, todo, [*blocks.values()], progress)
        known = {row[0]: row for row in (*failed, *rows.read(wanted))}
    return [known[key] for key in wanted]


def _compute(
    rows: Rows, metric: Metric, todo: dict, blocks: list[list[str]], progress: bool
) -> list[_Row]:
    """Score what nobody else scores; returns the rows with an error, which no store has."""
    failed: list[_Row] = []
    keys: list[str] = []  # in the order of the answers
    hidden = None if progress else True
    bar = tqdm(total=len(todo), desc=conceal(metric.name), unit="unit", disable=hidden)

    def claimed() -> Iterator[list[Request]]:
        for block in shares:
            bar.set_postfix_str("" if block else "another run computes the rest")
            if block:
                keys.extend(block)
                yield [todo[key] for key in block]

    with closing(rows.shares(blocks)) as shares, bar:
        for place, score in enumerate(answers(metric, claimed())):
            row = (keys[place], *score)
            if score.status is Status.ERROR:
                failed.append(row)
            else:
                rows.add([row])
            bar.update()
    return failed


def answers(metric: Metric, blocks: Iterable[list[Request]]) -> Iterator[Score]:
    """The metric's answers; whatever it raises becomes ``error`` rows for the requests left."""
    reason = ""
    for block in blocks:
        done = 0
        try:
            for score, _ in zip(() if reason else metric.score(block), block, strict=False):
                sound = _sound(score)
                done += 1
                yield sound
            reason = reason or "the metric returned too few scores" * (done < len(block))
        except (Exception, SystemExit) as error:
            ours = isinstance(error, TstmetaError)  # says by itself what to do
            reason = str(error) if ours else conceal(f"{type(error).__name__}: {error}")
        for _ in block[done:]:
            yield _sound(Score(math.nan, Status.ERROR, reason))


def _sound(score: Score) -> Score:
    """A score as the protocol wants it: a value that is no number has status ``invalid``."""
    is_plain = score.status is Status.OK and type(score.value) is float and not score.detail
    if is_plain and math.isfinite(score.value):  # as nearly all are
        return score
    value, status = float(score.value), Status(score.status)
    detail = str(score.detail).encode("utf-8", "replace").decode()  # no file takes half a character
    if status.has_value and not math.isfinite(value):
        return Score(math.nan, Status.INVALID, detail or f"the metric returned {value}")
    return Score(value if status.has_value else math.nan, status, detail)


def human_style(dataset: Dataset) -> pd.DataFrame:
    """The oracle sentinel: the mean human style rating, offered as if it were a metric.

    Items without one have no row.  Where nobody rated style but the set was built with strong and
    light shifts, that label stands in, under the name ``style-label``.
    """
    against = dataset.against("style")
    if not against:
        return schema.empty("scores")
    name, origin = STYLE_LABEL, against
    if against == RATING:
        name, origin = HUMAN_STYLE, "mean of human ratings"
    facts = {"metric": name, "dimension": "style", "basis": "none"}
    values = dataset.human("style").dropna()
    table = scores_table(dataset.name.partition("@")[0], values.index, values, fields={}, **facts)
    return table.assign(signature=f"{name}|{origin}")


def together(*tables: pd.DataFrame) -> pd.DataFrame:
    """Concatenate tables of scores; empty ones are left out, so that they change no type."""
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def failures(scores: pd.DataFrame) -> list[str]:
    """One line a reason: the metrics with scores without a value, their number, the reason."""
    failed, total = scores[~scores["status"].isin(schema.USABLE)], scores["metric"].value_counts()
    names: dict[str, list[str]] = {}
    for name, rows in failed.groupby("metric", sort=False):
        reason = f"{len(rows)} of {total[name]} scores failed: {rows['detail'].iloc[0]}"
        names.setdefault(reason, []).append(str(name))
    return [f"{', '.join(metrics)}: {reason}" for reason, metrics in names.items()]
