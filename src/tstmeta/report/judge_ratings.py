"""Ratings by judges as analyses want them: those that came with a data set, and one's own.

Notebooks ask no server: that costs money, needs a key and gives other answers tomorrow.  They read
ratings that were released, and tables that ``tstmeta judge run`` wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown

from .. import data as datasets
from ..data import Dataset
from ..judge.ratings import COLUMNS
from ..judge.treatments import JUDGE
from ..schema import TstmetaError
from . import html
from .bench import Bench
from .cells import lai2023

#: Who asked ChatGPT, how, and what the ratings are called: lai2023 released both.
RELEASED = {
    "released:chatgpt": "asked for it alone",
    "released:chatgpt-multi": "asked for all at once",
}
CHATGPT = "ChatGPT"
#: The scale of the released ratings (lai2023, Appendix A.1).
_SCALE = 0.0, 100.0
_NEEDED = ("dataset", "item_id", "source_id", "dimension", "sample", "rating", "status")
#: What a table of ratings is about, as far as it says so.
_TEXTS = tuple(dict.fromkeys((*_NEEDED[:4], "status", *JUDGE, "rival", "detail", "asked_how")))


class Given(NamedTuple):
    """One judge, one prompt and one dimension on a data set.

    Attributes:
        judge: the model; ``prompt``: in what manner it was asked.
        rows: columns of :data:`tstmeta.judge.ratings.COLUMNS`, one row an item and sample.
        released: whether the ratings came with the data set.
        scale: lowest and highest rating that could be given.
        outside: rated items of the whole data set that are not in this part of it.
    """

    data: Dataset
    judge: str
    prompt: str
    dimension: str
    rows: pd.DataFrame
    released: bool
    scale: tuple[float, float]
    outside: int = 0

    @property
    def name(self) -> str:
        """Judge and prompt, as rows of tables are called."""
        return f"{self.judge}, {self.prompt}"

    @property
    def ratings(self) -> pd.Series:
        """Mean rating over samples, item_id -> rating in item order; NaN where there is none."""
        means = self.rows.groupby("item_id")["rating"].mean()
        return means.reindex(self.data.items["item_id"]).astype(float)

    @property
    def human(self) -> pd.Series:
        """People's mean rating of the dimension, as :attr:`ratings`; all NaN where nobody rated."""
        index = pd.Index(self.data.items["item_id"])
        if self.dimension not in self.data.means:
            return pd.Series(np.nan, index=index)
        return self.data.means[self.dimension].reindex(index)

    def of_sample(self, sample: int = 0) -> pd.Series:
        """One sample's ratings, item_id -> rating."""
        own = self.rows[self.rows["sample"] == sample]
        return own.groupby("item_id")["rating"].first()

    def scores(self) -> pd.DataFrame:
        """The mean ratings as a ``scores`` table under the name of the judge."""
        values = self.ratings
        return pd.DataFrame(
            {
                "dataset": self.data.name,
                "item_id": values.index,
                "metric": self.name,
                "dimension": self.dimension,
                "basis": "source",
                "signature": f"judge|{self.name}|{self.dimension}",
                "sample": 0,
                "value": values.to_numpy(),
                "status": np.where(values.notna(), "ok", "invalid"),
                "detail": "",
            }
        )


class Pairs(NamedTuple):
    """Answers of one judge to one prompt that compares two outputs, on one dimension.

    Attributes:
        rows: columns of :data:`tstmeta.judge.ratings.COLUMNS`, all with a ``rival``.
        outside: as :attr:`Given.outside`.
    """

    data: Dataset
    judge: str
    prompt: str
    dimension: str
    rows: pd.DataFrame
    outside: int = 0


def released(bench: Bench, name: str = lai2023.DATA) -> list[Given]:
    """Ratings that were released with a data set, prompt by prompt; none where there are none."""
    if not bench.has(name.partition("@")[0]):
        return []
    return released_with(bench.dataset(name))


