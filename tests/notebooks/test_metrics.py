"""The metrics of the chapters on content: one list, so that each data set has one best metric."""

import pytest

from tests.notebooks.cells import NOTEBOOKS
from tools import book
from tstmeta.analysis.committed import whole
from tstmeta.metrics import get
from tstmeta.notebook import parameters

#: Chapters that ask which metric agrees with ratings of content.
CHAPTERS = (
    *("02_content_preservation", "03_system_ranking", "09_confounds", "10_raters"),
    "15_built_sets",
)


def content():
    """What the front page chooses from: the metrics of content that the book scores."""
    names = [*book.SHOWN, *book.MODELS]
    return {n for n in names if n != "sentinel" and "content" in get(n).dimensions}


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_on_content_looks_at_the_metrics_of_the_front_page(name):
    assert set(parameters(NOTEBOOKS / f"{name}.ipynb")["metrics"].default) == content()


def best(name, value):
    """The best metric of each data set by a chapter's main frame; sentinels are no metrics."""
    frame = whole(name)
    frame = frame[frame["metric"].isin(content())].dropna(subset=value)
    return frame.loc[frame.groupby("dataset")[value].idxmax()].set_index("dataset")["metric"]


def test_a_data_set_has_one_best_metric_in_the_chapters_that_correlate_with_its_mean_rating():
    chapter = best("02_content_preservation", "r")
    raters = best("10_raters", "pearson")
    named = chapter.rename(lambda name: name.removesuffix("-systems").removesuffix(" (systems)"))
    shared = named.index.intersection(raters.index)
    assert {*shared} == {"lai@pauli2025", "alva@asset", "lens@simpda_2022"}
    assert named[shared].to_dict() == raters[shared].to_dict()
