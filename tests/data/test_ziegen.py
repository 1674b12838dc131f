"""Rewritten arguments, with ratings of a form that was inferred, and edits of arguments."""

import pytest

from tests.data.raw import write_rows, write_table
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import ziegen, ziegen_editing

PEOPLE = ["made-up-judge-a", "made-up-judge-b"]


def judgement(item, judge, *options, **more):
    """A row of a results file; options are numbered as on the page, through all questions."""
    result = {f"otherErrorQuestion{n}": f"other{o}" for n, o in enumerate(options, 1)}
    texts = {"post_text": f"So {more.get('post_inappropriate_part')}, I say", "issue": "Tea:"}
    return {"user_id": judge, "post_id": item, **texts, "result": repr({**result, **more})}


@pytest.fixture
def root(tmp_path):
    """Two arguments, each rewritten by a system and one also by a person."""
    texts = {"1_human": "Please,\nbe on time.", "1_40a-60ss": "Be on time.", "2_instruct": "Hm."}
    rows = [(n, f"You fools,\nargument {n[0]}!", text, "Buses:", 2) for n, text in texts.items()]
    write_rows(tmp_path / ziegen.ITEMS, "id source rewrite issue batch", rows)
    return tmp_path


def test_without_ratings_there_are_items_and_no_warning(root):
    loaded = ziegen.load(root)
    columns = ["item_id", "system", "source_id", "is_reference", "references", "style"]
    human = ["Please,\nbe on time."]
    assert loaded.items[columns].to_numpy().tolist() == [
        ["1_human", "human", "1", True, human, "appropriate"],
        ["1_40a-60ss", "40a-60ss", "1", False, human, "appropriate"],
        ["2_instruct", "instruct", "2", False, [], "appropriate"],
    ]
    assert loaded.label("batch").tolist() == ["2"] * 3
    assert loaded.ratings.empty


def test_options_are_one_to_five_and_a_second_judgement_is_of_another_rater(root):
    rows = [
        judgement("1_human", PEOPLE[0], 5, 6, 13),
        judgement("1_human", PEOPLE[0], 4, 10, 15),
        judgement("1_40a-60ss", PEOPLE[1], 1, 8, 11),
    ]
    write_table(root / ziegen.RESULTS, rows)
    with pytest.warns(UserWarning, match="inferred, never seen"):
        loaded = ziegen.load(root)
    actual = {name: loaded.raters(name).loc["1_human"].tolist()[:2] for name in loaded.dimensions}
    assert actual == {"style": [5.0, 4.0], "content": [1.0, 5.0], "fluency": [3.0, 5.0]}


def test_source_and_output_are_the_parts_and_three_questions_are_ratings(tmp_path):
    """Argument 12 has two marked parts, one of them edited by two systems."""
    rows = []
    for item, judge, part, *options in (
        ("12_base_model_7", 0, "you 'clown'", 5, 6, 13, 20),
        ("12_base_model_7", 1, "you 'clown'", 4, 10, 11, 16),
        ("12_50a_50ss_7", 1, "you 'clown'", 1, 7, 12, 17),
        ("12_base_model_8", 1, "shut up", 2, 8, 14, 18),
    ):
        parts = {"post_inappropriate_part": part, "post_rewritten_part": f"civil {part}"}
        rows.append(judgement(item, PEOPLE[judge], *options, **parts))
    write_table(tmp_path / ziegen_editing.RESULTS, rows)
    loaded = ziegen_editing.load(tmp_path)
    items = loaded.items.set_index("item_id")
    assert items["system"].tolist() == ["base_model", "50a_50ss", "base_model"]
    assert items["source_id"].tolist() == ["12-1", "12-1", "12-2"]
    texts = items.loc["12_base_model_8", ["source", "output"]].tolist()
    assert texts == ["shut up", "civil shut up"]
    assert loaded.label("context")["12_base_model_8"].startswith("So ")
    first = loaded.means.loc["12_base_model_7"]
    assert first.to_dict() == {"structure": 4.5, "content": 3.0, "fluency": 2.0}


@needs("ziegen_editing")
def test_two_edits_were_judged_twice_by_the_same_person():
    sizes = data.load("ziegen_editing").ratings.groupby("rater").size()
    assert list(sizes.index) == ["r1", "r2", "r3", "r4", "r5"]
    assert sizes["r5"] == 6
