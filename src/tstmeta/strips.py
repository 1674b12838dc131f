"""Rewrites token by token, shaded by their probability under a model: HTML for a notebook."""

import math
from html import escape

import pandas as pd
from IPython.display import HTML

#: A token is one step darker below each of these probabilities, and how the steps are called.
STEPS = (0.5, 0.1, 0.01, 0.001)
_SHADES = {
    "#FFFFFF": "1 in 2 or more",
    "#FCE5C0": "to 1 in 10",
    "#F8C382": "to 1 in 100",
    "#EE9A4D": "to 1 in 1,000",
    "#E07B39": "less",
}
LETTERS = {"style": "s", "paraphrase": "p", "repeat": "r"}


def strip(tokens: pd.DataFrame, titles: dict[str, str] | None = None) -> HTML:
    """Rewrites as shaded tokens: the darker, the less the model expected one.

    The shade is the token's probability under the instruction that gives it the highest one, the
    letter is that instruction's.  A table that opens below has the numbers, for readers who see no
    colours.

    Args:
        tokens: what ``tst.explain`` returns: token, style, paraphrase, repeat, best, content;
            item_id where there are several rewrites; marked where tokens are to be outlined.
        titles: item_id -> words above a rewrite; its id by default.
    """
    ids = tokens.get("item_id", pd.Series("", tokens.index))
    titles, parts = titles or {}, tokens.groupby(ids, sort=False, observed=True)
    body = "".join(_rewrite(titles.get(str(id), str(id)), part) for id, part in parts)
    steps = " ".join(_patch(name, shade) for shade, name in _SHADES.items())
    letters = ", ".join(f"{letter} = {name}" for name, letter in LETTERS.items())
    key = f"<p style='font-size:.85em'>Probability of a token: {steps}<br>Letter: {letters}.</p>"
    return HTML(f"<div>{body}{key}</div>")


def _rewrite(title: str, part: pd.DataFrame) -> str:
    blocks = []
    for row in part.itertuples():
        shade = list(_SHADES)[sum(row.content < math.log(limit) for limit in STEPS)]
        outline = "outline:2px solid #123b66;" * bool(getattr(row, "marked", False))
        letter = LETTERS.get(str(row.best), "")
        blocks.append(f"{_patch(str(row.token), shade, outline)}<sub>{letter}</sub>")
    columns = ["token", "best", "content", *LETTERS]
    numbers = part[columns].to_html(index=False, float_format="{:z.2f}".format, border=0)
    symbols = {"content": "C", "lead": "S"}
    means = [f"{symbols[name]} = {part[name].mean():z.3f}" for name in symbols if name in part]
    mean = ", ".join(means).replace("-", "−")
    return (
        f"<p style='margin-bottom:.2em'><b>{escape(title)}</b>: {mean}</p>"
        f"<div style='line-height:2'>{' '.join(blocks)}</div>"
        "<details><summary>Numbers (natural logarithms)</summary>"
        f"<div style='overflow-x:auto'>{numbers}</div></details>"
    )


def _patch(text: str, shade: str, more: str = "") -> str:
    style = "white-space:pre;color:#111;border:1px solid #999;border-radius:3px;padding:0 .35em;"
    return f"<span style='{style}background:{shade};{more}'>{escape(text)}</span>"
