"""What a construction is asked to make, its questions, and how their answers are read.

The order of steps follows Pauli et al. (2025, Section 4.2 and Appendix B): a source, a strong
rewrite, a light rewrite, an error in the light one.  The design ``published`` ends there, and asks
in the words that they print.  ``ours`` has words of ours, and goes beyond: the same error in the
strong one, which makes a full 2 x 2.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, Literal
from unicodedata import category

import numpy as np
from pydantic import BaseModel

from ..base import Message, Question, Reply, Sampling
from ..prompts import LANGUAGES, fence_for, object_schema
from ..reading import json_of, without_thoughts

#: The kinds of error, in the order in which they are dealt.
ERRORS = ("substitution", "deletion", "insertion")
#: Texts that one request for sources asks for, and how many of those before it shows.
BATCH, SHOWN = 10, 40
#: Characters of the longest text that is taken from an answer.
LONGEST = 5000
#: What a request for one text, and one for sources, has its answer in, by design.
FIELDS = {"ours": ("text", "texts"), "published": ("sentences", "sentences")}


class Blueprint(BaseModel, frozen=True, extra="forbid"):
    """All that decides what is asked; ``plan.json`` in the folder of a construction.

    ``sources`` is empty until the model has written the texts to rewrite, ``generate`` is how many
    it writes, ``origin`` says in words where they come from.  The seed deals the kinds of error,
    and is sent with each question, plus the number of the try.
    """

    name: str
    design: Literal["ours", "published"] = "ours"
    style: str
    style_now: str = ""
    language: str = "en"
    sources: tuple[str, ...] = ()
    generate: int = 0
    origin: str = ""
    server: str
    model: str
    revision: str = ""
    seed: int = 0
    temperature: float = 0.7
    prompt: str = ""

    @property
    def size(self) -> int:
        """How many sources the set is to have."""
        return self.generate or len(self.sources)

    def source_ids(self) -> list[str]:
        """Ids of the sources, which sort as they count."""
        width = max(2, len(str(self.size)))
        return [f"{self.name}-{number:0{width}}" for number in range(1, self.size + 1)]

    def kinds(self) -> list[str]:
        """The kind of error of each source, dealt evenly and at random: no model chooses it."""
        rng = np.random.default_rng(self.seed)
        rest = rng.permutation(ERRORS)[: self.size % len(ERRORS)]
        dealt = [*ERRORS * (self.size // len(ERRORS)), *rest]
        return [str(kind) for kind in rng.permutation(dealt)]


@cache
def _file(design: str) -> dict[str, Any]:
    name = {"ours": "steps.toml", "published": "published.toml"}[design]
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def wording(design: str) -> Mapping[str, str]:
    """The words of every step, by name."""
    return {name: words for name, words in _file(design).items() if name != "card"}


def card_words(design: str) -> Mapping[str, str]:
    """What the card says of a design: the rewrites of a source, and how they were asked for."""
    words: Mapping[str, str] = _file(design)["card"]
    return words


def prompt_hash(design: str) -> str:
    """First 12 hexadecimal digits of the SHA-256 of all words and schemas."""
    schemas = {field: _SCHEMAS[field] for field in FIELDS[design]}
    text = json.dumps([sorted(wording(design).items()), schemas], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def filled(step: str, plan: Blueprint, **more: str) -> str:
    """The words of a step with the style and the language put in."""
    language = LANGUAGES.get(plan.language, plan.language)
    # the printed words compare by themselves: "very polite", "just a bit more polite"
    style = plan.style if plan.design == "ours" else plan.style.removeprefix("more ")
    names = {"style": style, "style_now": plan.style_now, "language": language, **more}
    return Template(wording(plan.design)[step]).substitute(names).strip()


def ask_sources(plan: Blueprint, count: int, before: Sequence[str], attempt: int) -> Question:
    """So many new sources, unlike those before."""
    if plan.design == "published":  # it shows none of those before: other samples bring other texts
        words, shown, attempt = filled("source", plan, count=str(count)), {}, attempt + len(before)
    else:
        now = filled("now" if plan.style_now else "not_yet", plan)
        words = filled("source", plan, count=str(count), now=now)
        words += "\n" + wording("ours")["again"] if before else ""
        shown = {f"text {place}": text for place, text in enumerate(before[-SHOWN:], 1)}
    return _question(plan, words, shown, attempt, FIELDS[plan.design][1], 200 + 80 * count)


def ask(plan: Blueprint, step: str, shown: Mapping[str, str], attempt: int) -> Question:
    """One text: the words of a step about named texts."""
    first = next(iter(shown.values()))
    # room for a text as long as the first one shown; a byte is a token at worst
    tokens = min(200 + 3 * len(first.encode(errors="replace")), 4000)
    words = filled(step, plan, count="1", sentences=json.dumps([first], ensure_ascii=False))
    fenced = shown if plan.design == "ours" else {}
    return _question(plan, words, fenced, attempt, FIELDS[plan.design][0], tokens)


def _question(
    plan: Blueprint, words: str, shown: Mapping[str, str], attempt: int, field: str, tokens: int
) -> Question:
    """Words and named texts, each between two lines of a fence that none of them can close."""
    fence = fence_for(list(shown.values()))
    texts = [f"{name}:\n{fence}\n{text}\n{fence}" for name, text in shown.items()]
    messages = [Message("system", filled("system", plan))] if plan.design == "ours" else []
    messages.append(Message("user", "\n\n".join([words, *texts])))
    sampling = Sampling(plan.temperature, max_tokens=tokens, seed=plan.seed + attempt)
    return Question(tuple(messages), _SCHEMAS[field], sampling, attempt)


_LIST = {"type": "array", "items": {"type": "string"}}
_SCHEMAS = {
    "text": object_schema({"text": {"type": "string"}}),
    "texts": object_schema({"texts": _LIST}),
    "sentences": object_schema({"sentences": _LIST}),
}


def read(reply: Reply, field: str = "text", most: int | None = None) -> tuple[list[str], str]:
    """The text of an answer, or its ``texts`` (so many at most); or none, and why."""
    if reply.failure:
        return [], f"no answer: {reply.failure}"
    if reply.refusal or reply.finish == "content_filter":
        return [], "the model refused"
    value, why = json_of(without_thoughts(reply.text))
    if why:
        return [], f"the answer has {why}{' and was cut off' * (reply.finish == 'length')}"
    # the printed words call the key 'sentences:', which a model may take by the letter
    answer = value.get(field, value.get(f"{field}:")) if isinstance(value, dict) else None
    answer = [answer] if field == "text" else answer
    if not isinstance(answer, list) or not all(isinstance(text, str) for text in answer):
        return [], f'no "{field}" of the right type in a JSON object'
    texts = [text.replace("\r\n", "\n").strip() for text in answer]
    signs = set("".join(texts)) - {"\n", "\t"}
    if not any(texts):
        why = "the text of the answer is blank"
    elif most and len(texts) > most:
        why = f"{len(texts)} texts where {most} was asked for"
    elif max(map(len, texts)) > LONGEST:
        why = f"a text of more than {LONGEST} characters"
    elif any(category(sign) in ("Cc", "Cs") for sign in signs):
        why = "a text with control characters or half characters"
    return ([], why) if why else (texts, "")
