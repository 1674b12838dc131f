"""An address that is no scheduler ends a run soon, in a line that shows no secret."""

import socket
import subprocess
import sys
import threading
import time
import traceback

import pytest

from tstmeta.bulk import score_file, workers
from tstmeta.schema import TstmetaError

WORD = "pass-hidden"
PATIENCE = 120
ROWS = "source,output\n" + "a b c,a b d\n" * 3


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "mine.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture(scope="module")
def port():
    """A function that listens as a server that is no scheduler; gives its port."""
    servers, peers = [], []

    def accept(server, data):
        while True:
            try:
                peers.append(server.accept()[0])
                peers[-1].sendall(data)
            except OSError:
                return

    def listen(kind):
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)
        data = {"silent": b"", "garbage": bytes(range(256)) * 16}[kind]
        threading.Thread(target=accept, args=(server, data), daemon=True).start()
        return server.getsockname()[1]

    yield listen
    for each in servers + peers:
        each.close()


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("foo://127.0.0.1:9", "foo://127.0.0.1:9 "),
        (f"tcp://ann:{WORD}@127.0.0.1:9", "tcp://127.0.0.1:9 "),
        (f"http://ann:{WORD}@127.0.0.1:9/v1", "http://127.0.0.1:9/v1 "),
        (f"ann:{WORD}@127.0.0.1:9", "127.0.0.1:9 "),
        (f"tcp://127.0.0.1:9?key={WORD}", "tcp://127.0.0.1:9 "),
        ("nonsense", "nonsense .*missing port"),
        ("tls://127.0.0.1:9", "tls://127.0.0.1:9 .*TLS expects"),
    ],
)
def test_an_address_of_no_scheduler_is_refused_without_its_secrets(file, tmp_path, address, shown):
    with pytest.raises(
        TstmetaError, match=f"^no Dask scheduler answers at {shown}.*Remedy"
    ) as caught:
        score_file(file, ["pinc"], tmp_path / "o.parquet", cluster=address)
    assert WORD not in "".join(traceback.format_exception(caught.value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["garbage", "nobody", "no such host"])
def test_what_answers_wrongly_or_not_at_all_is_given_up(file, tmp_path, port, monkeypatch, kind):
    assert workers._ANSWER <= 10
    monkeypatch.setattr(workers, "_ANSWER", 1)
    address = {"nobody": "127.0.0.1:9", "no such host": "no-such-host.invalid:8786"}.get(kind)
    address = address or f"127.0.0.1:{port(kind)}"
    begun = time.monotonic()
    with pytest.raises(TstmetaError, match=f"no Dask scheduler answers at {address}"):
        score_file(file, ["pinc"], tmp_path / "o.parquet", cluster=address)
    assert time.monotonic() - begun < 30


def test_the_command_ends_at_a_server_that_lets_it_wait(file, tmp_path, port):
    address = f"tcp://127.0.0.1:{port('silent')}"
    words = ["score", "-d", str(file), "-m", "pinc", "--out", "o.parquet", "--cluster", address]
    how = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": PATIENCE}
    ended = subprocess.run([sys.executable, "-m", "tstmeta", *words], **how)
    assert ended.stderr.startswith(f"error: no Dask scheduler answers at {address} (TimeoutError)")
    assert ended.returncode == 2
