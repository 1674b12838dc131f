"""Scoring: what is computed, what is kept, and that nothing finished is ever computed again."""

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.helpers import needs
from tstmeta import data, metrics, schema, scoring
from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, ratings_table, scores_table
from tstmeta.metrics import CorpusMetric, PairMetric, Request, Score, UnknownMetric, wrap
from tstmeta.schema import DataError, Status

NAN = math.nan


def dataset(*rows: dict, ratings: dict | None = None, name: str = "tiny", **tables) -> Dataset:
    """A data set of rows; item ids count from 1, each row is its own source unless it says so."""
    full = [
        {
            **{"item_id": str(n), "source_id": str(n), "source": f"source {n}"},
            **{"output": f"output {n}", "references": [], "is_reference": False},
            **{"style": "", "language": "en", "system": "", "direction": ""},
            **row,
        }
        for n, row in enumerate(rows, 1)
    ]
    columns = {key: [row[key] for row in full] for key in full[0]}
    if ratings:
        tables["ratings"] = ratings_table(name, columns["item_id"], ratings)
    return Dataset.of(name, items_table(name, **columns), Card(name), **tables)


class Logged(PairMetric):
    """Number of characters of the output; remembers every call, fails on chosen outputs."""

    name = "logged"

    def __init__(self, version: int = 1, broken: Sequence[str] = (), value: float | None = None):
        self.version, self.broken, self.fixed = version, broken, value
        self.calls: list[str] = []

    def fields(self) -> dict[str, object]:
        return {"version": self.version}

    def value(self, request: Request) -> float:
        self.calls.append(request.output)
        if request.output in self.broken:
            raise ValueError(f"cannot read {request.output}")
        return float(len(request.output)) if self.fixed is None else self.fixed


class Scripted(PairMetric):
    """Yields what it is told to, whatever the units are; an exception is raised."""

    name = "scripted"
    bases = ("source",)

    def __init__(self, *answers: tuple[Score, ...] | Exception | object):
        self.answers = answers

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        for answer in self.answers:
            if isinstance(answer, Exception):
                raise answer
            yield answer  # type: ignore[misc]


def run(data: Dataset, metric: PairMetric, store: Path, basis: str = "source") -> pd.DataFrame:
    return scoring.score(data, [metric], bases=[basis], store=store, progress=False)


def contents(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.iterdir()}


THREE = dataset({}, {}, {})


# ---------------------------------------------------------------------------- what is computed


def test_nothing_wanted_gives_a_table_without_rows(tmp_path):
    pd.testing.assert_frame_equal(scoring.score(THREE, [], store=tmp_path), schema.empty("scores"))


def test_a_score_table_says_what_was_scored_with_what(tmp_path):
    found = run(THREE, Logged(), tmp_path)
    assert found["value"].tolist() == [8, 8, 8]
    assert found["item_id"].tolist() == ["1", "2", "3"]
    constant = found.drop(columns=["item_id", "value"]).drop_duplicates()
    assert constant.to_dict("records") == [
        {
            "dataset": "tiny",
            "metric": "logged",
            "dimension": "content",
            "basis": "source",
            "signature": "logged|basis:source|version:1|max_tokens:2000",
            "sample": 0,
            "status": "ok",
            "detail": "",
        }
    ]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (["pinc"], ["pinc"]),
        (["ter", "pinc", "ter"], ["ter", "pinc"]),
        (
            ["copy-rate", "sentinel"],
            ["copy-rate", "constant", "length-ratio", "output-only", "random", "source-only"],
        ),
        (["human-style", "pinc"], ["human-style", "pinc"]),
        (["pinc", "human-style"], ["pinc", "human-style"]),
        ([Logged(), "pinc"], ["logged", "pinc"]),
        (["pinc", Logged(), "ter"], ["pinc", "logged", "ter"]),
    ],
)
def test_rows_come_by_metric_in_the_order_wanted_each_once(wanted, names, tmp_path):
    rated = dataset({}, {}, {}, ratings={("style", "r1"): [1, 2, 3]})
    found = scoring.score(rated, wanted, bases=["source"], store=tmp_path, progress=False)
    assert list(dict.fromkeys(found["metric"])) == names
    assert found.groupby(["metric", "basis"]).size().eq(3).all()


