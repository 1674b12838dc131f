"""Make anew what we ship: ``python -m tools.train WHAT [OUT]``, where WHAT is ``backbone``, ``lm``,
``idf`` or ``world``.

What lies in ``src/tstmeta/models/weights`` and ``data/world`` comes out, on the same machine to the
byte.  The backbone takes under an hour on two cores, the others minutes.  A run that was killed
goes on from its last checkpoint with the same command.
"""

import hashlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.training import lm
from experiments.training.loop import (
    CHECKPOINT,
    LmOptions,
    finished,
    versions,
    write_report,
)
from experiments.training.splits import divide
from tools.world import conversations
from tools.world.conversations import Example, example
from tools.world.testset import small_world
from tools.world.words import Choices
from tstmeta import storage
from tstmeta.data import Dataset, load
from tstmeta.data.tables import corpus_table
from tstmeta.likelihood.instructions import Instructions, shipped
from tstmeta.models import encoders, vectors
from tstmeta.scoring import score

# ----------------------------------------------------------------------------------- the backbone

SEED = 4
#: ``batch`` counts conversations a step.
BACKBONE = LmOptions(
    vocabulary=4096, width=256, layers=4, heads=8, inner=704, length=2048,
    batch=48, steps=700, warmup=20, cooling=0.4, checkpoint=25,
)  # fmt: skip
#: For this part of the steps the model repeats short strings of random tokens, which is where
#: copying is learned cheapest; then it follows instructions without a system prompt ...
DRILL = 0.25
#: ... and from this part of the steps on also with one.
SYSTEMS = 0.7
#: Longest string of the drill, in tokens.
LONGEST = 24

MARKS = {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>", "pad_token": "<|pad|>"}
HEADER, BODY = "<|start_header_id|>", "<|end_header_id|>"
#: The form of Llama 3 (Grattafiori et al., 2024), without a date.
TEMPLATE = Path(__file__).parent.joinpath("world", "llama3.jinja").read_text("utf-8")
TEMPLATE = TEMPLATE.replace("\n", "")
#: Words are cut before a space or a capital run, digits one by one, so that numbers can be copied.
CUT = r"'(?i:s|t|re|ve|m|ll|d)| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def backbone(
    out: Path, prompts: Sequence[Instructions], seed: int = SEED, options: LmOptions = BACKBONE
) -> dict[str, Any]:
    """Train the model of the likelihood metrics on conversations that the grammar writes.

    The first of the prompts counts double.  Losses in the report are in nats per answer token.
    """
    import torch

    run = backbone_run(prompts, seed, options)
    if report := finished(out, run):
        return report
    torch.set_num_threads(options.threads)
    tokenizer = train_tokenizer(prompts, options.vocabulary)
    model = lm.network(options, tokenizer, seed)

    def batches(step: int) -> list[lm.Batch]:
        seeds = [f"{seed}/{step * options.batch + place}" for place in range(options.batch)]
        if step < DRILL * options.steps:
            encoded = [drill(Choices(name), tokenizer) for name in seeds]
        else:
            systems = step >= SYSTEMS * options.steps
            encoded = encode([example(name, prompts, systems=systems) for name in seeds], tokenizer)
        return lm.bucketed(encoded, lm.TOKENS, tokenizer.pad_token_id)

    losses = lm.learn(out, run, model, options, batches)
    model.eval()
    lm.write(out, model, tokenizer, "float16")
    sides = {"training": False, "held_out": True}
    report = {
        **run,
        "parameters": sum(value.numel() for value in model.parameters()),
        "losses_by_task": {
            side: _task_losses(model, tokenizer, prompts, held_out)
            for side, held_out in sides.items()
        },
        "loss_curve": [round(loss, 4) for loss in losses],
    }
    write_report(out, report)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return report


def backbone_run(prompts: Sequence[Instructions], seed: int, options: LmOptions) -> dict[str, Any]:
    """What makes a training of the backbone this one."""
    words = [
        text
        for instructions in prompts
        for text in (instructions.system, *instructions.fill("{source}", "{style}"))
    ]
    return {
        "steps": options.steps,
        "seed": seed,
        "prompts": [prompt.name for prompt in prompts],
        "prompts_hash": hashlib.sha256("\0".join(words).encode()).hexdigest()[:16],
        "options": {**options.model_dump(), "drill": DRILL, "systems": SYSTEMS},
        "versions": versions("torch", "transformers", "tokenizers"),
    }


def train_tokenizer(prompts: Sequence[Instructions], vocabulary: int) -> Any:
    """Byte-level BPE in Llama 3's manner, from texts of the grammar and from prose of ours."""
    from tokenizers import Regex, pre_tokenizers

    cut = pre_tokenizers.Split(Regex(CUT), "isolated")
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    begin, end, pad = MARKS.values()
    return lm.byte_pairs(
        conversations.for_tokenizer(prompts),
        vocabulary,
        pre_tokenizers.Sequence([cut, to_bytes]),
        [begin, HEADER, BODY, end, pad],
        **MARKS,
        additional_special_tokens=[HEADER, BODY],
        chat_template=TEMPLATE,
    )


