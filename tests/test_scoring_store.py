"""The score store: nothing finished is ever computed again, whatever fails or dies."""

import math
import sqlite3
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.scored import NAN, THREE, Logged, contents, dataset, run
from tstmeta import scoring
from tstmeta.metrics import PairMetric, Request, Score
from tstmeta.schema import Status, TstmetaError
from tstmeta.store import FILE


class Scripted(PairMetric):
    """Yields what it is told to, whatever the requests are; an exception is raised."""

    name = "scripted"
    bases = ("source",)

    def __init__(self, *answers: Score | Exception | object):
        self.answers = answers

    def score(self, requests: Iterable[Request]) -> Iterator[Score]:
        for answer in self.answers:
            if isinstance(answer, BaseException):
                raise answer
            yield answer  # type: ignore[misc]


SIGNATURE = "shared|basis:source|version:1"


@pytest.mark.parametrize(
    ("request_", "key"),
    [
        (Request("", ()), "297710896dcbd2aa810599ef2b593b70"),
        (Request("An owl.", ("A bird.",), "A bird.", "formal"), "bb85e8f6311d43450cfe95a60e26c8e6"),
        (Request("\ud83d", ()), "f96b089450817033e80504953b31b0b8"),
        (Request("قطّ 🦉", ("قطّ", ""), "", "", "ar"), "33f68f498d74c06e4c7600827438e213"),
    ],
)
def test_a_key_written_once_is_found_again(request_: Request, key: str):
    assert scoring.key_of(SIGNATURE, request_) == key


def test_what_was_scored_is_never_scored_again(tmp_path):
    metric, again = Logged(), Logged()
    first = run(THREE, metric, tmp_path)
    stored = contents(tmp_path)
    second = run(THREE, again, tmp_path)
    assert (len(metric.calls), again.calls) == (3, [])
    pd.testing.assert_frame_equal(first, second)
    assert contents(tmp_path) == stored
    found = run(dataset({}, {}, {}, {}), again, tmp_path)
    assert (again.calls, found["value"].notna().all()) == (["output 4"], True)


@pytest.mark.parametrize(
    ("difference", "calls"),
    [
        *(({name: "other"}, 2) for name in ("language", "style", "source")),
        *(({name: "other"}, 1) for name in ("system", "direction", "source_id")),
    ],
)
def test_what_a_metric_can_see_makes_a_difference_and_nothing_else(difference, calls, tmp_path):
    base = {"source": "s", "output": "o", "source_id": "y"}
    metric = Logged()
    run(dataset(base, {**base, **difference}), metric, tmp_path)
    assert len(metric.calls) == calls


def test_the_rows_do_not_depend_on_the_order_of_scoring(tmp_path):
    rows = [{"source": f"s{i}", "output": "o" * i} for i in range(1, 9)]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run(dataset(*rows), Logged(), whole)
    for some in (rows[5:], rows[::-2], rows):
        run(dataset(*some), Logged(), parts)
    assert contents(whole) == contents(parts)


def test_an_error_is_a_row_and_is_tried_again(tmp_path):
    found = run(THREE, Logged(broken=["output 2"]), tmp_path)
    assert found["status"].tolist() == ["ok", "error", "ok"]
    assert found["detail"][1] == "ValueError: cannot read output 2"
    assert math.isnan(found["value"][1])
    mended = Logged()
    assert run(THREE, mended, tmp_path)["status"].tolist() == ["ok"] * 3
    assert mended.calls == ["output 2"]


ONE = Score(0.5)

#: what the metric yields for three items, then the statuses and part of the last detail
ANSWERS = {
    "raises at once": ([RuntimeError("no model")], "error error error", "RuntimeError: no model"),
    "raises midway": ([ONE, RuntimeError("gone")], "ok error error", "RuntimeError: gone"),
    "says what to do": ([ONE, TstmetaError("mend it")], "ok error error", "mend it"),
    "leaves": ([ONE, SystemExit(3)], "ok error error", "SystemExit: 3"),
    "too few scores": ([ONE, ONE], "ok ok error", "the metric returned too few scores"),
    "two scores for one item": ([ONE, (ONE, ONE)], "ok error error", "AttributeError: 'tuple' "),
    "a number for a score": ([ONE, 0.5], "ok error error", "AttributeError: 'float' "),
    "a text for a value": ([ONE, Score("high")], "ok error error", "ValueError"),  # type: ignore[arg-type]
    "an unknown status": ([ONE, Score(1, "fine")], "ok error error", "ValueError: 'fine'"),  # type: ignore[arg-type]
    "infinity": ([ONE, ONE, Score(-math.inf)], "ok ok invalid", "the metric returned -inf"),
    "a value beside a refusal": ([ONE, ONE, Score(0.7, Status.REFUSED)], "ok ok refused", ""),
    "a status as text": ([ONE, ONE, Score(0, "empty")], "ok ok empty", ""),  # type: ignore[arg-type]
    "numbers of numpy": ([ONE, ONE, Score(np.float32(0.5))], "ok ok ok", ""),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("answers", "statuses", "detail"), ANSWERS.values(), ids=ANSWERS)
