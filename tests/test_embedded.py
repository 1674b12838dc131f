"""Every metric that `make setup` brings the model of scores four rewrites of our own set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.metric_cards import example
from tstmeta import scoring
from tstmeta.data import available
from tstmeta.metrics import Metric, registry
from tstmeta.schema import Status

pytest.importorskip("bert_score")
pytest.importorskip("transformers")
#: Their lexicon comes with the data of mir.
OF_MIR = ("masked-bleu:sentiment", "masked-cosine:sentiment")
#: Of the metrics of SmolLM2, which takes seconds, these stand for their variants.
OF_SMOLLM2 = ("likelihood", "slor")
VALUED = {Status.OK, Status.TRUNCATED, Status.EMPTY}


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
    failed = table[~table["status"].isin([status.value for status in VALUED])]
    assert not len(failed), failed[["metric", "status", "detail"]].to_string()
    scored = table.groupby("metric")["item_id"].nunique()
    assert len(scored) == len(wanted)
    assert set(scored) == {len(data.items)}
    assert table.loc[table["status"] == Status.OK, "metric"].nunique() == len(wanted)
