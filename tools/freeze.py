"""Write what is frozen: ``python -m tools.freeze NAME ...``, with the raw files of all data sets.

``data/frozen/NAME.csv`` gets the main frame of notebook NAME as the book last computed it (so run
``make book`` first), ``claims`` the verdicts and evidence of all claims, computed now, and
``effects`` what each data set says of each metric (:mod:`tstmeta.analysis.synthesis`), and ``sets``
what their rewrites are like (:func:`tstmeta.analysis.advice.profile`).
"""

import sys
from pathlib import Path

import pandas as pd

import tstmeta as tst
from tools.book import MODELS, SHOWN, runnable
from tstmeta import ledger
from tstmeta.analysis import advice, synthesis
from tstmeta.data import paths
from tstmeta.metrics import catalogue
from tstmeta.schema import MissingData

#: What is frozen beside the headline statistic: statistic and level.
SECOND = (("pearson", "same-source"), ("kendall", "same-source"), ("preference", "system"))
FRAMES = Path(__file__).resolve().parents[1] / ".build" / "frames"


def main(names: list[str]) -> None:
    """Write the frames named."""
    for name in names:
        sets = list(synthesis.panels().query("panel != 'out'").itertuples())
        if name == "effects":
            table = pd.concat([effects(row.dataset, row.dimensions.split()) for row in sets])
        elif name == "sets":
            profiles = [advice.profile(tst.load(row.dataset)) for row in sets]
            table = pd.DataFrame(profiles).rename_axis("dataset").reset_index()
        else:
            table = claims(ledger.claims()) if name == "claims" else frame(name)
        digits = "%.6g" if name in ("effects", "sets") else None
        table.to_csv(paths.own("frozen", f"{name}.csv"), index=False, float_format=digits)


def frame(name: str) -> pd.DataFrame:
    """The headline frame of a notebook of the book."""
    return pd.read_parquet(FRAMES / f"{name}.headline.parquet").reset_index()


def effects(name: str, dimensions: list[str]) -> pd.DataFrame:
    """What one data set says of the metrics that claim a dimension, of sentinels and of people."""
    data, claimed = tst.load(name), catalogue.overview().set_index("name")["dimension"]
    bases = [basis for basis in ("source", "none", "reference") if has(data, basis)]
    scores = tst.score(data, runnable([*SHOWN, *MODELS]), bases, progress=False)
    parts = []
    for dimension in dimensions:
        pairs = tst.pairs(data, scores, dimension)
        able = {metric for metric, text in claimed.items() if dimension in text.split()}
        claims = pairs["metric"].isin(able)
        pairs = pairs[claims & pairs.groupby(["metric", "basis"])["score"].transform("count").gt(0)]
        parts += [synthesis.effects(pairs, dimension), synthesis.of_people(data, dimension)]
        for other, level in SECOND:
            if level != "system" or data.items["system"].replace("", pd.NA).nunique() > 2:
                more = synthesis.effects(pairs, dimension, other, level)
                parts.append(more[more["against"] == ""])
    return pd.concat([part for part in parts if len(part)])


def has(data: tst.Dataset, basis: str) -> bool:
    """Whether a metric can be given this basis."""
    return basis != "reference" or bool((data.items["references"].map(len) > 0).all())


def claims(judged: ledger.Claims) -> pd.DataFrame:
    """One row a number of evidence, one for a claim without any."""
    if judged.verdicts["why"].str.startswith("Frozen:").any():
        raise MissingData("claims are frozen where all their data are: tstmeta data fetch --all")
    table = judged.verdicts[["claim", "verdict", "why"]].merge(judged.evidence, "left", "claim")
    whole = {"n": int, "published": int}
    return table.fillna(dict.fromkeys(whole, 0)).astype(whole)


if __name__ == "__main__":
    main(sys.argv[1:])
