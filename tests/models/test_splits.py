"""Parts of a corpus: one sentence, one part; nothing that is tested on is trained on."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import needs
from tstmeta import data
from tstmeta.data import yelp
from tstmeta.data.paths import raw
from tstmeta.models.splits import HELD, PARTS, USUAL, WHOLE, YELP, corpus_hash, divide, key
from tstmeta.schema import TstmetaError


def corpus(*rows):
    return pd.DataFrame(rows, columns=["text", "split"]).assign(style="s")


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        ([("a", "train"), ("b", "dev"), ("c", "test"), ("d", "tune")], "train dev test dev"),
        ([("a b", "train"), ("A  B", "test"), ("a b", "dev")], "test test test"),
        ([("never", "train"), ("x", "train"), ("NEVER ", "dev")], "test train test"),
        ([], ""),
    ],
)
def test_the_strictest_split_of_a_sentence_counts_for_all_its_rows(rows, parts):
    assert divide(corpus(*rows), never=["Never"])["part"].tolist() == parts.split()


def test_a_split_that_nobody_knows_is_refused():
    with pytest.raises(TstmetaError, match=r"'training'. Remedy: name it one of train, dev"):
        divide(corpus(("a", "training")))


def test_shares_are_about_what_they_are_meant_to_be():
    words = [f"sentence {n}" for n in range(4000)]
    for role, wanted in ((WHOLE, (0.8, 0.1, 0.1)), (HELD, (0, 0.5, 0.5))):
        parts = divide(corpus(*((word, "x") for word in words)), {"x": role})["part"]
        shares = parts.value_counts(normalize=True)
        assert [shares.get(part, 0) for part in PARTS] == pytest.approx(wanted, abs=0.03)


@given(
    st.lists(st.tuples(st.sampled_from(["a", "A", "b", "c"]), st.sampled_from(sorted(USUAL)))),
    st.sets(st.sampled_from("abc")),
)
def test_no_sentence_is_in_two_parts_and_none_that_is_kept_out_is_trained_on(rows, never):
    divided = divide(corpus(*rows), never=never)
    parts = divided.groupby(divided["text"].map(key))["part"].agg(set)
    assert all(len(of) == 1 for of in parts)
    assert all(parts[one] == {"test"} for one in never & set(parts.index))


def test_the_hash_follows_texts_styles_and_parts():
    first = divide(corpus(("a", "train"), ("b", "test")))
    others = [first.assign(style="t"), first.assign(part="dev"), first.assign(text="ab")]
    assert len({corpus_hash(one) for one in (first, first[::-1], *others)}) == 5
    assert corpus_hash(first) == corpus_hash(first.copy())


@pytest.mark.nightly  # it reads half a million sentences
@needs("yelp", "li2018", "dualrl", "mir")
def test_no_dev_sentence_and_no_source_of_a_test_set_is_trained_on_in_the_real_files():
    whole = yelp.corpus(raw("yelp"))
    lines = {split: set(whole.loc[whole["split"] == split, "text"]) for split in yelp.SPLITS}
    assert len(lines["dev"] & lines["test"]) == 2884  # what this guards against
    sources = {
        name: {key(text) for text in data.load(name).items["source"]}
        for name in ("li2018@yelp", "dualrl", "mir")
    }
    divided = divide(whole, YELP, never=sources["mir"])
    texts = {part: set(divided.loc[divided["part"] == part, "text"].map(key)) for part in PARTS}
    assert all(len(part) > 25_000 for part in texts.values())
    assert not texts["dev"] & texts["test"]
    others = [texts["dev"], texts["test"], {key(text) for text in lines["dev"]}, *sources.values()]
    assert not any(texts["train"] & kept for kept in others)
