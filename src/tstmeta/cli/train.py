"""``tstmeta train``: style words and counts of tokens for the metrics, from texts of yours."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import escaped, mistake, note

StyleCorpus = Annotated[
    str, typer.Option(help="yelp, xformal, or a CSV file with the columns text and style.")
]
KeepOut = Annotated[
    list[str] | None,
    typer.Option(
        help="Data set of which no sentence is learned from; repeat for more "
        "[yelp: the rated sets of its sentences, where they are here]."
    ),
]

train_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@train_app.callback()
def train() -> None:
    """Count what metrics use, from texts of yours; they take the file that is written."""


@train_app.command()
def lexicon(
    corpus: StyleCorpus,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="CSV file to write: word, style, weight.")
    ] = Path("lexicon.csv"),
    keep_out: KeepOut = None,
) -> None:
    """Learn a style lexicon: log-odds of each word in two corpora (Monroe et al., 2008).

    The corpus has two styles.  A word's weight is its z-score, of 3 at least, in the style where it
    is the more frequent.  Of a CSV with a column split only the split train is looked at.

    \b
    Example: tstmeta train lexicon --corpus yelp --out sentiment.csv
    """
    from ..data.corpora import learned
    from ..metrics.text import word_spans
    from ..models.lexicon import learn, write

    if out.suffix != ".csv":
        raise mistake(f"{out} has to end in .csv")
    table = learned(corpus, keep_out)
    texts = {
        str(style): [[form for *_, form in word_spans(text)] for text in rows["text"]]
        for style, rows in table.groupby("style", sort=True)
    }
    lexicon = learn(out.name, texts)
    write(lexicon, out)
    styles = [entry.style for entry in lexicon.entries]
    for style, rows in texts.items():
        print(f"{escaped(style)}: {len(rows)} sentences, {styles.count(style)} words kept")
    say_use(out, "masked-bleu:OUT")


@train_app.command()
def idf(
    data: Annotated[
        list[str], typer.Option("--data", "-d", help="Data set, or your file; repeat for more.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write; it has to end in .json.")
    ] = Path("idf.json"),
) -> None:
    """Count in how many sources each token of the embedded encoder stands; each counts once.

    \b
    Example: tstmeta train idf --data mine.csv --out mine.json
    """
    from ..data import load
    from ..models import encoders, vectors

    if out.suffix != ".json":
        raise mistake(f"{out} has to end in .json: that is how a metric knows it for a table")
    if absent := encoders.missing(encoders.MINILM):
        raise mistake(absent)
    texts = dict.fromkeys(text for name in data for text in load(name).with_texts()["source"])
    encoder, filled = encoders.load(encoders.MINILM), [text for text in texts if text.strip()]
    counts = vectors.write_counts(encoder, filled, out)
    print(f"{counts.total} texts, {len(counts.counts)} tokens, {escaped(vectors.identity(out))}")
    say_use(out, "bertscore:idf=OUT")


def say_use(out: Path, metric: str) -> None:
    """Say how to name the file in a metric: with a slash, so that it is seen to be one."""
    word = out if "/" in str(out) else f"./{out}"
    note(f"in {out}; use it: tstmeta score --data DATA --metric {metric.replace('OUT', str(word))}")
