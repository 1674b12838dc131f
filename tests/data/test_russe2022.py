"""Russian detoxification: the form on made-up files, the sums on the real ones."""

import pytest

from tests.data.raw import write_table
from tstmeta.data import russe2022

MAIN = "dataset/test_all_metrics_russe2022.csv"
GPT, LLAMA = (f"vizualize/models_to_plot/russe2022/{file}" for file in russe2022.JUDGES.values())


@pytest.fixture
def loaded(tmp_path):
    """Two sources, each rewritten by two teams; the second judge gives no fluency."""
    rows = [
        {"original": f"source {n}", "method_output": f"{team} {n}", "participant_name": team}
        | {"neutral_sentence_reference": f"reference {n}"}
        | {"content": 1, "non-toxicity": n, "fluency": 0.5}
        for team in ("team b", "team a")
        for n in (0, 1)
    ]
    write_table(tmp_path / MAIN, [row | dict.fromkeys(russe2022.METRICS, 0.25) for row in rows])
    for file, fluency in ((GPT, 0.5), (LLAMA, "")):
        answers = dict.fromkeys(russe2022.ANSWERS, 1.0) | {"fluency_score": fluency}
        write_table(tmp_path / file, [answers for _ in rows])
    return russe2022.load(tmp_path)


def test_systems_are_numbered_and_nobody_is_named(loaded):
    assert loaded.items["item_id"].tolist() == ["0-s1", "1-s1", "0-s2", "1-s2"]
    columns = ["source", "output", "references", "system", "language", "style"]
    expected = ["source 1", "team a 1", ["reference 1"], "s2", "ru", "non-toxic"]
    assert loaded.items.set_index("item_id").loc["1-s2", columns].tolist() == expected
    assert loaded.means.loc["1-s1"].to_dict() == {"content": 1, "style": 1, "fluency": 0.5}


def test_a_blank_of_a_judge_is_no_rating(loaded):
    scores = loaded.scores.set_index(["metric", "dimension", "basis"])
    scores = scores[scores["item_id"] == "0-s1"]
    assert scores.loc[("released:gpt-4.1-mini", "fluency", "source"), "value"] == 0.5
    assert scores.loc[("released:llama-3.3-70b", "fluency", "source"), "status"] == "invalid"
    assert scores.loc[("released:llama-3.3-70b", "fluency", "none"), "value"] == 1
    assert scores.loc[("released:cls-new-gen", "style", "none"), "value"] == 0.25
    assert len(scores) == len(russe2022.METRICS) + 8
