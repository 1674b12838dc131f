"""Fetching, against a small server on this machine that can cut, fail and lie."""

import hashlib
import io
import zipfile
import zlib
from pathlib import Path

import pandas as pd
import pytest

from tests.judge.scripted import Act, error, serving
from tstmeta.data import Card, names, paths
from tstmeta.data import fetch as module
from tstmeta.data import manifest as listing
from tstmeta.data.fetch import FetchError, fetch
from tstmeta.data.manifest import check, chosen, manifest
from tstmeta.schema import TstmetaError
from tstmeta.storage import locked

TEXT = "".join(f"line {n} of a small file\n" for n in range(40_000)).encode()  # about 1 MB


@pytest.fixture
def server(monkeypatch):
    """Serves ``files``; ``steps`` holds, by path, what to do instead with the next requests."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def answer(asked):
        path = asked.path.lstrip("/")
        running.seen.append(path)
        step = (running.steps.get(path) or [None]).pop(0)
        return step or (Act(data=running.files[path]) if path in running.files else error(404))

    with serving(answer, any_path=True) as running:
        running.files, running.steps, running.seen = {}, {}, []
        running.address = f"http://127.0.0.1:{running.server_port}"
        yield running


def pretend(monkeypatch, folder):
    """Have a manifest of ours, and files in ``raw``."""
    monkeypatch.delenv("TSTMETA_DATA", raising=False)
    monkeypatch.setattr(paths, "external", lambda: folder / "raw")
    monkeypatch.setattr(paths, "project", lambda *parts: folder / parts[-1])
    for place in (module, listing):
        monkeypatch.setattr(place, "manifest", manifest.__wrapped__)


def states(names=None):
    return [row["state"] for row in check(names)]


@pytest.fixture
def get(server, tmp_path, monkeypatch):
    """Fetch the server's files (or those given as manifest rows) into ``tmp_path``."""

    monkeypatch.setattr(module, "PAUSE", 0.01)
    pretend(monkeypatch, tmp_path)

    def run(*rows, retries=4):
        monkeypatch.setattr(module, "RETRIES", retries)
        table = rows or [row(server, path) for path in server.files]
        write_manifest(tmp_path / "manifest.csv", table)
        fetch(["demo"])
        return states(["demo"])

    return run


def row(server, path, body=None, **changes):
    body = server.files[path] if body is None else body
    facts = {"dataset": "demo", "path": path, "bytes": len(body), "git_blob": ""}
    facts |= {"sha256": hashlib.sha256(body).hexdigest(), "url": f"{server.address}/{path}"}
    return {**facts, **changes}


def write_manifest(path: Path, rows) -> None:
    pd.DataFrame(rows, columns=listing.Entry._fields).to_csv(path, index=False)


def tree(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != ".fetch.lock")
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def test_files_arrive_unaltered_in_the_folders_that_the_manifest_names(server, get, tmp_path):
    server.files = {"a.csv": b"", "deep/er/b.txt": b"\x00\xff\r\n", "big": TEXT}
    rows = [row(server, path) for path in server.files]
    rows[2].update(sha256="", git_blob=hashlib.sha1(b"blob %d\0" % len(TEXT) + TEXT).hexdigest())
    assert get(*rows) == ["ok"] * 3
    assert tree(tmp_path / "raw/demo") == server.files


@pytest.mark.parametrize("failure", [Act(data=TEXT, fault="half"), error(503), error(429)])
def test_a_file_that_failed_for_the_moment_is_asked_for_again(server, get, tmp_path, failure):
    server.files = {"big": TEXT}
    server.steps = {"big": [failure, failure]}
    get()
    assert tree(tmp_path / "raw") == {"demo/big": TEXT}
    assert server.seen == ["big"] * 3


