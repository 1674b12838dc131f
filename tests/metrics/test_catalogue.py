"""The list of metrics: judges without a server, combined metrics, and metrics that are broken."""

from collections import Counter
from functools import cache

import pandas as pd
import pytest

from tests.command import command_line, table
from tstmeta import combine, metrics
from tstmeta.metrics import Request, catalogue, judges
from tstmeta.metrics.judges import Judge
from tstmeta.schema import DIMENSIONS, Status, TstmetaError

JUDGES = [f"judge:{variant}" for variant in Judge.VARIANTS]


@cache
def listed() -> pd.DataFrame:
    return catalogue.overview().set_index("name")


# ------------------------------------------------------------------------------------ the list


def test_every_name_is_listed_once_and_in_the_order_of_the_names():
    found = catalogue.overview()
    assert found["name"].tolist() == catalogue.names()
    assert found["name"].is_unique


def test_stems_are_the_names_without_their_variants():
    found = catalogue.stems()
    assert max(Counter(found).values()) == 1
    assert {"bleu", "likelihood-style", "judge", "gm"} <= set(found)
    assert not [stem for stem in found if ":" in stem]


def test_every_row_says_what_is_measured_and_on_what():
    for name, row in listed().iterrows():
        assert row["profile"] in ("embedded", "real"), name
        assert set(row["dimension"].split()) <= set(DIMENSIONS), name
        assert row["dimension"], name
        assert row["unit"] in ("item", "source", "corpus"), name
        assert row["bases"], name
        assert row["languages"], name
        assert row["status"] in ("ok", "error"), name


def test_what_is_an_error_has_a_remedy():
    rows = listed()
    assert rows.loc[rows["status"] == "error", "remedy"].ne("").all()


def test_a_metric_that_cannot_be_made_does_not_hide_the_others(monkeypatch):
    def broken(name):
        if name == "ter":
            raise ValueError("no such file")
        return metrics.get(name)

    monkeypatch.setattr(catalogue, "get", broken)
    rows = catalogue.overview().set_index("name")
    assert rows.loc["ter", ["status", "remedy"]].tolist() == ["error", "ValueError: no such file"]
    assert rows.loc["pinc", "status"] == "ok"


# ------------------------------------------------------------------------------------ combined


def test_combined_metrics_say_how_their_scores_are_made():
    rows = listed().loc[[one.name for one in catalogue.COMBINED]]
    assert set(rows["family"]) == {"combined"}
    assert set(rows["profile"]) == {"embedded"}
    for remedy in rows["remedy"]:
        made = remedy.partition("tstmeta.combine: ")[2]
        told = [
            word.strip(",;") for word in made.split() if "_" in word or word.startswith("hybrid")
        ]
        assert told or made.startswith("j ")
        assert all(callable(getattr(combine, word)) for word in told)


def test_a_combined_metric_is_no_registered_one():
    assert not {one.name for one in catalogue.COMBINED} & set(metrics.names())


# ---------------------------------------------------------------------------------- open forms


@pytest.mark.parametrize("name", [one.name for one in catalogue.OPEN])
def test_an_open_form_is_listed_with_what_to_name(name):
    rows = listed()
    row, plain = rows.loc[name], rows.loc[name.partition(":")[0]]
    assert (row["status"], row["profile"], row["signature"]) == ("error", "real", "")
    assert row["remedy"]
    assert row[["dimension", "unit", "bases"]].equals(plain[["dimension", "unit", "bases"]])


def test_an_open_form_of_a_metric_that_is_not_installed_is_not_listed(monkeypatch):
    monkeypatch.setattr(catalogue, "families", lambda: {"lexical": ["ter"]})
    assert catalogue.names() == ["ter", *(one.name for one in catalogue.COMBINED)]


# -------------------------------------------------------------------------------------- judges


@pytest.mark.parametrize("name", ["judge", *JUDGES])
def test_a_judge_is_listed_as_an_error_for_want_of_a_server(name):
    row = listed().loc[name]
    assert (row["status"], row["profile"], row["signature"]) == ("error", "real", "")
    assert row["remedy"].startswith("no server: ")


def test_a_judge_gives_a_row_with_the_remedy_for_every_rewrite():
    judge = metrics.get("judge:gpt-4")
    units = [(Request("he left", ("he went",)),), (Request("", ("he went",)),)]
    found = list(judge.score(units))
    assert [len(unit) for unit in found] == [1, 1]
    for (score,) in found:
        assert (score.status, score.detail) == (Status.ERROR, judge.missing)
        assert score.value != score.value


def test_a_run_with_a_judge_goes_on_and_ends_with_exit_code_1(tmp_path, monkeypatch):
    tstmeta = command_line(tmp_path, monkeypatch)
    result = tstmeta("score", "-d", "mine.csv", "-m", "judge:gpt-4", "-m", "constant")
    found = table(result)
    assert result.exit_code == 1
    assert set(found.loc[found["metric"] == "judge:gpt-4", "status"]) == {"error"}
    assert set(found.loc[found["metric"] == "constant", "status"]) == {"ok"}


def test_a_judge_says_where_ratings_of_its_own_were_published():
    assert "released:chatgpt" in metrics.get("judge:chatgpt").missing
    assert "--scores" in metrics.get("judge:llama-3-70b").missing


def test_a_judge_without_a_name_says_which_there_are():
    assert "judge:chatgpt" in metrics.get("judge").missing


def test_a_judge_that_answers_yes_or_no_judges_style():
    yes_or_no, number = metrics.get("judge:gpt-4+binary"), metrics.get("judge:gpt-4")
    assert yes_or_no.dimensions == ("style",)
    assert "style" in number.dimensions
    assert str(yes_or_no.signature("source")) != str(number.signature("source"))


def test_signatures_of_judges_tell_them_apart():
    found = {str(metrics.get(name).signature("source")) for name in JUDGES}
    assert len(found) == len(JUDGES)


@pytest.mark.parametrize("variant", ["gpt4", "chatgpt+binary", "binary"])
def test_an_unknown_judge_is_refused(variant):
    with pytest.raises(TstmetaError, match="judge:"):
        metrics.get(f"judge:{variant}")
    with pytest.raises(TstmetaError, match=r"it has: chatgpt"):
        judges.Judge(variant)
