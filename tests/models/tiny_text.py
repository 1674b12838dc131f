"""Tiny seeded models that read or rewrite whole texts: a classifier (BERT) and a writer (T5).

Weights are drawn wide, so that a token seen wrongly changes every number.
"""

from functools import cache
from typing import Any

import transformers
from tokenizers import processors
from transformers import PreTrainedTokenizerFast

from tests.models.tiny import PROSE, bpe, drawn

BERT_MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
T5_MARKS = ["<pad>", "</s>", "<unk>"]
WINDOW = 64
TEXTS = [*PROSE, "unanswerable " * 3]
WIDE = {"width": 0.5, "of_vectors": 0.5}


@cache
def bert(labels: int = 1) -> tuple[Any, Any]:
    """A classifier of 64 positions and its tokenizer."""
    core = bpe(TEXTS, BERT_MARKS, space=True).backend_tokenizer
    core.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(mark, BERT_MARKS.index(mark)) for mark in ("[CLS]", "[SEP]")],
    )
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        model_max_length=WINDOW,
        **{f"{name}_token": mark for name, mark in names.items()},
    )
    sizes = {"hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": WINDOW}
    layers = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_labels": labels}
    config = transformers.BertConfig(vocab_size=len(tokenizer), **sizes, **layers)
    return drawn(transformers.BertForSequenceClassification(config), **WIDE), tokenizer


@cache
def t5(seed: int = 0) -> tuple[Any, Any]:
    """A writer and its tokenizer."""
    marks = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = bpe(TEXTS, T5_MARKS, space=True, **marks)
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    ids = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    config = transformers.T5Config(vocab_size=len(tokenizer), **sizes, **ids)
    return drawn(transformers.T5ForConditionalGeneration(config), seed, **WIDE), tokenizer
