"""Strips: a rewrite in which one sees which words the model did not foresee, and what they cost.

Each token has the colour of its probability under the instruction that accounts for it best, that
instruction's letter, and a bar that hangs by its part of content.  The same numbers stand in a
table below, for readers who see no colours and for those who want the digits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ..data import Dataset
from ..likelihood.characters import shown, visible
from ..likelihood.explain import Explanation, Piece, metric_of, of_items
from ..likelihood.instructions import TASKS
from . import html
from .bench import Bench
from .html import Html, signed

#: A token is one step less foreseen below each of these probabilities.
STEPS = (0.5, 0.1, 0.01, 0.001)
#: A bar is cut at this depth, about one in three thousand.
DEEPEST = 8.0
#: The letter stands out when its instruction's probability is so many times that of the next.
CLEARLY = 2.0
_SAID_STEPS = ("1 in 2", "1 in 10", "1 in 100", "1 in 1,000")


class Range(NamedTuple):
    """Characters [start, end) of an output."""

    start: int
    end: int


def strip(
    one: Explanation, *, title: str = "", marked: Range | None = None, given: bool = True
) -> Html:
    """A rewrite, token by token.

    Args:
        title: a line above it, for instance the item's name.
        marked: characters to outline; what they cost is said.
        given: whether the source and the target style are shown.
    """
    body = _given(one) * given + _line(one, title, marked)
    return _wrapped(body + _key([one], marked is not None))


def pair(
    kept: Explanation,
    wrong: Explanation,
    titles: tuple[str, str] = ("first rewrite", "second rewrite"),
) -> Html:
    """Two rewrites of a source below each other; the words in which they differ are outlined."""
    return _wrapped(_given(kept) + _pair(kept, wrong, titles) + _key([kept, wrong], True))


def quartet(cells: Mapping[str, Explanation], errors: Mapping[str, str] | None = None) -> Html:
    """The four rewrites of a source of the contrast set: both shifts, without and with the error.

    Args:
        cells: explanations by system: strong, strong-error, light, light-error.
        errors: what the error is, by system, for the titles.
    """
    return _wrapped(_quartet(cells, errors or {}) + _key(list(cells.values()), True))


def contrast_strips(
    given: Bench | Dataset,
    source_ids: Sequence[str],
    words: str = "",
    store: Path | None = None,
) -> Html:
    """Quartets of the contrast set, scored as ``likelihood:WORDS`` scores them.

    Args:
        given: a bench, or the contrast set itself.
        source_ids: such as ``sentiment-01``.
        words: of the metric; empty for the embedded demonstration model.
        store: the score store, whose token cache is used (default: the bench's).

    Raises:
        TstmetaError: a source that is not there.
        MissingModel: the model is not here and cannot be fetched.
    """
    progress = False
    if isinstance(given, Bench):
        dataset, store, progress = given.dataset("contrast"), store or given.store, given.progress
    else:
        dataset = given
    rows = [_cells(dataset, source_id) for source_id in source_ids]
    ids = [one for row in rows for one in row.values()]
    found = iter(of_items(metric_of(words, store), dataset, ids, progress=progress))
    errors = dataset.label("error")
    body, every = "", []
    for row in rows:
        cells = {system: next(found) for system in row}
        every += list(cells.values())
        body += _quartet(cells, {system: errors[one] for system, one in row.items()})
    return _wrapped(body + _key(every, True))


def page(explanations: Sequence[Explanation]) -> str:
    """A web page of its own, with nothing fetched from anywhere and no script."""
    body = "".join(
        _wrapped(_given(one) + _line(one, one.name, None), style=False).text for one in explanations
    )
    key = _wrapped(_key(explanations, False), style=False).text
    return (
        "<!doctype html>\n<html class='tst-page' lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta http-equiv='Content-Security-Policy' "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>What the likelihood scorer saw</title><style>{_sheet()}{_PAGE}</style></head>"
        f"<body><h1>What the likelihood scorer saw</h1>{body}{key}</body></html>\n"
    )


_PAGE = """
html { background: Canvas; color: CanvasText; color-scheme: light dark; }
html { font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 52rem; padding: 1rem; }
h1 { font-size: 1.5rem; }
.tst-table { overflow-x: auto; }
th, td { padding: 0.15rem 0.5rem; text-align: start; }
td.num { text-align: end; font-variant-numeric: tabular-nums; }
"""


# ------------------------------------------------------------------------------------- what differs


def changed(first: str, second: str) -> tuple[Range, Range]:
    """Where two texts differ: all between the words with which both begin and end.

    Words are compared without case and outer punctuation, which an edit beside them may move.
    """
    a, b = (_bare_words(text) for text in (first, second))
    shorter = min(len(a), len(b))
    head = next((i for i in range(shorter) if a[i][0] != b[i][0]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if a[-1 - i][0] != b[-1 - i][0]), rest)
    middles = (words[head : len(words) - tail] for words in (a, b))
    found = [Range(words[0][1], words[-1][2]) if words else Range(0, 0) for words in middles]
    return found[0], found[1]


def _bare_words(text: str) -> list[tuple[str, int, int]]:
    """Words without case and outer punctuation, with their characters [start, end)."""
    return [(m[0].lower(), *m.span()) for m in re.finditer(r"\w(?:\S*\w)?", text)]


def cost(one: Explanation, marked: Range) -> float:
    """What the tokens of a range add to content: the sum of their parts over all that count."""
    parts = [
        token.content
        for piece in one.pieces
        if _within(piece, marked)
        for token in piece.tokens
        if token.counts
    ]
    return sum(parts) / len(one.scored) if one.scored else 0.0


def _within(piece: Piece, marked: Range | None) -> bool:
    """Whether a piece has a character of a range, white space before it left out."""
    if marked is None:
        return False
    start = piece.end - len(piece.text.lstrip())
    return start < marked.end and piece.end > marked.start and start < piece.end


# ---------------------------------------------------------------------------------------- drawing


def step(content: float) -> int:
    """How little foreseen a token is, 0 to 4, from its part of content (log p)."""
    return sum(math.exp(content) < bound for bound in STEPS)


def probability(value: float) -> str:
    """A probability with two digits that mean something, never in powers of ten."""
    if value >= 0.001:
        return f"{value:.3f}"
    return f"{value:.6f}" if value >= 1e-6 else "<0.000001"


def _wrapped(body: str, style: bool = True) -> Html:
    sheet = f"<style>{_sheet()}</style>" if style else ""
    return Html(f"{sheet}<div class='tst-strip'>{body}</div>")


@cache
def _sheet() -> str:
    text = files(__package__).joinpath("strips.css").read_text(encoding="utf-8")
    return re.sub(r"/\*.*?\*/|\n\s*", "", text, flags=re.DOTALL)


def _given(one: Explanation) -> str:
    target = f"{one.rewrite.style}"
    if one.wording != target:
        target += f", worded “{one.wording}”"
    return (
        f"<p class='tst-given'>Source: <bdi>{escape(visible(one.rewrite.source))}</bdi><br>"
        f"Target style: {escape(visible(target))}</p>"
    )


def _pair(kept: Explanation, wrong: Explanation, titles: tuple[str, str]) -> str:
    ranges = changed(kept.rewrite.output, wrong.rewrite.output)
    both = zip((kept, wrong), titles, ranges, strict=True)
    return "".join(_line(one, title, marked) for one, title, marked in both)


def _quartet(cells: Mapping[str, Explanation], errors: Mapping[str, str]) -> str:
    body = _given(next(iter(cells.values())))
    for shift in ("strong", "light"):
        wrong = errors.get(f"{shift}-error") or "content error"
        titles = (f"{shift} shift, content kept", f"{shift} shift, one {wrong}")
        body += _pair(cells[shift], cells[f"{shift}-error"], titles)
    return body


def _cells(dataset: Dataset, source_id: str) -> dict[str, str]:
    """The item ids of a source by system."""
    from ..schema import TstmetaError

    rows = dataset.items[dataset.items["source_id"] == source_id]
    if rows.empty:
        first = dataset.items["source_id"].iloc[0]
        raise TstmetaError(f"{dataset.name!r} has no source {source_id!r}; such as {first}")
    return dict(zip(rows["system"], rows["item_id"], strict=True))


def _line(one: Explanation, title: str, marked: Range | None) -> str:
    head = f"<p class='tst-title'>{escape(visible(title))}</p>" if title else ""
    words = "".join(
        f"<span class=w>{''.join(_token(piece, marked) for piece in word)}</span>"
        for word in one.words
    )
    end = one.end_of_turn
    if end and end.counts:
        words += f"<span class=w>{_token(Piece('end of turn', end.start, end.end, (end,)), None)}"
        words += "</span>"
    if one.rest:
        words += f"<span class='t off'><span>{escape(visible(one.rest))}</span></span>"
    sums = _sums(one, marked)
    label = escape(f"{visible(one.rewrite.output)} — {sums} {_least(one)}", quote=True)
    return (
        f"{head}<p class='tst-said' role='img' dir='auto' aria-label='{label}'>{words}</p>"
        f"<p class='tst-sums'>{escape(sums)}</p>{_numbers(one)}"
    )


def _token(piece: Piece, marked: Range | None) -> str:
    text = shown(piece.text.lstrip(" ") or " ")
    if not piece.counts:
        kind, letter, depth = "t off", "<small>–</small>", 0.0
    else:
        kind = f"t u{step(piece.content)}" + (" m" if _within(piece, marked) else "")
        depth = min(-piece.content, DEEPEST)
        sure = " class=sure" if _clearly(piece) else ""
        letter = f"<small{sure}>{piece.best[0]}</small>"
    return (
        f"<span class='{kind}' title='{escape(_title(piece), quote=True)}'>"
        f"<span>{escape(text)}</span>{letter}<b style='--d:{depth:.2f}'></b></span>"
    )


def _clearly(piece: Piece) -> bool:
    sums = sorted(sum(token.logprobs[row] for token in piece.tokens) for row in range(len(TASKS)))
    return sums[-1] - sums[-2] >= math.log(CLEARLY)


def _title(piece: Piece) -> str:
    if not piece.counts:
        return "not counted by this variant"
    lines = []
    for place, token in enumerate(piece.tokens):
        said = [
            f"{task} {probability(math.exp(value))}"
            for task, value in zip(TASKS, token.logprobs, strict=True)
        ]
        part = f"part {place + 1}: " if len(piece.tokens) > 1 else ""
        lines.append(f"{part}{', '.join(said)}; log {signed(token.content, 2)}")
    return "\n".join(lines)


def _sums(one: Explanation, marked: Range | None) -> str:
    """C and S, or why there are none, and what the marked words cost."""
    if math.isnan(one.content):
        return f"No value ({one.status}): {visible(one.detail)}."
    n = len(one.scored)
    if not n:
        return f"C = {signed(one.content, 3)}: no token, so log(1 / size of the vocabulary)."
    text = f"C = {signed(one.content, 3)}, S = {signed(one.style, 3)}: means over {n} tokens."
    if one.detail:
        text += f" {visible(one.detail[:1].upper() + one.detail[1:])}."
    if marked and marked.start < marked.end:
        text += f" Of C the outlined words make {signed(cost(one, marked), 3)}."
    return text


def _least(one: Explanation) -> str:
    """The least foreseen word, for the ear."""
    words = [word for word in one.words if any(piece.counts for piece in word)]
    if not words:
        return ""
    worst = min(words, key=lambda word: min(piece.content for piece in word if piece.counts))
    text = visible("".join(piece.text for piece in worst).strip())
    p = math.exp(min(piece.content for piece in worst if piece.counts))
    return f"Least foreseen: {text}, p {probability(p)}."


def _numbers(one: Explanation) -> str:
    if not one.tokens:
        return ""
    frame = one.table()
    mean = {"token": "mean", "best": "", "C": one.content, "S": one.style}
    frame = pd.concat([frame, pd.DataFrame([mean])], ignore_index=True)
    formats = {f"p_{task}": _cell for task in TASKS}
    names = {f"p_{task}": f"p {task}" for task in TASKS} | {"C": "part of C", "S": "part of S"}
    frame = frame.rename(columns=names)
    drawn = {names[key]: value for key, value in formats.items()}
    return f"<details><summary>The numbers</summary>{html.table(frame, drawn).text}</details>"


def _cell(value: object) -> str:
    number = float(value)  # type: ignore[arg-type]
    return "–" if math.isnan(number) else escape(probability(number))


def _key(explanations: Sequence[Explanation], marks: bool) -> str:
    """What colours, letters, bars and outlines mean, and which model spoke."""
    said = ["likelier than " + _SAID_STEPS[0], *(f"less than {one}" for one in _SAID_STEPS)]
    steps = "".join(
        f"<span class=one><span class='t u{number}'><span>abc</span></span>{escape(text)}</span> "
        for number, text in enumerate(said)
    )
    letters = (
        "Colour: the token’s probability under the instruction that accounts for it best. Letter: "
        "that instruction, <b>s</b>tyle, <b>p</b>araphrase or <b>r</b>epeat; underlined where it "
        "is at least twice as likely as under either other. Bar: log p, cut at "
        f"{signed(-DEEPEST, 0)}; the mean depth is −C."
    )
    if marks:
        letters += " Outline: the words in which the two rewrites differ."
    models = dict.fromkeys(map(_model, explanations))
    return f"<p class='tst-key'>{steps}<br>{letters} {' '.join(models)}</p>"


def _model(one: Explanation) -> str:
    text = f"Model {one.model}, instructions {one.instructions}, variant {one.variant}."
    if one.demonstration:
        text += (
            " The embedded model is a demonstration: it shows how the method works, not how well."
        )
    signature = escape(visible(one.signature), quote=True)
    return f"<span title='{signature}'>{html.breakable(visible(text))}</span>"
