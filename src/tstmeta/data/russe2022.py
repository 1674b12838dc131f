"""Russian detoxification: RUSSE-2022 (Dementieva et al., 2022), 4,375 rewrites of five systems.

875 sources, each with a human reference.  One judgement, 0 or 1, was released for each dimension;
scores of metrics and ratings of two judges came later (Protasov et al., 2025).
"""

from pathlib import Path

import pandas as pd

from ..schema import MEAN_RATER
from .base import Dataset
from .raw import floats, read_csv
from .tables import assemble, scores_table

NAME = "russe2022"
HUMAN = {"content": "content", "non-toxicity": "style", "fluency": "fluency"}
_TRANSLATION = "chrf wmt22-comet-da XCOMET-XL XCOMET-LITE XCOMET-XXL SIM-GEN-REF"
_CLASSIFIERS = "CLS_NEW_GEN CLS_NEW_INPUT CLS_NEW_REF CLS_OLD_GEN CLS_OLD_INPUT CLS_OLD_REF"
#: Released metric -> (dimension it claims, basis); some classifiers read source or reference.
METRICS = dict.fromkeys(_TRANSLATION.split(), ("content", "reference"))
METRICS |= {"SIM-INPUT-GEN": ("content", "source")}
METRICS |= dict.fromkeys(_CLASSIFIERS.split(), ("style", "none"))
#: Judge -> its file, whose rows are those of the metrics' file; columns -> (dimension, basis).
JUDGES = {
    "gpt-4.1-mini": "gpt-4.1-mini_few_shot.csv",
    "llama-3.3-70b": "meta-llama_Llama-3.3-70B-Instruct-Turbo.csv",
}
ANSWERS = {
    "content_score": ("content", "source"),
    "toxic_pairwise_score": ("style", "source"),
    "fluency_score": ("fluency", "source"),
    "neutral_fluency": ("fluency", "none"),
}


def load(root: Path) -> Dataset:
    """Items: ``item_id`` is ``source_id-system``, of ``0`` … and ``s1`` … by first appearance."""
    table = read_csv(root / "dataset" / "test_all_metrics_russe2022.csv")
    table["source_id"] = pd.factorize(table["original"])[0].astype(str)
    table["system"] = [f"s{1 + place}" for place in pd.factorize(table["participant_name"])[0]]
    ids = table["source_id"] + "-" + table["system"]
    means = {(dimension, MEAN_RATER): floats(table[name]) for name, dimension in HUMAN.items()}
    scores = [_scores(ids, name.replace("_", "-"), table[name], *METRICS[name]) for name in METRICS]
    for judge, file in JUDGES.items():
        rated = read_csv(root / "vizualize" / "models_to_plot" / NAME / file)
        scores += [_scores(ids, judge, rated[name], *ANSWERS[name]) for name in ANSWERS]
    return assemble(
        NAME,
        table.rename(columns={"original": "source", "method_output": "output"}),
        item_id=ids,
        style="non-toxic",
        direction="toxic2neutral",
        language="ru",
        references=[[text] for text in table["neutral_sentence_reference"]],
        ratings=means,
        scores=pd.concat(scores),
    )


def _scores(ids: pd.Series, name: str, values: pd.Series, dimension: str, basis: str):
    fields = {"dimension": dimension, "from": "protasov2025"}
    name = f"released:{name.lower()}"
    return scores_table(NAME, ids, floats(values), name, dimension, basis, fields)
