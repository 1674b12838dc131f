"""Test sets of mt-metrics-eval: what is written can be read by its rules, and back."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tstmeta as tst
from tests.command import command_line
from tstmeta.data.own import read_scores
from tstmeta.exchange.mtme import read_mtme, write_mtme
from tstmeta.schema import DataError, TstmetaError

SYSTEMS = ("my model/v2", "ähnlich", "human", "copy")


def rows(rng: np.random.Generator) -> pd.DataFrame:
    """Four systems on six sources, one of them people's; two raters, two dimensions, a gap."""
    words = np.array(["the", "a", "cat", "dog", "sat", "ran", "tea", "on", "in"])
    table = []
    for place in range(6):
        source = f"source {place}: {' '.join(rng.choice(words, 6))}"
        reference = f"reference {place} {' '.join(rng.choice(words, 5))}"
        texts = {"human": reference, "copy": source, "ähnlich": f"{source[:-3]}\nand more"}
        for system in SYSTEMS:
            output = texts.get(system, "" if place == 2 else " ".join(rng.choice(words, 6)))
            row = {"source_id": f"s {place}", "system": system, "source": source, "output": output}
            row |= {"direction": ("I2F", "F2I")[place % 2], "reference": reference}
            row |= {"is_reference": system == "human", "content.r1": int(rng.integers(1, 6))}
            row |= {"content.r2": int(rng.integers(1, 6)), "style.mean": rng.uniform(1, 5)}
            table.append(row)
    return pd.DataFrame(table).sample(frac=1, random_state=1)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    table = rows(np.random.default_rng(0))
    table.loc[table.index[3], "content.r2"] = np.nan
    path = tmp_path_factory.mktemp("own") / "mine.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def data(file):
    return tst.read(file)


@pytest.fixture(scope="module")
def scores(data, file):
    return tst.score(data, ["chrf", "corpus-bleu", "ter"], store=file.parent, progress=False)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def blocks(path: Path) -> dict[str, list[float]]:
    """A file of scores, read as the documentation says."""
    systems: dict[str, list[float]] = {}
    for line in lines(path):
        system, score = line.split()
        systems.setdefault(system, []).append(np.nan if score == "None" else float(score))
    return systems


def test_a_correlation_from_the_files_is_that_of_our_own(data, scores, tmp_path):
    assert write_mtme(data, tmp_path / "set", scores) == []
    human = blocks(tmp_path / "set/human-scores/en-en.content.seg.score")
    pairs = tst.pairs(data, scores, "content")
    known = tst.correlate(pairs, "pearson").set_index(["metric", "basis"])["value"]
    for kind, basis in (("src", "source"), ("all", "reference")):
        metric = blocks(tmp_path / f"set/metric-scores/en-en/chrf-{kind}.seg.score")
        assert set(human) - set(metric) == ({"human"} if kind == "all" else set())
        x, y = (np.concatenate([part[name] for name in metric]) for part in (metric, human))
        there = ~np.isnan(y)
        ours = np.corrcoef(x[there], y[there])[0, 1]
        assert ours == pytest.approx(known["chrf", basis], abs=1e-12)
    ter = blocks(tmp_path / "set/metric-scores/en-en/ter-src.seg.score")
    x, y = (np.concatenate([*part.values()]) for part in (ter, human))
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(-known["ter", "source"], abs=1e-12)
    system = tst.correlate(pairs, "pearson", level="system").set_index(["metric", "basis"])["value"]
    for name in ("chrf", "corpus-bleu"):
        metric = blocks(tmp_path / f"set/metric-scores/en-en/{name}-src.sys.score")
        people = blocks(tmp_path / "set/human-scores/en-en.content.sys.score")
        ours = np.corrcoef([metric[n][0] for n in metric], [people[n][0] for n in metric])[0, 1]
        assert ours == pytest.approx(system[name, "source"], abs=1e-9)