def test_rows_come_by_basis_then_by_item(tmp_path):
    given = dataset({"item_id": "b", "references": ["x"]}, {"item_id": "a", "references": ["y"]})
    found = scoring.score(given, [Logged()], store=tmp_path, progress=False)
    rows = list(zip(found["basis"], found["item_id"], strict=True))
    assert rows == [(basis, item) for basis in ("source", "reference") for item in "ba"]


def test_an_unknown_metric_is_refused_before_anything_is_scored(tmp_path):
    metric = Logged()
    with pytest.raises(UnknownMetric, match="did you mean bleu"):
        scoring.score(THREE, [metric, "bleuu"], store=tmp_path)
    assert metric.calls == []


def test_a_subset_is_scored_under_the_name_of_its_data_set(tmp_path):
    part = THREE.where(THREE.items["item_id"] != "2", "tiny@two")
    assert set(run(part, Logged(), tmp_path)["dataset"]) == {"tiny"}


# ------------------------------------------------------------------------------ basis rules

#: an item, the basis, what its output is compared with (None: it has no row)
AGAINST = {
    "the source": ({"source": "s"}, "source", ("s",)),
    "an empty source": ({"source": ""}, "source", ("",)),
    "nothing": ({"source": "s", "references": ["r"]}, "none", ()),
    "no reference, no row": ({"references": []}, "reference", None),
    "one reference": ({"references": ["r"]}, "reference", ("r",)),
    "several references": ({"references": ["r", "q"]}, "reference", ("r", "q")),
    "a reference is not compared with itself": (
        {"output": "r", "references": ["r", "q"], "is_reference": True},
        "reference",
        ("q",),
    ),
    "the only reference has no row": (
        {"output": "r", "references": ["r"], "is_reference": True},
        "reference",
        None,
    ),
    "a copy of itself neither": (
        {"output": "r", "references": ["r", "r"], "is_reference": True},
        "reference",
        None,
    ),
    "a system may equal a reference": (
        {"output": "r", "references": ["r", "q"]},
        "reference",
        ("r", "q"),
    ),
    "a reference has a source": (
        {"source": "s", "output": "r", "references": ["r"], "is_reference": True},
        "source",
        ("s",),
    ),
}


@pytest.mark.parametrize(("row", "basis", "against"), AGAINST.values(), ids=AGAINST)
def test_a_basis_says_what_an_output_is_compared_with(row, basis, against):
    metric = Logged()
    metric.bases = ("source", "reference", "none")
    [plan] = scoring.plans(dataset(row), metric, [basis])
    found = [request.against for unit in plan.units for request in unit]
    assert found == ([] if against is None else [against])
    assert len(plan.item_ids) == len(found)


def test_a_metric_is_only_asked_on_the_bases_it_has(tmp_path):
    metric = Logged()
    metric.bases = ("none",)
    assert len(run(THREE, metric, tmp_path, "source")) == 0
    assert set(scoring.score(THREE, [metric], store=tmp_path)["basis"]) == {"none"}


def test_a_request_carries_what_a_judge_needs():
    one = {"source": "s", "output": "o", "style": "polite", "language": "hi", "references": ["r"]}
    [plan] = scoring.plans(dataset(one), Logged(), ["reference"])
    assert plan.units == [(Request("o", ("r",), "s", "polite", "hi"),)]


# ------------------------------------------------------------------------------ what is kept


def test_what_was_scored_is_never_scored_again(tmp_path):
    metric, again = Logged(), Logged()
    first = run(THREE, metric, tmp_path)
    stored = contents(tmp_path)
    second = run(THREE, again, tmp_path)
    assert (len(metric.calls), again.calls) == (3, [])
    pd.testing.assert_frame_equal(first, second)
    assert contents(tmp_path) == stored


def test_only_what_is_new_is_scored(tmp_path):
    run(THREE, Logged(), tmp_path)
    metric = Logged()
    found = run(dataset({}, {}, {}, {}), metric, tmp_path)
    assert metric.calls == ["output 4"]
    assert found["value"].notna().all()


