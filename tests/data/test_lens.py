"""Simplification ratings of 2022: the form on made-up files, the numbers on the real ones."""

import pytest

from tests.data.raw import write_rows
from tstmeta.data import lens

WORKERS = ["made-up-worker-a", "made-up-worker-b"]
SYSTEMS = ["Muss", "Human 1 Writing", "Human 2 Writing"]
DA, LIKERT = "data/simpDA_2022.csv", "data/simplikert_2022.csv"
OVERALL, PAST = "data/simpeval_2022.csv", "data/simpeval_past.csv"


@pytest.fixture
def loaded(tmp_path):
    """One new sentence by a system and two people, one old one by a system and a corpus."""
    columns = "WorkerId Input.id Input.original Input.simplified Input.system"
    answers = " ".join(f"Answer.{question}" for question in lens.QUESTIONS)
    for file, values in ((DA, (90, 80, 70)), (LIKERT, (5, 4, -2))):
        rows = [
            (worker, 4, "Snow closed the pass.", f"{system} says it snowed.", system, *values)
            for system in SYSTEMS
            for worker in WORKERS
        ]
        write_rows(tmp_path / file, f"{columns} {answers}", rows)
    texts = ["Muss  says it snowed. ", "Human 1 Writing says it snowed.", "Another text."]
    rows = [
        (4, text, system, "Splittings", 61, 62, 63)
        for system, text in zip(SYSTEMS, texts, strict=True)
    ]
    columns = "original_id generation system sentence_type rating_1 rating_2 rating_3"
    write_rows(tmp_path / OVERALL, columns, rows)
    texts = {system: f"They fixed it ({system})." for system in ("copy", "asset.test.simp")}
    rows = [("A bridge.", text, 4, s, 10, 20, 30, 40, 50) for s, text in texts.items()]
    columns = "original processed_generation original_id system"
    people = " ".join(f"rating_{person}" for person in range(1, 6))
    write_rows(tmp_path / PAST, f"{columns} {people}", rows)
    return lens.load(tmp_path)


def test_collections_are_kept_apart(loaded):
    parts = {name: subset(loaded) for name, subset in lens.SUBSETS.items()}
    sizes = {name: len(part.items) for name, part in parts.items()}
    assert sizes == {"simpda_2022": 3, "simplikert_2022": 3, "simpeval_past": 2}
    assert parts["simplikert_2022"].card.scale["style"] == (-2.0, 2.0)
    assert parts["simplikert_2022"].means["style"].tolist() == [-2.0] * 3
    assert parts["simpda_2022"].means["style"].tolist() == [70.0] * 3
    assert loaded.label("sentence_type").tolist() == ["Splittings"] * 3 + [""] * 5


def test_people_are_references_of_their_sentence(loaded):
    items = loaded.items.set_index("item_id")
    muss = items.loc["simpda_2022-4-Muss"]
    assert muss["references"] == [f"Human {n} Writing says it snowed." for n in (1, 2)]
    people = ["simpda_2022-4-Human-1-Writing", "simpeval_past-4-asset.test.simp"]
    assert items.loc[people, "is_reference"].all()
    assert items["is_reference"].sum() == 5
    assert items.loc["simpeval_past-4-copy", "references"] == ["They fixed it (asset.test.simp)."]


def test_overall_ratings_join_only_where_the_text_is_the_same(loaded):
    overall = lens.SUBSETS["simpda_2022"](loaded).raters("overall")
    assert overall.notna().sum(axis=1).tolist() == [3, 3, 0]
    assert overall.loc["simpda_2022-4-Muss"].dropna().tolist() == [61.0, 62.0, 63.0]
