"""A prompt and a data set as a task of another harness: lm-evaluation-harness, or Inspect.

The folder needs nothing of ours to run: the reader of answers goes with it, the same bytes.  Texts
and names are data in it (JSON), never code.
"""

import json
import re
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Literal

from ..data import Dataset
from ..schema import TstmetaError
from ..storage import write
from . import ratings
from .prompts import Prompt
from .reading import FORM

Harness = Literal["lm-eval", "inspect"]
_METRIC = """\
  - metric: pearson_{name}
    aggregation: !function measures.pearson
    higher_is_better: true
"""


def export(dataset: Dataset, prompt: Prompt, to: Harness, folder: Path) -> list[str]:
    """Write the files of a task, and give the words of the command that runs it.

    Raises:
        TstmetaError: the prompt compares two rewrites, which have no rating of their own.
    """
    if prompt.unit == "pair":
        raise TstmetaError(
            f"the prompt {prompt.name} compares two rewrites, and a task needs a rating of each. "
            "Remedy: a prompt of unit item or source; tstmeta judge prompts lists them"
        )
    people = dataset.ratings.groupby(["dimension", "item_id"])["value"].mean()
    known = [name for name in prompt.dimensions if name in people.index.get_level_values(0)]
    docs = []
    for number, job in enumerate(ratings.jobs(dataset, prompt)):
        human = {name: [people.get((name, item)) for item in job.item_ids] for name in known}
        messages = [message._asdict() for message in job.question.messages]
        text = "\n\n".join(message.content for message in job.question.messages)
        facts = {"id": number, "item_ids": job.item_ids, "messages": messages, "prompt": text}
        docs.append(json.dumps(facts | {"human": human}) + "\n")
    how = {name: value for name, value in asdict(prompt.sampling).items() if value is not None}
    del how["top_logprobs"]  # no reader there looks at them
    form = {name: getattr(prompt, name) for name in FORM}
    facts = {"name": prompt.name, "hash": prompt.hash, "sampling": how, "form": form}
    write(folder / "docs.jsonl", "".join(docs))
    write(folder / "prompt.json", json.dumps(facts, indent=1))
    write(folder / "reading.py", _file("reading.py"))
    write(folder / "measures.py", _file("exports/measures.py"))
    if to == "inspect":
        write(folder / "task.py", _file("exports/inspect_task.py"))
        return ["inspect", "eval", f"{folder / 'task.py'}@judge", "--model", "PROVIDER/MODEL"]
    name = re.sub(r"\W+", "_", f"tstmeta_{prompt.name}_{dataset.name}", flags=re.ASCII).lower()
    slots: dict[str, Any] = {"task": name, "version": prompt.hash}
    slots["agreement"] = "".join(_METRIC.format(name=each) for each in known)
    drawn = {"do_sample": prompt.sampling.temperature > 0, "top_p": prompt.sampling.top_p}
    limits = {"until": [], "max_gen_toks": prompt.sampling.max_tokens}
    slots["generation"] = json.dumps(limits | drawn | {"temperature": how["temperature"]})
    write(folder / f"{name}.yaml", Template(_file("exports/lm_eval.yaml")).substitute(slots))
    return ["lm_eval", "run", "--include_path", str(folder), "--tasks", name, "--model", "MODEL"]


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
