"""Corpora and unrated sets: yelp, xformal, paradetox, dualrl, mukherjee."""

import pytest

from tests.data.raw import write, write_rows
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import dualrl, mukherjee, paradetox, paths, xformal, yelp
from tstmeta.schema import TstmetaError


@pytest.mark.parametrize("name", ["yelp", "xformal"])
def test_a_corpus_has_nothing_to_score(name, bare):
    (bare / name).mkdir()
    what = rf"no rewrites to score.*tstmeta\.data\.{name}\.corpus"
    with pytest.raises(TstmetaError, match=what):
        data.load(name)


def test_each_line_of_yelp_is_a_sentence_with_its_style(tmp_path):
    for split in yelp.SPLITS:
        for number in (0, 1):
            lines = [f"the {split} bread was {number}\x85 ok .", "_num_ stars"][: 1 + number]
            write(tmp_path / "data" / "yelp" / f"sentiment.{split}.{number}", lines)
    table = yelp.corpus(tmp_path)
    assert list(table) == ["text", "style", "split", "value"]
    texts = ["the dev bread was 0\x85 ok .", "the dev bread was 1\x85 ok .", "_num_ stars"]
    assert table["text"].tolist()[:3] == texts
    assert table["style"].tolist() == ["negative", "positive", "positive"] * 2
    assert table["split"].tolist() == ["dev"] * 3 + ["test"] * 3
    assert table["value"].isna().all()


@needs("yelp")
def test_real_sizes_of_yelp():
    sizes = yelp.corpus(paths.raw("yelp")).groupby(["split", "style"]).size()
    assert sizes.tolist() == [25278, 38205, 50278, 76392]


def test_value_is_the_mean_rating_and_missing_rows_are_left_out(tmp_path):
    for split in xformal.SPLITS:
        rows = [(0, -2.4, f"lol, {split} !"), (1, "None", "None"), (2, 3, "None of this applies .")]
        write_rows(tmp_path / xformal.FOLDER / f"{split}.csv", "SID label sentence", rows)
    table = xformal.corpus(tmp_path)
    assert list(table) == ["text", "style", "split", "value"]
    assert table["value"].tolist() == [-2.4, 3.0] * 3
    assert table["text"].tolist()[:2] == ["lol, train !", "None of this applies ."]
    assert table["split"].tolist() == ["train"] * 2 + ["tune"] * 2 + ["test"] * 2
    assert set(table["style"]) == {""}


def test_each_rewrite_is_an_item_and_a_reference(tmp_path):
    """Rewrites in columns 1 to 3, in columns 1 and 3, in column 1."""
    cells = [
        ("stop it, moron", "please stop", "stop", "no"),
        ('a "damn"\nmess', "a mess", "", "untidy"),
        ("dumb idea", "odd idea", "", ""),
    ]
    columns = " ".join(["toxic", *paradetox.REWRITES])
    write_rows(tmp_path / "paradetox/paradetox.tsv", columns, cells, delimiter="\t")
    items = paradetox.load(tmp_path).items.set_index("item_id")
    assert list(items.index) == [f"detox-{n}" for n in ("1-1", "1-2", "1-3", "2-1", "2-3", "3-1")]
    assert items["is_reference"].all()
    assert items.loc["detox-2-3", ["source_id", "source", "output", "references"]].tolist() == [
        *("detox-2", 'a "damn"\nmess', "untidy", ["a mess", "untidy"])
    ]
    assert set(items["style"]) == {"non-toxic"}


def test_items_carry_four_references_and_the_common_source(tmp_path):
    """Two sources a direction; one rare word is unknown to DualRL, one reference has an accent."""
    for ending, target in (("0-1", "0"), ("1-0", "1")):
        for system in (*dualrl.SYSTEMS, *dualrl.HUMANS):
            rare = "<unk>" if system == "DualRL" else "marzipan"
            lines = [f"source {target} 0 ,\t{system}", f"the {rare} {target}\t{system} é"]
            write(tmp_path / "outputs" / "yelp" / system / f"test.{ending}.tsf", lines, "gb18030")
        for number in range(4):
            lines = [f"plain {number} {target}", f"source {target}\tdécor {number} {target}"]
            path = tmp_path / "references" / "yelp" / f"reference{number}.{target}"
            write(path, lines, "gb18030")
    items = dualrl.load(tmp_path).items
    assert len(items) == 4 * 15
    assert items["is_reference"].sum() == 4 * 4
    columns = ["source_id", "system", "style", "direction", "source", "output", "references"]
    assert items.set_index("item_id").loc["pos2neg-1-DualRL", columns].tolist() == [
        *("pos2neg-1", "DualRL", "negative", "pos2neg", "the marzipan 1", "DualRL é"),
        [f"décor {number} 1" for number in range(4)],
    ]


SOUP = {"en": "The soup was cold, sadly.", "hi": "सूप ठंडा था।", "mag": "सूप ठंढा हलइ।"}


def test_items_of_five_files(tmp_path):
    """Two systems a file, which share a source; the second printed nothing."""
    for (study, language), path in mukherjee.FILES.items():
        text = SOUP[language]
        task = "task" if study == "sentiment" else "more"
        rows = [
            (text, f"ref {text}", f"out {text}", "joint", "neg_to_pos"),
            (text, f"ref {text}", "", "parallel", "pos_to_neg"),
        ]
        write_rows(tmp_path / path, f"src trg pred methodology {task}", rows)
    items = mukherjee.load(tmp_path).items.set_index("item_id")
    columns = ["source_id", "system", "style", "direction", "language", "output", "references"]
    assert items.loc["sentiment-mag-2", columns].tolist() == [
        *("sentiment-mag-s1", "parallel", "negative", "pos2neg", "mag", "", [f"ref {SOUP['mag']}"])
    ]
    assert items.loc["detoxification-hi-1", ["style", "direction"]].tolist() == ["non-toxic", ""]
