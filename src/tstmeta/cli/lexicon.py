"""``tstmeta train lexicon``: words that tell two styles apart, from a corpus of sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import Format, mistake
from .options import FormatOption
from .train import KeepOut, read_corpus, show_result


def lexicon(
    corpus: Annotated[
        str, typer.Option(help="yelp, xformal, or a CSV file with the columns text and style.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="CSV file to write: word, style, weight.")
    ] = Path("lexicon.csv"),
    threshold: Annotated[
        float, typer.Option(min=0, help="Keep words whose z-score is at least this.")
    ] = 3,
    keep_out: KeepOut = None,
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
    from ..models.lexicon import learn, write
    from ..models.splits import corpus_hash

    if out.suffix != ".csv" or out.resolve() == Path(corpus).resolve():
        raise mistake(f"{out} has to end in .csv and to be another file than the corpus")
    table = read_corpus(corpus, keep_out=keep_out, split="train")
    table = table[table["part"] == "train"]
    texts = {
        str(style): [[form for *_, form in word_spans(text)] for text in rows["text"]]
        for style, rows in table.groupby("style", sort=True)
    }
    lexicon = learn(out.name, texts, threshold)
    write(lexicon, out)
    facts: dict[str, object] = {"corpus": corpus_hash(table)}
    for style in texts:
        words = [entry.word for entry in lexicon.entries if entry.style == style]
        facts[style] = {
            "sentences": len(texts[style]),
            "words kept": len(words),
            "first words": ", ".join(words[:8]),
        }
    show_result(facts, format, out, "masked-bleu:OUT")
