"""Formality transfer: the form on made-up files, the numbers on the real ones."""

import json

import pytest

from tests.data.raw import write
from tstmeta.data import lai

METRICS = {
    "content.src": {"bleu": 0.5, "wmd": 1.25, "chatgpt": 80.0, "chatgpt_multi": 70.0},
    "content.ref": {"bleu": 0.25, "chatgpt": 80.0},
    "style": {"c-pt16": 0.9, "chatgpt": 50.0, "chatgpt_multi": 40.0},
    "fluency": {"gpt2_ppl": 12.5, "chatgpt": 30.0, "chatgpt_multi": 20.0},
}
#: Human ratings by file, slot 1 and 2; the content ones are in two files.
HUMAN = {"content": (60.0, 70.5), "style": (40.0, 1.0), "fluency": (100.0, 99.9)}


def output(number, system):
    return f"{system} says {number}."


def json_line(name, number):
    human = HUMAN[name.partition(".")[0]]
    systems = {
        system: {
            "out": output(number, system),
            "human_1": human[0],
            "human_2": human[1],
            **{key: value + number for key, value in METRICS[name].items()},
        }
        for system in lai.SYSTEMS
    }
    return json.dumps({"src": f"source {number}", "ref": output(number, "ref"), "sys": systems})


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Four sources, two a direction."""
    monkeypatch.setattr(lai, "INFORMAL", 2)
    for name in METRICS:
        write(tmp_path / "chatgpt" / f"{name}.json", [json_line(name, n) for n in range(4)])
    folder = tmp_path / "data" / "outputs"
    for system in lai.SYSTEMS:
        cells = [f"{1 + n % 2}\tsource\toutput\treference" + "\t50" * 6 for n in range(4)]
        rows = [row + "\t0.1" * 6 + f"\t0.{n}" + "\t9" * 10 for n, row in enumerate(cells)]
        write(folder / f"{system.upper()}.content.src.txt", rows)
    write(folder / "INPUT.ppl-1.txt", [f"source {n}\t{n}.5" for n in range(4)])
    for k in (1, 2, 3):
        lines = [f"ref {k} of {n}" for n in range(4)]
        write(tmp_path / "data" / "xformal" / f"fr.80.ref{k}", lines)
    return lai.load(tmp_path)


def test_items_go_source_by_source_and_know_their_direction(loaded):
    items = loaded.items
    assert len(items) == 36
    assert items["item_id"].tolist()[:2] == ["I2F-00-bart", "I2F-00-high"]
    columns = ["source_id", "system", "style", "direction", "source", "output", "references"]
    assert items.set_index("item_id").loc["F2I-03-niu", columns].tolist() == [
        *("F2I-03", "niu", "informal", "F2I", "source 3", "niu says 3.", ["ref says 3."])
    ]
    assert items.loc[items["is_reference"], "system"].unique().tolist() == ["ref"]


def test_the_two_slots_are_the_raters(loaded):
    assert len(loaded.ratings) == 36 * 6
    for dimension, values in HUMAN.items():
        assert loaded.raters(dimension).drop_duplicates().to_numpy().tolist() == [list(values)]
    assert loaded.label("survey")[["I2F-00-bart", "F2I-03-zhou"]].tolist() == ["1", "2"]


def test_released_scores_keep_their_values_and_name_basis_and_dimension(loaded):
    scores = loaded.scores
    item = scores[scores["item_id"] == "I2F-01-yi"]
    actual = dict(item[["signature", "value"]].itertuples(index=False, name=None))

    def name(metric, basis, dimension, more=""):
        return f"released:{metric}|basis:{basis}|dimension:{dimension}|from:lai2023{more}"

    expected = {
        name("bleu", "source", "content"): 1.5,
        name("chatgpt-multi", "source", "content"): 71.0,
        name("bleu", "reference", "content"): 1.25,
        name("c-pt16", "none", "style"): 1.9,
        name("gpt2_ppl", "none", "fluency"): 13.5,
        name("comet-20-both", "source", "content", "|file:txt"): 0.1,
        name("source-gpt2_ppl", "none", "fluency", "|file:txt"): 1.5,
    }
    assert expected.items() <= actual.items()
    assert len(scores) == 36 * 13
    assert scores["metric"].str.startswith("released:").all()


def test_subsets_take_their_systems_out(loaded):
    sizes = {name: len(subset(loaded).items) for name, subset in lai.SUBSETS.items()}
    assert [*sizes.values()] == [32, 28, 4, 36, 32, 36]
    part = lai.SUBSETS["pauli2025"](loaded)
    assert "yi" not in set(part.items["system"])
    assert len(part.scores) == 32 * 13


def test_the_four_references_stand_in_upstream_order(loaded):
    four = lai.SUBSETS["references4"](loaded).items.set_index("item_id")
    expected = ["ref says 2.", "ref 1 of 2", "ref 2 of 2", "ref 3 of 2"]
    assert four.loc["F2I-02-luo", "references"] == expected
