"""No password and no key leaves by a name, a message, a file or a log."""

import base64
import json
import logging
import traceback
from html import escape
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pytest

from tests.command import score_file, success
from tests.judge.scripted import Act, raw
from tests.likelihood import small
from tests.models.fake_server import Fake, serving
from tests.test_notebook import written
from tstmeta import notebook
from tstmeta.data.files import files_of
from tstmeta.metrics import registry
from tstmeta.models.causal import Continuation
from tstmeta.models.connection import ServerError, address
from tstmeta.models.server import ServerModel
from tstmeta.schema import DataError, Problem, TstmetaError
from tstmeta.secrecy import conceal, excerpt, mask_of

pytestmark = pytest.mark.usefixtures("quick_retries")
USER, WORD, KEY = "ann-hidden", "pass-hidden", "key-hidden"
URL = f"http://{USER}:{WORD}@127.0.0.1:9/v1?api_key={KEY}"
REWRITE = ("--source", "he went", "--output", "he left", "--style", "polite")
HIDDEN = (USER, WORD, KEY, "hidden", base64.b64encode(f"{USER}:{WORD}".encode()).decode()[:-2])


def secret_in(*texts: object) -> list[str]:
    return [one for one in HIDDEN for text in texts if one in str(text)]


WITHOUT_SECRETS = (
    "http://host/v1+owner/name@revision",
    "judge|server:http://host/v1|model:m|prompt:content@9cac34901140|asked:what? how@once",
    "http://host/v1,me@example.org;you@example.org",
    "which model does http://host/v1 run? Write me@example.org",
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https//u:p@h/v1", "https//h/v1"),
        ("http://u:p/w@h/v1", "http://h/v1"),
        ("http://u:p@w@h/v1", "http://h/v1"),
        ("8b+http://u:p+w@h/v1+released", "8b+http://h/v1+released"),
        ("http://h/v1?key=k#m+released", "http://h/v1#m+released"),
        ("http://h/v1#m?key=k", "http://h/v1#m"),
        ("no model at 'http://u:p@h/v1?key=k', sorry", "no model at 'http://h/v1', sorry"),
        ("http://u:p@a and http://u:p@b", "http://a and http://b"),
        *((text, text) for text in WITHOUT_SECRETS),
    ],
)
def test_user_password_and_query_and_nothing_else_are_cut_out_of_urls(text, shown):
    assert conceal(text) == shown


def test_every_error_of_ours_goes_through_it():
    for error in (TstmetaError, ServerError, registry.UnknownMetric):
        assert not secret_in(error(f"no answer from {URL}"))
    assert not secret_in(DataError([Problem("f", f"{URL} is none", 1, "metric", f"not {URL}")]))


@pytest.mark.parametrize(
    "name",
    [
        f"likelihood:8b+{URL}#m+nonsense",
        f"likelihood:8b+http://h/v1?key=a+{KEY}",
        f"likelihood:8b+http//{USER}:{WORD}@h/v1",
        f"likelihood:8b+http://{USER}:{WORD}/{KEY}@h:x/v1",
        f"{URL}#m",
        f"judge:http://h/v1#m?key={KEY}+lai2023-content",
        f"bertscore:{URL}",
        f"sim:vectors={URL}",
    ],
)
def test_a_name_that_is_refused_is_told_without_its_secrets(name, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(TstmetaError) as caught:
        registry.get(name, imports=True)
    assert not secret_in(caught.value, repr(caught.value))


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A server, and its tokenizer, which is in ``folder``, too."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    small.saved(tmp_path / "folder")
    with serving(Fake(window=2048)) as fake:
        yield fake, fake.engine.tokenizer


@pytest.fixture
def run(tstmeta):
    """The command line beside a file with a style."""
    pd.read_csv("mine.csv").assign(style="polite").to_csv("mine.csv", index=False)
    return tstmeta


def test_a_score_of_a_server_shows_no_secret(tmp_path, run, served, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    fake, _ = served
    words = f"{tmp_path}/folder+{fake.url}#tiny"
    found = run("score", "--data", "mine.csv", "--metric", f"likelihood:{words}")
    assert fake.seen_keys == {f"Bearer {KEY}"}
    assert found.exit_code == 0, found.output
    assert "likelihood:" in found.stdout
    page = success(run("explain", *REWRITE, "--model", words))
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    shown = [found.output, page.output, caplog.text, *files]
    assert not secret_in(*shown, *(path.read_bytes() for path in files))


def test_an_old_score_file_with_a_secret_in_a_name_shows_it_no_more(run):
    scores = score_file(Path("scores.csv"), f"likelihood:8b+{URL}")
    found = success(run("evaluate", "--data", "mine.csv", "--scores", scores, "--draws", "20"))
    assert "likelihood:8b+http://127.0.0.1:9/v1" in found.stdout
    assert not secret_in(found.output)


def test_a_notebook_takes_no_parameter_with_a_secret(tmp_path):
    page = written(tmp_path / "page.ipynb", "print(metrics)")
    for given in ({"metrics": [f"likelihood:8b+{URL}"]}, {"dataset": URL}):
        with pytest.raises(TstmetaError, match="OPENAI_API_KEY") as caught:
            notebook.check(page, given)
        assert not secret_in(caught.value)


SECRET = 'key/"<hidden>'
#: The key as a server may repeat it: escaped for JSON, for a URL, for HTML, bare.
SPELLED = ["".join(f"\\u{ord(sign):04x}" for sign in SECRET), quote(SECRET), escape(SECRET), SECRET]


def test_no_spelling_of_a_key_passes_from_a_server_of_tokens(served, monkeypatch):
    assert json.loads(f'"{SPELLED[0]}"') == SECRET
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    fake, tokenizer = served
    model = ServerModel(address(fake.url), "tiny", tokenizer, "tiny")
    for text in (f'{{"error": "{SPELLED[0]}"}}', f'{{"error": "{SPELLED[0]}', *SPELLED[1:]):
        fake.instead = lambda number, asked, text=text: Act(400, text.encode())
        with pytest.raises(ServerError, match=r"\*\*\*") as caught:
            list(model.logprobs([Continuation((1, 2), (3,))]))
        shown = "".join(traceback.format_exception(caught.value))
        assert not [spelling for spelling in SPELLED if spelling in shown]


def test_a_list_of_models_shows_no_key(served, monkeypatch):
    fake, tokenizer = served
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    fake.models = lambda: raw({"data": [{"id": KEY}, {"id": f"{KEY[:3]}\\u002d{KEY[4:]}"}]})
    with pytest.raises(ServerError, match=r"Remedy: one of \*\*\*, \*\*\*"):
        _ = ServerModel(address(fake.url), "tiny", tokenizer, "tiny").window


def test_a_long_message_is_cut_behind_its_secrets(monkeypatch):
    def fails(location):
        raise OSError(f"{'x' * 170} http://{USER}:{WORD}@host.example/and/so/on")

    monkeypatch.setattr("fsspec.core.url_to_fs", fails)
    with pytest.raises(TstmetaError) as caught:
        files_of("memory://x.csv")
    assert not secret_in(caught.value)


def test_zeros_of_utf_16_hide_no_secret_and_a_short_key_is_none():
    assert excerpt(KEY.encode("utf-16-le").decode(), mask=mask_of(KEY)) == "***"
    assert excerpt("an EMPTY plan", mask=mask_of("EMPTY")) == "an EMPTY plan"
