"""Text of ours that the embedded language model is trained on, and its tokenizer.

Sentences of this compendium's documentation, and scenes of the small world told in every style with
the words and frames of its training side.  The contrast set is not among them, and the small world
set is written with the other side's words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..world.scenes import MORE, TASKS, scene
from .tokenizer import prose

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

#: Begins a text and ends it, as in GPT-2.
MARK = "<|endoftext|>"
#: Scenes a task.
SCENES = 800


def ours(scenes: int = SCENES) -> list[str]:
    """Distinct sentences, always the same: prose first, then each scene at three levels."""
    told = (
        one.tell(level)
        for number in range(scenes)
        for task in (*TASKS, *MORE)
        for one in (scene(f"lm/{number}", task),)
        for level in ("source", "light", "strong")
    )
    return list(dict.fromkeys([*prose(), *told]))


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer in GPT-2's manner: any text, no unknown tokens, one mark.

    It has fewer than ``vocabulary`` entries where the texts have too few pairs to merge.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[MARK],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token=MARK,
        eos_token=MARK,
        pad_token=MARK,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )
