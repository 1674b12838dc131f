"""People and GPT-4 on the same rewrites: the form on made-up files, numbers on the real ones."""

import json

from tests.data import raw
from tstmeta.data import sottana

FOLDER = sottana.FOLDER.as_posix()
#: Question -> what each person answers (in the order of their ids), and what GPT-4 does.
ANSWERS = {
    "simplification": {"semantics": (["scale_3", "scale_4", "scale_5"], 4.5)},
    "gec": {
        "grammaticality": (["0", "1", "2 or more"], "1"),
        "overcorrection": (["Substatial over-correction", "Minor over-correction", "No"], "No"),
    },
}
ENDS = ("", "_2", "_3", "_4")


def test_the_reference_is_an_item_and_higher_is_better_for_people_and_for_gpt_4(tmp_path):
    """One source a task, in its first part, and attention checks in both."""
    shown = {"displayed_text": "a b c"} | {f"summary_{n}": f"output {n}" for n in (1, 2, 3, 4)}
    for task, questions in ANSWERS.items():
        verdicts = {question: verdict for question, (_, verdict) in questions.items()}
        judged = dict.fromkeys(("gold_reference", "google/a", "b", "c"), verdicts) | {"id": "x"}
        part = tmp_path / FOLDER / f"{task}_evaluation_1_of_4"
        raw.write(part / "gpt4_as_annotator/output.jsonl", [json.dumps(judged)])
        for place, person in enumerate(("adam", "mia", "zoe")):
            given = {q + end: {a[place]: "?"} for q, (a, _) in questions.items() for end in ENDS}
            form = {"id": "x", **shown, "label_annotations": given}
            check = {**form, "id": "attention_check_1"}
            for number, lines in ((1, [check, form]), (2, [check])):
                folder = part.with_name(f"{task}_evaluation_{number}_of_4") / "annotation_output"
                raw.write(folder / person / "annotated_instances.jsonl", map(json.dumps, lines))
    loaded = sottana.load(tmp_path)
    items = loaded.items.set_index("item_id")
    facts = ["source_id", "system", "style", "source", "output", "references", "is_reference"]
    expected = ["gec-1", "a", "corrected", "a b c", "output 2", ["output 1"], False]
    assert items.loc["gec-1-a", facts].tolist() == expected
    assert items.loc["gec-1-gold_reference", facts[-2:]].tolist() == [[], True]
    ratings = {name: loaded.raters(name) for name in ("content", "fluency", "overcorrection")}
    assert ratings["content"].loc["simplification-1-a"].tolist() == [3, 4, 5]
    assert ratings["fluency"].loc["gec-1-a"].tolist() == [2, 1, 0]
    assert ratings["overcorrection"].loc["gec-1-a"].tolist() == [0, 2, 3]
    scores = loaded.scores.set_index(["item_id", "dimension"])["value"]
    assert scores["gec-1-a"].to_dict() == {"fluency": 1, "overcorrection": 3}
    assert len(sottana.SUBSETS["gec-systems"](loaded).items) == 3
