"""Games: outputs that no honest system would give, and what every metric pays for them.

A system can copy its source, put a word of the wanted style in front of it (Cao et al. 2020 warn of
that), cut it short, shuffle or repeat it, say nothing, or answer any source with one fixed polite
sentence.  None of these is a rewrite; a metric that puts them above an honest rewrite of the same
source rewards them.  A content metric alone is expected to fall for copying: that is why it must
never stand alone, and these tables show how far.

Words and sentences are ours, one for each style; where a set's style is not in the table the words
for any style serve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import stats
from ..data import Dataset
from ..data.files import items_table
from ..schema import TstmetaError
from ..stats import confounds
from .bench import Bench
from .material import bounds, heads, lower_is_better, ordered
from .matrices import matrices


class Words(NamedTuple):
    """What a game says in a style: a word to put in front, and a sentence that fits any source."""

    marker: str
    sentence: str


#: Ours: a marker of each target style, and a sentence of it that says nothing of the source.
STYLE_WORDS = {
    "positive": Words("Wonderful:", "This was wonderful, and I would gladly come back."),
    "negative": Words("Terrible:", "This was terrible, and I will never come back."),
    "detoxified": Words("Respectfully,", "I see this differently, and I respect your view."),
    "non-toxic": Words("Respectfully,", "I see this differently, and I respect your view."),
    "appropriate": Words("Respectfully,", "I see this differently, and I respect your view."),
    "catchy": Words("Wow!", "You will not believe what comes next!"),
    "polite": Words("Please,", "Would you be so kind as to let me know, please?"),
    "persuasive": Words("Imagine:", "You owe it to yourself to act on this today."),
    "formal": Words("Furthermore,", "I would be most grateful for your kind attention."),
    "informal": Words("lol", "hey no worries, talk to you later!"),
    "simplified": Words("Simply put,", "This is a fact. It is good to know."),
}
ANY_STYLE = Words("Indeed,", "That is a good point, and thank you for it.")


def words_of(style: str) -> Words:
    """The words for a target style."""
    return STYLE_WORDS.get(style, ANY_STYLE)


def _truncate(source: str, style: str, rng: np.random.Generator) -> str:
    words = source.split()
    return " ".join(words[: math.ceil(len(words) / 2)])


def _shuffle(source: str, style: str, rng: np.random.Generator) -> str:
    return " ".join(rng.permutation(np.array(source.split(), dtype=object)).tolist())


#: name -> (source, style, generator) -> output
GAMES: dict[str, Callable[[str, str, np.random.Generator], str]] = {
    "copy": lambda source, style, rng: source,
    "style word": lambda source, style, rng: f"{words_of(style).marker} {source}",
    "first half": _truncate,
    "shuffled": _shuffle,
    "twice": lambda source, style, rng: f"{source} {source}",
    "set phrase": lambda source, style, rng: words_of(style).sentence,
    "empty": lambda source, style, rng: "",
}
#: The system of the contrast set whose rewrites keep the content and shift the style.
KEPT = "strong"


def play(dataset: Dataset, games: Sequence[str] = tuple(GAMES), seed: int = 0) -> Dataset:
    """Every game on every source: one item a source and game, the game's name as system.

    Style and references are those of the source's first item that has references (or of its first
    item).  Nobody rated these outputs.

    Raises:
        TstmetaError: a game that nobody knows.
    """
    if unknown := [name for name in games if name not in GAMES]:
        raise TstmetaError(f"unknown game {', '.join(unknown)}; known: {', '.join(GAMES)}")
    items = dataset.items
    without = items["references"].map(len) == 0
    first = items.assign(_without=without).sort_values("_without", kind="stable")
    first = first.drop_duplicates("source_id").sort_index()
    rng = np.random.default_rng(seed)
    pairs = list(zip(first["source"], first["style"], strict=True))
    tables = [
        items_table(
            items["dataset"].iloc[0],
            item_id=first["source_id"] + f"-game-{game.replace(' ', '-')}",
            source_id=first["source_id"],
            system=game,
            output=[GAMES[game](source, style, rng) for source, style in pairs],
            **{name: first[name] for name in ("style", "direction", "language", "source")},
            references=first["references"],
        )
        for game in games
    ]
    table = pd.concat(tables, ignore_index=True)
    return Dataset.of(f"{dataset.name} (games)", table, card=dataset.card)


def honest_system(dataset: Dataset) -> str:
    """The system whose rewrites stand for honest work.

    By construction where labels say so (``strong`` on the contrast set).  Otherwise the system with
    the best mean of content and style ratings, both from 0 to 1 on their scale, of those that
    rewrote at least half of the sources; content alone where style was not rated.  Content alone
    would choose the system that copies most.

    Raises:
        TstmetaError: no ratings, or no item names its system.
    """
    systems = dataset.items["system"].to_numpy(str)
    if not dataset.dimensions and KEPT in systems:
        return KEPT
    wanted = [name for name in ("content", "style") if name in dataset.dimensions]
    table = pd.DataFrame({name: dataset.means[name].to_numpy() for name in wanted})
    for name in wanted:
        low, high = dataset.card.scale.get(name, (table[name].min(), table[name].max()))
        table[name] = (table[name] - low) / max(high - low, 1e-300)
    table = table.assign(system=systems, source=dataset.items["source_id"].to_numpy(str))
    table = table[systems != ""].dropna(subset=wanted)
    if not wanted or table.empty:
        raise TstmetaError(
            f"{dataset.name}: no rated system can stand for honest rewrites. Name one of:"
            f" {', '.join(sorted(set(systems) - {''})) or 'none (items name no system)'}"
        )
    by_system = table.groupby("system", sort=False)
    covered = by_system["source"].nunique() * 2 >= dataset.items["source_id"].nunique()
    if not covered.any():
        covered[:] = True
    mean = by_system[wanted].mean().mean(axis=1).where(covered)
    return str(mean.idxmax())


def table_of_games(
    bench: Bench,
    dataset: Dataset,
    metrics: Sequence[str],
    bases: Sequence[str] | None = ("source", "none"),
    *,
    games: Sequence[str] = tuple(GAMES),
    honest: str = "",
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """How often, and how far, each metric puts a game above an honest rewrite of the same source.

    Args:
        metrics, bases: as in :meth:`tstmeta.report.bench.Bench.table`.
        honest: the system that stands for honest rewrites; default :func:`honest_system`.

    Returns:
        One row a metric and game: metric, basis, better, game, honest, wins (share of sources where
        the game scores better, ties half), wins_low, wins_high, gap (mean score of the game less
        that of the honest rewrite, in standard deviations of honest scores; above 0 the game scores
        better), gap_low, gap_high, n (sources), signature.

    Raises:
        TstmetaError: an unknown game, no honest system, or one that is called like a game.
    """
    chosen = honest or honest_system(dataset)
    system = dataset.items["system"]
    if not (system == chosen).any():
        known = ", ".join(sorted(set(system) - {""})) or "none"
        raise TstmetaError(f"{dataset.name}: no system is called {chosen!r}; known: {known}")
    if chosen in games:
        raise TstmetaError(
            f"{dataset.name}: {chosen!r} is a system and a game; leave out that game"
        )
    work = dataset.where(system == chosen)
    both = pd.concat([work.items, play(work, games, seed).items], ignore_index=True)
    combined = Dataset.of(f"{dataset.name} (games)", both, card=dataset.card)
    found = matrices(combined, bench.table(combined, metrics, bases))
    lower = np.array([lower_is_better(*one) for one in found.names], dtype=bool)
    turned = np.where(lower[:, None, None], -found.metrics, found.metrics)
    rows = heads(found, lower)
    columns = np.array(found.layout.systems)
    there = np.ones(found.shape, dtype=bool)
    made = stats.draw(found.plan(n=draws), found.shape, np.random.default_rng(seed))
    tables = []
    for game in games:
        result = confounds.sensitivity(
            turned, there & (columns == chosen), there & (columns == game), scale="kept", draws=made
        )
        wins, gap = 1.0 - result.preference, 0.0 - result.gap
        endless = (-np.inf, np.inf)
        wins_low, wins_high = bounds(1.0 - result.preferences, wins, result.n, (0.0, 1.0))
        gap_low, gap_high = bounds(0.0 - result.gaps, gap, result.n, endless)
        values = {
            "game": game,
            "honest": chosen,
            "wins": wins,
            "wins_low": wins_low,
            "wins_high": wins_high,
            "gap": gap,
            "gap_low": gap_low,
            "gap_high": gap_high,
            "n": result.n,
        }
        tables.append(pd.DataFrame(rows).assign(**values))
    return ordered(pd.concat(tables, ignore_index=True), len(rows))