def test_the_files_keep_to_the_layout(data, scores, tmp_path):
    folder = tmp_path / "set"
    write_mtme(data, folder, scores)
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.txt")}
    outputs = {"my%20model%2Fv2", "%C3%A4hnlich", "human", "copy"}
    assert names == {
        "sources/en-en.txt",
        "references/en-en.human.txt",
        *(f"system-outputs/en-en/{name}.txt" for name in outputs),
    }
    assert {len(lines(folder / name)) for name in names} == {6}
    documents = lines(folder / "documents/en-en.docs")
    assert {tuple(line.split()) for line in documents} >= {("I2F", "s%200"), ("F2I", "s%201")}
    raters = {path.name.split(".", 1)[1] for path in folder.glob("human-scores/*.seg.score")}
    assert raters == {
        f"{name}.seg.score" for name in ("content", "content.r1", "content.r2", "style")
    }
    for path in folder.rglob("*.seg.score"):
        assert {len(values) for values in blocks(path).values()} == {6}
        assert path.parent.name == "human-scores" or "None" not in path.read_text()
    single = blocks(folder / "human-scores/en-en.content.r2.seg.score")
    assert sum(np.isnan(values).sum() for values in single.values()) == 1


def test_what_was_written_comes_back(data, scores, tmp_path):
    write_mtme(data, tmp_path / "set", scores)
    back, own = read_mtme(tmp_path / "set")
    key = ["source_id", "system"]
    both = data.items.merge(back.items, on=key, suffixes=("", "_back"), validate="1:1")
    assert len(both) == len(data.items) == len(back.items)
    for column in ("source", "direction", "language", "references", "is_reference"):
        assert list(both[column]) == list(both[f"{column}_back"])
    assert list(both["output"].str.replace("\n", " ")) == list(both["output_back"])
    ids = dict(zip(both["item_id_back"], both["item_id"], strict=True))

    def plain(table, names, columns):
        known = table.assign(item_id=table["item_id"].map(names))
        return known.set_index(columns)["value"].sort_index()

    same, columns = {item: item for item in ids.values()}, ["item_id", "dimension", "rater"]
    pd.testing.assert_series_equal(
        plain(back.ratings, ids, columns), plain(data.ratings, same, columns)
    )
    columns = ["metric", "basis", "item_id"]
    pd.testing.assert_series_equal(plain(own, ids, columns), plain(scores, same, columns))


def test_what_does_not_fit_is_left_out_in_words(data, scores, tmp_path):
    last = data.items["item_id"].iloc[-1]
    holed = data.where(data.items["item_id"] != last)
    gap = scores["item_id"].eq(data.items["item_id"].iloc[0]) & scores["metric"].eq("chrf")
    status = scores["status"].mask(gap, "error")
    scores = scores.assign(status=status, value=scores["value"].mask(gap))
    notes = write_mtme(holed, tmp_path / "set", scores)
    assert notes[0] == "3 rewrites left out: no system, or a source that some system lacks"
    assert notes[1].startswith("chrf (source) left out: 1 segments have no value")
    assert len(lines(tmp_path / "set/sources/en-en.txt")) == 5
    assert not list(tmp_path.glob("set/metric-scores/en-en/chrf-src.*"))


def test_what_has_no_grid_is_refused(data, tmp_path):
    twice = data.items.assign(system=data.items["system"].replace("copy", "human"))
    with pytest.raises(TstmetaError, match="human has several outputs of the source s"):
        write_mtme(tst.Dataset.of("mine", twice, data.card), tmp_path / "set")
    sources = data.items["source_id"] + data.items["system"]
    with pytest.raises(TstmetaError, match="no source was rewritten by every system"):
        write_mtme(tst.Dataset.of("mine", data.items.assign(source_id=sources)), tmp_path / "set")


