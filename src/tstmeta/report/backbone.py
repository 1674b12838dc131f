"""The page of the embedded model: what it is, what it learnt, what it is worth, what it cannot do.

Every number comes from the files that ship with it: ``config.json``, ``training.json`` and the
headers of the weights.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..likelihood.instructions import shipped
from ..models.causal import BACKBONES, EMBEDDED
from ..schema import MissingData
from . import demonstration, html
from .figures import BLUE, GREY, Picture, _panels, _styled

_RAW = "```{{raw}} html\n{}\n```\n"
#: Conversations of the training that are shown.
EXAMPLES = 8
#: The loss curve is drawn as means over so many steps.
SMOOTH = 10


def page(folder: Path = EMBEDDED) -> str:
    """The page as MyST Markdown; without the weights it says that they are missing."""
    try:
        report, config = (_json(folder / name) for name in ("training.json", "config.json"))
    except MissingData as missing:
        return f"# The embedded model\n\n{missing}\n"
    lines = [
        "# The embedded model\n",
        "The likelihood method {cite}`pauli2025meta` needs a language model that has learnt to"
        " follow instructions. The paper's own are gated and take gigabytes. So that the whole path"
        " runs on a fresh machine without a model hub, a small one of ours comes with the package."
        " It shows *how* the method works. [Lesson 7](../results/lesson_7_small_world.ipynb) shows"
        " why it does not show *how well*.\n",
        _RAW.format(demonstration.warning(["likelihood", "likelihood-style"]).text),
        "## Facts\n",
        _RAW.format(html.facts(facts(report, config, folder)).text),
        "## What it has read\n",
        "No sentence of any data set. A grammar of ours invents events (who did what to which"
        " thing, where, when, how many) and tells each of them plainly, in other words, and in a"
        " target style, boldly or timidly. The model learns to repeat, to paraphrase and to rewrite"
        " on demand, with the instruction sets that the likelihood method uses. So that it can copy"
        " words it has never seen, it also repeats invented names, shuffled words and scraps. One"
        " content word and one kind of event in five are never used in the training: from these"
        " comes the [small world](cards/world.md). A few conversations:\n",
        _RAW.format(html.table(conversations()).text),
        "## How it learnt\n",
        _loss(report),
        "The loss is the mean of −ln p over the tokens of the answer." + _course(report),
        "At the end of the training, on fresh text with words and frames of the training, and on"
        " held-out text as in the small world (*style* cannot reach zero: what a bold rewrite adds"
        " is a free choice):\n",
        _RAW.format(html.table(losses(report)).text),
        "## What it is worth\n",
        "Pairs of rewrites of one source, one better than the other by construction: the share in"
        " which the better one has the higher score. Half is chance. The third question, a bold"
        " faithful rewrite against a timid faulty one, is the one that matters. On natural"
        " sentences (`contrast`) the model knows too little of the styles; on the small world"
        " (`world`), its home ground, it knows them.\n",
        _shares(report),
        "Two cautions. A rule that compares lengths and nothing else answers the third question"
        " well on both sets, since bold rewrites tend to be longer. And the last column may be won"
        " by copying less: similarity turned round, which knows no style, wins it on both sets."
        " [Lesson 7](../results/lesson_7_small_world.ipynb) and [the chapter of style"
        " strength](../results/04_style_strength.ipynb) show both.\n",
        _LIMITS,
        _ANEW,
    ]
    return "\n".join(lines) + "\n"


_LIMITS = """\
## What it cannot do

- It knows nothing of the world, of facts or of most English words. It can copy them, not foresee
  them.
- Its styles are a handful of patterns. A bold rewrite in any other manner surprises it as much as
  an error does.
- It cannot be compared with the models of the paper. Its scores are no reproduction, and the
  [ledger](ledger.md) never uses them as one.
- It reads English only, in sentences as long as those it was trained on.

For results that mean something, name a real model: `likelihood:3b`, `likelihood:8b`,
`likelihood:qwen2.5-0.5b`, or a folder of yours (see [how to](../howto.md)).
"""
_ANEW = """\
## Training it anew

```
tstmeta train backbone --out backbone
tstmeta score --data contrast --metric likelihood:./backbone
```

