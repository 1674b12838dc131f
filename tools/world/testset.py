"""The small world set: held-out scenes as a test bed of the same form as the contrast set.

Forty sources a task, each with a full 2 x 2 of style shift and content error, in words and frames
that the embedded model was never trained on, and styles that it was trained on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from tstmeta.data.contrast import COLUMNS

from .scenes import TASKS, Scene, scene

SEED = "small world 1"
#: Sources a task.
SOURCES = 40
#: Errors of the sources of a task, 14 + 13 + 13, in turn.
ERRORS = ("substitution", "deletion", "insertion")
_STYLES = {task: (task,) for task in TASKS} | {
    "sentiment": ("positive", "negative"),
    "detoxify": ("non-toxic",),
}
#: Bounds in words of a text, and of either side of an error: those of the contrast set.
SHORTEST, LONGEST, WIDEST = 6, 30, 6


def small_world(seed: str = SEED, sources: int = SOURCES) -> str:
    """The set as CSV; the same seed gives the same text everywhere."""
    seen: set[str] = set()
    rows: list[dict[str, str]] = []
    for task in TASKS:
        for number in range(sources):
            rows += _source(seed, task, number, seen)
    return pd.DataFrame(rows, columns=list(COLUMNS)).to_csv(index=False, lineterminator="\n")


def _source(seed: str, task: str, number: int, seen: set[str]) -> list[dict[str, str]]:
    """The four rewrites of a source: the first scene whose texts are all new and fit the bounds."""
    style = _STYLES[task][number % len(_STYLES[task])]
    error = ERRORS[number % len(ERRORS)]
    for attempt in range(1000):
        drawn = scene(f"{seed}/{number}/{attempt}", task, held_out=True, style=style)
        cells = list(_cells(drawn, error))
        texts = {text.casefold() for text in (drawn.source, *(cell["output"] for cell in cells))}
        fits = all(SHORTEST <= len(text.split()) <= LONGEST for text in texts)
        if len(cells) == 4 and len(texts) == 5 and fits and not texts & seen:
            break
    seen |= texts
    name = f"{task}-{number + 1:02d}"
    facts = {"task": task, "source_id": name, "source": drawn.source, "style": style}
    systems = [f"{cell['shift']}{'-error' * (cell['error'] != 'none')}" for cell in cells]
    return [
        {"item_id": f"{name}-{system}", **facts, **cell}
        for system, cell in zip(systems, cells, strict=True)
    ]


def _cells(drawn: Scene, error: str) -> Iterator[dict[str, str]]:
    """The rewrites of a scene; fewer than four where the error shows badly."""
    wrong = drawn.wrong(error)
    if wrong is None:
        return
    for shift in ("strong", "light"):
        kept, spoiled = drawn.tell(shift), drawn.tell(shift, wrong)
        yield {"shift": shift, "error": "none", "output": kept, "span": ""}
        if span := span_between(kept, spoiled, error):
            yield {"shift": shift, "error": error, "output": spoiled, "span": span}


def span_between(kept: str, wrong: str, error: str) -> str:
    """The edit between two texts in the notation of wdiff, ``[-old-]{+new+}``.

    Words are compared without case and outer punctuation, as they may have to follow an edit.
    Empty where the edit is not of the kind ``error`` or wider than six words.
    """
    before, after = kept.split(), wrong.split()
    a, b = [_bare(word) for word in before], [_bare(word) for word in after]
    shorter = min(len(a), len(b))
    head = next((at for at in range(shorter) if a[at] != b[at]), shorter)
    rest = shorter - head
    tail = next((at for at in range(rest) if a[-1 - at] != b[-1 - at]), rest)
    longer = a if len(a) > len(b) else b
    if len(a) != len(b):
        # "for" + "Petra for" is "for Petra" + "for": take the reading that begins a phrase
        while head and tail < rest + head and longer[head - 1] == longer[len(longer) - tail - 1]:
            head, tail = head - 1, tail + 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    kind = ("substitution" if old else "insertion") if new else "deletion" if old else "none"
    if kind != error or max(len(old), len(new)) > WIDEST:
        return ""
    removed = f"[-{' '.join(old)}-]" if old else ""
    return removed + (f"{{+{' '.join(new)}+}}" if new else "")


def _bare(word: str) -> str:
    return re.sub(r"^\W+|\W+$", "", word).lower()
