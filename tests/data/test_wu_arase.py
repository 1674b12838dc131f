"""Simplifications by language models: the form on made-up files, the sums on the real ones."""

import json

from tests.data import raw
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import wu_arase

FOLDER = "annotation/{0}/exclude_newsela/{0}_{1}.json"


def rewrite(model, collection, source, **more):
    names = {"source_file": collection, "source_id": 7, "model": model}
    return {**names, "source": source, "simple": f"{model} has it.", **more}


def test_collections_share_their_sources_and_slots_are_raters(tmp_path):
    """Each model simplified a sentence of two collections that differ in their spaces."""
    slots = {f"annotator_{n}": dict.fromkeys(wu_arase.ASPECTS, n) for n in (1, 2, 3)}
    spans = [{"annotation": name} for name in ("Coreference", "Hallucination", "Coreference")]
    sources = {"asset": "It is so.", "turk": "It is so ."}
    for model in wu_arase.MODELS:
        rows = [rewrite(model, *two, label_annotations=slots) for two in sources.items()]
        marked = [rewrite(model, "turk", "It is so .", label=spans)]
        raw.write(tmp_path / FOLDER.format("likert", model), [json.dumps(rows)])
        raw.write(tmp_path / FOLDER.format("error", model), [json.dumps(marked)])
    loaded = wu_arase.load(tmp_path)
    items = loaded.items
    assert items["item_id"].tolist()[:3] == ["asset-7-gpt", "turk-7-gpt", "asset-7-llama"]
    assert set(items["source_id"]) == {"turk-7"}
    assert items["system"].unique().tolist() == [*wu_arase.MODELS.values()]
    assert loaded.raters("content").iloc[0].to_dict() == {"r1": 1, "r2": 2, "r3": 3}
    assert loaded.label("errors").tolist() == ["", "coreference; hallucination"] * 4


@needs("wu_arase")
def test_correlations_and_sizes_come_out():
    loaded = data.load("wu_arase")
    assert loaded.items["source_id"].nunique() == 359 + 1096
    errors = loaded.label("errors")
    looked = errors[errors != ""]
    assert len(looked) == 3300
    means, meaning = loaded.means.loc[looked.index], "altered meaning|hallucination|coreference"
    for kinds, dimension, r in ((meaning, "content", -0.471), ("lack of sim", "style", -0.303)):
        assert round(means[dimension].corr(looked.str.contains(kinds).astype(float)), 3) == r
