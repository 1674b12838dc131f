"""Detoxification in nine languages: TextDetox 2024 (Dementieva et al., 2024), 16,599 rewrites.

Up to twenty systems rewrote the same 100 sources of each language.  One value a question was
released.  Scores of judges came later: of Protasov et al. (2025), and of a student project that
does not say which versions its models have.
"""

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from ..schema import MEAN_RATER
from .base import Dataset, by_label
from .raw import floats, read_csv
from .russe2022 import ANSWERS, METRICS
from .tables import assemble, scores_table

NAME = "textdetox2024"
LANGUAGES = ("am", "ar", "de", "en", "es", "hi", "ru", "uk", "zh")
SUBSETS = by_label("language", LANGUAGES)
FILE = "human_evaluation_results"
HUMAN = {"content": "content_score", "style": "toxic_pairwise_score", "fluency": "neutral_fluency"}
#: Folders beside that of the human ratings, and what lies in them, at any depth.
REFERENCES = ("textdetox2024_refs_llm", "2024_with_answers/*_test.csv")
UNKNOWN = ("textdetox2024_refs_llm", "derived/llm_scores.csv")
KNOWN = ("textdetox2024_judges", "textdetoxeval/{}.csv")
TRANSLATION = ("textdetox2024_judges", "test_all_metrics-textdetoxeval.csv")
#: Judge -> its file; the last was tuned on ratings of this evaluation.
JUDGES = {
    "gpt-4.1-mini": "gpt-4.1-mini",
    "gpt-4.1-mini-few-shot": "gpt-4.1-mini_fewshot",
    "gpt-4.1-nano": "gpt-4.1-nano",
    "llama-3.1-8b-tuned": "judgelm_llama_31_8b_ckpt_ep2_merged",
}
#: Answers of the judges whose versions nobody stated.
STATED = {"cs": ("content", "source"), "sta": ("style", "source"), "fs": ("fluency", "source")}
_TEXTS = {"lang": "language", "toxic_sentence": "source", "neutral_sentence": "output"}


def load(root: Path) -> Dataset:
    """Items: ``hi-17-s03``, the third system (folders in order) on the 17th source in Hindi.

    Label: ``language``, as the column of that name.  Folders are names of teams and of people.
    """
    folders = sorted(path for path in (root / FILE).iterdir() if path.is_dir())
    systems = {folder.name: f"s{place:02}" for place, folder in enumerate(folders, 1)}
    files = sorted((root / FILE).glob("*/*.tsv"))
    tables = {(systems[file.parent.name], file.name): read_csv(file, sep="\t") for file in files}
    items = pd.concat(tables, names=["system", "file", "row"]).reset_index().rename(columns=_TEXTS)
    places = items.groupby("language")["source"].transform(lambda texts: texts.factorize()[0] + 1)
    items["source_id"] = items["language"] + "-" + places.astype(str)
    items["item_id"] = items["source_id"] + "-" + items["system"]
    pairs = pd.concat(map(read_csv, _files(root, *REFERENCES)))
    human = pairs.drop_duplicates().groupby("toxic_sentence")["neutral_sentence"].agg(list)
    return assemble(
        NAME,
        items,
        style="non-toxic",
        direction="toxic2neutral",
        references=[human.get(text, []) for text in items["source"]],
        ratings={(name, MEAN_RATER): floats(items[column]) for name, column in HUMAN.items()},
        labels={"language": items["language"]},
        scores=pd.concat(_released(root, items, systems)),
    )


def _files(root: Path, folder: str, pattern: str) -> list[Path]:
    if files := sorted((root.parent / folder).rglob(pattern)):
        return files
    raise FileNotFoundError(2, "", str(root.parent / folder / pattern))


def _released(root: Path, items: pd.DataFrame, systems: dict[str, str]) -> Iterator[pd.DataFrame]:
    """Scores of judges and, where their file was fetched, of metrics."""
    for judge, stem in JUDGES.items():
        table = read_csv(_files(root, KNOWN[0], KNOWN[1].format(stem))[0]).rename(columns=_TEXTS)
        table["system"] = table["id"].str.extract(r"^(.*?)_\d+(?:_[a-z]{2})?$")[0].map(systems)
        columns = {name: place for name, place in ANSWERS.items() if name in table}
        yield from _scores(items, table, ["language", "system", "source"], columns, judge)
    for file in (root.parent / UNKNOWN[0]).rglob(UNKNOWN[1]):  # where it is
        table = read_csv(file).query("row != ''")
        table["row"] = floats(table["row"]).astype(int)
        table["language"] = table["lang"].map({"English": "en", "Chinese": "zh"})
        for (judge, shot), rows in table.groupby(["judge", "shot"]):
            name = f"{judge.partition('-')[0]}-unknown-{shot}-shot"
            key, study = ["language", "system", "row"], "textdetox-rangking-clef-2024"
            yield from _scores(items, rows, key, STATED, name, study)
    for file in (root.parent / TRANSLATION[0]).rglob(TRANSLATION[1]):
        table = read_csv(file).rename(columns=_TEXTS)
        if missing := {"language", "source", "output", *METRICS} - {*table}:
            warnings.warn(f"{file.name} is left out: no column {', '.join(missing)}", stacklevel=2)
            continue
        yield from _scores(items, table, ["language", "source", "output"], METRICS)


def _scores(
    items: pd.DataFrame,
    table: pd.DataFrame,
    key: list[str],
    columns: Mapping[str, tuple[str, str]],  # -> dimension and basis
    name: str = "",
    study: str = "protasov2025",
) -> Iterator[pd.DataFrame]:
    """Released columns as scores of the items with the same key, the mean of two answers."""
    means = floats(table[[*columns]]).groupby([table[part] for part in key]).mean().reset_index()
    both = items[["item_id", *key]].merge(means, on=key)
    for column, (dimension, basis) in columns.items():
        metric = f"released:{name or column.lower().replace('_', '-')}"
        fields = {"dimension": dimension, "from": study}
        yield scores_table(NAME, both["item_id"], both[column], metric, dimension, basis, fields)
