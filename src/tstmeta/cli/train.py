"""``tstmeta train``: models of style, style words and counts for the metrics, from your texts."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import Format, escaped, mistake, note, show_table
from .options import FormatOption, OutFolder

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


@train_app.command()
def style(
    corpus: Annotated[
        str, typer.Argument(help="yelp, xformal, or a CSV file with the columns text and style.")
    ],
    out: OutFolder,
    keep_out: KeepOut = None,
    format: FormatOption = Format.table,
) -> None:
    """Train a classifier of style: logistic regression on the sentence vectors of MiniLM (English).

    A style needs 100 texts; 6,000 of it are used at most.  Of ten texts eight are learned from, the
    strength of regularisation is chosen among them by cross-validation, one calibrates the
    probabilities, and one tests them.  Of a CSV with a column split only the split train is looked
    at.  The folder holds the weights and a report, training.json.

    \b
    Example: tstmeta train style mine.csv --out mine
    """
    import pandas as pd

    from ..data.corpora import divided, learned
    from ..models import encoders, training

    if absent := encoders.missing(encoders.MINILM):
        raise mistake(absent)
    training.empty(out)
    report = training.train(out, divided(learned(corpus, keep_out)))
    rows = [{"task": name, **result} for name, result in report["results"].items()]
    show_table(pd.DataFrame(rows), format)
    say_use(out, "style-confidence:OUT")


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
