"""The backbone's tokenizer: byte-level BPE in Llama 3's manner, trained on our own words.

Merges are learned from texts of the grammar, from everyday words and from prose of this
compendium, so that plain English splits into few and sensible pieces.  Special tokens and chat
template have the form of Llama 3 (Grattafiori et al., 2024), without a date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..world import loose
from ..world.draws import Draws
from ..world.scenes import MORE, TASKS, scene
from ..world.words import every, pool
from .options import Prompts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

BEGIN, HEADER, BODY, END, PAD = (
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|pad|>",
)
TEMPLATE = (
    "{{- bos_token }}"
    "{%- for message in messages %}"
    "{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' "
    "+ message['content'] + '<|eot_id|>' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}"
    "{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}"
    "{%- endif %}"
)
#: Words are cut before a space or a capital run, digits one by one, so that numbers can be copied.
_CUT = r"'(?i:s|t|re|ve|m|ll|d)| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_ALPHABET_SCENES = 400


@cache
def prose() -> tuple[str, ...]:
    """Sentences of this compendium's own documentation, one a line."""
    text = files(__package__).joinpath("prose.txt").read_text(encoding="utf-8")
    return tuple(text.splitlines())


def corpus(prompts: Sequence[Prompts]) -> Iterator[str]:
    """The texts that merges are learned from; always the same for the same prompts."""
    for prompt in prompts:
        yield from [prompt.system, *prompt.fill("", "polite")] * 40
    yield "system user assistant\n\n" * 40
    yield from prose()
    for kind in ("function", "verb", "quality", "manner"):
        words = " ".join(every(kind))
        yield from [words, words, words.title()]
    for kind in ("goods", "objects", "papers", "events", "venues", "roles", "first", "prefix"):
        names = " ".join(pool(kind, False))
        yield from [names, names.title(), names.lower()]
    for number in range(_ALPHABET_SCENES):
        for task in (*TASKS, *MORE):
            one = scene(f"tokenizer/{number}", task)
            yield from (one.source, one.tell("strong"))
        yield " ".join(loose.mixture(Draws(f"tokenizer/{number}")))


def train_tokenizer(prompts: Sequence[Prompts], vocabulary: int) -> PreTrainedTokenizerFast:
    """A tokenizer with ``vocabulary`` entries, special tokens included."""
    from tokenizers import Regex, pre_tokenizers

    cut = pre_tokenizers.Split(Regex(_CUT), "isolated")
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return byte_pairs(
        corpus(prompts),
        vocabulary,
        pre_tokenizers.Sequence([cut, to_bytes]),
        [BEGIN, HEADER, BODY, END, PAD],
        bos_token=BEGIN,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[HEADER, BODY],
        chat_template=TEMPLATE,
    )


def byte_pairs(
    texts: Iterable[str], vocabulary: int, cut: Any, special: list[str], **roles: Any
) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer: any text, no unknown tokens.

    It has fewer than ``vocabulary`` entries where the texts have too few pairs to merge.

    Args:
        cut: the pre-tokenizer.
        special: special tokens, which come first.
        roles: what transformers is told of them.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = cut
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        **roles,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )
