"""From words to token ids: how an instruction and a rewrite are put before a chat model.

The template is the tokenizer's, with a pinned date.  A text that spells a control token, such as
``<|eot_id|>``, is tokenised as those letters, so that no rewrite ends its turn.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ..schema import TstmetaError
from ..secrecy import excerpt
from .renderer import NO_ROOM

#: The date that Llama 3's own template prints when nobody names one.
DATE = "26 Jul 2024"

#: The header that the program of Pauli et al. (2025) writes by hand: no line ends after headers.
BARE = (
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>{system}<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>{user}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>"
)
#: For models that have no chat template, such as GPT-2.
PLAIN = "{% for m in messages %}{{ m['content'] }}\n\n{% endfor %}"
#: Put before a template it stands for the clock; the empty output keeps a line end that follows.
_CLOCK = f"{{% macro strftime_now(form) %}}{DATE}{{% endmacro %}}{{{{ '' }}}}"
_MARK = "\x02output\x03"
#: Seconds of computing that a text may take, and MiB of memory.
_SECONDS, _ROOM = 10.0, 512
_rendering = threading.Lock()


class ControlMark(TstmetaError):
    """A text that spells a control token, and a tokenizer that cannot read it as plain text."""


class Template:
    """Writes contexts for a tokenizer.

    ``bare`` takes :data:`BARE` where the tokenizer knows its marks, else the model's own template
    without the white space at its end.
    """

    def __init__(self, tokenizer: Any, *, bare: bool = False):
        self.tokenizer, self.bare = tokenizer, bare
        self._llama = set(re.findall(r"<\|\w+\|>", BARE)) <= tokenizer.get_vocab().keys()
        #: The control tokens as they are spelt, with their ids.
        added = tokenizer.added_tokens_decoder.items()
        self._marks = {token.content: place for place, token in added if token.special}

    def prompt(self, system: str, user: str) -> str:
        """The text before the output: system prompt (may be empty), request, assistant's header."""
        if self.bare and self._llama:
            return BARE.format(system=system, user=user)
        text = self._rendered(system, user)
        return text.rstrip() if self.bare else text

    def context(self, system: str, user: str) -> tuple[int, ...]:
        """Token ids of :meth:`prompt`; ControlMark where a text cannot be read as plain text."""
        # A text that spells a control token is put in after the template is tokenised; an unused
        # sign holds its place.  White space around it stays, for templates cut it off.
        free = (sign for sign in map(chr, range(0xE000, 0x110000)) if sign not in system + user)
        held, texts = {}, []
        for text in (system, user):
            if self._spelt(text):
                sign = next(free)
                held[sign] = text.strip()
                text = text.replace(held[sign], sign)
            texts.append(text)
        shown = self.prompt(*texts)
        parts = re.split(f"([{''.join(held)}])", shown) if held else [shown]
        return tuple(
            token
            for part in parts
            for token in (self.tokens(held[part]) if part in held else self._ids(part))
        )

    def tokens(self, text: str) -> tuple[int, ...]:
        """Token ids of an output; none for an empty one.  ControlMark as above."""
        ids = self._ids(text, split_special_tokens=True) if text else []
        for mark in self._spelt(text):
            if self._marks[mark] in ids:
                raise ControlMark(
                    f"the text holds {mark}, which this tokenizer cannot read as plain text; "
                    "take it out"
                )
        return tuple(ids)

    def _spelt(self, text: str) -> list[str]:
        return [mark for mark in self._marks if mark in text]

    @cached_property
    def end_of_turn(self) -> int:
        """The token that ends the assistant's turn."""
        token = self.tokenizer.eos_token_id
        if self.tokenizer.chat_template:
            _, mark, rest = self._rendered("", "x", _MARK).rpartition(_MARK)
            token = next(iter(self._ids(rest)), token) if mark else token
        if token is None:
            raise TstmetaError("the tokenizer has neither a chat template nor an end-of-text token")
        return int(token)

    def _rendered(self, system: str, user: str, output: str | None = None) -> str:
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": user})
        if output is not None:
            messages.append({"role": "assistant", "content": output})
        template = self.tokenizer.get_chat_template() if self.tokenizer.chat_template else PLAIN
        if "strftime_now" in template:
            # some ask the clock whatever date is given: they get the pinned one in any format
            template = _CLOCK + template
        request = self.tokenizer.special_tokens_map | {
            "conversations": [messages],
            "chat_template": template,
            "add_generation_prompt": output is None,
            "date_string": DATE,
        }
        answer = _answer(request)
        if (text := answer.get("text")) is None:
            raise TstmetaError(
                f"the chat template of {self.tokenizer.name_or_path or 'this tokenizer'} "
                f"{excerpt(answer['error'], 400)}. Remedy: mend the template, or take another model"
            )
        return text

    def _ids(self, text: str, **options: Any) -> list[int]:
        options |= {"add_special_tokens": False, "verbose": False}
        return self.tokenizer(text, **options)["input_ids"]


@lru_cache(maxsize=1)
def _renderer(pid: int) -> Any:
    """The process that renders for this one; a fork needs another."""
    command = [sys.executable, "-P", str(Path(__file__).with_name("renderer.py"))]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    # a group of its own: Ctrl-C does not reach it
    pipes |= {"stderr": subprocess.DEVNULL, "text": True}
    return subprocess.Popen(command, start_new_session=True, **pipes)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """The text that :mod:`.renderer` gives to a request, or the error."""
    limits = {"seconds": _SECONDS, "room": _ROOM * 2**20}
    line = ""
    with _rendering:
        process = _renderer(os.getpid())
        try:
            with suppress(BrokenPipeError):  # where it died, there is no line
                print(json.dumps(request | limits, default=str), file=process.stdin, flush=True)
                line = process.stdout.readline()
        finally:
            if not line.endswith("\n"):  # Ctrl-C may have come between
                process.kill()
                process.communicate()  # lets go of it
                _renderer.cache_clear()
    if line.endswith("\n"):
        return json.loads(line)
    faults = {
        -signal.SIGPROF: f"takes more than {_SECONDS:g} s for a text",
        NO_ROOM: f"takes more than {_ROOM} MiB of memory for a text",
    }
    code = process.returncode
    return {"error": faults.get(code, f"ends the process that renders it (exit code {code})")}
