"""Tiny seeded encoders in folders, as a hub would give them, with and without a pooling of theirs.

Weights are drawn wide, so that a token seen wrongly, or at a wrong position, changes every number.
"""

import json
from pathlib import Path
from typing import Any

import transformers

from tests.models.tiny import change_json, drawn, save
from tests.models.tiny_text import bert

WINDOW = 48
LAYERS = 3
WIDTH = 32
#: Sentences of ours, of many lengths.
TEXTS = [
    "the soup was cold",
    "the waiter was rude and the soup was cold",
    "we liked the warm bread , and we told the baker so",
    "no",
    "京都 is far",
    "rude !",
    "the last loaf was sold before noon ; nobody else had come for it",
]
_SIZES = {
    **{"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": 4},
    **{"intermediate_size": 64, "max_position_embeddings": WINDOW, "pad_token_id": 0},
}
#: They count positions from behind the padding's number.
_SHIFTED = {**_SIZES, "max_position_embeddings": WINDOW + 1}
CONFIGS = {
    "bert": (transformers.BertConfig, _SIZES),
    "roberta": (transformers.RobertaConfig, _SHIFTED),
    "xlm-roberta": (transformers.XLMRobertaConfig, _SHIFTED),
    "deberta": (
        transformers.DebertaConfig,
        {**_SIZES, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    ),
    "t5": (
        transformers.T5Config,
        {"d_model": WIDTH, "d_kv": 8, "d_ff": 64, "num_layers": LAYERS, "num_heads": 4}
        | {"pad_token_id": 0, "decoder_start_token_id": 0},
    ),
}


def folder(
    path: Path,
    kind: str = "bert",
    *,
    limit: bool = True,
    width: float = 0.4,
    auto: Any = transformers.AutoModel,
    **changes: Any,
) -> Path:
    """An encoder and its tokenizer; without ``limit`` the tokenizer has no maximum length."""
    _, tokenizer = bert()
    config, sizes = CONFIGS[kind]
    model = auto.from_config(config(vocab_size=len(tokenizer), **{**sizes, **changes}))
    save(path, drawn(model, width=width, of_vectors=width), tokenizer)
    if not limit:
        change_json(path / "tokenizer_config.json", model_max_length=None)
    return path


def pooled(path: Path, *, window: int = 24, normalize: bool = True) -> Path:
    """A folder of sentence-transformers: mean of the tokens, then unit length if ``normalize``."""
    folder(path)
    kinds = ["Transformer", "Pooling", *(["Normalize"] * normalize)]
    module = "sentence_transformers.models"
    steps = [
        {"idx": n, "name": str(n), "path": f"{n}_{kind}" * (n > 0), "type": f"{module}.{kind}"}
        for n, kind in enumerate(kinds)
    ]
    (path / "1_Pooling").mkdir()
    _write(path / "modules.json", steps)
    _write(path / "sentence_bert_config.json", {"max_seq_length": window, "do_lower_case": False})
    mean = {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True}
    _write(path / "1_Pooling" / "config.json", mean)
    return path


def _write(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content), encoding="utf-8")
