"""A judge of 1.5 billion parameters on a sample of each data set; see README.md beside this file."""

import numpy as np

from tstmeta.data import Dataset

#: The judge by data set: where all rewrites were rated in float32, else in bfloat16.
FLOAT32 = "judge:qwen2.5-coder-1.5b"
JUDGE = {"pauli": FLOAT32, "lai": FLOAT32, "": f"{FLOAT32}+bfloat16"}
#: The sets of which a sample was rated.
SETS = (
    *("contrast", "strap@shakespeare", "detox", "paraguide", "sulem2018@systems"),
    *("li2018@yelp-rated", "sottana@simplification-systems", "mis@civil", "textdetox2024@en"),
    *("li2018@amazon-rated", "li2018@captions-rated", "lens@simplikert_2022", "wu_arase@simpa"),
    "alva@simplicity_da",
)
#: Rewrites of a sample; of the contrast set all four of as many sources as give twice that.
SIZE, MOST, SOURCES = 120, 6, 60


def sample_of(data: Dataset, seed: int = 0) -> Dataset:
    """Rewrites of sources drawn at random, up to :data:`MOST` of a source, until there are
    :data:`SIZE` of them or :data:`SOURCES` sources.  Sets rated whole are whole.
    """
    base = data.name.partition("@")[0]
    if JUDGE.get(base):
        return data
    size = 2 * SIZE if base == "contrast" else SIZE
    rng, rated = np.random.default_rng(seed), data.human("content").dropna().index
    items = data.items[data.items["item_id"].isin(rated)]
    by_source = items.groupby("source_id")["item_id"].agg(sorted)
    chosen: list[str] = []
    for source in rng.permutation(sorted(by_source.index))[:SOURCES]:
        chosen += list(rng.permutation(by_source[source])[:MOST])
        if len(chosen) >= size:
            break
    return data.where(data.items["item_id"].isin(chosen), data.name)
