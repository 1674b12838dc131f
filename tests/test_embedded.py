"""Every metric that needs no hub scores four rewrites of our own set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.metric_cards import example
from tstmeta import scoring
from tstmeta.data import available
from tstmeta.metrics import registry
from tstmeta.schema import Status

pytest.importorskip("bert_score")
pytest.importorskip("transformers")
#: Their lexicon comes with the data of mir.
OF_MIR = ("masked-bleu:sentiment", "masked-cosine:sentiment")
VALUED = {Status.OK, Status.TRUNCATED, Status.EMPTY}


def test_every_embedded_metric_gives_a_score(tmp_path: Path):
    wanted = [
        metric
        for metric in registry.names(variants=True)
        if registry.get(metric).profile == "embedded" and (available("mir") or metric not in OF_MIR)
    ]
    data = example()
    table = scoring.score(data, wanted, store=tmp_path, progress=False)
    failed = table[~table["status"].isin([status.value for status in VALUED])]
    assert not len(failed), failed[["metric", "status", "detail"]].to_string()
    scored = table.groupby("metric")["item_id"].nunique()
    assert len(scored) == len(wanted)
    assert set(scored) == {len(data.items)}
    assert table.loc[table["status"] == Status.OK, "metric"].nunique() == len(wanted)
