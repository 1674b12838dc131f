"""The command ``train idf``: the shipped counts come out again; own ones are used by the metric."""

import pytest

from tests.command import command_line, table
from tstmeta.models import encoders, idf, vectors
from tstmeta.models.encoders import MINILM
from tstmeta.schema import TstmetaError

embedded = pytest.mark.skipif(bool(encoders.missing(MINILM)), reason="no embedded encoder here")


@pytest.fixture
def tstmeta(tmp_path, monkeypatch):
    return command_line(tmp_path, monkeypatch)


@embedded
def test_the_shipped_table_comes_out_again_byte_by_byte(tstmeta, tmp_path):
    found = table(tstmeta("train", "idf", "--format", "csv"))
    assert (tmp_path / "idf.json").read_bytes() == idf.SHIPPED.read_bytes()
    values = dict(zip(found["what"], found["value"], strict=True))
    assert values["counted in"] == "contrast, world"
    assert values["texts"] == "480"


@embedded
def test_counts_in_ones_own_file_change_the_score_and_the_signature(tstmeta, tmp_path):
    tstmeta("train", "idf", "--data", "mine.csv", "--out", "mine.json")
    metrics = ["bertscore", "bertscore:idf", "bertscore:idf=mine.json"]
    words = [word for name in metrics for word in ("--metric", name)]
    result = tstmeta("score", "--data", "mine.csv", "--basis", "source", *words)
    found = table(result)
    assert result.stderr == "12 scores, 0 failed\n"
    for name, file in zip(metrics, (None, idf.SHIPPED, tmp_path / "mine.json"), strict=True):
        [said] = set(found.loc[found["metric"] == name, "signature"])
        assert f"idf:{vectors.identity(file) if file else 'none'}" in said
    [moved] = found[found["item_id"].astype(str) == "2"].groupby("item_id")["value"].nunique()
    assert moved == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "idf.txt"), "has to end in .json"),
        (("--model", "labse"), "hf download"),
        (("--model", "nonsense"), "no option and no model"),
        (("--data", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_counted_is_told(tstmeta, tmp_path, words, said):
    result = tstmeta("train", "idf", *words)
    assert isinstance(result.exception, TstmetaError)
    assert said in str(result.exception)
    assert not (tmp_path / "idf.json").exists()
