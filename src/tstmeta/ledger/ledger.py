"""The reproduction ledger: each number in the tables of the papers, ours, and what to make of both.

- ``match``: computed from data, equal at the decimals printed (half up); where a paper seems to
  have rounded in two steps, the recipe says so and the reason shows both;
- ``differs``: computed from data, not equal; the reason is given where it is known;
- ``misprint``: not equal, and the evidence speaks against the printed number;
- ``printed-only``: recomputed from other printed numbers, equal within their rounding;
- ``needs ...``: what is missing here: a model, data, or the wording of a prompt.
"""

import math

import pandas as pd

from ..schema import TstmetaError
from .cells import PAPERS, Cell, cells, matches, read, remarks, round_half_up
from .inputs import Answer, Inputs, Needs, model_of, settings_of
from .recipes import RECIPES

COLUMNS = ("cell", "paper", "table", "printed", "ours", "n", "signature", "status", "reason")
STATUSES = ("match", "printed-only", "differs", "misprint", "needs")
_PRINTED = "follows from other printed numbers"


def reproduce(
    paper: str | None = None, table: str | None = None, *, inputs: Inputs | None = None
) -> pd.DataFrame:
    """The ledger, one row a printed number, in the order of the papers' tables.

    Args:
        paper: only this paper: pauli2025, lai2023, mukherjee2025 or pang2019.
        table: only this table, e.g. ``5`` or ``fig1``.
        inputs: what to compute with, see :class:`.Inputs`.

    Returns:
        cell, paper, table, printed, ours (NaN where something is needed), n, signature, status,
        reason.
    """
    chosen = cells(paper, table and str(table))
    if not chosen:
        known = dict.fromkeys(f"{cell.paper} {cell.table}" for cell in cells(paper))
        what = f"nothing is printed under paper {paper!r}, table {table!r}"
        raise TstmetaError(f"{what}; known: {', '.join(known or PAPERS)}")
    inputs = inputs or Inputs()
    rows = []
    for cell in chosen:
        try:
            ours = answer(cell, inputs)
            status, reason = status_of(cell, ours)
        except Needs as lacking:
            ours = Answer(math.nan, 0, "")
            status, reason = f"needs {lacking.what}", lacking.reason
        head = (cell.cell, cell.paper, cell.table, cell.printed)
        rows.append((*head, ours.value, ours.n, ours.signature, status, reason))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def published(paper: str, table: str, *, inputs: Inputs | None = None) -> pd.DataFrame:
    """The printed cells of a table beside ours, tidy: one row a number.

    Returns:
        What :func:`reproduce` gives, and what the table says of each cell: item, dimension, metric,
        basis, dataset, language, direction, level, statistic (as the paper names them), value (the
        printed one as a number), decimals, note; and label: S-BLEU or R-BLEU where there are both.

        ``published("mukherjee2024", "systems")`` has means of systems as Mukherjee et al. (2024)
        released them: task, language (en, hi, bn), by (human, gpt-4, automatic), system, quantity
        (style, content, fluency from 1 to 5; ACC, CS, BL, AVG in percent) and value.
    """
    if (paper, table) == ("mukherjee2024", "systems"):  # in a file of its own: no cells
        return read("mukherjee2024_systems").astype({"value": float})
    rows = reproduce(paper, table, inputs=inputs)
    facts = pd.DataFrame(cells(paper, str(table))).drop(columns=["paper", "table", "printed"])
    tidy = rows.merge(facts, on="cell", validate="one_to_one")
    prefix = tidy["cell"].str.extract(r"^[^.]+\.[^.]+\.([sr]-)", expand=False).str.upper()
    return tidy.assign(label=prefix.fillna("") + tidy["metric"])


def counts(rows: pd.DataFrame) -> pd.DataFrame:
    """How many cells have each status, by paper; all that is needed counts as ``needs``."""
    table = pd.crosstab(rows["paper"], rows["status"].str.partition(" ")[0])
    index = [name for name in PAPERS if name in table.index]
    table = table.reindex(index=index, columns=list(STATUSES), fill_value=0)
    table["cells"] = table.sum(axis=1)
    table.loc["all"] = table.sum()
    return table.rename_axis(index="paper", columns=None).reset_index()


def answer(cell: Cell, inputs: Inputs) -> Answer:
    """Compute one cell; raises :class:`Needs` where something is missing for it."""
    how = settings_of(cell)
    if "needs" in how:
        raise Needs(*(how[key].format(model=model_of(cell)) for key in ("needs", "reason")))
    return RECIPES[how["recipe"]](cell, how, inputs)


def status_of(cell: Cell, ours: Answer) -> tuple[str, str]:
    """The status of a computed value and the reason."""
    if not math.isfinite(ours.value):
        return "differs", ours.reason or "no value can be computed"
    ranged = math.isfinite(ours.low)  # recomputed from printed numbers
    if matches(ours.value, cell):
        return ("printed-only", ours.reason or _PRINTED) if ranged else ("match", ours.reason)
    remark, why = remarks().get(cell.cell, ("", ""))
    if ranged:
        slack = 0.5 * 10.0**-cell.decimals + 1e-9
        if ours.low - slack <= cell.value <= ours.high + slack:
            return "printed-only", "equal within the rounding of the printed inputs"
        return remark or "misprint", why or "does not follow from the other printed numbers"
    if ours.via and matches(first := round_half_up(ours.value, ours.via), cell):
        return "match", f"rounded in two steps: {first:.{ours.via}f}, then {cell.printed}"
    reason = "; ".join(filter(None, [why, ours.reason]))
    return remark or "differs", reason or "the reason is not known"
