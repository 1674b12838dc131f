"""Lesson 6: from the probabilities of tokens to the two numbers of the likelihood method, by hand.

One sentence of the contrast set is worked out in steps that a pocket calculator can follow.  What
all sentences of the set say about each choice (logarithm, variant, length) stands in
:mod:`.choices`.
"""

from __future__ import annotations

import math
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown, Math
from matplotlib.figure import Figure

from ...data import Dataset
from ...data.contrast import parse_span
from ...likelihood.explain import metric_of, of_items
from ...likelihood.instructions import TASKS
from ...likelihood.scorer import Rewrite, Scorer
from ...likelihood.tokens import explained_by
from ...schema import TstmetaError
from .. import html, strips
from ..bench import Bench
from ..figures import BLUE, ORANGE, Picture, _panels, _styled
from .likelihoods import metric_name, scorer

#: How a space is shown that belongs to a token.
SPACE = "␣"
#: Probabilities below are written as a power of ten.
_SMALL = 1e-3
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NAMES = ("p style", "p paraphrase", "p repeat")


class Worked(NamedTuple):
    """A rewrite with all that the method makes of it.

    Attributes:
        item_id, cell, rewrite: which one.
        span: the error in wdiff's notation, empty where there is none.
        pieces: texts of the tokens.
        logprobs: float64 [3, tokens], rows as in ``TASKS``.
        content, style: the method's two numbers.
    """

    item_id: str
    cell: str
    rewrite: Rewrite
    span: str
    pieces: list[str]
    logprobs: np.ndarray
    content: float
    style: float

    @property
    def best(self) -> np.ndarray:
        """The largest log-probability of each token."""
        return self.logprobs.max(axis=0)

    @property
    def lead(self) -> np.ndarray:
        """p_style - max(p_paraphrase, p_repeat) of each token."""
        p = np.exp(self.logprobs)
        return p[0] - p[1:].max(axis=0)


class Case(NamedTuple):
    """A source with a rewrite that keeps its content and the same one with an error."""

    bench: Bench
    data: Dataset
    scorer: Scorer
    model: str
    kept: Worked
    wrong: Worked


def case(
    bench: Bench, source_id: str = "persuasive-37", shift: str = "light", model: str = "embedded"
) -> Case:
    """Work out two rewrites of a source of the contrast set.

    Args:
        shift: ``light`` or ``strong``.
        model: words as in ``likelihood:WORDS``.

    Raises:
        TstmetaError: no such source.
    """
    data = bench.dataset("contrast")
    items, spans = data.items, data.label("span")
    asked = scorer(bench, model)
    found = []
    for cell in (shift, f"{shift}-error"):
        own = items[(items["source_id"] == source_id) & (items["system"] == cell)]
        if own.empty:
            ids = items["source_id"].unique()
            raise TstmetaError(
                f"the contrast set has no source {source_id!r} with a rewrite {cell!r}; "
                f"sources are called {ids[0]} to {ids[-1]}"
            )
        row = own.iloc[0]
        rewrite = Rewrite(row["source"], row["output"], row["style"])
        found.append(_worked(asked, row["item_id"], cell, rewrite, spans[row["item_id"]]))
    return Case(bench, data, asked, model, *found)


def _worked(asked: Scorer, item_id: str, cell: str, rewrite: Rewrite, span: str) -> Worked:
    (judged,) = asked.judge([rewrite])
    columns = asked.variant.columns(judged.logprobs)
    texts = asked.texts(judged)
    values = asked.content(judged), asked.style(judged)
    return Worked(item_id, cell, rewrite, span, texts, columns, *values)


def shown(one: Case) -> html.Html:
    """The source and both rewrites, the error marked."""
    return html.examples(one.data, [one.kept.item_id, one.wrong.item_id])


# ------------------------------------------------------------------- what the model reads


