"""The constructed test set: its form on made-up files, its numbers on the real ones."""

import pytest

from tests.data.raw import write_table
from tstmeta.data import pauli

PEOPLE = ["madeUpPersona", "madeUpPersonb", "madeUpPersonc", "madeUpPersond"]
MEANS = {"annoA_mean": "4.0", "annoB_mean": "2.6666666666666665"}


def row(task, intention, people):
    """One raw row; the manual tasks have references, the others intermediate steps."""
    manual = task in pauli.MANUAL
    return {
        "sample_id": "7.0" if task == "detoxify" else "7",
        "input": f"We met at noon, all of us ({task}).",
        "output": f'They said: "{intention}",\nand left.',
        "intention": intention,
        **({"source": "news"} if manual else {"source_from": "ads"}),
        "style_to": "positive" if task == "sentiment" else task,
        **({"reference": "We gladly met."} if manual else {"step": "A step."}),
        **{f"AnswerA_{slot}": value for slot, value in zip((1, 2, 3), "543", strict=True)},
        **{f"AnswerB_{slot}": value for slot, value in zip((1, 2, 3), "521", strict=True)},
        **{f"prolificID_{slot}": name for slot, name in zip((1, 2, 3), people, strict=True)},
        **MEANS,
    }


@pytest.fixture
def loaded(tmp_path):
    """Two rewrites a task; the slots' people change from file to file."""
    for number, task in enumerate(pauli.TASKS, 1):
        people = PEOPLE[:3] if number % 2 else [PEOPLE[3], PEOPLE[0], PEOPLE[2]]
        rows = [row(task, intention, people) for intention in ("style", "insertion")]
        write_table(tmp_path / "data" / f"syntest_anno{number}.csv", rows)
    return pauli.load(tmp_path)


def test_an_item_is_named_by_task_sample_and_intention(loaded):
    items = loaded.items.set_index("item_id")
    assert len(items) == 12
    assert items.loc["detoxify-7-style", "source_id"] == "detoxify-7"
    assert items.loc["detoxify-7-insertion", "system"] == "insertion"
    assert items.loc["sentiment-7-style", "style"] == "positive"
    assert items.loc["sentiment-7-style", "references"] == ["We gladly met."]
    assert items.loc["formal-7-style", "references"] == []
    assert items.loc["formal-7-insertion", "output"] == 'They said: "insertion",\nand left.'
    assert not items["is_reference"].any()


def test_a_person_has_one_name_in_all_files(loaded):
    second = loaded.raters("style").loc["detoxify-7-style"]
    assert second.drop("r2").to_dict() == {"r1": 4.0, "r3": 3.0, "r4": 5.0}
    assert set(loaded.ratings["rater"]) == {"r1", "r2", "r3", "r4"}


def test_labels_follow_from_the_intention(loaded):
    names = ["task", "corpus", "intention", "shift", "error", "construction", "step"]
    expected = "sentiment news style strong none manual", "catchy ads insertion light insertion"
    items = ("sentiment-7-style", "catchy-7-insertion")
    first, second = (" ".join(loaded.label(name)[item] for name in names) for item in items)
    assert first.strip() == expected[0]
    assert second == f"{expected[1]} synthetic A step."
