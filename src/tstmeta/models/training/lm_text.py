"""Text of ours that the embedded language model is trained on, and its tokenizer.

Sentences of this compendium's documentation, and scenes of the small world told in every style with
the words and frames of its training side.  The contrast set is not among them, and the small world
set is written with the other side's words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..world.scenes import MORE, TASKS, scene
from .tokenizer import byte_pairs, prose

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
    """A tokenizer in GPT-2's manner, with one mark; see :func:`.tokenizer.byte_pairs`."""
    from tokenizers import pre_tokenizers

    cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
    marks = dict.fromkeys(("bos_token", "eos_token", "pad_token"), MARK)
    return byte_pairs(texts, vocabulary, cut, [MARK], **marks)
