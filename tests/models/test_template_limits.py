"""A chat template is a program of a stranger: it ends in time, and with little memory."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.models import tiny, tiny_encoder
from tests.models.test_template import with_template
from tstmeta.models import template as rendering
from tstmeta.models.causal import Backbone, MissingModel
from tstmeta.models.encoders import Encoder
from tstmeta.models.template import Template
from tstmeta.schema import TstmetaError

pytestmark = pytest.mark.timeout(120)
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
    tokenizer = with_template(template)
    tokenizer.name_or_path = "/models/evil"
    return Template(tokenizer)


@pytest.fixture(autouse=True)
def guarded():
    """Whatever the code does, a test ends within 2 GiB."""
    pages = Path("/proc/self/statm")
    size = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 2**40
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + 2**31, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (before, hard))


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
import os
from tstmeta.models import template
print(template._renderer(os.getpid()).pid)
"""


def test_a_process_that_ends_takes_the_other_with_it():
    words = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    for _ in range(600):  # it may still be importing
        try:
            os.kill(int(done.stdout), 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("it is still there")


def test_a_sentence_encoder_with_a_chat_template_is_refused(tmp_path):
    pooled = tiny_encoder.pooled(tmp_path / "pooled")
    how = {"method": "forward", "method_output_name": "last_hidden_state"}
    wanted = {"modality_config": {"text": how, "message": how | {"format": "flat"}}}
    wanted |= {"module_output_name": "token_embeddings"}
    tiny.change_json(pooled / "tokenizer_config.json", chat_template=WAYS["loops"])
    tiny.change_json(pooled / "sentence_bert_config.json", **wanted)
    with pytest.raises(MissingModel, match="puts texts into a chat template"):
        Encoder(Backbone(pooled.name, str(pooled)), "cpu").sentences(["a text"])
