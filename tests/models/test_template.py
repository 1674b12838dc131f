"""From words to token ids: dates, braces, headers, ends of turns."""

import copy
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import tiny
from tstmeta.models.template import DATE, PLAIN, Template
from tstmeta.schema import TstmetaError

FAMILIES = ("llama", "qwen", "gpt2")
CLOCK = "\n{{ strftime_now('%Y-%m-%d %H:%M') }}{% for m in messages %}{{ m.content }}{% endfor %}"
LLAMA = Template(tiny.tokenizer("llama"))
PLAIN_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="|<"), max_size=12)


def with_template(template, family="llama", end=""):
    tokenizer = copy.deepcopy(tiny.tokenizer(family))
    tokenizer.chat_template = template
    if end != "":
        tokenizer.eos_token = end
    return tokenizer


def test_the_date_is_pinned():
    today = datetime.now().strftime("%d %b %Y")
    # left to itself the template prints the date of the day
    user = [{"role": "user", "content": "x"}]
    assert today in tiny.tokenizer("llama").apply_chat_template(user, tokenize=False)
    prompt = LLAMA.prompt("", "x")
    assert f"Today: {DATE}\n" in prompt
    assert today not in prompt
    # some ask the clock whatever date is given
    assert Template(with_template(CLOCK)).prompt("", "x") == f"\n{DATE}x"


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("system", "user"),
    [("{user}", "{0} {source!r:>{width}}"), ("{{ messages }}", "{% for x in y %}")],
)
def test_braces_in_a_text_are_no_slots(family, bare, system, user):
    template = Template(tiny.tokenizer(family), bare=bare)
    plain = template.prompt("SYSTEM", "USER")
    wanted = plain.replace("SYSTEM", "\0").replace("USER", user).replace("\0", system)
    assert template.prompt(system, user) == wanted


def test_an_empty_system_prompt_is_no_turn_so_the_template_puts_in_its_own():
    prompt = Template(tiny.tokenizer("qwen")).prompt("", "x")
    assert prompt.startswith("<|im_start|>system\nYou are of help.<|im_end|>\n")
    assert Template(tiny.tokenizer("qwen"), bare=True).prompt("", "x") == prompt.rstrip() != prompt


@given(PLAIN_TEXT)
def test_the_tokens_of_an_output_spell_the_output(text):
    assert LLAMA.tokenizer.decode(LLAMA.tokens(text)) == text
    assert (LLAMA.tokens(text) == ()) == (text == "")


@pytest.mark.parametrize(
    ("tokenizer", "mark"),
    [
        (tiny.tokenizer("llama"), "<|eot_id|>"),
        (tiny.tokenizer("qwen"), "<|im_end|>"),
        (tiny.tokenizer("gpt2"), "<|endoftext|>"),
        # the template's end, and not that of the text
        (with_template(tiny.TEMPLATES["llama"], end="<|end_of_text|>"), "<|eot_id|>"),
        # nothing after the output: the end of the text
        (with_template(PLAIN.replace("\n\n", ""), end="<|end_of_text|>"), "<|end_of_text|>"),
    ],
)
def test_the_token_after_an_output_ends_the_turn(tokenizer, mark):
    assert Template(tokenizer).end_of_turn == tokenizer.convert_tokens_to_ids(mark)


def test_a_tokenizer_without_any_end_is_refused():
    with pytest.raises(TstmetaError, match="neither a chat template nor an end-of-text token"):
        _ = Template(with_template(None, "gpt2", end=None)).end_of_turn
