"""Every metric that `make setup` brings the model of scores four rewrites of our own set."""

from pathlib import Path

import pandas as pd
import pytest

from tools.metric_cards import example
from tstmeta import scoring
from tstmeta.data import available, load, shipped
from tstmeta.metrics import Metric, registry
from tstmeta.schema import USABLE, Status

pytest.importorskip("bert_score")
pytest.importorskip("transformers")
#: Their lexicon comes with the data of mir.
OF_MIR = ("masked-bleu:sentiment", "masked-cosine:sentiment")
#: Of the metrics of SmolLM2, which takes seconds, these stand for their variants.
OF_SMOLLM2 = ("likelihood", "slor")


def fetched(metric: Metric) -> str:
    return getattr(getattr(metric, "model", None), "fetched", "")


def test_every_embedded_metric_gives_a_score(tmp_path: Path):
    wanted = [
        name
        for name in registry.names(variants=True)
        if (metric := registry.get(name)).profile == "embedded"
        and (available("mir") or name not in OF_MIR)
        and (not fetched(metric) or (name in OF_SMOLLM2 and not metric.missing))
    ]
    data = example()
    table = scoring.score(data, wanted, store=tmp_path, progress=False)
    failed = table[~table["status"].isin(USABLE)]
    assert not len(failed), failed[["metric", "status", "detail"]].to_string()
    scored = table.groupby("metric")["item_id"].nunique()
    assert len(scored) == len(wanted)
    assert set(scored) == {len(data.items)}
    assert table.loc[table["status"] == Status.OK, "metric"].nunique() == len(wanted)
    assert differing(table).empty


def differing(table: pd.DataFrame) -> pd.DataFrame:
    """The scores that are not those that come with the project."""
    contrast, key = load("contrast"), ["item_id", "metric", "basis", "signature"]
    asked = table[["metric", "basis"]].drop_duplicates().itertuples(index=False)
    known = pd.concat([shipped.scores(contrast, *of) for of in asked])
    both = table.merge(known, on=key, suffixes=("", "_known"))
    assert {"bertscore", "cosine", "likelihood", "meteor", "sim", "wmd"} < set(both["metric"])
    assert both["metric"].nunique() > 40
    gap = (both["value"] - both["value_known"]).abs() / both["value_known"].abs().clip(lower=1)
    return both[gap > 1e-5]  # other batches, and other processors
