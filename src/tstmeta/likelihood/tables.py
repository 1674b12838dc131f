"""The likelihood method token by token, as frames; both equations are means over their rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..data import Dataset, paths
from ..schema import TstmetaError
from .instructions import TASKS
from .scorer import Rewrite, Scorer, TokenScores
from .tokens import every_column
from .zeroshot import Likelihood

#: How the end of the turn is written in the column ``token``.
END = "⟨end⟩"
_TEXTS = ["source", "output", "style"]


def token_scores(data: Dataset | pd.DataFrame, metric: str = "likelihood") -> pd.DataFrame:
    """Log-probabilities of every token of every rewrite under the three instructions.

    Args:
        data: a data set, or a frame with the columns source, output and style (the target), and
            item_id where rows have names.
        metric: ``likelihood``, or with a model, variant and instructions after the colon.

    Returns:
        One row a token, in the order of the items: item_id, place (0, 1, … within the rewrite),
        token (its text; a byte of a character cut in several stands empty), style, paraphrase,
        repeat (natural logarithms, <= 0; rounded where the variant rounds) and counts (whether the
        variant's means include it).  The end of the turn stands last as ``⟨end⟩``, unless the
        output was cut.  A rewrite that cannot be scored has no rows.

    Raises:
        TstmetaError: a column that is missing, or words that name no metric.
        MissingModel: the model is not here and cannot be fetched.
    """
    rewrites = rewrites_of(data)
    scorer = metric_of(metric).scorer()
    return tabulate(scorer, rewrites, scorer.judge(list(rewrites)))


def explain(data: Dataset | pd.DataFrame, metric: str = "likelihood") -> pd.DataFrame:
    """Why rewrites got their scores: :func:`token_scores` and each token's part of both means.

    Returns:
        The columns of :func:`token_scores` and best (the instruction that accounts for the token
        best, the first of equals), content (its part of Eq. 1: log max p, <= 0), lead (its part of
        Eq. 2: p_style - max(p_paraphrase, p_repeat), in [-1, 1]); both NaN where it does not count.
    """
    return with_parts(token_scores(data, metric))


def metric_of(words: str) -> Likelihood:
    """The metric ``likelihood:WORDS``, or ``WORDS`` alone, with the token cache of the store."""
    metric = Likelihood(words.removeprefix("likelihood").removeprefix(":"))
    metric.keep_in(paths.scores(), progress=False)
    return metric


def rewrites_of(data: Dataset | pd.DataFrame) -> pd.Series:
    """Rewrites by item id."""
    table = data if isinstance(data, pd.DataFrame) else data.with_texts("token by token")
    if missing := [name for name in _TEXTS if name not in table]:
        raise TstmetaError(f"the table has no column {', '.join(missing)}")
    ids = table["item_id"] if "item_id" in table else table.index.astype(str)
    rows = [Rewrite(*row) for row in table[_TEXTS].itertuples(index=False)]
    return pd.Series(rows, pd.Index(ids), dtype=object)


def tabulate(scorer: Scorer, rewrites: pd.Series, scores: Sequence[TokenScores]) -> pd.DataFrame:
    """The frame of :func:`token_scores`, from rewrites by item id and what ``judge`` gave."""
    rows: list[tuple] = []
    for (item_id, rewrite), known in zip(rewrites.items(), scores, strict=True):
        if not known.status.has_value:
            continue
        n, columns = len(known.tokens), every_column(known.logprobs, scorer.released).T
        places = spans(scorer.model.tokenizer, rewrite.output, n)
        texts = [rewrite.output[start:end] for start, end in places] + [END] * (len(columns) - n)
        for place, (text, logprobs) in enumerate(zip(texts, columns, strict=True)):
            counts = place > 0 if scorer.released else place < n
            rows.append((item_id, place, text, *logprobs, counts))
    return pd.DataFrame(rows, columns=["item_id", "place", "token", *TASKS, "counts"])


def with_parts(tokens: pd.DataFrame) -> pd.DataFrame:
    """The columns best, content and lead of :func:`explain`."""
    logprobs, counts = tokens[list(TASKS)].astype(float), tokens["counts"].astype(bool)
    p = np.exp(logprobs)
    return tokens.assign(
        best=np.array(TASKS)[logprobs.to_numpy().argmax(axis=1)],
        content=logprobs.max(axis=1).where(counts),
        lead=(p["style"] - p[["paraphrase", "repeat"]].max(axis=1)).where(counts),
    )


def spans(tokenizer: Any, text: str, count: int) -> list[tuple[int, int]]:
    """Characters [start, end) of the first tokens, without gap or overlap from 0 on.

    White space between two tokens goes to the later one.  A character that several tokens share
    goes to the first of them; the others have start = end.
    """
    if not count:
        return []
    # as the template reads a text: a control token is its letters
    how = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}
    offsets = tokenizer(text, return_offsets_mapping=True, **how)["offset_mapping"]
    places, reached = [], 0
    for _, end in offsets[:count]:
        places.append((reached, max(reached, end)))
        reached = places[-1][1]
    if count == len(offsets):  # blanks at the very end have no token after them
        places[-1] = (places[-1][0], len(text))
    return places
