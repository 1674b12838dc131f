"""The small world set: held-out scenes as a test bed of the same form as the contrast set.

Forty sources a task, each with a full 2 x 2 of style shift and content error.  Words and frames are
those that the backbone was never trained on, the styles are those it was trained on: here the
scorer's assumption that the model knows the style holds.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from .scenes import TASKS, Scene, scene

COLUMNS = ("item_id", "task", "source_id", "source", "output", "style", "shift", "error", "span")
SEED = "small world 1"
#: Sources a task.
SOURCES = 40
#: Errors of the sources of a task, 14 + 13 + 13, in turn.
ERRORS = ("substitution", "deletion", "insertion")
_STYLES = {
    "sentiment": ("positive", "negative"),
    "detoxify": ("non-toxic",),
    "catchy": ("catchy",),
    "polite": ("polite",),
    "persuasive": ("persuasive",),
    "formal": ("formal",),
}
#: Bounds in words of a text, and of either side of an error: those of the contrast set.
SHORTEST, LONGEST, WIDEST = 6, 30, 6


def small_world(seed: str = SEED, sources: int = SOURCES) -> str:
    """The set as CSV; the same seed gives the same text everywhere."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    seen: set[str] = set()
    for task in TASKS:
        for number in range(sources):
            writer.writerows(_source(seed, task, number, seen))
    return out.getvalue()


def _source(seed: str, task: str, number: int, seen: set[str]) -> list[dict[str, str]]:
    """The four rewrites of a source: the first scene whose texts are all new and fit the bounds."""
    style = _STYLES[task][number % len(_STYLES[task])]
    error = ERRORS[number % len(ERRORS)]
    source_id = f"{task}-{number + 1:02d}"
    for attempt in range(1000):
        one = scene(f"{seed}/{number}/{attempt}", task, held_out=True, style=style)
        cells = list(_cells(one, error))
        texts = {one.source.casefold(), *(text.casefold() for _, _, text, _ in cells)}
        lengths = [len(text.split()) for text in texts]
        fits = min(lengths) >= SHORTEST and max(lengths) <= LONGEST
        if len(cells) == 4 and len(texts) == 5 and fits and not texts & seen:
            break
    seen |= texts
    return [
        {
            "item_id": f"{source_id}-{shift}{'' if kind == 'none' else '-error'}",
            "task": task,
            "source_id": source_id,
            "source": one.source,
            "output": text,
            "style": style,
            "shift": shift,
            "error": kind,
            "span": span,
        }
        for shift, kind, text, span in cells
    ]


def _cells(one: Scene, error: str) -> Iterator[tuple[str, str, str, str]]:
    """Shift, error, text and span of each rewrite; fewer than four where the error shows badly."""
    wrong = one.wrong(error)
    if wrong is None:
        return
    for shift in ("strong", "light"):
        kept, spoiled = one.tell(shift), one.tell(shift, wrong)
        yield shift, "none", kept, ""
        if span := span_between(kept, spoiled, error):
            yield shift, error, spoiled, span


def span_between(kept: str, wrong: str, error: str) -> str:
    """The one edit between two texts in the notation of wdiff, ``[-old-]{+new+}``.

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
