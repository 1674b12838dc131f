"""What the front page says first: which metrics could be the best, and how sure that is."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

import tstmeta as tst
from tools import book
from tstmeta.metrics import catalogue

#: Rated outputs of systems, two papers on several styles and two on plain language.
SETS = ("mir", "lai@pauli2025", "alva@asset", "lens@simpda_2022")
#: How many metrics are shown of each dimension.
MOST = {"content": 6, "style": 3}


def context() -> dict[str, Any]:
    """The context of the template ``front``: a table a dimension, and what they rest on."""
    sets = [tst.load(name) for name in SETS if tst.available(name)] or [tst.load("contrast")]
    names = book.runnable([*book.SHOWN, *book.MODELS])  # what the score store holds of them
    scored = [(data, tst.score(data, names, ["source", "none"], progress=False)) for data in sets]
    tables = {dimension: table(scored, dimension) for dimension in MOST}
    return {"about": tst.about(sets), "tables": tables, "sets": len(sets)}


def table(scored: Sequence[tuple[tst.Dataset, pd.DataFrame]], dimension: str) -> pd.DataFrame:
    """Metrics by the number of data sets on which their rank set begins at 1; a column a data set.

    Only metrics that claim the dimension take part, and sentinels.  Below stand the best sentinel
    of each data set and the human ceiling.
    """
    claims = catalogue.overview().set_index("name")["dimension"].str.split().map(set)
    parts = []
    below: dict[str, dict[str, str]] = {"best sentinel": {}, "human ceiling": {}}
    for data, scores in scored:
        if dimension not in data.judged:
            continue
        pairs = tst.pairs(data, scores, dimension)
        fits = pairs["metric"].map(lambda name: dimension in claims.get(name, set()))
        pairs = pairs[fits | (pairs["kind"] == "sentinel")]
        keys = ["metric", "basis"]
        rows = tst.rank_sets(pairs)[[*keys, "kind", "value", "low"]].rename(
            columns={"low": "first"}
        )
        rows = rows.merge(tst.bootstrap(pairs)[[*keys, "low", "high"]], on=keys)
        rows = tst.seeded(rows.assign(dataset=data.name), [data], dimension)
        cells = rows[["value", "low", "high"]].to_numpy()
        shown = (f"{v:.2f} [{low:.2f}, {high:.2f}]" for v, low, high in cells)
        rows["shown"] = [text.replace("-", "−") for text in shown]
        sentinel = rows[rows["kind"] == "sentinel"].nlargest(1, "value").iloc[0]
        below["best sentinel"][data.name] = f"{sentinel['shown']} {sentinel['metric']}"
        people = tst.ceiling(data, dimension).iloc[0]
        who = "raters" if people["persons"] else "rating slots"
        ceiling = f"{people['value']:.2f} ({people['raters']} {who})"
        below["human ceiling"][data.name] = ceiling if people["n"] else "not known"
        parts.append(rows[rows["kind"] == "metric"])
    rows = pd.concat(parts)
    rows["first"] = rows["first"] == 1
    order = rows.groupby("metric").agg(first=("first", "sum"), value=("value", "mean"))
    order = order.sort_values(["first", "value"], ascending=False).head(MOST[dimension])
    wide = rows.set_index(["metric", "dataset"])["shown"].unstack("dataset")  # noqa: PD010
    wide = wide.loc[order.index]
    wide = wide[[part["dataset"].iloc[0] for part in parts]].reset_index()
    wide.insert(1, "could be best", [f"{n} of {len(parts)}" for n in order["first"]])
    return pd.concat([wide, pd.DataFrame(below).T.rename_axis("metric").reset_index()]).fillna("")
