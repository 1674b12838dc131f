"""Committed results as frames: what cannot be computed everywhere.

``data/frozen/NAME.csv`` is the main frame of notebook NAME with all rated data sets, also those
that may not be passed on, and ``claims.csv`` the evidence of all claims: correlations and counts,
no text and no single rating.  ``benchmarks/results`` are runs of ours.
"""

import json

import pandas as pd

from ..data import available, has_texts, names, paths
from ..schema import MissingData

_COSTS = {"seconds_a_thousand": "seconds", "ratio": "times_bleu", "above_start_mib": "mib"}


def frozen(notebook: str, texts: bool = False) -> pd.DataFrame:
    """Rows of a notebook's headline frame that cannot be computed on this machine.

    Args:
        texts: also rows of data sets whose ratings and scores are here, but not their texts.

    Returns:
        The columns of the headline frame, its index first; no row where all data sets are here,
        and no column where the frame is not by data set.
    """
    table = read_frozen(notebook)
    if list(table)[:1] != ["dataset"]:
        return pd.DataFrame()
    here = has_texts if texts else available
    absent = [name for name in names() if not here(name)]
    bare = table["dataset"].str.replace(r"[@ ].*", "", regex=True)
    return table[bare.isin(absent)].reset_index(drop=True)


def read_frozen(name: str) -> pd.DataFrame:
    """The rows that are frozen under a name; a frame without columns where there are none."""
    file = paths.project("frozen", f"{name}.csv")
    if not file.is_file():
        return pd.DataFrame()
    return pd.read_csv(file, keep_default_na=False, na_values=[""])


def costs() -> pd.DataFrame:
    """Time, memory and parameters of each metric that runs without a model hub, cheapest first.

    Returns:
        A row a metric: metric, basis, seconds (for 1,000 pairs of texts), times_bleu (that time
        over BLEU's), mib (memory at the peak above the start, in MiB; NaN where unknown),
        parameters (of its model, 0 without one).

    Raises:
        MissingData: the file is not there: the package was installed without a checkout.
    """
    path = paths.home() / "benchmarks" / "results" / "cost.json"
    if not path.is_file():
        raise MissingData(
            "no costs are committed here: benchmarks/results/cost.json comes with a checkout of the"
            " project. Measure them: python benchmarks/cost.py --json benchmarks/results/cost.json"
        )
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    frame = pd.DataFrame(rows, columns=["metric", "basis", *_COSTS, "parameters"])
    return frame.rename(columns=_COSTS).sort_values("seconds", ignore_index=True)
