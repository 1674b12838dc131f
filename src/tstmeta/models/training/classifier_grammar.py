"""Text of the grammar with its style, which the embedded models of style learn from.

Every scene is told as a source, lightly rewritten and strongly rewritten, in the words of the
training side; the sets ``world`` and ``contrast`` use none of these sentences.
"""

from __future__ import annotations

import pandas as pd

from ..classifiers import Task
from ..world.phrases import WORDINGS
from ..world.scenes import scene

#: Task -> the style of its sources and the style that they are rewritten to.
STYLES = {
    "sentiment": ("negative", "positive"),
    "detoxify": ("toxic", "non-toxic"),
    "catchy": ("not catchy", "catchy"),
    "polite": ("not polite", "polite"),
    "persuasive": ("not persuasive", "persuasive"),
    "formal": ("informal", "formal"),
    "simplify": ("complex", "simplified"),
}
#: Other words for the styles.
NAMES = {
    wording: style
    for task, (_, style) in STYLES.items()
    for wording in WORDINGS[task]
    if wording != style and task != "sentiment"
} | dict.fromkeys(("casual", "colloquial"), "informal")
#: How strong a rewrite is in its style, by construction.
_STRENGTH = {"source": 0.0, "light": 0.5, "strong": 1.0}
#: Scenes of a task.
SCENES = 1500


def corpus(scenes: int = SCENES, strengths: bool = False) -> pd.DataFrame:
    """Sentences with task, style, split (empty) and value (strength in the task's second style).

    Args:
        scenes: of each task; the first ones are always the same.
        strengths: with light rewrites, which stand between two styles; else without.
    """
    rows = []
    for task, styles in STYLES.items():
        for number in range(scenes):
            turned = task in ("sentiment", "formal") and number % 2
            name = "informal" if task == "formal" and turned else task
            wanted = styles[0] if turned else styles[1]
            one = scene(f"style corpus/{number}", name, style=wanted)
            for level, strength in _STRENGTH.items():
                if level == "light" and not strengths:
                    continue
                value = 1 - strength if turned else strength
                rows.append((one.tell(level), task, styles[int(value > 0.5)], "", value))  # type: ignore[arg-type]
    return pd.DataFrame(rows, columns=["text", "task", "style", "split", "value"])


def tasks() -> list[Task]:
    """The tasks, with other words for their styles."""
    return [
        Task(name, styles, {word: style for word, style in NAMES.items() if style in styles})
        for name, styles in STYLES.items()
    ]
