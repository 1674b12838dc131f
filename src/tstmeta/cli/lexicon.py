"""``tstmeta train lexicon``: words that tell two styles apart, from a corpus of sentences.

See :mod:`tstmeta.cli` for how commands behave.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import Format, mistake, note, show_table
from .options import FormatOption
from .train import _word

if TYPE_CHECKING:
    import pandas as pd

#: Data sets whose sources are never learned from: those that are drawn from the corpus.
KEPT_OUT = {"yelp": ("mir",)}


def lexicon(
    corpus: Annotated[
        str, typer.Option("--corpus", help="yelp, or a CSV file with the columns text and style.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="CSV file to write: word, style, weight.")
    ] = Path("lexicon.csv"),
    threshold: Annotated[
        float | None, typer.Option(min=0, help="Keep words whose z-score is at least this [3].")
    ] = None,
    ratio: Annotated[
        float | None, typer.Option(min=1, help="Keep words with odds so many times as high [3].")
    ] = None,
    least: Annotated[
        int | None, typer.Option("--least", min=1, help="Keep words that occur so often [5].")
    ] = None,
    prior: Annotated[
        float | None, typer.Option(help="Weight of the prior, in words, above 0 [1000].")
    ] = None,
    keep_out: Annotated[
        list[str] | None,
        typer.Option(
            "--keep-out", help="Data set whose sources are not learned from; repeat [yelp: mir]."
        ),
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Learn a style lexicon: log-odds of each word in two corpora (Monroe et al., 2008).

    The corpus has two styles.  A word's weight is its z-score in the style where it is the more
    frequent.  Only the training part of the corpus is looked at; a CSV may say which sentences
    these are in a column split (train, dev, test).  Nothing is drawn at random.

    \b
    Examples:
      tstmeta train lexicon --corpus yelp --out sentiment.csv
      tstmeta train lexicon --corpus mine.csv --threshold 5 --out words.csv
      tstmeta score --data contrast --metric masked-bleu:./sentiment.csv
    """
    from ..metrics.text import word_spans
    from ..models import lexicon as lexicons
    from ..models.splits import corpus_hash

    if out.suffix != ".csv":
        raise mistake(f"{out} has to end in .csv: that is how a metric knows it for a lexicon")
    table = _training_part(corpus, keep_out)
    texts = {
        str(style): [[form for *_, form in word_spans(text)] for text in rows["text"]]
        for style, rows in table.groupby("style", sort=True)
    }
    found = lexicons.learn(
        out.name,
        texts,
        prior=lexicons.PRIOR if prior is None else prior,
        threshold=lexicons.THRESHOLD if threshold is None else threshold,
        ratio=lexicons.RATIO if ratio is None else ratio,
        least=lexicons.LEAST if least is None else least,
    )
    if out.resolve() == Path(corpus).resolve():
        raise mistake(f"{out} is the corpus; name another file with --out")
    lexicons.write(found, out)
    show_table(_summary(table, found, corpus_hash(table)), format)
    note(f"in {out}; use it: tstmeta score --data DATA --metric masked-bleu:{_word(out)}")


def _training_part(name: str, keep_out: list[str] | None) -> pd.DataFrame:
    """Text, style and part of the sentences that may be learned from."""
    from ..data import load, paths, yelp
    from ..data.files import check, fault, read_csv
    from ..models.splits import USUAL, YELP, divide

    if name == "yelp":
        table, roles = yelp.corpus(paths.raw("yelp")), YELP
    elif name.endswith(".csv"):
        table, roles = read_csv(Path(name), ["text", "style"]), USUAL
        check(
            fault(Path(name), f"no {column}", row)
            for column in ("text", "style")
            for row, cell in enumerate(table[column], 1)
            if not cell.strip()
        )
        table = table.assign(split=table.get("split", "train"))
    else:
        raise mistake(f"no corpus is called {name!r}: use yelp or a file FILE.csv")
    kept = KEPT_OUT.get(name, ()) if keep_out is None else keep_out
    never = [text for one in kept for text in load(one).items["source"]]
    table = divide(table, roles, never)
    return table.loc[table["part"] == "train", ["text", "style", "part"]]


def _summary(table: pd.DataFrame, found, corpus: str) -> pd.DataFrame:
    """What was learned from what, as rows: what, value."""
    import pandas as pd

    rows = [("corpus", corpus)]
    for style, texts in table.groupby("style", sort=True):
        words = [entry for entry in found.entries if entry.style == style]
        top = ", ".join(f"{entry.word} {entry.weight:.1f}" for entry in words[:8])
        rows += [
            (f"{style}: sentences", f"{len(texts):,}"),
            (f"{style}: words kept", f"{len(words):,}"),
            (f"{style}: first words", top or "none"),
        ]
    return pd.DataFrame(rows, columns=["what", "value"])
