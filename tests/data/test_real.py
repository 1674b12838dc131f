"""The raw files of others, where they are: sizes and correlations that their sources give."""

import numpy as np
import pytest

from tests.helpers import needs
from tstmeta import data
from tstmeta.analysis.frame import pairs

#: Set, number of items, then Pearson's r of the mean ratings of two dimensions.
REAL = """
alva@asset 100 style-content 0.672 style-fluency 0.862 fluency-content 0.795
alva@simplicity_da 600 style-content 0.744 style-fluency 0.756 fluency-content 0.661
alva@structural 1750
alva@preferences 1400
deplain 384 content-style -0.257 style-fluency -0.040 content-fluency 0.107
dualrl 15000
lai@lai2023-systems 640 style-content 0.425 style-fluency 0.687 fluency-content 0.741
lens@simpda_2022 360 content-fluency 0.313 content-style -0.040 fluency-style 0.174
lens@simplikert_2022 360 content-fluency 0.277 content-style -0.060 fluency-style 0.179
lens@simpeval_past 2400
li2018@yelp-rated 3200
li2018@captions-rated 3200
mir 2928
mis@civil 500 style-content -0.112 style-fluency -0.035 style-overall 0.126 content-fluency 0.625
mis@yelp 888
paraguide 600 content-fluency 0.462 content-style 0.220 fluency-style 0.239
pauli 500 style-content 0.545
russe2022 4375 content-fluency 0.184 content-style -0.068 fluency-style 0.029
sottana@simplification-systems 300 content-style -0.094 content-fluency 0.238 style-fluency 0.427
sottana@gec 400 content-fluency -0.046 content-overcorrection 0.641 fluency-overcorrection -0.064
strap 1334
sulem2018 1960 style-content -0.356 style-fluency 0.300 style-structure 0.940 content-fluency 0.513
wu_arase 6163 style-content -0.014 style-fluency 0.052 content-fluency 0.026
ziegen 1350
ziegen_editing 600 content-fluency 0.880
"""


def rows(table, words):
    """The cells of each line, which needs the set that it names and goes by its first words."""
    for row in map(str.split, table.strip().splitlines()):
        yield pytest.param(row, marks=needs(row[0]), id=" ".join(row[:words]))


@pytest.mark.parametrize("row", rows(REAL, 1))
def test_a_set_has_its_items_and_the_correlations_of_its_source(row):
    name, items, *expected = row
    part = data.load(name)
    assert len(part.items) == int(items)
    for pair, r in zip(expected[::2], expected[1::2], strict=True):
        first, second = pair.split("-")
        assert round(part.means[first].corr(part.means[second]), 3) == float(r), pair


#: Set, dimension, number of ratings, their sum, then Pearson's r of every two raters, rising.
SUMS = """
pauli style 1500 6401
alva@structural structure 5250 956 0.467 0.552 0.564
lai content 1440 105930.3 0.827
mir style 2928 10622.8
sottana@simplification style 1200 4458 0.420 0.429 0.559
strap content 4296 2361
sulem2018 structure 5880 1027 0.454 0.540 0.559
sulem2018 style 5880 1435 0.474 0.525 0.548
wu_arase content 18489 50319 0.374 0.385 0.419
ziegen_editing content 1821 7182
"""


@pytest.mark.parametrize("row", rows(SUMS, 2))
def test_ratings_add_up_and_raters_agree_as_in_the_files(row):
    name, dimension, count, total, *expected = row
    part = data.load(name)
    values = part.ratings.query("dimension == @dimension")["value"]
    assert (len(values), round(values.sum(), 1)) == (int(count), float(total))
    if expected:
        r = part.raters(dimension).corr().to_numpy()
        assert sorted(r[np.triu_indices(len(r), 1)].round(3)) == [float(one) for one in expected]


#: Set, released metric, basis, number of scores, then Pearson's r with people by dimension.
RELEASED = """
russe2022 chrf reference 4375 content 0.304
russe2022 sim-input-gen source 4375 content 0.290
russe2022 llama-3.3-70b source 4093 content 0.228
russe2022 llama-3.3-70b none 3993 fluency 0.199
russe2022 cls-new-gen none 4375 style 0.551
russe2022 gpt-4.1-mini source 4375 style 0.221
russe2022 xcomet-lite reference 4375 fluency 0.210
sottana@simplification gpt-4 source 400 content 0.396 style 0.350 fluency 0.172
sottana@simplification-systems gpt-4 source 300 content 0.087 style 0.472 fluency 0.318
sottana@gec gpt-4 source 400 content 0.341 fluency 0.463 overcorrection 0.302
textdetox2024 gpt-4.1-mini source 4320 content 0.262 style 0.402
textdetox2024 gpt-4.1-mini none 4320 fluency 0.276
textdetox2024 llama-3.1-8b-tuned source 4320 content 0.476
textdetox2024@hi llama-3.1-8b-tuned source 480 content 0.456
textdetox2024@en openai-unknown-zero-shot source 1700 content 0.561
textdetox2024@en qwen-unknown-zero-shot source 1700 style 0.678
textdetox2024@zh openai-unknown-few-shot source 1493 style 0.318
"""


@pytest.mark.parametrize("row", rows(RELEASED, 3))
def test_released_scores_correlate_with_people_as_measured(row):
    name, metric, basis, count, *expected = row
    part = data.load(name)
    scores = part.scores[part.scores["metric"] == f"released:{metric}"]
    scores = scores[scores["basis"] == basis]
    for dimension, r in zip(expected[::2], expected[1::2], strict=True):
        both = pairs(part, scores, dimension).dropna(subset="score")
        assert (len(both), round(both["score"].corr(both["human"]), 3)) == (int(count), float(r))
