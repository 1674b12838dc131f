"""A file is scored in chunks: the same scores as in memory, the same bytes whoever computes."""

import os
import signal
import time
import warnings
from pathlib import Path

import distributed
import numpy as np
import pandas as pd
import pytest

import tstmeta as tst
from tests.scored import Logged
from tstmeta import bulk
from tstmeta.bulk import parts, score_file, workers
from tstmeta.data.files import parts_of
from tstmeta.schema import DataError, TstmetaError

ROWS = 2100
METRICS = ["length-ratio", "pinc", "corpus-bleu"]


def rewrites(n: int = ROWS) -> pd.DataFrame:
    """Rows by repetition of a few words, with ids and systems."""
    rng = np.random.default_rng(0)
    words = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "two", "dogs"]
    texts = [" ".join(rng.choice(words, rng.integers(3, 9))) for _ in range(2 * n)]
    return pd.DataFrame(
        {
            "item_id": [f"i{place}" for place in range(n)],
            "source": texts[:n],
            "output": texts[n:],
            "system": rng.choice(["a", "b"], n),
        }
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "mine.csv"
    rewrites().to_csv(path, index=False)
    return path


@pytest.fixture(autouse=True)
def chunks(monkeypatch):
    """Chunks are of 1000 rows."""
    monkeypatch.setattr(bulk, "CHUNK", 1000)


def scored(data, out, metrics=METRICS, **how) -> pd.DataFrame:
    how = {"bases": ["source"], "jobs": 1, **how}
    return score_file(data, metrics, out, **how)


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values(["metric", "item_id"], ignore_index=True)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_scores_are_those_that_are_computed_in_memory(tmp_path, ending):
    languages = np.resize(["en", "en", "de", "ru"], 1020)
    table = rewrites(1020).drop(columns="item_id").assign(language=languages)
    path, metrics = tmp_path / f"mine.{ending}", ["pinc", "meteor:no-synonyms", "corpus-bleu"]
    getattr(table, f"to_{ending}")(path, index=False)
    counts = scored(path, out := tmp_path / "scores.parquet", metrics).set_index("metric")
    memory = tst.score(tst.read(path), metrics, ["source"], store=tmp_path, progress=False)
    assert counts["scores"].tolist() == [1020] * 3
    assert counts["failed"].to_dict() == dict.fromkeys(metrics, 0) | {metrics[1]: 510}
    assert counts["reason"][metrics[1]].startswith("meteor")
    pd.testing.assert_frame_equal(in_order(pd.read_parquet(out)), in_order(memory))


def test_a_metric_sees_blocks_of_1000_rows(tmp_path, monkeypatch):
    sizes = []

    class Blocks(Logged):
        def score(self, requests):
            sizes.append(len(requests))
            return super().score(requests)

    monkeypatch.setattr(bulk, "CHUNK", 5000)
    rewrites().to_csv(tmp_path / "mine.csv", index=False)
    scored(tmp_path / "mine.csv", tmp_path / "s.parquet", [Blocks()])
    assert sizes == [1000, 1000, 100]


#: A metric at whose first call a worker dies; where there is a file "always", at each call.
MORTAL = """
import os, signal
from pathlib import Path

HERE = Path(__file__).parent

def length(source, output):
    if os.environ.get("MAY_DIE") and not (HERE / "died").exists():
        if not (HERE / "always").exists():
            (HERE / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return len(output) / len(source)
"""


@pytest.fixture
def mortal(tmp_path, monkeypatch):
    (tmp_path / "mortal.py").write_text(MORTAL)
    monkeypatch.setenv("MAY_DIE", "1")
    return f"{tmp_path / 'mortal.py'}:length"


def test_the_file_is_the_same_bytes_for_one_process_and_for_two_of_which_one_dies(
    file, tmp_path, mortal, monkeypatch, capfd
):
    first, second = tmp_path / "first.parquet", tmp_path / "second.parquet"
    scored(file, second, [mortal, "corpus-bleu"], jobs=2)
    assert (tmp_path / "died").exists()
    monkeypatch.delenv("MAY_DIE")
    scored(file, first, [mortal, "corpus-bleu"])
    assert first.read_bytes() == second.read_bytes()
    assert list(tmp_path.glob("second*")) == [second]
    assert capfd.readouterr().err == ""


def test_workers_that_die_again_and_again_end_the_run_in_a_line(
    file, tmp_path, mortal, monkeypatch, capfd
):
    (tmp_path / "always").touch()
    assert workers._CONFIG["distributed.scheduler.allowed-failures"] == 2
    monkeypatch.setitem(workers._CONFIG, "distributed.scheduler.allowed-failures", 0)
    with pytest.raises(TstmetaError, match=r"^the workers gave up .*Remedy: .*goes on$"):
        scored(file, tmp_path / "s.parquet", [mortal], jobs=2)
    assert capfd.readouterr().err == ""


def test_an_interrupt_while_workers_start_lets_them_start_and_closes_them(monkeypatch):
    class Slow:
        closed = 0

        def __init__(self, **_):
            time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)

        def close(self):
            Slow.closed += 1

    monkeypatch.setattr(distributed, "LocalCluster", Slow)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            next(workers._on_dask(None, iter([]), 2, ""))
    finally:
        signal.signal(signal.SIGINT, before)
    assert Slow.closed == 1


