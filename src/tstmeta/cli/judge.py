"""``tstmeta judge``: have a language model rate rewrites, through any OpenAI-compatible server.

See :mod:`tstmeta.cli` for how commands behave.
"""

from __future__ import annotations

import shlex
import sys
import textwrap
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..console import _ESCAPES, Format, note, show_table, write_table
from .options import (
    Concurrency,
    Data,
    DryRun,
    FormatOption,
    KeyVariable,
    MaxMoney,
    MaxRequests,
    OutFile,
    OutFormat,
    PriceIn,
    PriceOut,
    Retries,
    Revision,
    Timeout,
)
from .server import USUAL_KEY, bill, key_of, price_of

if TYPE_CHECKING:
    import pandas as pd

    from ..data import Dataset
    from ..judge.base import Chat, Sampling
    from ..judge.budget import Budget, Price
    from ..judge.prompts import Prompt
    from ..judge.ratings import Manner

judge_app = typer.Typer(
    name="judge", help="Have a language model rate rewrites.", no_args_is_help=True
)
#: Log-probabilities asked for beside each token; more than so many few servers give.
TOP_LOGPROBS = 20
#: What of a prompt a terminal has room for.
_LISTED = ["name", "origin", "unit", "dimensions", "scale", "hash", "cites", "models"]
#: Where the statuses begin among the columns of a count.
_FIRST_STATUS = 3


class Missing(StrEnum):
    """What stands in a score file for a rating that is not there."""

    drop = "drop"
    mean = "mean"
    worst = "worst"


class Value(StrEnum):
    """Which rating becomes a score."""

    rating = "rating"
    expected = "expected"


PromptName = Annotated[
    str, typer.Option("--prompt", "-p", help="A prompt (tstmeta judge prompts), or your own .toml.")
]
Limit = Annotated[
    int | None,
    typer.Option(
        min=1, help="Only the first N rewrites, or sources where a prompt takes all of a source."
    ),
]


@judge_app.command("prompts")
def prompts_command(format: FormatOption = Format.table) -> None:
    """List the prompts: whose words they are, what they ask about, and on which scale.

    CSV and JSON say more: how answers are read, languages, and where the words are from.

    \b
    Examples:
      tstmeta judge prompts
      tstmeta judge prompts --format csv > prompts.csv
    """
    import pandas as pd

    from ..judge.prompts import load, names

    rows = pd.DataFrame([_about(load(name)) for name in names()])
    show_table(rows[_LISTED] if format is Format.table else rows, format)


def _about(prompt: Prompt) -> dict[str, str]:
    return {
        "name": prompt.name,
        "origin": prompt.origin,
        "unit": prompt.unit,
        "dimensions": " ".join(prompt.dimensions),
        "scale": f"{prompt.low:g}-{prompt.high:g}",
        "answer": prompt.answer,
        "languages": " ".join(prompt.languages) or "any",
        "cites": " ".join(prompt.cites),
        "models": " ".join(prompt.models),
        "hash": prompt.hash,
        "about": " ".join(prompt.about.split()),
    }


@judge_app.command("show")
def show_command(
    prompt: Annotated[str, typer.Argument(help="A prompt, or your own file.toml.")],
    data: Data,
) -> None:
    """Show what would be sent for the first question of a data set; asks nobody.

    \b
    Examples:
      tstmeta judge show lai2023-content --data contrast
      tstmeta judge show ./mine.toml --data mine.csv
    """
    import json

    from ..data import load
    from ..judge import ratings
    from ..judge.prompts import load as load_prompt

    asked = load_prompt(prompt)
    job = ratings.jobs(load(data), asked, ratings.Manner(limit=1))[0]
    for message in job.question.messages:
        _say(f"--- {message.role}\n{message.content}")
    if job.question.schema:
        _say("--- schema\n" + json.dumps(job.question.schema, ensure_ascii=False, indent=1))
    note(f"prompt {asked.name}@{asked.hash} for {', '.join(job.item_ids)}")
    note(f"{asked.origin}: {' '.join(asked.about.split())}")


def _say(text: str) -> None:
    """Texts of data sets on stdout, control characters as escapes."""
    sys.stdout.write(text.translate({**_ESCAPES, 0x0A: "\n"}) + "\n")


