"""Shakespeare, formality and paraphrases rated by crowd workers: Krishna et al. (2020).

Content is 0 or 1 (no paraphrase, paraphrase), and fluency is 0 or 1 where content is 1.
"""

from html import unescape
from pathlib import Path

import pandas as pd

from .base import Dataset, by_label
from .raw import read_csv
from .tables import assemble, long_ratings, rater_names, scores_table

NAME = "strap"
#: Task, system, folder, batches of ratings, parts of the list with a classifier's verdicts.
SETS = """
shakespeare dlsm {}_baseline_he_2020 4025902,4041152 0_117 117_150
shakespeare unmt {}_baseline_unmt 4041348,4041543 0_150
shakespeare strap {}_single_model_nucleus_paraphrase 4025961,4041444,4041540 0_104 104_150
shakespeare strap-0.0 {}_single_nucleus_paraphrase_0.0 4041412,4041515 0_150
formality dlsm {}_baseline_he_2020 4025880,4041196 0_110 110_150
formality unmt {}_baseline_unmt 4041337,4041524 0_150
formality strap {}_single_nucleus_paraphrase 4027466
formality strap-0.0 {}_single_nucleus_paraphrase_0.0 4041393,4041529 0_150
formality strap-0.9 {}_single_nucleus_paraphrase_0.9 4041456,4041556 0_150
coha paraphraser coha_1990s-2000s_original_vs_paraphrase_250 4025612
"""
#: Answer -> content and fluency.
ANSWERS = {
    "no paraphrase relationship": (0, None),
    "approximately the same meaning, but the rewritten sentence is ungrammatical": (1, 0),
    "approximately the same meaning and the rewritten sentence is grammatical": (1, 1),
}
_RATED = ["WorkerId", "Input.text1", "Input.text2", "Answer.semantic-similarity.label"]
_STYLES = {"modern": "shakespearean", "formal": "informal"}
#: Style of the source -> target style.
STYLES = _STYLES | {target: source for source, target in _STYLES.items()}
#: Verdict about the source's style -> whether the transfer succeeded.
VERDICTS = {"incorrect": 1.0, "correct": 0.0}
SUBSETS = by_label("task", ("shakespeare", "formality", "coha"))
_PAIR = ["task", "system", "source", "output"]


def load(root: Path) -> Dataset:
    """Items: ``source_id-system``, with ``-2`` for a second output, of the sources ``task-s1`` ….

    Where a worker rated an output again, that is a new rater.
    """
    answers, verdicts = _read(root / "mturk_evals")
    items = answers.drop_duplicates(_PAIR)[_PAIR].merge(verdicts, on=_PAIR, how="left")
    number = items.groupby("task")["source"].transform(lambda texts: pd.factorize(texts)[0] + 1)
    items["source_id"] = items["task"] + "-s" + number.astype(str)
    items["item_id"] = items["source_id"] + "-" + items["system"]
    items["item_id"] += items.groupby("item_id").cumcount().map(lambda n: f"-{n + 1}" * (n > 0))
    origin = items["from"].fillna(items.groupby("source_id")["from"].transform("first")).fillna("")
    items["style"] = origin.map(STYLES).fillna("")
    items["direction"] = (origin + "2" + items["style"]).where(origin != "", "")
    ids = answers.merge(items, on=_PAIR)["item_id"]
    people = answers["worker"].map(rater_names(answers["worker"]))
    raters = people + answers.groupby([ids, people]).cumcount().map(lambda n: " again" * n)
    content, fluency = zip(*answers["answer"].map(ANSWERS), strict=True)
    ratings = long_ratings(ids, [("content", raters, content), ("fluency", raters, fluency)])
    aimed, facts = items[origin != ""], ("released:style-classifier", "style", "none")
    values, fields = aimed["verdict"].map(VERDICTS), {"from": "krishna2020"}
    scores = scores_table(NAME, aimed["item_id"], values, *facts, fields)
    return assemble(NAME, items, ratings=ratings, labels=dict(items[["task"]]), scores=scores)


def _read(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All answers, and the verdict about each pair of source and output that has one."""
    rated, listed = [], []
    for task, system, name, batches, *parts in map(str.split, SETS.strip().splitlines()):
        place = folder / name.format(f"{task}_gold_vs_generated")
        for batch in batches.split(","):
            table = read_csv(place / f"Batch_{batch}_batch_results.csv")[_RATED]
            table = table.set_axis(["worker", *_PAIR[2:], "answer"], axis=1)
            rated.append(table.assign(task=task, system=system))
        for part in parts:
            names = ["verdict", "from", "predicted"]
            table = read_csv(place / f"label_all_{part}.csv", header=None, names=names)
            table = table.replace("original", "shakespearean")
            texts = read_csv(place / f"input_all_{part}.csv")
            table[_PAIR[2:]] = texts[["text1", "text2"]]
            listed.append(table.assign(task=task, system=system))
    answers, verdicts = (pd.concat(x, ignore_index=True).map(unescape) for x in (rated, listed))
    return answers, verdicts.drop_duplicates(_PAIR)
