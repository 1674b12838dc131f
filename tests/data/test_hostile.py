"""Files made to break a reader: the command says file, row and column, and ends with 2."""

import json
import os
import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.command import CSV
from tstmeta import cli

HALF = "\ud83d"  # of a character: JSON can spell it, UTF-8 cannot
DEEP = "[" * 99_999
NESTED = json.loads("[" * 40 + "]" * 40)


def csv(column, cell):
    return f'source,output,{column}\na,b,x\nc,d,"{cell}"\n'


def jsonl(**cells):
    first = {"source": "a", "output": "b"}
    return "".join(json.dumps(row) + "\n" for row in (first, {**first, **cells}))


def parquet(column, values, kind):
    """Two rows, one column of interest; ``values`` are numbers where Python has no such value."""
    plain = pa.int32() if kind == pa.date32() else pa.int64()
    numbers = all(isinstance(value, int) for value in values)
    odd = pa.array(values, plain).cast(kind, safe=False) if numbers else pa.array(values, kind)
    table = {"source": ["a", "b"], "output": ["c", "d"], "item_id": ["1", "2"], column: odd}
    return pa.table(table)


SCORES = '{"item_id": "1", "metric": "m", "value": 1}\n'
RATINGS = '{"item_id": "1", "dimension": "fluency", "rater": "r1", "value": 1}\n'


def changed(line, **cells):
    """A good line, then the same with other cells."""
    return line + json.dumps({**json.loads(line), "item_id": "2", **cells}) + "\n"


#: What it is: the file, what is in it, and words of the message.
DATA = {
    "references without end": (
        *("m.csv", csv("references", DEEP), "row 2, column references", "bad value '[[["),
    ),
    "a label without end": ("m.jsonl", jsonl(mood=NESTED), "row 2, column mood", "20 deep"),
    "a line without end": ("m.jsonl", jsonl() + DEEP, "row 3: not JSON", "one complete"),
    "a byte that is no text": ("m.csv", csv("system", "caf\udce9"), "row 2, column sys", "UTF-8"),
    "half a character in a text": ("m.jsonl", jsonl(source=HALF), "row 2, column source", "UTF-8"),
    "half a character in a name": ("m.jsonl", jsonl(**{HALF: 1}), "column ?", "UTF-8"),
    "half a character in an object": (
        *("m.jsonl", jsonl(mood={"a": [HALF]}), "row 2, column mood", "UTF-8"),
    ),
    "half a character in a key": ("m.jsonl", jsonl(mood={HALF: 1}), "row 2, column mood", "UTF-8"),
    "half a reference in a cell": (
        *("m.csv", csv("references", '[""\\ud83d""]'), "row 2, column references", "bad value"),
    ),
    "half a reference": ("m.jsonl", jsonl(references=[HALF]), "row 2, column references", "UTF-8"),
    "an object as source": ("m.jsonl", jsonl(source={"a": 1}), "row 2, column source", "a text"),
    "a date after all dates": (
        *("m.parquet", parquet("day", [0, 2**30], pa.date32()), "row 2, column day", "as a text"),
    ),
    "a time after all times": (
        *("m.parquet", parquet("at", [0, 2**62], pa.timestamp("us")), "row 2, column at", "text"),
    ),
    "a time zone of nobody's": (
        "m.parquet",
        parquet("at", [0, 1], pa.timestamp("us", tz="Nowhere/At-all")),
        *("row 1, column at", "as a text"),
    ),
    "a duration without end": (
        *("m.parquet", parquet("t", [0, 2**62], pa.duration("s")), "row 2, column t", "as a text"),
    ),
    "bytes that are no text": (
        *("m.parquet", parquet("item_id", [b"1", b"\xff"], pa.binary()), "row 2, column item_id"),
        "UTF-8",
    ),
    "a struct as rating": (
        "m.parquet",
        parquet("style.r1", [{"a": 1}] * 2, pa.struct({"a": pa.int8()})),
        *("row 1, column style.r1", "a finite number"),
    ),
    "a decimal as system": (
        "m.parquet",
        parquet("system", [Decimal("1.5")] * 2, pa.decimal128(9, 1)),
        *("row 1, column system", "Decimal('1.5')"),
    ),
    "a name that is no text": ("\udcff.csv", CSV, "the name of the file is not UTF-8", "rename it"),
    "a sidecar without end": ("mine.csv.toml", "title = " + DEEP, "mine.csv.toml: not TOML", "use"),
    "a scale without end": ("mine.csv.toml", "scale.content = [1, inf]", "scale.content", "finite"),
}
FILES = {
    "ratings: a list as id": ("ratings", changed(RATINGS, item_id=["1"]), "row 2, column item_id"),
    "ratings: an object as rater": (
        *("ratings", changed(RATINGS, rater={"a": 1}), "row 2, column rater"),
    ),
    "ratings: a list as dimension": (
        *("ratings", changed(RATINGS, dimension=["style"]), "row 2, column dimension"),
    ),
    "ratings: half a rater": ("ratings", changed(RATINGS, rater=HALF), "row 2, column rater"),
    "scores: a list as id": ("scores", changed(SCORES, item_id=["1"]), "row 2, column item_id"),
    "scores: a list as basis": ("scores", changed(SCORES, basis=["none"]), "row 2, column basis"),
    "scores: an object as signature": (
        *("scores", changed(SCORES, signature={"a": 1}), "row 2, column signature"),
    ),
    "scores: a list as status": ("scores", changed(SCORES, status=["ok"]), "row 2, column status"),
    "scores: half a metric": ("scores", changed(SCORES, metric=HALF), "row 2, column metric"),
    "scores: nesting": ("scores", changed(SCORES, detail=NESTED), "row 2, column detail"),
}


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Run ``tstmeta`` on what it must refuse: exit code 2, one message, which is returned."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text(CSV)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tstmeta", *words])
        with pytest.raises(SystemExit) as raised:
            cli.main()
        out, err = capsys.readouterr()
        assert (raised.value.code, out) == (2, "")
        assert err.startswith("error: ")
        assert "Traceback" not in err
        return err

    return run


def write(name, content):
    if isinstance(content, pa.Table):
        pq.write_table(content, name)
    else:
        with open(os.fsencode(name), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(content)


@pytest.mark.parametrize(("name", "content", "where", "what"), DATA.values(), ids=DATA)
def test_a_hostile_file_of_data_is_refused_by_row_and_column(refused, name, content, where, what):
    write(name, content)
    message = refused("data", "show", "mine.csv" if name.startswith("mine") else name)
    assert name.replace("\udcff", "?") in message
    assert where in message
    assert what in message
    assert len(message) < 600


@pytest.mark.parametrize(("option", "content", "where"), FILES.values(), ids=FILES)
def test_a_hostile_file_of_ratings_or_scores_is_refused_too(refused, option, content, where):
    write(f"{option}.jsonl", content)
    words = ("--data", "mine.csv", f"--{option}", f"{option}.jsonl", "--metric", "constant")
    message = refused("evaluate", *words, "--store", "store")
    assert f"error: 1 problem found:\n{option}.jsonl, {where}: " in message


@pytest.mark.parametrize("option", ["ratings", "scores"])
def test_thousands_of_unknown_ids_are_one_short_message(refused, option):
    line = {"ratings": RATINGS, "scores": SCORES}[option].replace('"1"', '"id-%d"')
    write(f"{option}.jsonl", "".join(line % number for number in range(4000)))
    message = refused("evaluate", "--data", "mine.csv", f"--{option}", f"{option}.jsonl")
    assert message.count("\n") == 42
    assert message.endswith("... and 3960 more\n")
