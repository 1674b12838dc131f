"""The score store: nothing finished is ever computed again, whatever fails or dies."""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scored import NAN, THREE, Logged, contents, dataset, run
from tstmeta import scoring
from tstmeta.metrics import PairMetric, Request, Score, wrap
from tstmeta.schema import Signature, Status, TstmetaError


class Scripted(PairMetric):
    """Yields what it is told to, whatever the units are; an exception is raised."""

    name = "scripted"
    bases = ("source",)

    def __init__(self, *answers: tuple[Score, ...] | Exception | object):
        self.answers = answers

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        for answer in self.answers:
            if isinstance(answer, BaseException):
                raise answer
            yield answer  # type: ignore[misc]


# ------------------------------------------------------------- keys: stores outlive the code

SIGNATURE = Signature.of("shared", {"basis": "source", "version": "1"})


def plain_key(signature: Signature, unit: Sequence[Request]) -> str:
    """The key by its definition: lengths before texts, then how many were compared with."""
    data = str(signature).encode()
    for request in unit:
        for text in (*request.against, request.output, request.source, request.style):
            encoded = text.encode("utf-8", "surrogatepass")
            data += len(encoded).to_bytes(8, "little") + encoded
        data += f"/{len(request.against)}/{request.language}".encode()
    return hashlib.sha256(data).hexdigest()[:32]


@pytest.mark.parametrize(
    ("unit", "key"),
    [
        ((), "71be982f8eb086f2a7df840912e30b9c"),
        ((Request("", ()),), "297710896dcbd2aa810599ef2b593b70"),
        (
            (Request("An owl.", ("A bird.",), "A bird.", "formal"),),
            "bb85e8f6311d43450cfe95a60e26c8e6",
        ),
        (
            (Request("قطّ 🦉", ("قطّ", ""), "", "", "ar"), Request("b", ("a",))),
            "dc5d0d444c9d201bef520dae7e7d500c",
        ),
    ],
)
def test_a_key_written_once_is_found_again(unit: tuple[Request, ...], key: str):
    assert scoring.key_of(SIGNATURE, unit) == key


texts = st.text(max_size=8) | st.just("\ud800")
requests = st.builds(
    Request, texts, st.lists(texts, max_size=3).map(tuple), texts, texts, st.just("en")
)


@given(st.lists(requests, max_size=3), st.text(max_size=4))
def test_keys_follow_their_definition_in_any_order(unit: list[Request], version: str):
    other = Signature.of("shared", {"version": version})
    for signature in (SIGNATURE, other, SIGNATURE):
        assert scoring.key_of(signature, unit) == plain_key(signature, unit)


# ------------------------------------------------------------------------------ what is kept


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


def test_another_signature_is_scored_anew_and_the_old_one_stays(tmp_path):
    run(THREE, Logged(), tmp_path)
    newer, older = Logged(version=2), Logged(version=1)
    run(THREE, newer, tmp_path)
    run(THREE, older, tmp_path)
    assert (len(newer.calls), len(older.calls)) == (3, 0)


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


ONE = (Score(0.5),)

