"""End to end with a real server: ``transformers serve`` and a tiny chat model, through the CLI.

The model is random, so its answers are rubbish: the runs show that everything is asked, kept and
read as it should be, and that nothing is made of rubbish.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pandas as pd
import pytest

from tests.command import command_line
from tests.models import tiny

pytest.importorskip("fastapi", reason="the server is the extra serving")
pytest.importorskip("openai", reason="the client is the extra judge")

pytestmark = pytest.mark.nightly
ITEMS = 12
#: What a prompt of ours takes, cut into the few tokens that a tiny tokenizer has.
WINDOW = 8192
#: Seconds until a server that imports torch on a busy machine must listen.
PATIENCE = 180.0


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[str]:
    """The address of the server; it takes some seconds to start and serves all tests here."""
    folder = tmp_path_factory.mktemp("serve")
    network = tiny.network("llama", 0, max_position_embeddings=WINDOW, num_hidden_layers=1)
    tiny.save(folder / "tiny-chat", network, tiny.tokenizer("llama"))
    (folder / "home" / "hub").mkdir(parents=True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    environment = {**os.environ, "HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1"}
    environment |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [sys.executable, "-c", "from transformers.cli.transformers import main; main()"]
    command += ["serve", "tiny-chat", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    process = subprocess.Popen(command, cwd=folder, env=environment)
    try:
        deadline = time.monotonic() + PATIENCE
        while not healthy(f"http://127.0.0.1:{port}/health"):
            assert process.poll() is None
            assert time.monotonic() < deadline, "the server does not listen"
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.status == 200
    except OSError:
        time.sleep(0.1)
        return False


def test_a_real_server_is_asked_once_and_nothing_is_made_of_rubbish(server, tmp_path, monkeypatch):
    tstmeta = command_line(tmp_path, monkeypatch)
    command = f"judge run --data contrast --prompt joint --server {server} --model tiny-chat"
    command += f" --limit {ITEMS} --out rows.csv --scores-out scores.csv"
    first, second = tstmeta(command), tstmeta(command)
    assert first.exit_code == second.exit_code == 1, "rubbish is no rating"
    assert f"{ITEMS} requests (0 answers are kept)" in first.stderr
    assert f"0 requests ({ITEMS} answers are kept)" in second.stderr
    rows = pd.read_csv(tmp_path / "rows.csv", keep_default_na=False, na_values={"rating": [""]})
    assert len(rows) == 3 * ITEMS
    assert set(rows["status"]) <= {"invalid", "truncated"}
    assert rows["rating"].isna().all()
    assert rows["detail"].str.len().gt(0).all()
    assert set(rows["answered_by"]) == {"tiny-chat@main"}
    assert pd.read_csv(tmp_path / "scores.csv")["value"].isna().all()
