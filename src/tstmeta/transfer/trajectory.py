"""Metrics along training: numbers of each point, part and metric, and no text."""

from pathlib import Path
from typing import Any

import pandas as pd

from .. import metrics as registry
from .. import storage
from ..combine.gm import gm
from ..data import Dataset
from ..data.tables import items_table
from ..schema import Status
from ..scoring import score
from .configuration import Configuration
from .corpus import TransferCorpus
from .trainer import OUTPUTS

FILE = "trajectory.csv"
COLUMNS = ("model", "seed", "step", "part", "metric", "basis", "value", "n")
_USABLE = [str(status) for status in Status if status.has_value]


def dataset(out: Path, corpus: TransferCorpus, points: list[int]) -> Dataset:
    """All outputs of a run; the system of an item is the step it was written at."""
    tables = []
    for point in points:
        file = out / OUTPUTS / f"{point:06d}.csv"
        output = pd.read_csv(file, keep_default_na=False)["output"]
        tables.append(corpus.sources.assign(output=output, system=str(point)))
    items = pd.concat(tables, ignore_index=True)
    number = items.groupby("system", sort=False).cumcount().astype(str)
    items["source_id"] = items["part"] + "-" + number
    items["item_id"] = items["source_id"] + "-" + items["system"]
    style = [corpus.styles[1 - number] for number in items["number"]]
    items = items.rename(columns={"text": "source"}).drop(columns="number")
    return Dataset.of("transfer", items_table("transfer", items, style=style))


def trace(
    out: Path, corpus: TransferCorpus, configuration: Configuration, report: dict[str, Any]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Score a run's outputs and write ``trajectory.csv``.

    Returns:
        One row a step, part, metric and basis: the mean, or the corpus value, of n outputs, and GM
        of those means; and why a metric of the configuration is left out.
    """
    idf = out / "idf.txt"
    storage.write(idf, "".join(f"{text}\n" for text in corpus.train["text"]))
    data, lacking, rows = dataset(out, corpus, report["points"]), {}, []
    groups = pd.Index(data.items["item_id"])
    parts = data.items["source_id"].str.partition("-")[0].set_axis(groups)
    steps = data.items["system"].set_axis(groups)
    for basis, names in configuration.metrics.items():
        for name in names:
            metric = registry.get(name.replace("{idf}", str(idf)))
            if lack := getattr(metric, "missing", ""):
                lacking[name] = lack
                continue
            table = score(data, [metric], [basis], store=out / "scores", progress=False)
            table = table[table["status"].isin(_USABLE)].set_index("item_id")
            for (step, part), own in table.groupby([steps[table.index], parts[table.index]]):
                combine = getattr(metric, "combine", None)
                value = combine(own["detail"].tolist()) if combine else own["value"].mean()
                rows.append((int(step), part, name, basis, value, len(own)))
    table = pd.DataFrame(rows, columns=COLUMNS[2:])
    wide = table[table["basis"] != "reference"].pivot_table("value", ["step", "part"], "metric")
    if set(configuration.gm) <= set(wide):
        together = gm(*(wide[name] for name in configuration.gm))
        more = wide.index.to_frame(index=False).assign(metric="gm", basis="source", value=together)
        sizes = data.items.groupby([steps.to_numpy(), parts.to_numpy()]).size()
        more["n"] = [sizes[str(step), part] for step, part in wide.index]
        table = pd.concat([table, more], ignore_index=True)
    facts = {"model": report["model"], "seed": report["seed"]}
    table = table.assign(**facts)[[*COLUMNS]].sort_values([*COLUMNS[2:6]], ignore_index=True)
    text = table.to_csv(index=False, lineterminator="\n", float_format="%.6g")
    storage.write(out / FILE, text)
    return table, lacking
