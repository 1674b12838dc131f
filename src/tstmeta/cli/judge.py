"""``tstmeta judge``: have a language model rate rewrites, through any OpenAI-compatible server."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..console import Format, note, put, show_table, write_table
from ..secrecy import excerpt
from . import options

if TYPE_CHECKING:
    import pandas as pd

judge_app = typer.Typer(help="Have a language model rate rewrites.", no_args_is_help=True)
_LISTED = ["name", "origin", "unit", "dimensions", "scale", "hash", "cites", "models"]
PromptName = Annotated[str, typer.Argument(help="A prompt, or your own file.toml.")]
PromptOption = Annotated[str, typer.Option("--prompt", "-p", help="A prompt, or your own .toml.")]
Revision = Annotated[str, typer.Option(help="Which weights the server runs, if known.")]
Samples = Annotated[int, typer.Option(min=1, help="Answers to each question.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first N rewrites or sources.")]
Shuffle = Annotated[int | None, typer.Option(min=0, help="Seed: draw the order of rewrites.")]
Cache = Annotated[
    Path | None, typer.Option(help="File of answers [default: data/scores/judge/answers.sqlite].")
]
ScoresOut = Annotated[Path | None, typer.Option(help="Scores, for tstmeta evaluate --scores.")]


@judge_app.command("prompts")
def prompts_command(format: options.FormatOption = Format.table) -> None:
    """List the prompts: whose words they are, what they ask about, and on which scale."""
    import pandas as pd

    from ..judge.prompts import load, names

    prompts = [load(name) for name in names()]
    rows = pd.DataFrame([prompt.model_dump() | {"hash": prompt.hash} for prompt in prompts])
    for name in ("dimensions", "cites", "models"):
        rows[name] = rows[name].str.join(" ")
    rows["scale"] = ["-".join(f"{end:g}" for end in prompt.scale) for prompt in prompts]
    show_table(rows[_LISTED], format)


@judge_app.command("show")
def show_command(prompt: PromptName, data: options.Data) -> None:
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
    put("\n".join([*texts, ""]))
    note(f"prompt {loaded.name}@{loaded.hash} for {', '.join(job.item_ids)}")
    note(f"{loaded.origin}: {' '.join(loaded.about.split())}")


@judge_app.command("run")
def run_command(
    data: options.Data,
    prompt: PromptOption,
    server: options.Server,
    model: options.Model,
    revision: Revision = "",
    samples: Samples = 1,
    limit: Limit = None,
    shuffle: Shuffle = None,
    concurrency: options.Concurrency = 16,
    timeout: options.Timeout = 120.0,
    retries: options.Retries = 6,
    dry_run: options.DryRun = False,
    cache: Cache = None,
    out: options.OutFile = None,
    scores_out: ScoresOut = None,
) -> None:
    """Rate a data set.  Answers are kept: an answer that came is never asked or paid for again.

    Kill it whenever you like: the same command goes on where it stopped.  A second run of the same
    model on the same file waits for the first.  What is no rating becomes a row with its
    status and the judge's words.  The API key is read from OPENAI_API_KEY and goes nowhere but to
    the server.  Exit code 1 when some ratings are missing.

    \b
    Examples:
      tstmeta judge run -d mine.csv -p lai2023-content --server http://localhost:8000/v1 \\
        --model my-model --out ratings.csv --scores-out scores.csv
      tstmeta evaluate --data mine.csv --metric bleu --scores scores.csv
    """
    from ..data import load, paths
    from ..judge import ratings
    from ..judge.client import Served
    from ..judge.prompts import load as load_prompt
    from ..judge.runner import estimate
    from ..storage import apart

    dataset, loaded = load(data), load_prompt(prompt)
    chat = Served(server, model, revision=revision, timeout=timeout, retries=retries)
    cache = cache or paths.scores() / ratings.ANSWERS
    apart([("--out", out), ("--scores-out", scores_out), ("--cache", cache)])
    note(f"{model} at {chat.server}, prompt {loaded.name}@{loaded.hash}")
    manner: dict[str, Any] = {"samples": samples, "shuffle": shuffle, "limit": limit}
    questions = [job.question for job in ratings.jobs(dataset, loaded, **manner)]
    note(estimate(questions, chat, cache))
    if dry_run:
        return
    manner |= {"cache": cache, "concurrency": concurrency}
    rows = ratings.ask(dataset, loaded, chat, **manner)
    write_table(rows, out)
    if scores_out is not None:
        write_table(ratings.scores(rows), scores_out)
        use = shlex.join(["tstmeta", "evaluate", "--data", data, "--scores", str(scores_out)])
        note(f"wrote {scores_out}; use it: {use}")
    note(*chat.notes, chat.bill())
    _report(rows)


def _report(rows: pd.DataFrame) -> None:
    """Print rows by status; exit with code 1 where ratings are missing."""
    for (dimension, status), count in rows.value_counts(["dimension", "status"]).items():
        note(f"{dimension}: {count:,} {status}")
    missing = rows[rows["rating"].isna()]
    if len(missing):
        first = missing.iloc[0]
        reason = f"{first['status']}: {excerpt(first['detail'], 300)}"
        note(f"{len(missing):,} without a rating; the first: {reason}")
        raise typer.Exit(1)
