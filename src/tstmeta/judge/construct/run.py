"""A construction in its folder: plan, answers, journal, rows, data set.  One run at a time."""

from __future__ import annotations

from pathlib import Path

from ...schema import TstmetaError
from ..base import Chat
from ..budget import Budget, Estimate
from . import build, table
from .build import Built
from .export import write_set
from .journal import Journal
from .plan import FILE as PLAN
from .plan import Plan, alone, begin
from .table import Edit


def construct(
    folder: Path,
    plan: Plan,
    chat: Chat,
    *,
    budget: Budget | None = None,
    concurrency: int = 16,
    tries: int = 2,
    progress: bool = False,
) -> Built:
    """Make a test set in a folder, or go on with the one that is there.

    What a person changed in the table of rows stays; what depends on it is made anew.

    Args:
        chat: who is asked; closed when the last answer is there.
        tries: how often a text is asked for while a check finds a fault.

    Raises:
        TstmetaError: the folder is of another construction, another run works in it, or a person
            changed the rows while it ran.
        DataError: faults of the table of rows.
        Unusable: the server cannot answer; what came before is kept.
    """
    with alone(folder):
        begin(folder, plan)
        journal = Journal(folder)
        before, edits = table.stamp(folder), _edits(folder)
        ask = build.asking(chat, folder, concurrency=concurrency, budget=budget, progress=progress)
        built = build.build(plan, chat, ask, tries=tries, edits=edits, keep=journal.add)
        if table.stamp(folder) != before:
            raise TstmetaError(
                f"{folder / table.FILE} was changed while the answers came, and is left as it is. "
                "Remedy: run the same command again; it asks nothing twice"
            )
        table.write(folder, built.rows, built.found)
        write_set(folder, plan, built.rows, built.found)
    return built


def foretold(folder: Path, plan: Plan, chat: Chat) -> Estimate:
    """What :func:`construct` would ask, at least; see :func:`.build.foretold`.

    Raises:
        TstmetaError: the folder is of another construction.
    """
    if (folder / PLAN).exists():
        begin(folder, plan)  # compares, for the plan is there
    return build.foretold(plan, chat, folder, _edits(folder))


def _edits(folder: Path) -> dict[build.Key, Edit]:
    """What a person has settled in the table of rows, if there is one."""
    return table.edits(table.read(folder)) if (folder / table.FILE).exists() else {}