def contexts(one: Case) -> html.Html:
    """The three texts that the model reads before the rewrite; what differs is bold."""
    asked, rewrite = one.scorer, one.kept.rewrite
    wording = asked.wordings.get(rewrite.style, rewrite.style)
    users = asked.instructions.fill(rewrite.source, wording)
    blocks = []
    for task, user in zip(TASKS, users, strict=True):
        text = asked.template.prompt(asked.instructions.system, user)
        count = len(asked.template.context(asked.instructions.system, user))
        before, own, after = text.rpartition(user)
        marked = f"{escape(before)}<b>{escape(own)}</b>{escape(after)}"
        blocks.append(
            f"<dt>{task} ({count} tokens)</dt><dd><pre style='white-space: pre-wrap'>{marked}"
            "</pre></dd>"
        )
    return html.Html(f"<dl>{''.join(blocks)}</dl>")


def pieces(worked: Worked) -> html.Html:
    """The tokens of a rewrite, each in its own frame; a space that belongs to a token is shown."""
    frame = "border: 1px solid currentColor; border-radius: 3px; padding: 0 0.15em"
    boxes = " ".join(
        f"<span style='{frame}'>{escape(visible(text))}</span>" for text in worked.pieces
    )
    return html.Html(f"<p style='line-height: 2'>{boxes}</p>")


def visible(text: str) -> str:
    """A token's text with its spaces as an open box, so that they can be seen."""
    return text.replace(" ", SPACE).replace("\n", "↵")


def pieces_said(worked: Worked) -> Markdown:
    """How many words and tokens a rewrite has."""
    words = len(worked.rewrite.output.split())
    return Markdown(
        f"{words} words, {len(worked.pieces)} tokens. `{SPACE}` is a space: a token"
        " carries the space before its word."
    )


# ------------------------------------------------------------------------------- by hand


def steps(worked: Worked) -> html.Html:
    """Every token's probabilities, their maximum, its logarithm, and the lead of the style."""
    p = np.exp(worked.logprobs)
    rows = pd.DataFrame(
        {
            "token": [visible(text) for text in worked.pieces],
            **dict(zip(_NAMES, p, strict=True)),
            "largest": p.max(axis=0),
            "from": explained_by(worked.logprobs),
            "ln of largest": worked.best,
            "style's lead": worked.lead,
        }
    )
    sums = {"token": "sum", "ln of largest": worked.best.sum(), "style's lead": worked.lead.sum()}
    rows = pd.concat([rows, pd.DataFrame([sums])], ignore_index=True)
    formats = dict.fromkeys([*_NAMES, "largest", "style's lead"], written)
    formats |= {"ln of largest": _log, "from": _word, "token": _token}
    return html.table(rows, formats)


def written(value: object) -> str:
    """A probability, or a difference of two, with four digits that count; nothing for NaN."""
    number = float(value)  # type: ignore[arg-type]
    if math.isnan(number):
        return ""
    if abs(number) >= _SMALL or number == 0:
        return html.signed(number, 4)
    digits, _, power = f"{number:.1e}".partition("e")
    return f"{digits.replace('-', '−')}·10{str(int(power)).translate(_RAISED)}"


def _log(value: object) -> str:
    return html.signed(float(value), 3)  # type: ignore[arg-type]


def _word(value: object) -> str:
    return escape(value) if isinstance(value, str) else ""


def _token(value: object) -> str:
    return f"<b>{value}</b>" if value == "sum" else f"<code>{escape(str(value))}</code>"


def content_by_hand(worked: Worked) -> Math:
    """C as the mean that it is, in the numbers of :func:`steps`."""
    return _mean("C", "\\ln \\max p_i", worked.best, 3, worked.content)


def style_by_hand(worked: Worked) -> Math:
    """S as the mean that it is, in the numbers of :func:`steps`."""
    return _mean(
        "S", "(p_i^{\\text{style}} - \\max p_i^{\\text{other}})", worked.lead, 4, worked.style
    )


def _mean(name: str, term: str, values: np.ndarray, decimals: int, value: float) -> Math:
    total = f"{values.sum():z.{decimals}f}"
    return Math(
        f"{name} = \\frac{{1}}{{n}} \\sum_i {term}"
        f" = \\frac{{{total}}}{{{len(values)}}} = {value:z.{decimals}f}"
    )