def released_with(data: Dataset) -> list[Given]:
    """The same of a data set at hand.

    ChatGPT saw no reference, so the release repeats its content ratings under both bases.
    """
    found = []
    table = data.scores[data.scores["basis"] != "reference"]
    sources = data.items.set_index("item_id")["source_id"]
    for metric, prompt in RELEASED.items():
        of_metric = table[table["metric"] == metric]
        for dimension in ("content", "style", "fluency"):
            own = of_metric[of_metric["dimension"] == dimension]
            if own.empty:
                continue
            rows = pd.DataFrame(
                {
                    "dataset": data.name.partition("@")[0],
                    "item_id": own["item_id"].to_numpy(),
                    "source_id": own["item_id"].map(sources).to_numpy(),
                    "dimension": dimension,
                    "sample": 0,
                    "rating": own["value"].to_numpy(float),
                    "status": own["status"].to_numpy(),
                    **{"prompt": metric, "model": CHATGPT, "low": _SCALE[0], "high": _SCALE[1]},
                }
            ).reindex(columns=COLUMNS)
            rows = rows.fillna({name: "" for name in _TEXTS if name in rows})
            found.append(Given(data, CHATGPT, prompt, dimension, rows, True, _SCALE))
    return found


# -------------------------------------------------------------------------- a table of one's own


