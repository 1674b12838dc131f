"""The contrast set, ours: a full 2 x 2 of style shift and content error over six tasks.

Each source has four rewrites: {strong, light} style shift x {content kept, one content error}.  The
labels hold BY CONSTRUCTION; they are not ratings.  In ``span`` the changed words stand in the
notation of wdiff: ``[-old-]{+new+}``.
"""

import re
from pathlib import Path
from typing import NamedTuple

from .base import Dataset, Subsets, by_label, without_systems
from .raw import read_csv
from .tables import items_table

RAW = False
TASKS = ("sentiment", "detoxify", "catchy", "polite", "persuasive", "formal")


def load(root: Path) -> Dataset:
    """Load the set; ``system`` names the cell: strong, strong-error, light, light-error."""
    name, frame = "contrast", read_csv(root / "contrast.csv")
    system = frame["shift"] + (frame["error"] != "none").map({True: "-error", False: ""})
    items = items_table(name, frame, system=system)
    labels = frame.melt("item_id", ["task", "shift", "error", "span"], "name", "value")
    return Dataset.of(name, items, labels=labels[labels["value"] != ""].assign(dataset=name))


class Span(NamedTuple):
    """The one edit that made a content error: words taken out and words put in."""

    removed: str
    added: str


def span_of(right: str, wrong: str) -> Span:
    """The one contiguous edit that turns ``right`` into ``wrong``, in whole words.

    Case and outer punctuation do not count: a comma may move with a deleted phrase.  Of edits that
    do the same the first is taken, which begins a phrase: "for Ben" in "a cap for Ben for Ida".
    """
    before, after = right.split(), wrong.split()
    a, b = [bare(word) for word in before], [bare(word) for word in after]
    shorter, longer = sorted((a, b), key=len)
    head = next((i for i, word in enumerate(shorter) if longer[i] != word), len(shorter))
    rest = len(shorter) - head
    tail = next((i for i in range(rest) if a[-1 - i] != b[-1 - i]), rest)
    if len(shorter) < len(longer) and tail == rest:
        while head and longer[head - 1] == longer[-1 - tail]:
            head, tail = head - 1, tail + 1
    changed = (words[head : len(words) - tail] for words in (before, after))
    return Span(*map(" ".join, changed))


def bare(word: str) -> str:
    """A word as it is compared: lower case, no outer punctuation."""
    return re.sub(r"^\W+|\W+$", "", word).lower()


def format_span(span: Span) -> str:
    """Write a span in the notation of wdiff."""
    removed = f"[-{span.removed}-]" if span.removed else ""
    return removed + (f"{{+{span.added}+}}" if span.added else "")


SUBSETS: Subsets = by_label("task", TASKS)
# Two of the four cells, as the set of pauli2025 has them: style and content tied together.
SUBSETS |= {"tied": without_systems("strong-error", "light")}
