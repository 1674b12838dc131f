"""``tstmeta judge``: have a language model rate rewrites, through any OpenAI-compatible server."""

import shlex
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..console import Format, escaped, mistake, note, show_table, write_table
from ..secrecy import excerpt
from . import options

judge_app = typer.Typer(
    name="judge", help="Have a language model rate rewrites.", no_args_is_help=True
)
Again = StrEnum("Again", ["invalid", "refused", "truncated"])
#: Log-probabilities asked for beside each token; more than so many few servers give.
TOP_LOGPROBS = 20
#: What of a prompt a terminal has room for.
_LISTED = ["name", "origin", "unit", "dimensions", "scale", "hash", "cites", "models"]
_MORE = ["answer", "languages", "about"]
Prompt = Annotated[str, typer.Argument(help="A prompt, or your own file.toml.")]
Money = Annotated[float | None, typer.Option(min=0, help="Money for a million tokens.")]


@judge_app.command("prompts")
def prompts_command(format: options.FormatOption = Format.table) -> None:
    """List the prompts: whose words they are, what they ask about, and on which scale.

    CSV and JSON say more: how answers are read, languages, and where the words are from.
    """
    import pandas as pd

    from ..judge.prompts import load, names

    prompts = [load(name) for name in names()]
    rows = pd.DataFrame([prompt.model_dump() | {"hash": prompt.hash} for prompt in prompts])
    for name in ("dimensions", "languages", "cites", "models"):
        rows[name] = rows[name].str.join(" ")
    rows["scale"] = [f"{prompt.low:g}-{prompt.high:g}" for prompt in prompts]
    rows["about"] = rows["about"].str.split().str.join(" ")
    show_table(rows[_LISTED if format is Format.table else [*_LISTED, *_MORE]], format)


@judge_app.command("show")
def show_command(prompt: Prompt, data: options.Data) -> None:
    """Show what would be sent for the first question of a data set; asks nobody."""
    import json

    from ..data import load
    from ..judge import ratings
    from ..judge.prompts import load as load_prompt

    loaded = load_prompt(prompt)
    job = ratings.jobs(load(data), loaded, limit=1)[0]
    texts = [f"--- {message.role}\n{message.content}" for message in job.question.messages]
    if job.question.schema:
        schema = json.dumps(job.question.schema, ensure_ascii=False, indent=1)
        texts.append(f"--- schema\n{schema}")
    for line in "\n".join(texts).split("\n"):
        sys.stdout.write(escaped(line) + "\n")
    note(f"prompt {loaded.name}@{loaded.hash} for {', '.join(job.item_ids)}")
    note(f"{loaded.origin}: {' '.join(loaded.about.split())}")