def test_equal_texts_are_scored_once(tmp_path):
    twice = {"source": "s", "output": "o"}
    metric = Logged()
    found = run(dataset(twice, twice, {"source": "t", "output": "o"}), metric, tmp_path)
    assert metric.calls == ["o", "o"]
    assert found["value"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("difference", [{"language": "de"}, {"style": "formal"}, {"source": "t"}])
def test_what_a_metric_can_see_makes_a_difference(difference, tmp_path):
    base = {"source": "s", "output": "o", "style": "", "language": "en"}
    metric = Logged()
    run(dataset(base, {**base, **difference}), metric, tmp_path)
    assert len(metric.calls) == 2


@pytest.mark.parametrize("difference", [{"system": "B"}, {"direction": "x"}, {"source_id": "z"}])
def test_what_a_metric_cannot_see_makes_none(difference, tmp_path):
    base = {"source": "s", "output": "o", "system": "A", "direction": "", "source_id": "y"}
    metric = Logged()
    run(dataset(base, {**base, **difference}), metric, tmp_path)
    assert len(metric.calls) == 1


def test_another_data_set_with_the_same_texts_costs_nothing(tmp_path):
    run(THREE, Logged(), tmp_path)
    metric = Logged()
    assert set(run(dataset({}, {}, name="other"), metric, tmp_path)["dataset"]) == {"other"}
    assert metric.calls == []


def test_another_signature_is_scored_anew_and_the_old_one_stays(tmp_path):
    run(THREE, Logged(), tmp_path)
    newer, older = Logged(version=2), Logged(version=1)
    run(THREE, newer, tmp_path)
    run(THREE, older, tmp_path)
    assert (len(newer.calls), len(older.calls)) == (3, 0)


def test_the_two_bases_are_kept_apart(tmp_path):
    metric = Logged()
    same = dataset({"source": "a", "output": "o", "references": ["a"]})
    scoring.score(same, [metric], store=tmp_path, progress=False)
    assert len(metric.calls) == 2


def function(body: str):
    """A function compiled from text, so that twice the same text gives two code objects."""
    scope: dict = {}
    exec(f"def f(source, output):\n    return {body}", scope)
    return scope["f"]


def test_a_wrapped_function_is_known_by_its_code_alone():
    body = "float(sum(word in {'a', 'b', 'c'} for word in output.split()))"
    signature = str(wrap(function(body), "f").signature("source"))
    assert str(wrap(function(body), "f").signature("source")) == signature
    edited = body.replace("'c'", "'d'")
    assert str(wrap(function(edited), "f").signature("source")) != signature


def test_the_file_does_not_depend_on_the_order_of_scoring(tmp_path):
    rows = [{"source": f"s{i}", "output": "o" * i} for i in range(1, 9)]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run(dataset(*rows), Logged(), whole)
    for some in (rows[5:], rows[::-2], rows):
        run(dataset(*some), Logged(), parts)
    assert contents(whole) == contents(parts)


# ------------------------------------------------------------------------ when something fails


def test_an_error_is_a_row_and_is_tried_again(tmp_path):
    metric = Logged(broken=["output 2"])
    found = run(THREE, metric, tmp_path)
    assert found["status"].tolist() == ["ok", "error", "ok"]
    assert found["detail"][1] == "ValueError: cannot read output 2"
    assert math.isnan(found["value"][1])
    mended = Logged()
    assert run(THREE, mended, tmp_path)["status"].tolist() == ["ok"] * 3
    assert mended.calls == ["output 2"]


def test_when_all_fails_nothing_is_stored(tmp_path):
    found = run(THREE, Logged(broken=["output 1", "output 2", "output 3"]), tmp_path)
    assert set(found["status"]) == {"error"}
    assert [name for name in contents(tmp_path) if not name.endswith(".lock")] == []


ONE = (Score(0.5),)

#: what the metric yields for three items, then the statuses and part of the last detail
ANSWERS = {
    "raises at once": ([RuntimeError("no model")], "error error error", "RuntimeError: no model"),
    "raises midway": ([ONE, RuntimeError("gone")], "ok error error", "RuntimeError: gone"),
    "raises at the end": ([ONE, ONE, ONE, RuntimeError("late")], "ok ok ok", ""),
    "too few units": ([ONE, ONE], "ok ok error", "the metric returned too few scores"),
    "no units": ([], "error error error", "the metric returned too few scores"),
    "too many units": ([ONE] * 5, "ok ok ok", ""),
    "two scores for one item": ([ONE, ONE * 2], "ok error error", "2 scores for 1 rewrites"),
    "no scores for one item": ([ONE, ()], "ok error error", "0 scores for 1 rewrites"),
    "a number for a tuple": ([ONE, 0.5], "ok error error", "TypeError"),
    "a number for a score": ([ONE, (0.5,)], "ok error error", "AttributeError"),
    "a text for a value": ([ONE, (Score("high"),)], "ok error error", "ValueError"),  # type: ignore[arg-type]
    "no value": ([ONE, (Score(None),)], "ok error error", "TypeError"),  # type: ignore[arg-type]
    "an unknown status": ([ONE, (Score(1, "fine"),)], "ok error error", "'fine' is not a valid"),  # type: ignore[arg-type]
    "NaN": ([ONE, ONE, (Score(NAN),)], "ok ok invalid", "the metric returned nan"),
    "infinity": ([ONE, ONE, (Score(-math.inf),)], "ok ok invalid", "the metric returned -inf"),
    "a refusal": ([ONE, ONE, (Score(NAN, Status.REFUSED, "no"),)], "ok ok refused", "no"),
    "a status as text": ([ONE, ONE, (Score(0, "empty"),)], "ok ok empty", ""),  # type: ignore[arg-type]
    "numbers of numpy": ([ONE, ONE, (Score(np.float32(0.5)),)], "ok ok ok", ""),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("answers", "statuses", "detail"), ANSWERS.values(), ids=ANSWERS)
def test_whatever_a_metric_does_each_item_has_a_row(answers, statuses, detail, tmp_path):
    found = run(THREE, Scripted(*answers), tmp_path)
    assert found["status"].tolist() == statuses.split()
    assert detail in found["detail"].iloc[-1]
    assert (found["detail"].iloc[-1] == "") == (detail == "")
    has_value = found["status"].isin(["ok", "empty", "truncated"])
    assert found["value"].notna().tolist() == has_value.tolist()


@pytest.mark.parametrize("value", [NAN, math.inf])
def test_a_value_that_is_no_number_is_kept_as_invalid_and_not_tried_again(value, tmp_path):
    found = run(THREE, Logged(value=value), tmp_path)
    assert set(found["status"]) == {"invalid"}
    again = Logged()
    pd.testing.assert_frame_equal(run(THREE, again, tmp_path), found)
    assert again.calls == []


def test_a_value_beside_a_refusal_does_not_count(tmp_path):
    found = run(dataset({}), Scripted((Score(0.7, Status.REFUSED),)), tmp_path)
    assert math.isnan(found["value"][0])


def test_an_interruption_keeps_what_was_finished(tmp_path):
    class Interrupted(Logged):
        def value(self, request: Request) -> float:
            if request.output == "output 3":
                raise KeyboardInterrupt
            return super().value(request)

    with pytest.raises(KeyboardInterrupt):
        run(THREE, Interrupted(), tmp_path)
    metric = Logged()
    run(THREE, metric, tmp_path)
    assert metric.calls == ["output 3"]


# ---------------------------------------------------------------------- units of other sizes


class Ranked(Logged):
    """Place of each output among the rewrites of its source, by length."""

    name = "ranked"
    unit = "source"

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        for unit in units:
            self.calls.append("+".join(request.output for request in unit))
            lengths = sorted(len(request.output) for request in unit)
            yield tuple(Score(lengths.index(len(request.output)) + 1.0) for request in unit)


MIXED = dataset(
    {"source_id": "x", "output": "ccc"},
    {"source_id": "y", "output": "d"},
    {"source_id": "x", "output": "a"},
    {"source_id": "x", "output": "bb"},
    {"source_id": "z", "output": "e"},
)


def test_all_rewrites_of_a_source_go_together_and_come_back_in_the_order_of_items(tmp_path):
    metric = Ranked()
    found = run(MIXED, metric, tmp_path)
    assert metric.calls == ["ccc+a+bb", "d", "e"]
    assert found["item_id"].tolist() == ["1", "2", "3", "4", "5"]
    assert found["value"].tolist() == [3, 1, 1, 2, 1]
    again = Ranked()
    pd.testing.assert_frame_equal(run(MIXED, again, tmp_path), found)
    assert again.calls == []


def test_a_source_with_another_rewrite_is_another_unit(tmp_path):
    run(MIXED, Ranked(), tmp_path)
    metric = Ranked()
    run(MIXED.where(MIXED.items["item_id"] != "4"), metric, tmp_path)
    assert metric.calls == ["ccc+a"]


def test_a_unit_that_fails_in_part_is_shown_in_part_and_tried_again_as_a_whole(tmp_path):
    metric = Logged(broken=["a"])
    metric.unit = "source"
    found = run(MIXED, metric, tmp_path)
    assert found["status"].tolist() == ["ok", "ok", "error", "ok", "ok"]
    assert found["value"].dropna().tolist() == [3, 1, 2, 1]
    mended = Logged()
    mended.unit = "source"
    assert run(MIXED, mended, tmp_path)["value"].tolist() == [3, 1, 1, 2, 1]
    assert mended.calls == ["ccc", "a", "bb"]


class Accuracy(CorpusMetric):
    """Share of outputs that equal the text they are compared with."""

    name = "accuracy"

    def statistics(self, request: Request) -> np.ndarray:
        return np.array([request.output in request.against, bool(request.output)])

    def aggregate(self, total: np.ndarray) -> float:
        return float(total[0] / total[1]) if total[1] else NAN


def test_a_corpus_metric_keeps_additive_statistics(tmp_path):
    given = dataset({"source": "a", "output": "a"}, {"source": "b", "output": "c"}, {"output": ""})
    for _ in range(2):  # computed, then from the store
        found = run(given, Accuracy(), tmp_path)
        assert found["detail"].tolist() == ["[1.0, 1.0]", "[0.0, 1.0]", "[0.0, 0.0]"]
        assert found["value"].tolist()[:2] == [1, 0]
        assert found["status"].tolist() == ["ok", "ok", "invalid"]
        assert Accuracy().combine(list(found["detail"])) == 0.5


def test_corpus_bleu_of_scored_items_is_that_of_sacrebleu(tmp_path):
    import sacrebleu

    rows = [
        {"output": "the small cat sat on a red mat", "references": ["the small cat sat on a mat"]},
        {"output": "we left early", "references": ["we left quite early today"]},
        {"output": "all is well here now", "references": ["all is well here"]},
    ]
    found = scoring.score(
        dataset(*rows), ["corpus-bleu"], bases=["reference"], store=tmp_path, progress=False
    )
    metric = metrics.get("corpus-bleu")
    assert isinstance(metric, CorpusMetric)
    outputs = [str(row["output"]) for row in rows]
    expected = sacrebleu.corpus_bleu(outputs, [[row["references"][0] for row in rows]]).score
    assert metric.combine(list(found["detail"])) == pytest.approx(expected)


# ------------------------------------------------------------------------- crashes, simulated


def journal_of(store: Path) -> Path:
    [table] = store.glob("*.parquet")
    return table.with_suffix(".journal")


@pytest.fixture
def crashed(tmp_path, monkeypatch):
    """A store whose run ended before the journal became a table; gives the journal's bytes."""
    four = dataset({}, {"output": "ü 😀"}, {"output": "line\nend"}, {})
    with monkeypatch.context() as patch:
        patch.setattr(scoring, "write_parquet", lambda *_: (_ for _ in ()).throw(MemoryError))
        with pytest.raises(MemoryError):
            run(four, Logged(), tmp_path / "s")
    [journal] = (tmp_path / "s").glob("*.journal")
    return four, journal, journal.read_bytes()


def test_a_journal_cut_at_any_byte_loses_at_most_the_line_that_was_cut(crashed, tmp_path):
    four, journal, written = crashed
    expected = run(four, Logged(), tmp_path / "whole")
    table = contents(tmp_path / "whole")
    assert written.count(b"\n") == 4
    for end in [*range(0, len(written), 5), len(written) - 1, len(written)]:
        journal.write_bytes(written[:end])
        metric = Logged()
        pd.testing.assert_frame_equal(run(four, metric, journal.parent), expected)
        assert len(metric.calls) == 4 - written[:end].count(b"\n")
        assert contents(journal.parent) == table
        journal.with_suffix(".parquet").unlink()


def test_a_journal_beside_a_table_is_added_to_it(crashed):
    four, journal, written = crashed
    lines = written.splitlines(keepends=True)
    for first, second in [(lines[:2], lines[2:]), (lines, []), ([], lines), (lines[1:], lines[:3])]:
        for part in (first, second):
            journal.write_bytes(b"".join(part) + b'["torn')
            scoring._Store(journal.parent, Logged().signature("source"))._merge()
        metric = Logged()
        run(four, metric, journal.parent)
        assert metric.calls == []
        journal.with_suffix(".parquet").unlink()


def test_a_crash_between_writing_the_table_and_removing_the_journal_does_no_harm(crashed):
    four, journal, written = crashed
    run(four, Logged(), journal.parent)
    stored = contents(journal.parent)
    journal.write_bytes(written)
    metric = Logged()
    run(four, metric, journal.parent)
    assert metric.calls == []
    assert contents(journal.parent) == stored


def test_a_crash_while_the_table_is_written_leaves_nothing_for_good(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(THREE, Logged(), tmp_path / "cut")
    metric = Logged()
    run(THREE, metric, tmp_path / "cut")
    run(THREE, Logged(), tmp_path / "whole")
    assert metric.calls == []
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_an_empty_journal_is_no_harm(tmp_path):
    run(THREE, Logged(), tmp_path)
    stored = contents(tmp_path)
    journal_of(tmp_path).write_bytes(b"")
    run(THREE, Logged(), tmp_path)
    assert contents(tmp_path) == stored


# ------------------------------------------------------------------------------ human ratings


def test_human_style_is_the_mean_rating_of_style_offered_as_a_metric():
    ratings = {
        ("style", "r1"): [1, NAN, 5],
        ("style", "r2"): [4, NAN, NAN],
        ("content", "r1"): [NAN, 3, NAN],
    }
    found = scoring.human_style(dataset({}, {}, {}, ratings=ratings))
    assert found["item_id"].tolist() == ["1", "3"]
    assert found["value"].tolist() == [2.5, 5]
    assert set(found["basis"]) == {"none"}
    assert set(found["dimension"]) == {"style"}


def test_without_style_ratings_there_is_no_human_style(tmp_path):
    assert len(scoring.human_style(THREE)) == 0
    assert len(scoring.score(THREE, ["human-style"], store=tmp_path)) == 0


@needs("pauli")
def test_human_style_on_the_constructed_set():
    pauli = data.load("pauli")
    found = scoring.human_style(pauli)
    assert len(found) == 500
    content = pauli.means["content"]
    assert content.corr(found.set_index("item_id")["value"]) == pytest.approx(0.545, abs=5e-4)


def test_released_scores_can_be_chosen_by_name():
    tables = [
        scores_table("tiny", "1", [1], metric=name, dimension="content", basis="none", fields={})
        for name in ("released:a", "released:b")
    ]
    given = dataset({}, scores=pd.concat(tables))
    assert len(scoring.released(given)) == 2
    assert scoring.released(given, ["released:b"])["signature"].tolist() == [
        "released:b|basis:none"
    ]


def test_released_scores_of_items_that_are_not_there_are_refused():
    table = scores_table("tiny", "9", [1], metric="m", dimension="style", basis="none", fields={})
    with pytest.raises(DataError, match="no item is called '9'"):
        dataset({}, scores=table)
