"""tstmeta: which automatic metrics of text style transfer can be trusted?

``import tstmeta as tst`` is all that a notebook needs.  The names below are imported when they are
first used, so that the package itself costs nothing.  The road from data to a number::

    data = tst.load("mir")
    scores = tst.score(data, ["bleu", "chrf", *tst.SENTINELS])
    pairs = tst.pairs(data, scores, "content")
    tst.correlate(pairs, "pearson")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__: str

#: Public name -> the module that has it.
_WHERE = {
    **dict.fromkeys(("about", "datasets"), "data.catalogue"),
    **dict.fromkeys(("SENTINELS", "pairs"), "analysis.frame"),
    **dict.fromkeys(("bootstrap", "correlate", "partial"), "analysis.agreement"),
    **dict.fromkeys(("compare", "rank_sets"), "analysis.comparison"),
    **dict.fromkeys(("alpha", "ceiling"), "analysis.people"),
    **{"evaluate": "analysis.evaluation"},
    **dict.fromkeys(("effects", "evidence", "pool"), "analysis.synthesis"),
    **{"advise": "analysis.advice"},
    **dict.fromkeys(("verdict", "verdicts"), "analysis.verdicts"),
    **dict.fromkeys(("costs", "frozen"), "analysis.committed"),
    "seeded": "analysis.choice",
    **dict.fromkeys(("available", "load"), "data"),
    "read": "data.table_files",
    "score": "scoring",
    "score_file": "bulk",
    "Dataset": "data.base",
    "check": "exercises",
    "report": "analysis.report",
    "wrap": "metrics.base",
    **dict.fromkeys(("explain", "token_scores"), "likelihood.tables"),
    **dict.fromkeys(("published", "reproduce"), "ledger"),
    "TstmetaError": "schema",
}

__all__ = [*_WHERE, "metrics", "plot"]

if TYPE_CHECKING:  # what editors know of the names
    import pandas as pd

    from . import plot
    from .analysis.advice import advise
    from .analysis.agreement import bootstrap, correlate, partial
    from .analysis.choice import seeded
    from .analysis.committed import costs, frozen
    from .analysis.comparison import compare, rank_sets
    from .analysis.evaluation import evaluate
    from .analysis.frame import SENTINELS, pairs
    from .analysis.people import alpha, ceiling
    from .analysis.report import report
    from .analysis.synthesis import effects, evidence, pool
    from .analysis.verdicts import verdict, verdicts
    from .bulk import score_file
    from .data import available, load
    from .data.base import Dataset
    from .data.catalogue import about, datasets
    from .data.table_files import read
    from .exercises import check
    from .ledger import published, reproduce
    from .likelihood.tables import explain, token_scores
    from .metrics.base import wrap
    from .schema import TstmetaError
    from .scoring import score


# The first import of the subpackage binds `tstmeta.metrics` to the module.  It is imported here,
# before the function is defined, so that the function stays bound.
import_module(".metrics", __name__)


def metrics() -> pd.DataFrame:
    """All metrics: name, family, profile, dimension, unit, bases, languages, better, ...

    One row a metric and variant; ``status`` says whether it runs here, ``remedy`` what to do if
    not.
    """
    import pandas as pd

    from .metrics.catalogue import rows

    return pd.DataFrame(rows())


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # takes time to import

        return version("tstmeta")
    if name == "plot":
        from .extras import needs

        needs("matplotlib", "seaborn", "IPython", extra="book")
        return import_module(".plot", __name__)
    if name not in _WHERE:
        raise AttributeError(f"module 'tstmeta' has no attribute {name!r}")
    value = getattr(import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
