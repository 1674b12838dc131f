"""A judge of 1.5 billion parameters on a sample of each data set; see README.md here."""

import numpy as np

from tstmeta.data import Dataset

#: The judge, and the sets of which it read a sample.
JUDGE = "judge:qwen2.5-coder-1.5b+bfloat16"
SAMPLED = (
    *("pauli", "contrast", "contrast@tied", "sottana@gec-systems", "lai@pauli2025-references"),
    *("lai@lai2023-systems", "strap@formality", "strap@shakespeare", "detox", "paraguide"),
    *("sulem2018@systems", "alva@simplicity_da", "wu_arase@simpa", "lens@simpda_2022"),
    *("lens@simplikert_2022", "sottana@simplification-systems", "mis@civil", "textdetox2024@en"),
    *("li2018@yelp-rated", "li2018@amazon-rated", "li2018@captions-rated"),
)
#: Rewrites of a sample, and at most so many of a source and sources; more of the constructed sets.
SIZE, MOST, SOURCES = 120, 6, 60
LARGER = {"pauli": (500, 6, 500), "contrast": (960, 4, 240), "contrast@tied": (480, 2, 240)}


def sample_of(data: Dataset, seed: int = 0) -> Dataset:
    """The rewrites of a set of the book that the judge read: those of sources drawn at random."""
    size, most, sources = LARGER.get(data.name, (SIZE, MOST, SOURCES))
    rng, rated = np.random.default_rng(seed), data.human("content").dropna().index
    items = data.items[data.items["item_id"].isin(rated)]
    by_source = items.groupby("source_id")["item_id"].agg(sorted)
    chosen: list[str] = []
    for source in rng.permutation(sorted(by_source.index))[:sources]:
        chosen += list(rng.permutation(by_source[source])[:most])
        if len(chosen) >= size:
            break
    return data.where(data.items["item_id"].isin(chosen), data.name)