def read(path: str | Path) -> pd.DataFrame:
    """A table that ``tstmeta judge run --out FILE`` wrote: CSV, JSON or Parquet.

    Raises:
        TstmetaError: no such file, another format, or columns that are missing.
    """
    path = Path(path)
    kinds = {".csv": _csv, ".json": _json, ".parquet": pd.read_parquet}
    if path.suffix.lower() not in kinds:
        raise TstmetaError(f"{path}: a table of ratings ends with {', '.join(kinds)}")
    try:
        rows = kinds[path.suffix.lower()](path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise TstmetaError(
            f"{path} cannot be read ({reason}). Remedy: write it with tstmeta judge run --out FILE"
        ) from error
    if missing := [name for name in _NEEDED if name not in rows]:
        raise TstmetaError(
            f"{path} has no column {', '.join(missing)}, so it is no table of ratings."
            " Remedy: write it with tstmeta judge run --out FILE"
        )
    texts = {name: rows[name].fillna("").astype(str) for name in _TEXTS if name in rows}
    rows = rows.assign(**texts, rating=pd.to_numeric(rows["rating"], errors="coerce"))
    return rows.reindex(columns=[name for name in COLUMNS if name in rows])


def _csv(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=dict.fromkeys(_TEXTS, str), keep_default_na=False, na_values={
        name: [""] for name in ("rating", "expected", "place", "low", "high")
    })  # fmt: skip


def _json(path: Path) -> pd.DataFrame:
    """Ids stay texts: without types, "007" would be read as 7."""
    return pd.read_json(path, dtype=dict.fromkeys(_TEXTS, str))


def given(
    rows: pd.DataFrame, among: Sequence[Dataset], wholes: Sequence[Dataset] = ()
) -> list[Given]:
    """A table of :func:`read` taken apart: data sets, judges, prompts, dimensions.

    Rows of prompts that compare two outputs are no ratings: they are for :func:`pairs`.

    Args:
        wholes: the data sets that those of ``among`` may be parts of.  Items that are only in the
            whole are left out and counted.

    Raises:
        TstmetaError: ratings of data sets that are not among these, or of unknown items.
    """
    found = []
    for first, data, own, outside in _apart(rows, among, wholes, rivals=False):
        low, high = (
            float(first[name]) if name in own and pd.notna(first[name]) else float(ends)
            for name, ends in (("low", own["rating"].min()), ("high", own["rating"].max()))
        )
        found.append(Given(data, *_named(first), own, False, (low, high), outside))
    return found


def pairs(
    rows: pd.DataFrame, among: Sequence[Dataset], wholes: Sequence[Dataset] = ()
) -> list[Pairs]:
    """The rows of a table that compare two outputs, taken apart as :func:`given` does.

    Raises:
        TstmetaError: as :func:`given`.
    """
    apart = _apart(rows, among, wholes, rivals=True)
    return [Pairs(data, *_named(first), own, outside) for first, data, own, outside in apart]


def _named(first: pd.Series) -> tuple[str, str, str]:
    """Judge, prompt and dimension of a row."""
    words = [str(first[name]) for name in ("prompt", "prompt_hash") if first.get(name)]
    judge = str(first.get("model") or "judge")
    return judge, "@".join(words) or "one prompt", str(first["dimension"])


def _apart(
    rows: pd.DataFrame, among: Sequence[Dataset], wholes: Sequence[Dataset], rivals: bool
) -> list[tuple[pd.Series, Dataset, pd.DataFrame, int]]:
    """One part a data set, judge, prompt and dimension: first row, data, rows, items outside."""
    known = {_base(data): data for data in among}
    if strangers := sorted(set(rows["dataset"]) - set(known)):
        raise TstmetaError(
            f"the ratings are of {', '.join(strangers)}, and the page is about"
            f" {', '.join(known) or 'no data set'}. Remedy: name the data set that was rated,"
            " with -p dataset NAME"
        )
    whole = known | {_base(data): data for data in wholes}
    rival = rows["rival"] if "rival" in rows else pd.Series("", index=rows.index)
    rows = rows.assign(rival=rival)[(rival != "") == rivals]
    keys = dict.fromkeys(("dataset", *JUDGE, "asked_how", "dimension"))
    found = []
    for _, own in rows.groupby([name for name in keys if name in rows], sort=False):
        data = known[own["dataset"].iloc[0]]
        ids = set(own["item_id"]) | set(own["rival"]) - {""}
        _check_items(ids, data, whole[_base(data)])
        here = set(data.items["item_id"])
        own = own[own["item_id"].isin(here) & own["rival"].isin(here | {""})]
        if own.empty:
            raise TstmetaError(f"none of the rated items is in {data.name}; check the data set")
        found.append((own.iloc[0], data, own, len(ids - here)))
    return found


def _base(data: Dataset) -> str:
    return data.name.partition("@")[0]


def _check_items(ids: set[str], data: Dataset, whole: Dataset) -> None:
    """Refuse ids that are in no part of the data set."""
    strange = sorted(ids - set(whole.items["item_id"]))
    if not strange:
        return
    if len(strange) == len(ids):
        raise TstmetaError(f"none of the rated items is in {data.name}; check the data set")
    listed = ", ".join(strange[:3]) + (", …" if len(strange) > 3 else "")
    raise TstmetaError(
        f"{len(strange)} of {len(ids)} rated items are not in {whole.name}: {listed}."
        " Remedy: name the data set, in the version, that was rated"
    )


def outside_said(found: Sequence[Given | Pairs]) -> Markdown:
    """How many rated items the part of a data set on this page does not have; nothing if none."""
    most: dict[str, int] = {}
    for one in found:
        most[one.data.name] = max(one.outside, most.get(one.data.name, 0))
    lines = [
        f"*{count:,} rated items are left out: `{name}` is a part of the data set without them.*"
        for name, count in most.items()
        if count
    ]
    return Markdown("\n\n".join(lines)) if lines else html.SILENCE


def collect(bench: Bench, dataset: str = "auto", judged: str = "") -> list[Given]:
    """The ratings of a page: released ones first, then those of a table.

    Args:
        dataset: ``auto``: what was released is looked for on lai, and the table names its data
            sets; else the one data set of the page.
        judged: a file that ``tstmeta judge run --out FILE`` wrote; empty for none.

    Raises:
        TstmetaError: a file that is none, of other data sets, or of unknown items.
    """
    theirs = released(bench) if dataset == "auto" else released_with(bench.dataset(dataset))
    return theirs + (given(*_table(bench, dataset, judged)) if judged else [])


def compared(bench: Bench, dataset: str = "auto", judged: str = "") -> list[Pairs]:
    """The answers about two outputs in the table of a page; arguments and errors of collect."""
    return pairs(*_table(bench, dataset, judged)) if judged else []


def _table(
    bench: Bench, dataset: str, judged: str
) -> tuple[pd.DataFrame, list[Dataset], list[Dataset]]:
    """The rows of a table, the data sets of the page, and what those are parts of."""
    rows = read(judged)
    if dataset != "auto":
        data = bench.dataset(dataset)
        here = rows[rows["dataset"] == _base(data)]
        rows, among = (here if len(here) else rows), [data]
    else:
        # on lai under the name of the released ones, so that both stand in the same tables
        whole = {lai2023.DATA.partition("@")[0]: lai2023.DATA}
        named = [whole.get(name, name) for name in dict.fromkeys(rows["dataset"])]
        known = [name for name in named if name.partition("@")[0] in datasets.names()]
        among = [bench.dataset(name) for name in known if bench.has(name)]
    parts = [_base(data) for data in among if "@" in data.name]
    return rows, among, [bench.dataset(name) for name in parts if bench.has(name)]


def captioned(
    shown: pd.DataFrame, names: Sequence[str], words: str = ""
) -> tuple[pd.DataFrame, str]:
    """Columns that say the same in every row, taken out of a table and into its caption.

    Args:
        names: the columns that may go, in the order of the caption.
        words: what the caption says besides.
    """
    same = [name for name in names if len(shown) and (shown[name] == shown[name].iloc[0]).all()]
    parts = [str(shown[name].iloc[0]) for name in same] + [words] * bool(words)
    return shown.drop(columns=same), "; ".join(part for part in parts if part)
