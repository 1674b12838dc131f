"""The small world set: held-out scenes as a test bed of the same form as the contrast set.

Forty sources a task, each with a full 2 x 2 of style shift and content error, in words and frames
that the embedded model was never trained on, and styles that it was trained on.
"""

from collections.abc import Iterator

import pandas as pd

from tstmeta.data.contrast import format_span, span_of

from .scenes import TASKS, Scene, scene

SEED = "small world 1"
COLUMNS = ("item_id", "task", "source_id", "source", "output", "style", "shift", "error", "span")
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
        faithful, spoiled = drawn.tell(shift), drawn.tell(shift, wrong)
        yield {"shift": shift, "error": "none", "output": faithful, "span": ""}
        if span := span_between(faithful, spoiled, error):
            yield {"shift": shift, "error": error, "output": spoiled, "span": span}


def span_between(faithful: str, wrong: str, error: str) -> str:
    """The edit between two texts in the notation of wdiff, ``[-old-]{+new+}``.

    Empty where the edit is not of the kind ``error`` or wider than six words.
    """
    span = span_of(faithful, wrong)
    removed, added = (len(side.split()) for side in span)
    kind = ("substitution" if removed else "insertion") if added else "deletion"
    return format_span(span) if kind == error and 0 < max(removed, added) <= WIDEST else ""
