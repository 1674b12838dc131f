"""``tstmeta train``: models, lexicons and counts for the metrics, from a corpus of yours; and
``tstmeta transfer``: a transfer model of Pang and Gimpel (2019), with metrics along its training.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..console import Format, mistake, note, show_table
from ..extras import needs
from .options import FormatOption

if TYPE_CHECKING:
    import pandas as pd

#: Data sets of rewritten yelp sentences; metrics are held against ratings of them.
RATED = ("mir", "li2018@yelp", "dualrl")

StyleCorpus = Annotated[
    str, typer.Option(help="yelp, xformal, or a CSV file with the columns text and style.")
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder to write, new or empty.")]
Seed = Annotated[int, typer.Option(min=0, help="Of weights and the order of sentences.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A training option; repeat for more."),
]
KeepOut = Annotated[
    list[str] | None,
    typer.Option(
        help="Data set of which no sentence is learned from; repeat for more "
        f"[yelp: {', '.join(RATED)}, where they are here]."
    ),
]

train_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@train_app.callback()
def train() -> None:
    """Train what metrics run on, from a corpus of yours; they take the folder or file written.

    A run that was interrupted or killed goes on from its last checkpoint with the same command, and
    the same seed gives the same bytes.
    """


@train_app.command()
def lexicon(
    corpus: StyleCorpus,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="CSV file to write: word, style, weight.")
    ] = Path("lexicon.csv"),
    keep_out: KeepOut = None,
    format: FormatOption = Format.table,
) -> None:
    """Learn a style lexicon: log-odds of each word in two corpora (Monroe et al., 2008).

    The corpus has two styles.  A word's weight is its z-score, of 3 at least, in the style where it
    is the more frequent.  Of a CSV with a column split only the part train is looked at.

    \b
    Example: tstmeta train lexicon --corpus yelp --out sentiment.csv
    """
    from ..metrics.text import word_spans
    from ..models.lexicon import learn, write

    if out.suffix != ".csv":
        raise mistake(f"{out} has to end in .csv")
    table = read_corpus(corpus, keep_out=keep_out, split="train")
    table = table[table["part"] == "train"]
    texts = {
        str(style): [[form for *_, form in word_spans(text)] for text in rows["text"]]
        for style, rows in table.groupby("style", sort=True)
    }
    lexicon = learn(out.name, texts)
    write(lexicon, out)
    kept = [entry.style for entry in lexicon.entries]
    facts = {s: {"sentences": len(rows), "words kept": kept.count(s)} for s, rows in texts.items()}
    _show(facts, format, out, "masked-bleu:OUT")


@train_app.command()
def idf(
    data: Annotated[
        list[str], typer.Option("--data", "-d", help="Data set, or your file; repeat for more.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write; it has to end in .json.")
    ] = Path("idf.json"),
    format: FormatOption = Format.table,
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
    counts = vectors.write_counts(
        encoders.load(encoders.MINILM), [text for text in texts if text.strip()], out
    )
    facts = {"texts": counts.total, "tokens": len(counts.counts), "table": vectors.identity(out)}
    _show(facts, format, out, "bertscore:idf=OUT")


@train_app.command()
def lm(
    corpus: Annotated[str, typer.Option(help="yelp, or a CSV file with the column text.")],
    style: Annotated[
        str, typer.Option(help="Only sentences of this style, e.g. positive [default: all].")
    ] = "",
    base: Annotated[
        str,
        typer.Option(
            help="Fine-tune this model: gpt2, mgpt, owner/name of a hub or a folder "
            "[default: random weights]."
        ),
    ] = "",
    out: Out = Path("lm"),
    seed: Seed = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
    settings: Settings = None,
    format: FormatOption = Format.table,
) -> None:
    """Train a language model on sentences, for perplexity and SLOR.

    It is measured on sentences that it never saw; a CSV may say which in a column split (train,
    test).  With --base the course is that of Mukherjee et al. (2025, Appendix C).  --set changes
    its shape (vocabulary, width, layers, heads, inner) or the course (epochs, batch, rate, ...).

    \b
    Examples:
      tstmeta train lm --corpus yelp --style positive --out positive
      tstmeta train lm --corpus mine.csv --base gpt2 --out tuned --device cuda
    """
    needs("torch", "transformers")
    from ..models.causal import backbone
    from ..models.lm import MODELS
    from ..models.training.lm import train
    from ..models.training.loop import FINE_TUNING, LmOptions, configure
    from ..storage import locked

    model = MODELS.get(base) or (backbone(base) if base else None)
    options = configure(FINE_TUNING if model else LmOptions(), settings or ())
    table = read_corpus(corpus, ("text", "style") if style else ("text",))
    if style and style not in set(table["style"]):
        known = ", ".join(sorted(set(table["style"])))
        raise mistake(f"no sentence of {corpus} has the style {style!r}; it has: {known}")
    if style:
        table = table[table["style"] == style]
    texts, held_out = (
        list(dict.fromkeys(table.loc[table["part"] == part, "text"])) for part in ("train", "test")
    )
    name = " ".join(filter(None, (Path(corpus).name, style)))
    with locked(out / ".lock", timeout=0):  # two runs would write over each other's checkpoints
        report = train(
            out, texts, held_out, base=model, seed=seed, options=options, name=name, device=device
        )
    keys = ("corpus", "cut", "base", "parameters", "seed", "perplexity")
    _show({key: report[key] for key in keys}, format, out, "perplexity:OUT")


@train_app.command()
def classifier(
    corpus: StyleCorpus,
    kind: Annotated[
        Literal["linear", "textcnn", "transformer"], typer.Option(help="What to train.")
    ] = "linear",
    out: Out = Path("classifier"),
    seed: Seed = 1,
    base: Annotated[
        str, typer.Option(help="What transformer begins with: a hub id or a folder.")
    ] = "",
    regress: Annotated[
        bool, typer.Option("--regress", help="Learn the column value, not the style.")
    ] = False,
    styles: Annotated[
        str, typer.Option(help="What low and high values of a CSV mean: LOW,HIGH.")
    ] = "",
    keep_out: KeepOut = None,
    settings: Settings = None,
    format: FormatOption = Format.table,
) -> None:
    """Train a model of style: a classifier, or with --regress a regressor.

    A sentence is in one of three parts: it is trained on, its probabilities are calibrated on, or
    it is tested on.  A CSV may say which in a column split (train, dev, test); it may also have a
    column task, where styles are of several kinds.

    \b
    Examples:
      tstmeta train classifier --corpus yelp --kind textcnn --out sentiment
      tstmeta train classifier --corpus xformal --regress --kind transformer \
        --base google-bert/bert-base-uncased
    """
    from ..data import xformal
    from ..models.causal import backbone
    from ..models.classifiers import Task
    from ..models.training.classifier import train
    from ..models.training.loop import STYLE, configure
    from ..storage import locked

    low, _, high = (word.strip() for word in styles.partition(","))
    if bool(low and high) != (regress and corpus.endswith(".csv")):
        raise mistake("with --regress, say what the values of a CSV mean: --styles LOW,HIGH")
    table = read_corpus(corpus, ("text", "value" if regress else "style"), keep_out)
    values = table["value"]
    if regress and values.isna().any():
        raise mistake(f"{corpus} has styles, no values: leave --regress out")
    if corpus == "xformal":
        tasks = [Task("formality", ("informal", "formal"), values=xformal.SCALE)]
    elif regress:
        table = table.assign(task="style")
        tasks = [Task("style", (low, high), values=(float(values.min()), float(values.max())))]
    else:
        named = table.groupby("task")["style"]
        tasks = [Task(str(name), tuple(sorted(set(rows)))) for name, rows in named]
    if single := [task.name for task in tasks if len(task.styles) < 2]:
        raise mistake(f"{corpus}: the task {single[0]!r} has one style only, two are needed")
    settled = configure(STYLE[kind], settings or ())
    begin = backbone(base) if base else None
    given = {"tasks": tasks, "seed": seed, "options": settled, "regression": regress, "base": begin}
    with locked(out / ".lock", timeout=0):
        report = train(out, table, kind, **given)
    facts = {"sentences": report["sizes"], "seed": seed, "corpus": report["corpus"]}
    metric = "style-regressor:OUT" if regress else "style-accuracy:OUT"
    _show({**facts, **report["results"]}, format, out, metric)


transfer_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@transfer_app.callback()
def transfer() -> None:
    """The transfer models M0 to M7 of Pang and Gimpel (2019), and metrics along their training."""


@transfer_app.command()
def run(
    model: Annotated[str, typer.Option("--model", "-m", help="A name in the configuration.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write, new or empty.")],
    seed: Seed = 0,
    corpus: Annotated[str, typer.Option(help="yelp, or a CSV file: text, style.")] = "yelp",
    pairs: Annotated[
        Path | None, typer.Option(help="CSV file: text, paraphrase [default: words exchanged].")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A configuration [default: data/transfer/models.toml].")
    ] = None,
    steps: Annotated[int, typer.Option(min=0, help="Of training [default: whole epochs].")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny, to see that it runs.")] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
    format: FormatOption = Format.table,
) -> None:
    """Train a model and score what it writes along the way.

    OUT gets trajectory.csv (numbers alone), training.json (configuration, seed, versions), weights
    and outputs.  A run that was killed goes on with the same command, to the same weights.  Of yelp
    the development part is used, without any rated sentence.

    \b
    Example:
      tstmeta transfer run --model M7 --corpus mine.csv --out quick --quick
    """
    needs("torch", "transformers", "safetensors")
    from ..data import texts_of
    from ..data.files import read_csv
    from ..models.training.loop import configure
    from ..schema import FILLED
    from ..storage import locked
    from ..transfer import configuration, trainer
    from ..transfer import corpus as selection

    whole = configuration.read(config)
    changes = {**(whole.quick if quick else {}), **({"steps": steps} if steps else {})}
    options = configure(whole.options, [f"{name}={value}" for name, value in changes.items()])
    whole.weights_of(model)
    table, never, referenced = read_corpus(corpus, keep_out=()), set(), None
    if corpus == "yelp":
        table, referenced = table[table["split"] == "dev"], selection.referenced()
        never = texts_of(*selection.EXCLUDED)
    given = read_csv(pairs, dict.fromkeys(("text", "paraphrase"), FILLED)) if pairs else None
    chosen = selection.select(table, options, whole.paraphrases, never, referenced, given)
    whole = whole.model_copy(update={"options": options})
    with locked(out / ".lock", timeout=0):
        report = trainer.train(out, model, chosen, whole, seed, device)
        rows = trainer.trace(out, chosen, whole, report)
    show_table(rows[(rows["step"] == report["steps"]) & (rows["part"] == "report")], format)
    note(f"in {out}: {trainer.FILE} has every point")


def read_corpus(
    name: str,
    columns: Sequence[str] = ("text", "style"),
    keep_out: Sequence[str] | None = None,
    split: str = "",
) -> pd.DataFrame:
    """Sentences with text, task, style, value (NaN where there is none), split and part.

    Args:
        name: ``yelp``, ``xformal``, or a CSV file.
        columns: which a CSV file needs; none of their cells may be empty.
        keep_out: data sets of which no text (source, rewrite, reference) is trained or tuned on.
        split: of sentences whose file names none.
    """
    from ..data import has_texts, paths, texts_of, xformal, yelp
    from ..data.checks import numeric
    from ..data.files import read_csv
    from ..models.splits import USUAL, YELP, divide
    from ..schema import FILLED

    roles = USUAL
    if name == "yelp":
        table, roles = yelp.corpus(paths.raw("yelp")).assign(task="sentiment"), YELP
    elif name == "xformal":  # formal is what is rated above the middle of the scale
        table = xformal.corpus(paths.raw("xformal")).assign(task="formality")
        table["style"] = (table["value"] > 0).map({True: "formal", False: "informal"})
    elif name.endswith(".csv"):
        path = Path(name).expanduser()
        checks = {column: numeric() if column == "value" else FILLED for column in columns}
        table = read_csv(path, checks)
        usual = {"style": "", "task": "style", "split": split}
        table = table.assign(**{column: table.get(column, usual[column]) for column in usual})
        table = table if "value" in columns else table.assign(value=math.nan)
    else:
        raise mistake(f"no corpus is called {name!r}: use yelp, xformal or a file FILE.csv")
    if keep_out is None:
        keep_out = [data for data in RATED if name == "yelp" and has_texts(data)]
    return divide(table, roles, texts_of(*keep_out))


def _show(results: Mapping[str, Any], format: Format, out: Path, metric: str) -> None:
    """Print results as rows (what, value), and how a metric takes what was made."""
    import pandas as pd

    rows = pd.json_normalize(dict(results), sep=": ").T.reset_index()
    rows = rows.set_axis(["what", "value"], axis="columns")
    show_table(rows.assign(what=rows["what"].str.replace("_", " ")), format)
    # with a slash, so that a folder is seen to be one
    word = out if "/" in str(out) else f"./{out}"
    note(f"in {out}; use it: tstmeta score --data DATA --metric {metric.replace('OUT', str(word))}")
