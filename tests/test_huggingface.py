"""Folders for the Hugging Face hub, read by the real library."""

import datasets
import pandas as pd
import pytest
import yaml

import tstmeta as tst
from tests.command import CSV, success
from tstmeta.data import shipped
from tstmeta.huggingface import write_huggingface

SECRET = "sat down"  # in the texts, and in a label


@pytest.fixture
def mine(tmp_path):
    """Four rewrites by two systems, rated; a label quotes a text."""
    (tmp_path / "mine.csv").write_text(CSV)
    data = tst.read(tmp_path / "mine.csv")
    labels = pd.DataFrame({"dataset": "mine", "item_id": ["1", "1"], "name": ["span", "task"]})
    pairs = {"item_a": ["1"], "item_b": ["2"], "dimension": "style", "rater": "Ann", "value": "a"}
    compared = pd.DataFrame(pairs).assign(dataset="mine")
    tables = {"labels": labels.assign(value=["sat down", "formal"]), "preferences": compared}
    ratings = data.ratings.assign(rater=data.ratings["rater"].replace("r1", "Ann"))
    return tst.Dataset.of("mine", data.items, data.card, ratings=ratings, **tables)


def load(folder, name, cache) -> pd.DataFrame:
    loaded = datasets.load_dataset(str(folder), name, cache_dir=str(cache))
    assert list(loaded) == ["test"]
    return loaded["test"].to_pandas()


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()


def test_datasets_reads_every_table_as_it_was(mine, tmp_path):
    scores = tst.score(mine, ["chrf"], store=tmp_path / "store", progress=False)
    mine.card.facts.update(examples=True)
    assert "With texts" in write_huggingface(mine, tmp_path / "hub", scores)
    for table in ("items", "ratings", "labels", "preferences", "scores"):
        known = scores if table == "scores" else getattr(mine, table)
        own = load(tmp_path / "hub", table, tmp_path / "cache")
        assert list(own) == [name for name in known if name != "dataset"]
        for column in own.columns.drop(["references", "rater"], errors="ignore"):
            assert list(own[column]) == list(known[column]), column
    items = load(tmp_path / "hub", None, tmp_path / "cache")
    assert [list(texts) for texts in items["references"]] == list(mine.items["references"])


def test_raters_have_no_names(mine, tmp_path):
    write_huggingface(mine, tmp_path / "hub")
    ratings, compared = (
        pd.read_parquet(tmp_path / "hub" / f"{name}.parquet") for name in ("ratings", "preferences")
    )
    assert set(ratings["rater"]) == {"r1", "r2"}
    assert list(compared["rater"]) == ["r1"]
    assert "Ann" in set(mine.ratings["rater"])  # the data set itself is left as it was


def test_texts_stay_here_unless_the_card_allows_them(mine, tmp_path):
    scores = tst.score(mine, ["chrf", "corpus-bleu"], store=tmp_path / "store", progress=False)
    quoted = scores["detail"].where(scores["metric"] != "chrf", "it sat down, so 3")
    words = write_huggingface(mine, tmp_path / "hub", scores.assign(detail=quoted))
    without = "Without texts, which the data card does not say may be shown."
    assert words == f"mine. {without} Licence: none stated."
    content = b"".join(path.read_bytes() for path in (tmp_path / "hub").iterdir())
    assert SECRET.encode() not in content
    items = pd.read_parquet(tmp_path / "hub" / "items.parquet")
    assert list(items["references"]) == [1] * 4
    assert list(items["output_words"]) == list(mine.lengths["output_words"])
    assert list(pd.read_parquet(tmp_path / "hub" / "labels.parquet")["name"]) == ["task"]
    details = pd.read_parquet(tmp_path / "hub" / "scores.parquet")["detail"]
    assert list(details) == list(scores["detail"])
    ours = write_huggingface(tst.load("contrast"), tmp_path / "contrast")
    assert "With texts: see to it that the licence" in ours
    assert "output" in pd.read_parquet(tmp_path / "contrast" / "items.parquet")


def test_texts_that_are_not_here_cannot_go_out(tmp_path):
    bare = shipped.load("lai")
    assert "Without texts" in write_huggingface(bare, tmp_path / "lai")
    assert len(pd.read_parquet(tmp_path / "lai" / "ratings.parquet")) == len(bare.ratings)


@pytest.mark.parametrize(("licence", "known"), [("CC BY 4.0", "cc-by-4.0"), ("", "other")])
def test_the_card_names_licence_citation_and_files(mine, tmp_path, licence, known):
    mine.card.facts.update({"licence": licence, "citation": "lai2022human", "title": "a: b\n---"})
    write_huggingface(mine, tmp_path / "hub")
    _, front, body = (tmp_path / "hub" / "README.md").read_text().split("---\n", 2)
    facts = yaml.safe_load(front)
    assert facts["license"] == known
    files = {each["config_name"]: each["data_files"][0]["path"] for each in facts["configs"]}
    assert files["ratings"] == "ratings.parquet"
    assert f"Licence: {licence or 'none stated'}." in body
    assert "Cite `lai2022human`" in body


def test_the_command_writes_the_folder(tstmeta, tmp_path):
    command = ("data", "export", "mine.csv", "--to", "huggingface", "-m", "chrf", "--out", "hub")
    (tmp_path / "mine.csv.toml").write_text("examples = true\n")
    result = success(tstmeta(*command))
    assert "With texts" in result.stderr
    assert len(pd.read_parquet("hub/items.parquet")) == 4
    assert len(pd.read_parquet("hub/scores.parquet")) == 8
    assert "new or empty" in str(tstmeta(*command).exception)
    assert "new or empty" in str(tstmeta(*command[:5]).exception)