@pytest.mark.parametrize("group", [7, 1300])
def test_row_groups_of_parquet_do_not_show_in_chunks(tmp_path, group):
    path = tmp_path / "mine.parquet"
    rewrites().to_parquet(path, row_group_size=group)
    chunks = [part.table for part in parts_of(str(path), 1000)]
    assert [len(rows) for rows in chunks] == [1000, 1000, 100]
    every = rewrites().set_axis(range(1, ROWS + 1)).astype(object)
    pd.testing.assert_frame_equal(pd.concat(chunks), every)


def test_a_folder_is_read_by_name_and_its_rows_are_called_after_their_files(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    for name in ("b", "a"):
        rewrites(2).drop(columns="item_id").to_csv(folder / f"{name}.csv", index=False)
    (folder / "README.md").write_text("no rows")
    scored(folder, out := tmp_path / "s.parquet", ["pinc"])
    frame = pd.read_parquet(out)
    assert frame["item_id"].tolist() == ["a:1", "a:2", "b:1", "b:2"]
    assert set(frame["dataset"]) == {"rows"}


def test_what_was_scored_is_not_scored_again_but_for_a_damaged_part(file, tmp_path):
    out = tmp_path / "parts"
    scored(file, out, [first := Logged()])
    before = {path.name: path.read_bytes() for path in out.glob("part-*")}
    sorted(out.glob("part-*"))[1].write_bytes(b"PAR1")
    scored(file, out, [again := Logged()])
    assert (len(first.calls), again.calls) == (ROWS, first.calls[1000:2000])
    assert {path.name: path.read_bytes() for path in out.glob("part-*")} == before
    assert pd.read_parquet(out)["item_id"].tolist() == rewrites()["item_id"].tolist()


def test_a_finished_file_is_not_scored_again_and_a_changed_row_is(file, tmp_path):
    path, out = tmp_path / "mine.csv", tmp_path / "s.parquet"
    path.write_bytes(file.read_bytes())
    scored(path, out, [Logged()])
    scored(path, out, [again := Logged()])
    assert again.calls == []
    changed = rewrites()
    changed.loc[5, "output"] = "another"
    changed.to_csv(path, index=False)
    scored(path, out, [Logged()])
    assert pd.read_parquet(out)["value"][5] == len("another")


def test_only_the_chunk_that_was_mended_is_scored(tmp_path):
    table, path = rewrites(3000), tmp_path / "mine.csv"
    broken = table.assign(source=table["source"].where(~table.index.isin([1500, 2999]), ""))
    broken.to_csv(path, index=False)
    with pytest.raises(DataError) as caught:
        scored(path, tmp_path / "parts", [Logged()])
    faults = [(p.row, p.column) for p in caught.value.problems]
    assert faults == [(1501, "source"), (3000, "source")]
    table.to_csv(path, index=False)
    scored(path, tmp_path / "parts", [rest := Logged()])
    assert rest.calls == table["output"][1000:].tolist()


def test_what_failed_is_tried_again_and_nothing_else(file, tmp_path):
    first = scored(file, tmp_path / "s.parquet", [Logged(broken=[rewrites()["output"][2050]])])
    assert first[["failed", "errors"]].to_numpy().min() > 0
    second = scored(file, tmp_path / "s.parquet", [rest := Logged()])
    assert (len(rest.calls), second["failed"].sum()) == (100, 0)
    assert not (tmp_path / "s.parquet.parts").exists()


def test_parts_of_rows_that_are_gone_go(file, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(file.read_bytes())
    scored(path, tmp_path / "parts", [Logged()])
    rewrites(900).to_csv(path, index=False)
    scored(path, tmp_path / "parts", [Logged()])
    assert len(list((tmp_path / "parts").glob("part-*"))) == 1


def test_a_full_disk_is_named_and_loses_nothing(file, tmp_path, monkeypatch):
    replace, room = os.replace, iter(["part"])

    def full(draft, path):
        if next(room, None) is None:
            raise OSError(28, "No space left on device")
        replace(draft, path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        words = r"cannot write .*/part-.*: No space left .*Remedy: .*goes on"
        with pytest.raises(TstmetaError, match=words):
            scored(file, tmp_path / "parts", [Logged()])
    scored(file, tmp_path / "parts", [rest := Logged()])
    assert len(rest.calls) == ROWS - 1000


def test_a_file_of_which_no_row_has_a_score_is_written(tmp_path):
    (tmp_path / "a.csv").write_text("source,output\na b,a c\n")
    for _ in range(2):  # the second time it is finished
        table = scored(tmp_path / "a.csv", tmp_path / "o.parquet", ["bleu"], bases=["reference"])
        assert table["scores"].sum() == 0
    assert pd.read_parquet(tmp_path / "o.parquet").shape == (0, 10)
    assert not (tmp_path / "o.parquet.parts").exists()


def test_ids_that_come_twice_are_named_wherever_they_stand(tmp_path):
    table = rewrites()
    table.loc[[1700, 2050], "item_id"] = "i5"
    table.to_csv(tmp_path / "mine.csv", index=False)
    with pytest.raises(DataError) as caught:
        scored(tmp_path / "mine.csv", tmp_path / "s.parquet", ["pinc"])
    assert [p.row for p in caught.value.problems] == [1701, 2051]
    assert not (tmp_path / "s.parquet").exists()


def test_an_address_to_write_and_a_folder_of_something_else_are_left_alone(file, tmp_path):
    with pytest.raises(TstmetaError, match="--out is an address"):
        scored(file, "memory://scores", ["pinc"])
    scored(file, tmp_path / "parts", ["pinc"])
    scored(file, tmp_path / "older", ["pinc"])
    (tmp_path / "older" / "_tstmeta.json").write_text("{}")  # of an earlier version
    folders = {tmp_path / "parts": ["chrf"], tmp_path / "older": ["pinc"], file.parent: ["pinc"]}
    for out, metrics in folders.items():
        before = sorted(os.listdir(out))
        with pytest.raises(TstmetaError, match=r"holds something else .*an earlier version"):
            scored(file, out, metrics)
        assert sorted(os.listdir(out)) == before


@pytest.mark.parametrize(
    ("name", "metric", "words"),
    [
        ("nowhere.csv", "pinc", "there is no such file"),
        ("empty/", "pinc", "no file ends in"),
        ("nothing://x/y.csv", "pinc", "cannot be opened"),
        ("none.csv", "pinc", "there are no rows"),
        ("one.csv", "judge:gpt-4", "tstmeta judge run"),  # needs more than a chunk
        ("one.csv", "human-style", "no metric is called"),
        ("one.csv", "blue", "did you mean bleu"),
    ],
)
def test_rows_that_cannot_be_read_and_metrics_that_cannot_be_had_are_named(
    tmp_path, name, metric, words
):
    (tmp_path / "empty").mkdir()
    (tmp_path / "none.csv").write_text("source,output\n")
    (tmp_path / "one.csv").write_text("source,output\na b,a c\n")
    location = name if "://" in name else f"{tmp_path}/{name}"
    with pytest.raises(TstmetaError, match=words):
        scored(location, tmp_path / "s.parquet", [metric])
    assert not (tmp_path / "s.parquet").exists()


@pytest.fixture
def cluster():
    """A scheduler and a worker of two threads, in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from distributed import LocalCluster

        size = {"n_workers": 1, "threads_per_worker": 2, "processes": False}
        with LocalCluster(**size, dashboard_address=None, protocol="tcp") as cluster:
            yield cluster


def test_a_cluster_gives_the_same_bytes(file, tmp_path, cluster):
    scored(file, tmp_path / "c.parquet", cluster=cluster.scheduler_address)
    scored(file, tmp_path / "s.parquet")
    assert (tmp_path / "c.parquet").read_bytes() == (tmp_path / "s.parquet").read_bytes()


def test_a_scheduler_that_is_lost_ends_the_run_in_a_line(file, tmp_path, cluster, monkeypatch):
    def close(*_):
        cluster.close()
        return {"rows": 1}

    monkeypatch.setattr(parts.storage, "write", close)
    address = cluster.scheduler_address
    with pytest.raises(TstmetaError, match=f"the cluster at {address} gave up .*goes on$"):
        scored(file, tmp_path / "c.parquet", cluster=address)
