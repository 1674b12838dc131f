"""Words after a metric's colon."""

import pytest

from tstmeta.metrics.variants import parse
from tstmeta.models.causal import Backbone
from tstmeta.schema import TstmetaError

OPTIONS = {"part": ("p", "r"), "weights": ("idf",)}
SMALL = Backbone("small", "owner/small")


@pytest.mark.parametrize(
    ("words", "model", "chosen"),
    [
        ("", None, {}),
        ("idf", None, {"weights": "idf"}),
        ("small", "owner/small", {}),
        ("p+small+idf", "owner/small", {"part": "p", "weights": "idf"}),
        ("other/model@main", "other/model", {}),
    ],
)
def test_words_are_options_and_at_most_one_model(words, model, chosen):
    found, said = parse(words, OPTIONS, {"small": SMALL})
    assert (found and found.where, said) == (model, chosen)


def test_a_folder_is_a_model(tmp_path):
    found, _ = parse(str(tmp_path), OPTIONS, {})
    assert found is not None
    assert found.local


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("p+r", "two words of the kind part"),
        ("small+a/b", "two words of the kind model"),
        ("nothing", "use small, p, r, idf, an id such as"),
    ],
)
def test_what_names_nothing_or_too_much_is_refused(words, said):
    with pytest.raises(TstmetaError, match=said):
        parse(words, OPTIONS, {"small": SMALL})
