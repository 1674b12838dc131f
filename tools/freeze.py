"""Write what is frozen: ``python -m tools.freeze NAME ...``, with the raw files of all data sets.

``data/frozen/NAME.csv`` gets the main frame of notebook NAME as the book last computed it (so run
``make book`` first), and ``claims`` the verdicts and evidence of all claims, computed now.
"""

import sys
from pathlib import Path

import pandas as pd

from tstmeta import ledger
from tstmeta.data import paths
from tstmeta.schema import MissingData

FRAMES = Path(__file__).resolve().parents[1] / ".build" / "frames"


def main(names: list[str]) -> None:
    """Write the frames named."""
    for name in names:
        table = claims(ledger.claims()) if name == "claims" else frame(name)
        table.to_csv(paths.own("frozen", f"{name}.csv"), index=False)


def frame(name: str) -> pd.DataFrame:
    """The headline frame of a notebook of the book."""
    return pd.read_parquet(FRAMES / f"{name}.headline.parquet").reset_index()


def claims(judged: ledger.Claims) -> pd.DataFrame:
    """One row a number of evidence, one for a claim without any."""
    if judged.verdicts["why"].str.startswith("Frozen:").any():
        raise MissingData("claims are frozen where all their data are: tstmeta data fetch --all")
    table = judged.verdicts[["claim", "verdict", "why"]].merge(judged.evidence, "left", "claim")
    whole = {"n": int, "published": int}
    return table.fillna(dict.fromkeys(whole, 0)).astype(whole)


if __name__ == "__main__":
    main(sys.argv[1:])