#: what the metric yields for three items, then the statuses and part of the last detail
ANSWERS = {
    "raises at once": ([RuntimeError("no model")], "error error error", "RuntimeError: no model"),
    "raises midway": ([ONE, RuntimeError("gone")], "ok error error", "RuntimeError: gone"),
    "leaves": ([ONE, SystemExit(3)], "ok error error", "SystemExit: 3"),
    "too few units": ([ONE, ONE], "ok ok error", "the metric returned too few scores"),
    "too many units": ([ONE] * 5, "ok ok ok", ""),
    "two scores for one item": ([ONE, ONE * 2], "ok error error", "2 scores for 1 rewrites"),
    "a number for a tuple": ([ONE, 0.5], "ok error error", "TypeError"),
    "a text for a value": ([ONE, (Score("high"),)], "ok error error", "ValueError"),  # type: ignore[arg-type]
    "an unknown status": ([ONE, (Score(1, "fine"),)], "ok error error", "'fine' is not a valid"),  # type: ignore[arg-type]
    "infinity": ([ONE, ONE, (Score(-math.inf),)], "ok ok invalid", "the metric returned -inf"),
    "a value beside a refusal": ([ONE, ONE, (Score(0.7, Status.REFUSED),)], "ok ok refused", ""),
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


# ------------------------------------------------------------------------- crashes, simulated


@pytest.fixture
def crashed(tmp_path, monkeypatch):
    """A store whose run ended before the journal became a table; gives the journal's bytes."""
    four = dataset({}, {"output": "ü 😀"}, {"output": "line\nend"}, {})
    with monkeypatch.context() as patch:
        patch.setattr("pyarrow.parquet.write_table", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(four, Logged(), tmp_path / "s")
    [journal] = (tmp_path / "s").glob("*.journal")
    return four, journal, journal.read_bytes()


def test_a_journal_beside_a_table_is_added_to_it(crashed):
    four, journal, written = crashed
    lines = written.splitlines(keepends=True)
    for first, second in [(lines[:2], lines[2:]), (lines, []), ([], lines), (lines[1:], lines[:3])]:
        for part in (first, second):
            journal.write_bytes(b"".join(part) + b'["torn')
            scoring._Store(journal.parent, Logged().signature("source"))._kept([])
        metric = Logged()
        run(four, metric, journal.parent)
        assert metric.calls == []
        journal.with_suffix(".parquet").unlink()


@pytest.mark.parametrize(
    "step", ["pyarrow.parquet.write_table", "os.replace", "pathlib.Path.unlink"]
)
def test_a_run_that_dies_while_it_writes_the_table_loses_nothing(tmp_path, monkeypatch, step):
    with monkeypatch.context() as patch:
        patch.setattr(step, lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(THREE, Logged(), tmp_path / "cut")
    metric = Logged()
    run(THREE, metric, tmp_path / "cut")
    run(THREE, Logged(), tmp_path / "whole")
    assert metric.calls == []
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


#: Lines of a journal; KEY is that of an item which was scored.
DAMAGED = ["garbage", "\udcff\udcfe", "17", '["KEY"]', '["KEY", [["a", "ok", ""]]]', "[" * 99_999]
DAMAGED += [f'["KEY", [[{value}, "ok", ""]]]' for value in ("NaN", 10**400)]
DAMAGED += ['["KEY", [[1, "invalid", ""]]]', '["KEY", [[1, "fine", ""]]]']
DAMAGED += [
    '["KEY", [[1, "ok", "\\ud800"]]]',
    '["another", [[1, "ok", ""]]]',
    '[["KEY"], [[1, "ok", ""]]]',
]


@pytest.mark.parametrize("damage", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_line_of_a_journal_is_scored_again_and_no_other(damage, tmp_path):
    run(THREE, Logged(), tmp_path)
    (table,) = tmp_path.glob("*.parquet")
    rows = pd.read_parquet(table)
    lines = [json.dumps([row.key, [[row.value, row.status, ""]]]) for row in rows.itertuples()]
    table.unlink()
    lines[1] = damage.replace("KEY", rows["key"][1])
    journal = table.with_suffix(".journal")
    journal.write_bytes("\n".join([*lines, ""]).encode(errors="surrogateescape"))
    metric = Logged()
    found = run(THREE, metric, tmp_path)
    assert (len(metric.calls), found["value"].notna().all()) == (1, True)
    pd.testing.assert_frame_equal(pd.read_parquet(table), rows)


def altered(**cells):
    """What makes the second row of a table another one."""
    return lambda rows: rows.assign(
        **{name: [*rows[name][:1], cell, *rows[name][2:]] for name, cell in cells.items()}
    )


#: What is wrong with a table of the store, how it came about, and words of the message.
BROKEN = {
    "no file": (lambda _: b"", "not a table of what was computed"),
    "another file": (lambda _: b"PAR1 and then nothing", "not a table of what was computed"),
    "another table": (lambda _: pd.DataFrame({"other": [1]}), "not a table of what was computed"),
    "NaN with status ok": (altered(value=NAN), "row 2: value nan with status 'ok'"),
    "a value that is none": (altered(status="refused"), "row 2: value 8.0 with status 'refused'"),
    "an unknown status": (altered(status="fine"), "row 2: value 8.0 with status 'fine'"),
    "a key of no hash": (altered(key="key"), "row 2: .* key 'key'"),
    "a key twice": (lambda rows: pd.concat([rows, rows[:1]]), "row 4: .* key"),
}


@pytest.mark.parametrize(("broken", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_table_names_file_row_and_remedy_and_nothing_else_is_lost(
    broken, message, tmp_path
):
    expected = run(THREE, Logged(), tmp_path)
    (table,) = tmp_path.glob("*.parquet")
    run(THREE, Logged(version=2), tmp_path)
    damaged = broken(pd.read_parquet(table))
    table.unlink()
    if isinstance(damaged, bytes):
        table.write_bytes(damaged)
    else:
        damaged.to_parquet(table, index=False)
    before, metric = contents(tmp_path), Logged()
    with pytest.raises(TstmetaError, match=f"{table}[,:] {message}.*Remedy: delete this file"):
        run(THREE, metric, tmp_path)
    assert (metric.calls, contents(tmp_path)) == ([], before)
    table.unlink()
    pd.testing.assert_frame_equal(run(THREE, metric, tmp_path), expected)
    again = Logged(version=2)
    run(THREE, again, tmp_path)
    assert (len(metric.calls), again.calls) == (3, [])


def test_a_detail_with_half_a_character_is_kept_and_stops_no_later_run(tmp_path):
    halves = Scripted(*[(Score(NAN, Status.REFUSED, "no \ud83d"),)] * 3)
    details = [run(THREE, metric, tmp_path)["detail"] for metric in (halves, Scripted())]
    assert details[0].tolist() == details[1].tolist() == ["no ?"] * 3
    failed = run(THREE, Scripted(ValueError("no \ud83d")), tmp_path / "error")
    assert set(failed["detail"]) == {"ValueError: no ?"}


def test_only_the_owner_reads_a_store(crashed):
    four, journal, _ = crashed
    assert journal.stat().st_mode & 0o777 == 0o600
    run(four, Logged(), journal.parent)
    assert journal.with_suffix(".parquet").stat().st_mode & 0o777 == 0o600