def test_whatever_a_metric_does_each_item_has_a_row(answers, statuses, detail, tmp_path):
    found = run(THREE, Scripted(*answers), tmp_path)
    assert found["status"].tolist() == statuses.split()
    assert found["detail"].iloc[-1].startswith(detail)
    assert (found["detail"].iloc[-1] == "") == (detail == "")
    has_value = found["status"].isin(["ok", "empty", "truncated"])
    assert found["value"].notna().tolist() == has_value.tolist()


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


def overwritten(path: Path) -> None:
    for file in path.parent.glob(f"{FILE}*"):
        file.unlink()
    path.write_bytes(b"PAR1 and then nothing" * 99)


def renamed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("ALTER TABLE scores RENAME COLUMN key TO x")


#: What is wrong with a store, and words of the message.
BROKEN = {
    "another file": (overwritten, "file is not a database"),
    "another table": (renamed, "no such column"),
}


@pytest.mark.parametrize(("broken", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_store_names_file_row_and_remedy(broken, message, tmp_path):
    expected, metric = run(THREE, Logged(), tmp_path), Logged()
    file = tmp_path / FILE
    broken(file)
    with pytest.raises(TstmetaError, match=f"{file}: .*{message}.*Remedy: delete this file"):
        run(THREE, metric, tmp_path)
    assert metric.calls == []
    file.unlink()
    pd.testing.assert_frame_equal(run(THREE, metric, tmp_path), expected)
    assert len(metric.calls) == 3


def test_a_store_that_cannot_be_written_is_named_with_a_remedy(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TstmetaError, match=f"{tmp_path}/file/{FILE}.* Remedy: see that there is"):
        run(THREE, Logged(), tmp_path / "file")
    (tmp_path / FILE).mkdir()
    with pytest.raises(TstmetaError, match=f"{tmp_path}/{FILE}.* Remedy: see that there is"):
        run(THREE, Logged(), tmp_path)


def test_a_detail_with_half_a_character_is_kept_and_stops_no_later_run(tmp_path):
    halves = Scripted(*[Score(NAN, Status.REFUSED, "no \ud83d")] * 3)
    details = [run(THREE, metric, tmp_path)["detail"] for metric in (halves, Scripted())]
    assert details[0].tolist() == details[1].tolist() == ["no ?"] * 3
    failed = run(THREE, Scripted(ValueError("no \ud83d")), tmp_path / "error")
    assert set(failed["detail"]) == {"ValueError: no ?"}


def test_only_the_owner_reads_a_store(tmp_path):
    run(THREE, Logged(), tmp_path / "s")
    files = list((tmp_path / "s").glob("store.sqlite*"))
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_a_store_that_is_moved_away_or_deleted_is_begun_anew_in_the_same_process(tmp_path):
    run(THREE, Logged(), tmp_path / "s")
    (tmp_path / "s").rename(tmp_path / "moved")
    metric, moved = Logged(), Logged()
    run(THREE, metric, tmp_path / "s")
    run(THREE, moved, tmp_path / "moved")
    assert (len(metric.calls), moved.calls) == (3, [])


def test_threads_share_a_store(tmp_path):
    with ThreadPoolExecutor(4) as pool:
        metrics = [Logged(version=number % 2) for number in range(8)]
        tables = list(pool.map(lambda metric: run(THREE, metric, tmp_path), metrics))
    assert sum(len(metric.calls) for metric in metrics) == 6
    assert all(table["value"].equals(tables[0]["value"]) for table in tables)
    assert list((tmp_path / "claims").iterdir()) == contents(tmp_path)["claims"] == []