@judge_app.command("run")
def run_command(
    data: options.Data,
    prompt: Annotated[
        str,
        typer.Option("--prompt", "-p", help="A prompt (tstmeta judge prompts), or your own .toml."),
    ],
    server: options.Server,
    model: options.Model,
    revision: Annotated[str, typer.Option(help="Which weights the server runs, if known.")] = "",
    samples: Annotated[int, typer.Option(min=1, help="Answers to each question.")] = 1,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Only the first N rewrites, or sources with all their rewrites."),
    ] = None,
    shuffle: Annotated[
        int | None,
        typer.Option(min=0, help="Seed: show the rewrites of a source in an order drawn for each."),
    ] = None,
    logprobs: Annotated[
        bool, typer.Option("--logprobs", help="Ask for log-probabilities: the expected rating.")
    ] = False,
    concurrency: options.Concurrency = 16,
    timeout: options.Timeout = 120.0,
    retries: options.Retries = 6,
    price_in: Money = None,
    price_out: Money = None,
    max_money: Annotated[
        float | None, typer.Option(min=0, help="Ask nothing that could cost more in all.")
    ] = None,
    max_requests: options.MaxRequests = None,
    dry_run: options.DryRun = False,
    again: Annotated[
        list[Again] | None,
        typer.Option(
            help="Ask anew where the kept answer is so, as of a server that was mended; the old "
            "one is set aside in the file. Interrupted, go on without it. Errors are always asked."
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="File of answers [default: data/scores/judge/answers.sqlite]."),
    ] = None,
    out: options.OutFile = None,
    scores_out: Annotated[
        Path | None,
        typer.Option(help="Also write a score file, for tstmeta evaluate --scores FILE."),
    ] = None,
    missing: Annotated[
        Literal["drop", "mean", "worst"],
        typer.Option(
            help="In the score file, what stands for ratings that are not there: nothing, the "
            "mean of the others, the lowest of the scale."
        ),
    ] = "drop",
) -> None:
    """Rate a data set.  Answers are kept: an answer that came is never asked or paid for again.

    Kill it whenever you like: the same command goes on where it stopped.  A second run of the same
    model on the same file waits for the first.  What is no rating becomes a row with its
    status and the judge's words.  The API key is read from OPENAI_API_KEY and goes nowhere but to
    the server.
    Exit code 1 when some ratings are missing.

    \b
    Examples:
      tstmeta judge run -d mine.csv -p lai2023-content --server http://localhost:8000/v1 \\
        --model my-model --out ratings.csv --scores-out scores.csv
      tstmeta evaluate --data mine.csv --metric bleu --scores scores.csv
    """
    from ..data import load, paths
    from ..judge import ratings
    from ..judge.cache import AnswerCache
    from ..judge.client import Served
    from ..judge.prompts import load as load_prompt
    from ..judge.runner import Budget, Price, estimate
    from ..storage import apart

    dataset, loaded = load(data), load_prompt(prompt)
    if logprobs:
        sampling = replace(loaded.sampling, top_logprobs=TOP_LOGPROBS)
        loaded = loaded.model_copy(update={"sampling": sampling})
    if (price_in is None) != (price_out is None):
        raise mistake("a price has two parts: give --price-in and --price-out")
    price = None if price_in is None or price_out is None else Price(price_in, price_out)
    chat = Served(server, model, revision=revision, timeout=timeout, retries=retries)
    budget = Budget(money=max_money, requests=max_requests, price=price)
    cache = cache or paths.scores() / ratings.ANSWERS
    apart([("--out", out), ("--scores-out", scores_out), ("--cache", cache)])
    note(f"{chat.model} at {chat.server}, prompt {loaded.name}@{loaded.hash}")
    manner: dict[str, Any] = {"samples": samples, "shuffle": shuffle, "limit": limit}
    todo = ratings.jobs(dataset, loaded, **manner)
    anew = ratings.kept_as(again or (), todo, loaded, chat, cache)
    questions = [job.question for job in todo]
    note(str(estimate(questions, chat, cache=cache, price=price, anew=anew)))
    if again:
        note(f"{len(anew):,} kept answers are {' or '.join(again)}: asked anew")
    if dry_run:
        return
    with AnswerCache(cache) as kept:
        for old in anew:
            kept.set_aside(old)
    manner |= {"cache": cache, "budget": budget, "concurrency": concurrency}
    rows = ratings.ask(dataset, loaded, chat, **manner)
    texts = rows.select_dtypes(include=["object", "str"]).columns
    harmless = rows.assign(**rows[texts].map(escaped, na_action="ignore"))
    write_table(rows if out or not sys.stdout.isatty() else harmless, out)
    if scores_out is not None:
        write_table(ratings.scores(rows, missing), scores_out)
        words = ["tstmeta", "evaluate", "--data", data, "--scores", str(scores_out)]
        note(f"wrote {scores_out}; use it: {shlex.join(words)}")
    for line in chat.notes:
        note(line)
    for dimension, statuses in rows.groupby("dimension", sort=False)["status"]:
        ends = ", ".join(f"{count:,} {name}" for name, count in statuses.value_counts().items())
        note(f"{dimension}: {len(statuses):,} rows: {ends}")
    note(options.bill(budget))
    failed = rows[rows["rating"].isna()]
    if len(failed):
        first = failed.iloc[0]
        reason = f"{first['status']}: {excerpt(first['detail'], 300)}"
        note(f"{len(failed):,} without a rating; the first: {reason}")
        raise typer.Exit(1)