The defaults are those of the shipped weights. The training goes by a number of steps and a seed,
never by the clock; it can be interrupted or killed and goes on from its last checkpoint. On one
machine, with one number of threads, the same arguments give the same bytes. Other sizes:
`tstmeta train backbone --help`.
"""


def facts(
    report: Mapping[str, Any], config: Mapping[str, Any], folder: Path
) -> list[tuple[str, str]]:
    """Names and values of what the model is and how it was made."""
    options = report["options"]
    weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    heads = config["num_attention_heads"]
    rows = [
        ("name", f"embedded ({BACKBONES['embedded'].about})"),
        ("architecture", config["architectures"][0]),
        ("parameters", f"{demonstration.parameters(folder):,}"),
        ("layers", f"{config['num_hidden_layers']}, each with {heads} heads"),
        ("width", f"{config['hidden_size']}, inside {config['intermediate_size']}"),
        ("vocabulary", f"{config['vocab_size']:,} pieces of words (byte-level BPE)"),
        ("window", f"{config['max_position_embeddings']:,} tokens"),
        ("file", f"{weights / 1e6:.1f} MB in safetensors, {_stored(folder)}"),
        ("computed in", "float32, on a CPU"),
        ("training steps", f"{report['steps']:,}"),
        ("conversations a step", f"{options['batch']:,}"),
        ("seed", f"{report['seed']}"),
        ("instruction sets", ", ".join(report["prompts"])),
    ]
    versions = report.get("versions", {})
    rows += [(f"trained with {name}", str(one)) for name, one in versions.items()]
    return rows


def _stored(folder: Path) -> str:
    """The types of numbers in the weights, as their headers say."""
    found = set()
    for file in sorted(folder.glob("*.safetensors")):
        with open(file, "rb") as stream:
            header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
        found |= {one["dtype"] for name, one in header.items() if name != "__metadata__"}
    names = {"F16": "float16", "BF16": "bfloat16", "F32": "float32"}
    return ", ".join(sorted(names.get(one, one) for one in found))


def conversations(count: int = EXAMPLES) -> pd.DataFrame:
    """Conversations such as the training shows the model: what is asked, what is answered."""
    from ..models.training.examples import example

    made = [example(f"page/{number}", list(shipped().values())) for number in range(count)]
    return pd.DataFrame(
        {"task": [one.task for one in made]}
        | {"asked": [one.user for one in made], "answered": [one.output for one in made]}
    )


def losses(report: Mapping[str, Any]) -> pd.DataFrame:
    """Mean losses at the end by task: on text as in the training, and on held-out text."""
    found = report["losses_by_task"]
    tasks = sorted({task for side in found.values() for task in side})
    return pd.DataFrame(
        {
            "asked to": tasks,
            "words of the training": [found["training"].get(one, np.nan) for one in tasks],
            "held-out words and frames": [found["held_out"].get(one, np.nan) for one in tasks],
        }
    )


def _loss(report: Mapping[str, Any]) -> str:
    curve = report["loss_curve"]
    png = base64.b64encode(picture(curve)._repr_png_()).decode()
    alt = f"The training loss over {len(curve)} steps, from {curve[0]:.1f} to {curve[-1]:.1f}"
    return _RAW.format(
        f"<figure><img alt='{alt}' style='background: #fff; max-width: 30rem; width: 100%'"
        f" src='data:image/png;base64,{png}'></figure>"
    )


def _course(report: Mapping[str, Any]) -> str:
    """The parts of the course, in words; empty for a report without them."""
    options, steps = report["options"], report["steps"]
    if not {"drill", "systems"} <= set(options):
        return "\n"
    first, second = (round(options[name] * steps) for name in ("drill", "systems"))
    return (
        f" The tasks change twice, and the loss jumps: for {first:,} steps the model only repeats"
        " short strings of random tokens, which is where copying is learnt cheapest; then it"
        f" follows instructions, and from step {second:,} on also after a system prompt.\n"
    )


def picture(curve: list[float]) -> Picture:
    """The loss of each step, and its mean over neighbouring steps."""
    return Picture(_picture(curve))


@_styled
def _picture(curve: list[float]) -> Figure:
    figure, (axis,) = _panels(1, 5.2, 2.9)
    steps = np.arange(1, len(curve) + 1)
    axis.plot(steps, curve, color=GREY, lw=0.6, alpha=0.6, label="each step")
    size = min(SMOOTH, len(curve))
    means = np.convolve(curve, np.full(size, 1 / size), "valid")
    axis.plot(steps[size - 1 :], means, color=BLUE, lw=1.6, label=f"mean of {size} steps")
    axis.set(xlabel="step", ylabel="loss, nats a token", ylim=(0, None))
    axis.legend()
    return figure


def shares(report: Mapping[str, Any]) -> pd.DataFrame:
    """Shares of pairs ranked rightly, a row a set and metric; empty where none were taken."""
    rows = [
        {"data": name, "metric": metric, **found}
        for name, metrics in report.get("shares", {}).items()
        for metric, found in metrics.items()
    ]
    return pd.DataFrame(rows)


def _shares(report: Mapping[str, Any]) -> str:
    found = shares(report)
    if found.empty:
        return "These weights were not tried out. `tstmeta train backbone` does it at the end.\n"
    formats = dict.fromkeys(found.columns[2:], _two)
    return _RAW.format(html.table(found, formats).text)


def _two(value: object) -> str:
    return html.signed(float(value), 2)  # type: ignore[arg-type]


def _json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        what = "The weights of the embedded model are not here"
        raise MissingData(
            f"{what}: no {path.name}. Train them: `tstmeta train backbone`"
        ) from error
