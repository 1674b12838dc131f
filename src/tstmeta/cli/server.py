"""What commands that ask a server share: the API key, prices and the bill."""

import os
import re
from typing import Any

from ..console import mistake

#: Where the API key is looked for; a server of one's own needs none.
USUAL_KEY = "OPENAI_API_KEY"


def price_of(prompt: float | None, answer: float | None) -> Any:
    """The Price of a million tokens of prompts and of answers; None where none is given."""
    from ..judge.budget import Price

    if prompt is None and answer is None:
        return None
    if prompt is None or answer is None:
        raise mistake("a price has two parts: give --price-in and --price-out")
    return Price(prompt, answer)


def key_of(variable: str) -> str:
    """The API key; empty where the usual variable is not set, as servers of one's own need none."""
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable):  # perhaps the key itself: never shown
        raise mistake(
            "--key-variable takes the name of an environment variable, in capitals, never a key;"
            " set the variable and name it"
        )
    if variable != USUAL_KEY and not os.environ.get(variable):
        raise mistake(f"the environment variable {variable} is not set; set it to the API key")
    return os.environ.get(variable, "")


def bill(budget: Any) -> str:
    """What was spent, in words."""
    words = f"{budget.sent:,} requests, {budget.prompt_tokens + budget.answer_tokens:,} tokens"
    if budget.uncounted:
        words += " at most (the server did not count all)"
    if budget.price:
        money = budget.price.of(budget.prompt_tokens, budget.answer_tokens)
        words += f", {money:,.4g} of money"
    return words
