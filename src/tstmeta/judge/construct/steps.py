"""What a construction is asked to make, its questions, and how their answers are read.

The order of steps follows Pauli et al. (2025, Section 4.2 and Appendix B): a strong rewrite, a
light rewrite, an error in the light one.  Ours goes beyond: the same error in the strong one, which
makes a full 2 x 2.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from unicodedata import category

import numpy as np
from pydantic import BaseModel

from ..answers import json_of, without_thoughts
from ..base import Message, Question, Reply, Sampling
from ..prompts import LANGUAGES, fence_for, object_schema

#: The kinds of error, in the order in which they are dealt.
ERRORS = ("substitution", "deletion", "insertion")
#: The words of every step, by name.
WORDING: Mapping[str, str] = tomllib.loads(
    files(__package__).joinpath("steps.toml").read_text(encoding="utf-8")
)
_SCHEMA = object_schema({"text": {"type": "string"}})


class Blueprint(BaseModel, frozen=True):
    """All that decides what is asked; ``plan.json`` in the folder of a construction.

    The seed deals the kinds of error, and is sent with each question, plus the number of the try.
    """

    name: str
    style: str
    language: str = "en"
    sources: tuple[str, ...]
    server: str
    model: str
    seed: int = 0
    temperature: float = 0.7

    def source_ids(self) -> list[str]:
        """Ids of the sources, which sort as they count."""
        width = max(2, len(str(len(self.sources))))
        return [f"{self.name}-{number:0{width}}" for number, _ in enumerate(self.sources, 1)]

    def kinds(self) -> list[str]:
        """The kind of error of each source, dealt evenly and at random: no model chooses it."""
        rng, size = np.random.default_rng(self.seed), len(self.sources)
        rest = rng.permutation(ERRORS)[: size % len(ERRORS)]
        dealt = [*ERRORS * (size // len(ERRORS)), *rest]
        return [str(kind) for kind in rng.permutation(dealt)]


def ask(plan: Blueprint, step: str, shown: Mapping[str, str], attempt: int) -> Question:
    """One text: the words of a step, and named texts, which cannot close their fences."""

    def words(name: str) -> str:
        language = LANGUAGES.get(plan.language, plan.language)
        return Template(WORDING[name]).substitute(style=plan.style, language=language).strip()

    fence = fence_for(list(shown.values()))
    texts = [f"{name}:\n{fence}\n{text}\n{fence}" for name, text in shown.items()]
    user = "\n\n".join([words(step), *texts])
    # room for a text as long as the first one shown; a byte is a token at worst
    first = next(iter(shown.values()))
    tokens = min(200 + 3 * len(first.encode(errors="replace")), 4000)
    sampling = Sampling(plan.temperature, max_tokens=tokens, seed=plan.seed + attempt)
    messages = (Message("system", words("system")), Message("user", user))
    return Question(messages, _SCHEMA, sampling, attempt)


def read(reply: Reply) -> tuple[str, str]:
    """The text of an answer and nothing, or nothing and why there is none."""
    if reply.failure:
        return "", f"no answer: {reply.failure}"
    if reply.refusal or reply.finish == "content_filter":
        return "", "the model refused"
    answer = json_of(without_thoughts(reply.text)).get("text")
    if not isinstance(answer, str):
        ending = " and was cut off" if reply.finish == "length" else ""
        return "", f'the answer has no JSON object with a "text"{ending}'
    text = answer.replace("\r\n", "\n").strip()
    if not text:
        return "", "the text of the answer is blank"
    if any(category(sign) in ("Cc", "Cs") for sign in set(text) - {"\n", "\t"}):
        return "", "a text with control characters or half characters"
    return text, ""
