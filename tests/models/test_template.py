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


def with_template(template, family="llama"):
    tokenizer = copy.deepcopy(tiny.tokenizer(family))
    tokenizer.chat_template = template
    return tokenizer


def ids(tokenizer, text):
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


# ------------------------------------------------------------------------------------------ date


def test_the_date_is_pinned():
    today = datetime.now().strftime("%d %b %Y")
    # left to itself the template prints the date of the day
    user = [{"role": "user", "content": "x"}]
    assert today in tiny.tokenizer("llama").apply_chat_template(user, tokenize=False)
    prompt = Template(tiny.tokenizer("llama")).prompt("", "x")
    assert f"Today: {DATE}\n" in prompt
    assert today not in prompt
    other = Template(tiny.tokenizer("llama"), date="01 Feb 2003")
    assert other.prompt("", "x") == prompt.replace(DATE, "01 Feb 2003")
    assert other.hash != Template(tiny.tokenizer("llama")).hash


def test_a_template_that_asks_the_clock_is_given_the_pinned_date():
    template = Template(with_template(CLOCK), date="01 Feb 2003")
    assert template.prompt("", "x") == "\n01 Feb 2003x"
    assert Template(with_template(CLOCK)).prompt("", "x") == f"\n{DATE}x"


# --------------------------------------------------------------------------------------- prompts


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
@given(
    system=st.text(st.characters(codec="utf-8", exclude_characters="|<"), max_size=12),
    user=st.text(st.characters(codec="utf-8", exclude_characters="|<"), min_size=1, max_size=12),
)
def test_texts_stand_in_the_prompt_as_they_are(family, bare, system, user):
    prompt = Template(tiny.tokenizer(family), bare=bare).prompt(system, user)
    assert user.strip() in prompt
    assert system.strip() in prompt


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_braces_in_a_text_are_no_slots(family, bare):
    template = Template(tiny.tokenizer(family), bare=bare)
    plain = template.prompt("SYSTEM", "USER")
    for system, user in [
        ("{user}", "{system}"),
        ("{}", "{0} {source!r:>{width}}"),
        ("{{ messages }}", "{% for x in y %}"),
        ("{{", "}}"),
    ]:
        shown = template.prompt(system, user)
        assert shown == plain.replace("SYSTEM", "\0").replace("USER", user).replace("\0", system)


def test_the_bare_header_is_the_published_programs_and_has_no_line_ends():
    template = Template(tiny.tokenizer("llama"), bare=True)
    assert template.prompt("be kind", "say it") == (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>be kind<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>say it<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>"
    )
    marks = template.tokenizer.convert_ids_to_tokens(template.context("be kind", "say it"))
    assert [mark for mark in marks if mark.startswith("<|")] == [
        *("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
        *("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
        *("<|start_header_id|>", "<|end_header_id|>"),
    ]


@pytest.mark.parametrize("family", ["qwen", "gpt2"])
def test_models_of_other_families_lose_the_white_space_at_the_end(family):
    whole = Template(tiny.tokenizer(family)).prompt("be kind", "say it")
    bare = Template(tiny.tokenizer(family), bare=True).prompt("be kind", "say it")
    assert whole != bare == whole.rstrip()


def test_a_model_without_a_template_is_given_the_texts_in_lines():
    assert Template(tiny.tokenizer("gpt2")).prompt("be kind", "say it") == "be kind\n\nsay it\n\n"
    assert Template(tiny.tokenizer("gpt2")).prompt("", "say it") == "say it\n\n"
    assert Template(with_template(PLAIN)).prompt("a", "b") == "a\n\nb\n\n"


def test_an_empty_system_prompt_is_no_turn_so_the_template_puts_in_its_own():
    template = Template(tiny.tokenizer("qwen"))
    assert "You are of help." in template.prompt("", "x")
    assert "You are of help." not in template.prompt("Be rude.", "x")


def test_a_template_that_refuses_says_why():
    refuses = "{{ raise_exception('no system turns, please') }}"
    with pytest.raises(TstmetaError, match="does not take these messages: no system turns"):
        Template(with_template(refuses)).prompt("be kind", "x")


# ---------------------------------------------------------------------------------------- tokens


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_context_is_the_prompt_in_tokens_with_nothing_added(family, bare):
    tokenizer = tiny.tokenizer(family)
    template = Template(tokenizer, bare=bare)
    context = template.context("be kind", "京都 is {nice}")
    assert context == ids(tokenizer, template.prompt("be kind", "京都 is {nice}"))
    assert tokenizer.decode(context) == template.prompt("be kind", "京都 is {nice}")
    assert all(isinstance(token, int) for token in context)


@given(st.text(st.characters(codec="utf-8", exclude_characters="|<"), max_size=30))
def test_the_tokens_of_an_output_spell_the_output(text):
    template = Template(tiny.tokenizer("llama"))
    assert template.tokenizer.decode(template.tokens(text)) == text
    assert (template.tokens(text) == ()) == (text == "")


@pytest.mark.parametrize(
    ("family", "mark"), [("llama", "<|eot_id|>"), ("qwen", "<|im_end|>"), ("gpt2", "<|endoftext|>")]
)
@pytest.mark.parametrize("bare", [False, True])
def test_the_token_after_an_output_ends_the_turn(family, mark, bare):
    tokenizer = tiny.tokenizer(family)
    template = Template(tokenizer, bare=bare)
    assert template.end_of_turn == tokenizer.convert_tokens_to_ids(mark)


def test_the_end_of_a_turn_is_the_templates_and_not_the_end_of_the_text():
    tokenizer = with_template(tiny.TEMPLATES["llama"])
    tokenizer.eos_token = "<|end_of_text|>"
    assert Template(tokenizer).end_of_turn == tokenizer.convert_tokens_to_ids("<|eot_id|>")


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in messages %}{{ m.content }}{% endfor %}",  # nothing after the output
        "{{ messages[0].content }}<|eot_id|>",  # no output at all
        "{% if messages|length > 1 %}{{ raise_exception('one turn') }}{% endif %}",
    ],
)
def test_a_template_that_shows_no_end_of_a_turn_has_the_end_of_the_text(template):
    tokenizer = with_template(template)
    tokenizer.eos_token = "<|end_of_text|>"
    assert Template(tokenizer).end_of_turn == tokenizer.eos_token_id


def test_a_tokenizer_without_any_end_is_refused():
    tokenizer = with_template(None, "gpt2")
    tokenizer.eos_token = None
    with pytest.raises(TstmetaError, match="neither a chat template nor an end-of-text token"):
        _ = Template(tokenizer).end_of_turn


# ------------------------------------------------------------------------------------------ hash


def test_all_that_a_template_writes_is_in_its_hash():
    changed = tiny.TEMPLATES["llama"].replace("Today", "This day")
    without_system = tiny.TEMPLATES["qwen"].replace("of help", "no help")
    hashes = [
        Template(tiny.tokenizer("llama")).hash,
        Template(tiny.tokenizer("llama"), bare=True).hash,
        Template(with_template(changed)).hash,
        Template(tiny.tokenizer("qwen")).hash,
        Template(with_template(without_system, "qwen")).hash,
        Template(tiny.tokenizer("gpt2")).hash,
    ]
    assert len(set(hashes)) == len(hashes)
    assert Template(with_template(tiny.TEMPLATES["llama"])).hash == hashes[0]
    assert all(len(one) == 8 and int(one, 16) >= 0 for one in hashes)