def same_as_scored(one: Case) -> html.Html:
    """The numbers by hand beside those that scoring the set gives."""
    rows = []
    for name, values in (("likelihood", "content"), ("likelihood-style", "style")):
        metric = metric_name(one.model, name=name)
        scored = one.bench.scores("contrast", metric, "source")["value"]
        for worked in (one.kept, one.wrong):
            by_hand = worked.best.mean() if values == "content" else worked.lead.mean()
            rows.append(
                {
                    "metric": metric,
                    "rewrite": worked.cell,
                    "by hand": float(by_hand),
                    "scored": float(scored[worked.item_id]),
                }
            )
    return html.table(pd.DataFrame(rows), dict.fromkeys(("by hand", "scored"), _six))


def _six(value: object) -> str:
    return html.signed(float(value), 6)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- the faulty rewrite


def worst(worked: Worked, count: int = 3) -> pd.DataFrame:
    """The tokens that cost most: token, p (the largest), cost (-ln p), share of all cost."""
    cost = -worked.best
    order = np.argsort(-cost, kind="stable")[:count]
    return pd.DataFrame(
        {
            "token": [visible(worked.pieces[place]) for place in order],
            "p": np.exp(worked.best[order]),
            "cost": cost[order],
            "share": cost[order] / cost.sum(),
        }
    )


def verdict(one: Case) -> Markdown:
    """What C says of the two rewrites, and which token of each costs most."""
    kept, wrong = one.kept, one.wrong
    right = kept.content > wrong.content
    said = "The kept one is higher" if right else "The kept one is not higher: here the model errs"
    removed, added = parse_span(wrong.span)
    first, dear = worst(wrong, 1).iloc[0], worst(kept, 1).iloc[0]
    return Markdown(
        f"C is {html.signed(kept.content, 3)} with the content kept and"
        f" {html.signed(wrong.content, 3)} with the error, in which “{removed or '(nothing)'}”"
        f" became “{added or '(nothing)'}”. {said}. The dearest token of the faulty rewrite is"
        f" “{first['token']}” with p = {written(first['p'])}: it alone makes {first['share']:.0%}"
        f" of the sum. In the kept rewrite it is “{dear['token']}” with p = {written(dear['p'])},"
        f" {dear['share']:.0%} of that sum."
    )


def pair(one: Case) -> html.Html:
    """Both rewrites as strips, the difference outlined."""
    metric = metric_of(metric_name(one.model).partition(":")[2], one.bench.store)
    ids = [one.kept.item_id, one.wrong.item_id]
    kept, wrong = of_items(metric, one.data, ids)
    return strips.pair(kept, wrong, (one.kept.cell, one.wrong.cell))


def bars(one: Case) -> Picture:
    """What each token of the two rewrites costs, -ln of its largest probability."""
    return Picture(_bars(one))


@_styled
def _bars(one: Case) -> Figure:
    figure, axes = _panels(2, 3.6, 0.28 * max(len(one.kept.pieces), len(one.wrong.pieces)) + 1.2)
    most = max(-one.kept.best.min(), -one.wrong.best.min())
    for axis, worked, colour in zip(axes, (one.kept, one.wrong), (BLUE, ORANGE), strict=True):
        place = np.arange(len(worked.pieces))
        axis.barh(place, -worked.best, color=colour)
        axis.axvline(-worked.content, color="#222222", lw=1.2, linestyle="--")
        axis.set_yticks(place, [_drawable(text) for text in worked.pieces])
        axis.set_ylim(len(place) - 0.4, -0.6)
        axis.set(xlim=(0, most * 1.05), xlabel="−ln of the largest probability")
        axis.set_title(f"{worked.cell}: C = {html.signed(worked.content, 3)}")
        axis.grid(axis="y", visible=False)
    return figure


def _drawable(text: str) -> str:
    """A token for a label of the figure, whose font has no open box."""
    return text.replace(" ", "·").replace("\n", "↵")
