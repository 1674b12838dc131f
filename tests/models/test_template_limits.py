"""A chat template is a program of a stranger: it ends in time, and with little memory."""

import copy
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.models import tiny, tiny_encoder
from tstmeta.models import template as rendering
from tstmeta.models.causal import Backbone, MissingModel
from tstmeta.models.encoders import Encoder
from tstmeta.models.template import Template
from tstmeta.schema import TstmetaError

LOOP = "{% for a in range(99999) %}"
DOUBLED = (
    "{% set ns = namespace(x=START) %}{% for a in range(60) %}{% set ns.x = SUM %}{% endfor %}"
)
#: Templates that take gigabytes or never end.
WAYS = {
    "a constant is repeated": "{{ 'a' * 10**9 }}",
    "a text is repeated": "{% set n = messages|length * 10**9 %}{{ 'a' * n }}",
    "loops": LOOP * 3 + "{% endfor %}" * 3,
    "a power": "{{ 9 ** (9 ** 9) }}",
    "a width": "{{ '%2000000000d' % 1 }}",
    "doubled": DOUBLED.replace("START", "'ab'").replace("SUM", "ns.x + ns.x"),
    "a doubled list": DOUBLED.replace("START", "[1]").replace("SUM", "ns.x + ns.x"),
}
#: Those that compute for ever in little memory.
ENDLESS = {"loops", "a power"}
#: Templates that end in an error of their own.
ERRORS = {
    "a macro without end": "{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}",
    "a long text": "{{ 'a' * 10**7 }}",
    "a long message": "{{ raise_exception('a' * 10**7) }}",
}


def evil(template: str) -> Template:
    tokenizer = copy.deepcopy(tiny.tokenizer("llama"))
    tokenizer.chat_template, tokenizer.name_or_path = template, "/models/evil"
    return Template(tokenizer)


@pytest.fixture(autouse=True)
def guarded():
    """Whatever the code does, a test ends within 120 s and 2 GiB."""

    def late(number, frame):
        raise TimeoutError("120 s")

    pages = Path("/proc/self/statm")
    size = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 2**40
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGALRM, late)
    signal.alarm(120)
    resource.setrlimit(resource.RLIMIT_AS, (size + 2**31, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (before, hard))
    signal.alarm(0)
    signal.signal(signal.SIGALRM, handler)


@pytest.fixture
def strict(monkeypatch):
    """Limits that are reached soon."""
    monkeypatch.setattr(rendering, "_SECONDS", 0.3)
    monkeypatch.setattr(rendering, "_ROOM", 96)


@pytest.mark.parametrize("way", WAYS)
def test_a_template_that_has_no_end_is_stopped(strict, way):
    with pytest.raises(TstmetaError) as caught:
        evil(WAYS[way]).prompt("be kind", "x")
    # of a text that grows, a slow machine meets the limit of time first
    limits = ["0.3 s"] if way in ENDLESS else ["0.3 s", "96 MiB of memory"]
    assert str(caught.value) in [
        f"the chat template of /models/evil takes more than {limit} for a text. "
        "Remedy: mend the template, or take another model"
        for limit in limits
    ]


@pytest.mark.parametrize("way", ERRORS)
def test_a_template_that_fails_is_named_in_one_short_line(way):
    with pytest.raises(TstmetaError, match="/models/evil does not take these messages") as caught:
        evil(ERRORS[way]).prompt("be kind", "x")
    assert len(str(caught.value)) < 600
    assert "\n" not in str(caught.value)


def test_the_next_template_is_rendered_as_ever(strict):
    before = Template(tiny.tokenizer("llama")).prompt("be kind", "x")
    with pytest.raises(TstmetaError, match="takes more"):
        evil(WAYS["a text is repeated"]).end_of_turn  # noqa: B018
    assert Template(tiny.tokenizer("llama")).prompt("be kind", "x") == before


def test_a_long_text_of_ones_own_is_rendered():
    text = "Größe 👍 " * 100_000
    assert text.strip() in Template(tiny.tokenizer("llama")).prompt("be kind", text)


def test_ctrl_c_ends_the_wait_and_the_answer_is_nobodys_next():
    template = Template(tiny.tokenizer("llama"))
    wanted = template.prompt("be kind", "x")
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    with pytest.raises(KeyboardInterrupt):
        evil(WAYS["loops"]).prompt("be kind", "y")
    assert template.prompt("be kind", "x") == wanted


SCRIPT = """
import json, os, resource, sys
from tstmeta.models import template
class Tokenizer:
    name_or_path, special_tokens_map, added_tokens_decoder = "", {}, {}
    get_vocab = dict
    def get_chat_template(self): return self.chat_template
for Tokenizer.chat_template in json.loads(sys.argv[1]):
    try:
        print(len(template.Template(Tokenizer()).prompt("", "x")))
    except Exception as error:
        assert "512 MiB" in str(error), error
process = template._renderer(os.getpid())
print(process.pid)
process.kill()
process.wait()  # now it counts
# Linux counts what the process that started this one had into ru_maxrss, not into VmHWM
peak = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(peak[0]) // 1024)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited on Linux")
def test_no_process_takes_more_memory_than_it_may():
    templates = [WAYS[way] for way in ("a constant is repeated", "doubled", "a doubled list")]
    words = [sys.executable, "-c", SCRIPT, json.dumps(templates)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    _, here, child = map(int, done.stdout.split())
    assert here < 400
    assert child < 512 + 150  # what Python and transformers take


def test_a_process_that_ends_takes_the_other_with_it():
    script = SCRIPT.split("process.kill()")[0]
    words = [sys.executable, "-c", script, json.dumps(["x"])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, env=dict(os.environ))
    assert (done.returncode, done.stderr) == (0, "")
    pid = int(done.stdout.split()[-1])
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("it is still there")


@pytest.fixture(scope="module")
def pooled(tmp_path_factory):
    """A folder of sentence-transformers; the import of that takes long and is not what is timed."""
    importlib.import_module("sentence_transformers")
    return tiny_encoder.pooled(tmp_path_factory.mktemp("pooled") / "pooled")


def test_a_sentence_encoder_with_a_chat_template_is_refused(pooled):
    how = {"method": "forward", "method_output_name": "last_hidden_state"}
    wanted = {"modality_config": {"text": how, "message": how | {"format": "flat"}}}
    wanted |= {"module_output_name": "token_embeddings"}
    for name, facts in (
        ("tokenizer_config.json", {"chat_template": WAYS["loops"]}),
        ("sentence_bert_config.json", wanted),
    ):
        file = pooled / name
        file.write_text(json.dumps(json.loads(file.read_text()) | facts))
    with pytest.raises(MissingModel, match="puts texts into a chat template"):
        Encoder(Backbone(pooled.name, str(pooled)), "cpu").sentences(["a text"])
