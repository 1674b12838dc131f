"""Train the model behind the metrics of style: ``python -m tools.style``.

Toxicity on ParaDetox (toxic sentences, and a rewrite of each by people), sentiment on the
development part of Yelp, formality on the sentences of Pavlick and Tetreault (2016).  Weights and a
report are written into ``src/tstmeta/models/weights/style``.  No text of a set of rated rewrites is
learned from; the raw files of all are needed.
"""

import shutil

import pandas as pd

import tstmeta as tst
from experiments.training.splits import read, texts_of
from tstmeta.data import corpora, paths
from tstmeta.data.corpora import key
from tstmeta.models import training
from tstmeta.models.classifiers import MODELS, Task

#: What a model is trained on, for each task.
CORPORA = {"toxicity": "paradetox", "sentiment": "yelp", "formality": "xformal"}
TASKS = (
    Task("toxicity", ("toxic", "non-toxic"), {"detoxified": "non-toxic", "neutral": "non-toxic"}),
    Task("sentiment", ("negative", "positive")),
    Task("formality", ("informal", "formal")),
)
#: Corpora: all that the project reads and nobody rated as rewrites.
UNRATED = {"paradetox", "yelp", "xformal"}
#: Rated sets without a loader: every cell of these files.
OTHERS = {
    "detox": "emnlp2021/data/manual_markup/emnlp_eval_mean.tsv",
    "paraguide": "derived/ratings.csv",
    "textdetox2024": "human_evaluation_results/*/English.tsv",
    "textdetox2024_refs_llm": "**/english_test.csv",
}


def rated() -> dict[str, set[str]]:
    """The sentences (:func:`key`) of each set with human ratings: sources, rewrites, references."""
    names = [name for name in tst.datasets()["name"] if tst.available(name)]
    sets = {name: texts_of(name) for name in names if name not in UNRATED}
    for name, pattern in OTHERS.items():
        files = paths.raw(name).glob(pattern)
        tables = [pd.read_csv(file, sep=None, engine="python", dtype=str) for file in files]
        sets[name] = {str(cell) for table in tables for cell in table.to_numpy().ravel()}
    return {name: {key(text) for text in texts} for name, texts in sets.items()}


def sentences() -> pd.DataFrame:
    """All sentences: text, task, style, and group, which is the source of a rewrite."""
    pairs = tst.load("paradetox").items.drop_duplicates("source")  # the first rewrite of each
    sides = zip(TASKS[0].styles, ("source", "output"), strict=True)
    toxicity = pd.concat(
        [
            pairs.assign(text=pairs[side], style=style, group=pairs["source"])
            for style, side in sides
        ]
    )
    yelp = read("yelp").query("split == 'dev'")
    tables = (toxicity.assign(task="toxicity"), yelp, read("xformal"))
    table = pd.concat(tables, ignore_index=True)[["text", "task", "style", "group"]]
    return table.assign(group=table["group"].fillna(table["text"]).map(key))


def main() -> None:
    table, sets = sentences(), rated()
    words = table["text"].map(key)
    counts = {name: int(words.isin(texts).sum()) for name, texts in sets.items()}
    table = corpora.divided(table[~words.isin(set().union(*sets.values()))])
    folder = MODELS["embedded"].folder
    shutil.rmtree(folder, ignore_errors=True)
    facts = {"corpora": CORPORA, "kept_out": counts}
    report = training.train(folder, table, TASKS, facts)
    for task, result in report["results"].items():
        print(f"{task}: {result['accuracy']:.3f} of {result['n']} texts right")


if __name__ == "__main__":
    main()