def encode(examples: Iterable[Example], tokenizer: Any) -> list[lm.Encoded]:
    """Token ids of conversations; prompt and answer are cut into tokens each by itself."""
    rows = []
    for conversation in examples:
        messages = (
            [{"role": "system", "content": conversation.system}] if conversation.system else []
        )
        messages.append({"role": "user", "content": conversation.user})
        prompt = str(
            tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        )
        before = _ids(prompt.removesuffix("\n\n") if conversation.bare else prompt, tokenizer)
        after = [*_ids(conversation.output, tokenizer), tokenizer.eos_token_id]
        rows.append(lm.Encoded([*before, *after], len(before)))
    return rows


def drill(draws: Choices, tokenizer: Any, most: int = LONGEST) -> lm.Encoded:
    """Four to ``most`` random tokens to repeat: nothing in them can be foreseen but by copying."""
    first = len(tokenizer.get_added_vocab())  # special tokens stand before all others
    count = 4 + draws.number("count", most - 3)
    string = [first + draws.number(f"token{at}", len(tokenizer) - first) for at in range(count)]
    header = _ids(f"{HEADER}assistant{BODY}\n\n", tokenizer)
    before = [tokenizer.bos_token_id, *string, tokenizer.eos_token_id, *header]
    return lm.Encoded([*before, *string, tokenizer.eos_token_id], len(before))


def _ids(text: str, tokenizer: Any) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _task_losses(
    model: Any, tokenizer: Any, prompts: Sequence[Instructions], held_out: bool
) -> dict[str, float]:
    """Mean loss in nats per answer token, task by task, on conversations never trained on."""
    import torch

    trials = [example(f"trial/{number}", prompts, held_out) for number in range(120)]
    means = {}
    with torch.no_grad():
        for task in sorted({trial.task for trial in trials}):
            encoded = encode([trial for trial in trials if trial.task == task], tokenizer)
            batches = lm.bucketed(encoded, lm.TOKENS, tokenizer.pad_token_id)
            total = sum(float(lm.answer_loss(model, batch)) for batch in batches)
            means[task] = round(total / sum(len(batch.targets) for batch in batches), 4)
    return means


# ------------------------------------------------------------------------------ what it is worth

#: Which pair each share is about: the dimension, the system that should win, and the other one.
PAIRS = {
    "light > light-error": ("content", "light", "light-error"),
    "strong > strong-error": ("content", "strong", "strong-error"),
    "strong > light-error": ("content", "strong", "light-error"),
    "style: strong > light": ("style", "strong", "light"),
}


def worth(folder: Path) -> dict[str, Any]:
    """Shares of pairs ranked rightly, by data set and metric; BLEU stands beside the model."""
    model = folder.resolve()
    names = {"likelihood": [f"likelihood:{model}", f"likelihood-style:{model}"], "bleu": ["bleu"]}
    return {
        data.name: {
            key: shares(data, score(data, wanted, ["source"])) for key, wanted in names.items()
        }
        for data in map(load, vectors.COUNTED)
    }


def shares(data: Dataset, scores: pd.DataFrame) -> dict[str, float]:
    """How often the better rewrite of a source has the higher score, for each of :data:`PAIRS`.

    Ties count one half.  Pairs of a dimension that was not scored are left out.
    """
    cells = data.items.set_index("item_id")[["source_id", "system"]]
    shown = {}
    for name, (dimension, better, worse) in PAIRS.items():
        rows = scores[scores["dimension"] == dimension].join(cells, on="item_id")
        if len(rows):
            wide = rows.pivot_table(index="source_id", columns="system", values="value")
            gap = (wide[better] - wide[worse]).dropna()
            shown[name] = round(float(((gap > 0) + 0.5 * (gap == 0)).mean()), 4)
    return shown


def main(what: str = "", out: str = "") -> None:
    """Write what is named to a folder or file, by default one of that name."""
    path = Path(out or what)
    match what:
        case "backbone":
            report = backbone(path, list(shipped().values()))
            if "shares" not in report:
                write_report(path, {**report, "shares": worth(path)})
        case "lm":
            table = divide(corpus_table(conversations.sentences()))
            texts = {part: rows["text"].tolist() for part, rows in table.groupby("part")}
            lm.train(path, texts["train"], texts["test"], name="ours")
        case "idf":  # tokens of the embedded encoder in the sources of our two sets
            every = [text for name in vectors.COUNTED for text in load(name).items["source"]]
            vectors.write_counts(encoders.load(encoders.MINILM), [*dict.fromkeys(every)], path)
        case "world":
            storage.write(path, small_world())
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
