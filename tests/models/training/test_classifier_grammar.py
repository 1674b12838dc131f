"""Text of the grammar with styles: what it holds, and that no test set of ours is in it."""

from tstmeta import data
from tstmeta.models.splits import key
from tstmeta.models.training.classifier_grammar import NAMES, STYLES, corpus


def test_each_task_has_both_styles_and_strengths_follow_them():
    table = corpus(6)
    assert len(table) == 6 * 2 * len(STYLES)
    for task, styles in STYLES.items():
        some = table[table["task"] == task]
        assert some["style"].value_counts().to_dict() == dict.fromkeys(styles, 6)
        assert set(some.loc[some["style"] == styles[1], "value"]) == {1.0}
        assert set(some.loc[some["style"] == styles[0], "value"]) == {0.0}


def test_light_rewrites_stand_in_the_middle():
    table = corpus(4, strengths=True)
    assert len(table) == 4 * 3 * len(STYLES)
    assert (table["value"] == 0.5).sum() == 4 * len(STYLES)


def test_the_same_scenes_come_first():
    first = corpus(3)
    more = corpus(5)
    for task in STYLES:
        few = first.loc[first["task"] == task, "text"].tolist()
        assert more.loc[more["task"] == task, "text"].tolist()[: len(few)] == few


def test_no_text_of_our_test_sets_is_in_it():
    texts = set(map(key, corpus(strengths=True)["text"]))
    for name in ("world", "contrast"):
        items = data.load(name).items
        assert not texts & set(map(key, [*items["source"], *items["output"]]))


def test_other_wordings_lead_to_a_style():
    known = {style for styles in STYLES.values() for style in styles}
    assert set(NAMES.values()) <= known
    assert not set(NAMES) & known
