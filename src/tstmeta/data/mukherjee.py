"""Sentiment and detoxification in English, Hindi and Magahi (Mukherjee et al., 2023 and 2024).

Outputs drawn for human evaluation, each with one human reference.  The ratings are not public.
"""

from pathlib import Path

import pandas as pd

from .base import Dataset
from .raw import read_csv
from .tables import assemble

_SENTIMENT = "multilingual_tst/eval/human_eval"
_DETOX = "multilingual_text_detoxification/evaluation/selected_data"
#: Study and language (a code of ISO 639) -> file.
FILES = {
    **{("sentiment", code): f"{_SENTIMENT}_{code}.csv" for code in ("en", "hi", "mag")},
    **{("detoxification", code): f"{_DETOX}_{code}.csv" for code in ("en", "hi")},
}
#: ``task`` in the sentiment files -> (direction, target style).
TASKS = {"pos_to_neg": ("pos2neg", "negative"), "neg_to_pos": ("neg2pos", "positive")}
TASKS |= {"detoxify": ("", "non-toxic")}


def load(root: Path) -> Dataset:
    """Items: ``study-language-1`` … by row, of the sources ``study-language-s1`` …."""
    items = pd.concat([_items(root / path, *key) for key, path in FILES.items()], ignore_index=True)
    return assemble("mukherjee", items, labels={"study": items["item_id"].str.partition("-")[0]})


def _items(path: Path, study: str, language: str) -> pd.DataFrame:
    table = read_csv(path)
    tasks = table["task"] if study == "sentiment" else ["detoxify"] * len(table)
    direction, style = zip(*map(TASKS.__getitem__, tasks), strict=True)
    stem = f"{study}-{language}"
    names = {"methodology": "system", "src": "source", "pred": "output"}
    return table.rename(columns=names).assign(
        item_id=[f"{stem}-{row}" for row in range(1, len(table) + 1)],
        source_id=[f"{stem}-s{n + 1}" for n in table["src"].factorize()[0]],
        style=style,
        direction=direction,
        language=language,
        references=[[text] for text in table["trg"]],
    )