def test_a_file_that_is_not_there_does_not_hinder_the_others(server, get, tmp_path):
    server.files = {"a": b"one", "c": b"three"}
    gone = row(server, "b", b"two")
    with pytest.raises(FetchError) as raised:
        get(row(server, "a"), gone, row(server, "c"))
    lines = str(raised.value).splitlines()
    assert lines[1:-1] == [f"demo/b: the server answers 404 Said: {gone['url']}"]
    assert server.seen.count("b") == 1
    assert tree(tmp_path / "raw") == {"demo/a": b"one", "demo/c": b"three"}


@pytest.mark.parametrize(("facts", "limit"), [({"bytes": 5}, 5), ({"bytes": ""}, 1000)])
def test_a_file_that_keeps_coming_is_cut_off(server, get, tmp_path, monkeypatch, facts, limit):
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    server.files = {"a": TEXT}
    server.steps = {"a": [Act(data=TEXT, fault="no length")]}
    with pytest.raises(FetchError, match=f"too large: more than {limit} bytes came"):
        get(row(server, "a", **facts))
    assert not (tmp_path / "raw/demo/a").exists()


FORMS = {"people/zoe/a.txt": b"first", "people/adam/a.txt": b"second"}


def packed(server, members, path="people/*/a.txt", **changes):
    """A row for ``FORMS``, which the archive of a repository should hold; it holds ``members``."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    server.files["repo.zip"] = stream.getvalue()
    hashes = sorted(hashlib.sha256(text).hexdigest() for text in FORMS.values())
    digest = hashlib.sha256("".join(f"{each}\n" for each in hashes).encode()).hexdigest()
    facts = {"url": f"{server.address}/repo.zip", "sha256": digest}
    size = sum(map(len, FORMS.values()))
    return row(server, path, **{**facts, "body": b"", "bytes": size, **changes})


def test_of_an_archive_only_what_the_row_names_is_unpacked(server, get, tmp_path):
    others = {"repo-1/LICENSE": TEXT, "repo-1/people/zoe/b.txt": b"y", "repo-1/people/": b""}
    pin = packed(server, {f"repo-1/{name}": text for name, text in FORMS.items()} | others)
    assert get(pin) == ["ok"]
    assert tree(tmp_path / "raw/demo") == FORMS
    assert get(pin) == ["ok"]
    assert server.seen == ["repo.zip"]
    (tmp_path / "raw/demo/people/zoe/a.txt").write_bytes(b"other")
    assert states(["demo"]) == ["wrong hash"]


def test_files_of_an_archive_may_lie_in_a_folder_beside_that_of_the_set(server, get, tmp_path):
    pin = packed(server, {f"r/x/{name}": FORMS[name] for name in FORMS}, "../b/**/people/*/a.txt")
    assert get(pin) == ["ok"]
    assert tree(tmp_path / "raw/b/x") == FORMS


@pytest.mark.parametrize(
    ("members", "changes", "words"),
    [
        ({"r/people/../../a.txt": b"first", "r/people/adam/a.txt": b"second"}, {}, "wrong size"),
        ({"r//people/zoe/a.txt": b"first", "r/people/adam/a.txt": b"second"}, {}, "wrong size"),
        ({"r/people/zoe/a.txt": b"0" * 5, "r/people/adam/a.txt": b"second"}, {}, "wrong hash"),
        ({"r/people/zoe/a.txt": b"0" * 5_000}, {"bytes": 5_000}, "wrong size"),
        ({f"r/{name}": text for name, text in FORMS.items()}, {}, "not a readable archive"),
    ],
    ids=["out of it", "absolute", "other text", "over the limit", "damaged"],
)
def test_an_archive_that_is_not_as_it_should_be_leaves_nothing(
    server, get, tmp_path, monkeypatch, members, changes, words
):
    pin = packed(server, members, **changes)
    if words == "not a readable archive":
        crc = zlib.crc32(b"first").to_bytes(4, "little")
        server.files["repo.zip"] = server.files["repo.zip"].replace(crc, b"0000")
    monkeypatch.setattr(module, "MAX_BYTES", 4_000)
    with pytest.raises(FetchError, match=rf"demo/people/\*/a.txt: {words}.*: refused") as raised:
        get(pin)
    assert "zoe" not in str(raised.value)
    assert tree(tmp_path) == {"manifest.csv": (tmp_path / "manifest.csv").read_bytes()}


def test_nobody_is_named_where_an_archive_cannot_be_unpacked(server, get, tmp_path):
    pin = packed(server, {f"r/{name}": text for name, text in FORMS.items()})
    (tmp_path / "raw/demo").mkdir(parents=True)
    (tmp_path / "raw/demo/people").write_text("a file where a folder should be")
    with pytest.raises(TstmetaError, match=r"cannot write .*raw/demo: .*that may be") as raised:
        get(pin)
    assert "zoe" not in str(raised.value)


def test_a_host_that_is_away_is_named_once_and_others_are_asked(server, get, tmp_path):
    server.files = {f"file{n}": b"x" for n in range(19)}
    rows = [row(server, path, url=f"http://127.0.0.1:1/{path}") for path in server.files]
    with pytest.raises(FetchError) as raised:
        get(*rows[1:], row(server, "file0"))
    lines = str(raised.value).splitlines()
    assert lines[1:-1] == ["127.0.0.1:1 cannot be reached: are you offline?"]
    assert (tmp_path / "raw/demo/file0").read_bytes() == b"x"  # another host is asked
    assert lines[-1].startswith("What arrived is in place")


def test_a_second_run_into_the_same_folder_is_turned_away(server, get, tmp_path):
    server.files = {"a": b"x"}
    lock = tmp_path / "raw/.fetch.lock"
    with locked(lock), pytest.raises(TstmetaError, match="another run is at work"):
        get()
    get()


def test_our_manifest_pins_every_file_to_a_commit_and_a_hash():
    entries = manifest()
    assert len(entries) == len({(e.dataset, e.path) for e in entries})
    public = {name for name in names() if Card.read(name).facts["access"] == "public"}
    assert public - {e.dataset for e in entries} == {"scialom"}
    urls = pd.Series([e.url for e in entries])
    assert urls.str.match(r"https://[^/]+/[^/]+/[^/]+/(archive/)?[0-9a-f]{40}[/.].+").all()
    assert all(e.bytes for e in entries if e.sha256)
    assert "No hash of it is known" in Card.read("scialom").body  # why it is not among them


def test_a_subset_stands_for_its_data_set_and_all_for_every_public_one():
    assert chosen(["lai@pauli2025", "lai"]) == ["lai"]
    every = chosen([], everything=True)
    assert {"pauli", "ziegen"} <= set(every)
    assert not {"cao", "contrast", "scialom"} & set(every)
    with pytest.raises(TstmetaError, match="name a data set, or say --all"):
        chosen([])
    with pytest.raises(TstmetaError, match=r"show contrast\. These can be: alva"):
        chosen(["contrast"])


def test_each_kind_of_wrong_file_has_its_state(tmp_path, monkeypatch):
    pretend(monkeypatch, tmp_path)
    facts = {"dataset": "demo", "bytes": 5, "sha256": hashlib.sha256(b"right").hexdigest()}
    names = ["good", "gone", "other"]
    write_manifest(tmp_path / "manifest.csv", [{**facts, "path": name} for name in names])
    (tmp_path / "raw/demo").mkdir(parents=True)
    (tmp_path / "raw/demo/good").write_bytes(b"right")
    (tmp_path / "raw/demo/other").write_bytes(b"wrong")
    assert states(["demo"]) == ["ok", "missing", "wrong hash"]
    assert [row["path"] for row in check(["demo"])] == names


def test_without_names_only_what_is_here_is_checked(bare):
    (bare / "pauli").mkdir()
    (bare / "pauli/LICENSE").write_bytes(b"x")
    assert {row["dataset"] for row in check()} == {"pauli"}
    assert states() == ["wrong hash", *["missing"] * 6]
