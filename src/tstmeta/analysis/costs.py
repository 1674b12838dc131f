"""What the metrics cost: the committed run of ``benchmarks/cost.py`` as a frame."""

import json

import pandas as pd

from ..data import paths
from ..schema import MissingData

_NAMES = {"seconds_a_thousand": "seconds", "ratio": "times_bleu", "above_start_mib": "mib"}


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
    frame = pd.DataFrame(rows, columns=["metric", "basis", *_NAMES, "parameters"])
    return frame.rename(columns=_NAMES).sort_values("seconds", ignore_index=True)
