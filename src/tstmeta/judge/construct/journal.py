"""The journal: each question that was asked, by whom it was answered, and with what.

One JSON object a line.  It is written anew from the kept answers whenever a step ends, and lines
that were there stay, so it also tells what later tries and changes have replaced.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...data.files import read_json_lines
from ...schema import DataError, TstmetaError
from ..base import Chat, Question, Reply
from .plan import write_text
from .steps import Read, prompt_hash, wording

FILE = "journal.jsonl"


Entry = dict[str, Any]


def entry(
    source_id: str, step: str, question: Question, reply: Reply, found: Read, chat: Chat
) -> Entry:
    """One question and what came back, as a line of the journal.

    ``source_id`` is empty where the model was asked for sources; ``step`` is source, strong, light,
    light-error or strong-error, ``attempt`` which try of it, from 0 (for sources, which round).
    ``key`` is that under which the raw ``reply`` is kept; ``texts`` are what was read from it, and
    ``problem`` is why nothing was.
    """
    asked = asdict(question)
    return {
        "source_id": source_id,
        "step": step,
        "attempt": asked.pop("sample"),
        "prompt": wording()["name"],
        "prompt_hash": prompt_hash(),
        "server": chat.server,
        "model": chat.model,
        "revision": chat.revision,
        "key": question.key(chat.server, chat.model, chat.revision),
        "question": asked,
        "reply": asdict(reply),
        "texts": list(found.texts),
        "problem": found.problem,
    }


class Journal:
    """The journal of a folder; one process at a time writes it."""

    def __init__(self, folder: Path):
        self.path = folder / FILE
        self._lines: dict[tuple[str, str, str], Entry] = {}
        if self.path.exists():
            try:
                for line in read_json_lines(self.path, ("source_id", "step", "key", "texts")):
                    self._lines[line["source_id"], line["step"], line["key"]] = line
            except DataError as error:
                raise TstmetaError(
                    f"{self.path} is not as it was written. Remedy: move it away; the answers are "
                    "kept beside it, and it is written anew"
                ) from error

    def add(self, entries: Iterable[Entry]) -> None:
        """Keep entries; one for the same question replaces what was there (a failure, say).

        Raises:
            TstmetaError: the file cannot be written.
        """
        for one in entries:
            self._lines[one["source_id"], one["step"], one["key"]] = one
        lines = [json.dumps(line, ensure_ascii=True) for line in self._lines.values()]
        write_text(self.path, "".join(line + "\n" for line in lines))