@judge_app.command("run")
def run_command(
    data: Data,
    prompt: PromptName,
    server: Annotated[
        str, typer.Option(help="Where the interface starts, e.g. http://localhost:8000/v1.")
    ],
    model: Annotated[str, typer.Option("--model", "-m", help="What the server calls the model.")],
    revision: Revision = "",
    samples: Annotated[int, typer.Option(min=1, help="Answers to each question.")] = 1,
    limit: Limit = None,
    shuffle: Annotated[
        int | None,
        typer.Option(min=0, help="Seed: show the rewrites of a source in an order drawn for each."),
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0, max=2, help="In place of the prompt's.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Most tokens of an answer, in place of the prompt's.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Sent to the server; each sample gets the next one.")
    ] = None,
    logprobs: Annotated[
        bool, typer.Option("--logprobs", help="Ask for log-probabilities: the expected rating.")
    ] = False,
    schema: Annotated[
        bool, typer.Option("--schema/--no-schema", help="Send the JSON schema of the answer.")
    ] = True,
    concurrency: Concurrency = 16,
    timeout: Timeout = 120.0,
    retries: Retries = 6,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    max_money: MaxMoney = None,
    max_requests: MaxRequests = None,
    key_variable: KeyVariable = USUAL_KEY,
    dry_run: DryRun = False,
    cache: Annotated[
        Path | None,
        typer.Option(help="File of answers [default: data/scores/judge/answers.sqlite]."),
    ] = None,
    out: OutFile = None,
    format: OutFormat = None,
    scores_out: Annotated[
        Path | None,
        typer.Option(help="Also write a score file, for tstmeta evaluate --scores FILE."),
    ] = None,
    missing: Annotated[
        Missing,
        typer.Option(
            help="In the score file, what stands for ratings that are not there: nothing, the "
            "mean of the others, the lowest of the scale."
        ),
    ] = Missing.drop,
    value: Annotated[
        Value, typer.Option(help="In the score file: the rating, or (--logprobs) the expected one.")
    ] = Value.rating,
) -> None:
    """Rate a data set.  Answers are kept: an answer that came is never asked or paid for again.

    Interrupt it or kill it whenever you like: the same command goes on where it stopped.  What is
    no rating becomes a row with its status and the judge's words.  The API key is read from the
    environment and goes nowhere but to the server.  For reasons beside ratings take the prompt
    explained, or one of yours with explain = true.  Exit code 1 when some ratings are missing.

    \b
    Examples:
      tstmeta judge run -d mine.csv -p lai2023-content --server http://localhost:8000/v1 \\
        --model my-model --dry-run
      tstmeta judge run -d mine.csv -p lai2023-content --server http://localhost:8000/v1 \\
        --model my-model --out ratings.csv --scores-out scores.csv
      tstmeta evaluate --data mine.csv --metric bleu --scores scores.csv
    """
    from ..data import load
    from ..judge import ratings
    from ..judge.budget import Budget
    from ..judge.client import connect
    from ..judge.prompts import load as load_prompt

    asked = load_prompt(prompt)
    manner = ratings.Manner(
        samples,
        _sampling(asked, temperature, max_tokens, seed, logprobs),
        schema,
        shuffle,
        limit,
    )
    dataset = load(data)
    price = price_of(price_in, price_out)
    chat = connect(
        server,
        model,
        revision=revision,
        key=key_of(key_variable),
        timeout=timeout,
        retries=retries,
        price=price,
    )
    file = cache or default_cache()
    budget = Budget(money=max_money, requests=max_requests, price=price)
    _foretell(dataset, asked, manner, chat, file, price)
    if dry_run:
        return
    try:
        rows = ratings.ask(
            dataset,
            asked,
            chat,
            cache=file,
            manner=manner,
            concurrency=concurrency,
            budget=budget,
        )
    except KeyboardInterrupt:
        note(f"answers so far are kept in {file}; the same command goes on from there")
        raise
    write_table(rows if out or not sys.stdout.isatty() else _harmless(rows), out, format)
    if scores_out is not None:
        write_table(ratings.scores(rows, str(missing), str(value)), scores_out)
        words = ["tstmeta", "evaluate", "--data", data, "--scores", str(scores_out)]
        note(f"wrote {scores_out}; use it: {shlex.join(words)}")
    for said in getattr(chat, "notes", []):
        note(said)
    if _report(rows, budget, out):
        raise typer.Exit(1)


def default_cache() -> Path:
    """Where answers are kept when nobody names a file; metrics that are judges keep theirs here."""
    from ..data import paths
    from ..judge.ratings import ANSWERS

    return paths.scores() / ANSWERS


def _sampling(
    prompt: Prompt,
    temperature: float | None,
    max_tokens: int | None,
    seed: int | None,
    logprobs: bool,
) -> Sampling:
    """The prompt's, with what was asked for otherwise."""
    given: dict[str, Any] = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed}
    given["top_logprobs"] = TOP_LOGPROBS if logprobs else None
    return replace(prompt.sampling, **{name: one for name, one in given.items() if one is not None})


def _foretell(
    dataset: Dataset, prompt: Prompt, manner: Manner, chat: Chat, cache: Path, price: Price | None
) -> None:
    """Say what is to be asked and what it may cost."""
    from ..judge import ratings
    from ..judge.budget import estimate

    questions = [job.question for job in ratings.jobs(dataset, prompt, manner)]
    note(f"{chat.model} at {chat.server}, prompt {prompt.name}@{prompt.hash}")
    note(str(estimate(questions, chat, cache=cache, price=price)))
    if manner.samples > 1 and not manner.drawn(prompt).temperature:
        note("at temperature 0 samples differ only by the server's own noise; see --temperature")


def _harmless(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows for a terminal: no control character in the words of a judge or of a data set."""
    texts = rows.select_dtypes(include=["object", "str"]).columns
    return rows.assign(**{name: rows[name].map(_escaped) for name in texts})


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _report(rows: pd.DataFrame, budget: Budget, out: Path | None) -> bool:
    """Say how the answers ended and what they cost; whether any rating is missing."""
    from ..judge.treatments import counted

    counts = counted(rows)
    for row in counts.to_dict("records"):
        ends = [f"{row[name]:,} {name}" for name in counts.columns[_FIRST_STATUS:] if row[name]]
        note(f"{row['dimension']}: {row['rows']:,} rows: {', '.join(ends)}")
    kept = int(rows["kept"].sum())
    note(
        f"{len(rows):,} rows, {kept:,} of them from answers on file"
        + (f", in {out}" if out else "")
    )
    note(bill(budget))
    failed = rows[rows["rating"].isna()]
    if len(failed):
        first = failed.iloc[0]
        note(
            f"{len(failed):,} without a rating; the first: {first['status']}: "
            f"{textwrap.shorten(str(first['detail']), 300)}"
        )
    return bool(len(failed))