def foreign(folder: Path) -> Path:
    """Two language pairs as others write them: documents of several lines, ratings of their own."""
    files = {
        "sources/en-de.txt": "a\nb\nc\n",
        "documents/en-de.docs": "news d1\nnews d1\nchat d2\n",
        "references/en-de.refA.txt": "A\nB\nC\n",
        "references/en-de.refB.txt": "AA\nBB\nCC\n",
        "system-outputs/en-de/one.txt": "x\n\nz\n",
        "system-outputs/en-de/refA.txt": "A\nB\nC\n",
        "human-scores/en-de.mqm.seg.score": "one\t-1\none None\none -3.5\n",
        "human-scores/en-de.wmt-z.seg.score": "one .1\none .2\none .3\n",
        "metric-scores/en-de/M-1-refA.seg.score": "one 1\none 2\none 3\n",
        "metric-scores/en-de/QE-src.seg.score": "one 4\none 5\none 6\nrefA 7\nrefA 8\nrefA 9\n",
        "sources/en-ru.txt": "a\n",
        "documents/en-ru.docs": "news d1\n",
        "system-outputs/en-ru/one.txt": "ы\n",
    }
    for name, text in files.items():
        folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(name).write_text(text, encoding="utf-8")
    return folder


def test_a_test_set_of_others_is_read(tmp_path):
    data, scores = read_mtme(foreign(tmp_path / "wmt"), human="mqm")
    assert dict(data.items["language"].value_counts()) == {"de": 6, "ru": 1}
    own = data.items.set_index("item_id")
    assert list(own.loc["en-de/one/1", ["source_id", "output", "direction"]]) == [
        "en-de/1",
        "",
        "news",
    ]
    assert own.loc["en-de/refA/2", "references"] == ["C", "CC"]
    assert own.index[own["is_reference"]].str.startswith("en-de/refA").sum() == 3
    values = data.ratings.set_index("item_id")["value"]
    assert set(data.ratings["dimension"] + data.ratings["rater"]) == {"overallmean"}
    assert dict(values)["en-de/one/2"] == -3.5
    assert "en-de/one/1" not in values
    kinds = scores.groupby(["metric", "basis"])["value"].sum()
    assert dict(kinds) == {("M-1-refA", "reference"): 6, ("QE", "source"): 39}
    with pytest.raises(TstmetaError, match="choose which ratings to take: mqm, wmt-z"):
        read_mtme(tmp_path / "wmt")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("system-outputs/en-de/one.txt", "x\ny\n", r"one\.txt: 2 lines for 3 sources"),
        ("documents/en-de.docs", None, r"en-de\.docs: No such file"),
        (
            "human-scores/en-de.mqm.seg.score",
            "one 1\none x\none 2\n",
            "row 2: no system",
        ),
        ("human-scores/en-de.mqm.seg.score", "one 1\none 2\n", "not a line a source .*'one'"),
        ("metric-scores/en-de/QE-src.seg.score", "two 1\ntwo 1\ntwo 1\n", "such as .*two/0"),
        ("sources/en-de.txt", "\udcff", "not UTF-8"),
    ],
)
def test_files_that_do_not_fit_are_named(tmp_path, name, text, words):
    path = foreign(tmp_path / "wmt") / name
    path.unlink()
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=words):
        read_mtme(tmp_path / "wmt", "mqm")
    with pytest.raises(TstmetaError, match=r"no sources/SRC-TGT\.txt in it"):
        read_mtme(tmp_path)


def test_the_commands_go_there_and_back(file, data, tmp_path, monkeypatch):
    run = command_line(tmp_path, monkeypatch)
    (tmp_path / "mine.csv").write_bytes(file.read_bytes())
    command = ("data", "export", "mine.csv", "--to", "mtme", "--metric", "chrf", "--out", "set")
    assert run(*command).exit_code == 0
    assert "new or empty" in str(run(*command).exception)
    assert run("data", "import-mtme", "set", "--out", "back.csv").exit_code == 0
    back = tst.read("back.csv")
    assert len(back.ratings) == len(data.ratings)
    own = read_scores(Path("back.scores.csv"), back)
    again = tst.score(back, ["chrf"], store=tmp_path / "store", progress=False)
    assert sorted(own["value"]) == sorted(again["value"])
    refused = run("data", "import-mtme", "set", "-o", "a.json")
    assert "ends in .csv or .parquet" in str(refused.exception)
