"""Metrics along training: numbers of each point, part and metric, and no text."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from .. import metrics as registry
from .. import storage
from ..console import note
from ..data import Dataset
from ..data.tables import items_table
from ..scoring import score
from .configuration import Configuration
from .corpus import REFERENCE, TransferCorpus
from .trainer import OUTPUTS

FILE = "trajectory.csv"
#: What was written at the last point, as a data set file; the system is the model and its seed.
ENDS = "outputs.csv"
COLUMNS = ["model", "seed", "step", "part", "metric", "basis", "value", "n"]


def dataset(out: Path, corpus: TransferCorpus, points: list[int]) -> Dataset:
    """All outputs of a run: ``source_id`` is part-number, the system is the step."""
    rows = []
    for point in points:
        own = pd.read_csv(out / OUTPUTS / f"{point:06d}.csv", keep_default_na=False)["output"]
        rows.append(corpus.sources.assign(output=own, system=str(point)))
    items = pd.concat(rows).reset_index(names="place")
    items["source_id"] = items["part"] + "-" + items["place"].astype(str)
    items["item_id"] = items["source_id"] + "-" + items["system"]
    items["style"] = [corpus.styles[1 - number] for number in items["number"]]
    return Dataset.of("transfer", items_table("transfer", items, source=items["text"]))


def trace(
    out: Path, corpus: TransferCorpus, configuration: Configuration, report: dict[str, Any]
) -> pd.DataFrame:
    """Score a run's outputs; write ``trajectory.csv``, and the signatures beside it.

    A row is the mean, or the corpus value, of n outputs.  Those that have references are not held
    against their sources: others are, and encoders take longest.
    """
    idf = out / "idf.txt"
    storage.write(idf, "".join(f"{text}\n" for text in corpus.train["text"]))
    points = [point for point in (configuration.options.alone, *report["points"]) if point]
    data, rows, signatures = dataset(out, corpus, points), [], {}
    others = data.where(~data.items["source_id"].str.startswith(REFERENCE))
    for basis, name in ((b, n) for b, names in configuration.metrics.items() for n in names):
        metric: Any = registry.get(name.replace("{idf}", str(idf)))
        if lack := metric.missing:
            note(f"{name} is left out: {lack}")
            continue
        shown = others if basis == "source" else data
        table = score(shown, [metric], [basis], store=out / "scores", progress=False)
        table = table.dropna(subset="value")
        signatures[f"{name} {basis}"] = str(metric.signature(basis)).replace(str(out), "OUT")
        keys = table["item_id"].str.split("-")
        for (part, step), own in table.groupby([keys.str[0], keys.str[2].astype(int)]):
            combine = getattr(metric, "combine", None)
            value = combine(own["detail"]) if combine else own["value"].mean()
            rows.append((step, part, name, basis, value, len(own)))
    table = pd.DataFrame(rows, columns=COLUMNS[2:])
    table = table.assign(model=report["model"], seed=report["seed"])[COLUMNS]
    table = table.sort_values(COLUMNS[2:6], ignore_index=True)
    storage.write(out / FILE, table.to_csv(index=False, lineterminator="\n", float_format="%.6g"))
    storage.write(out / "signatures.json", json.dumps(signatures, indent=1) + "\n")
    ends = data.items[data.items["system"] == str(report["points"][-1])]
    ends = ends.assign(system=f"{report['model']}-{report['seed']}")
    ends["part"] = ends["source_id"].str.partition("-")[0]
    names = ["source", "output", "system", "style", "part"]
    storage.write(out / ENDS, ends[names].to_csv(index=False, lineterminator="\n"))
    return table
