"""Two sets of human judgments released with MIS (Babakov et al., 2022).

``civil``: 500 detoxified comments of Laugier et al. (2021), five raters each.  ``yelp``: pairs of
outputs on Yelp compared by people, of Pang and Gimpel (2019).
"""

from pathlib import Path

import pandas as pd

from .base import Dataset, by_label
from .raw import floats, read_csv, read_json_lines
from .tables import assemble, long_ratings

SUBSETS = by_label("collection", ("civil", "yelp"))
_FOLDER = Path("benchmarking", "source_data")
#: Dimension -> column with the question.
QUESTIONS = {
    "content": "does_the_candidate_rephrasing_preserve_the_nontoxic_content"
    "_from_the_original_comment",
    "fluency": "is_the_candidate_rephrasing_fluent_in_english",
    "style": "is_the_candidate_rephrasing_text_a_polite_comment",
    "overall": "we_also_ask_you_to_judge_the_overall_acceptability_of_the_rephrasing"
    "_if_it_appeared_in_a_realworld_system",
}
SYSTEMS = {
    f"{name} rephrasing": name.replace(" (", "-").strip(")")
    for name in ("CA", "CAET", "IE", "ST (cond)", "ST (multi)")
}
#: Systems compared; field of the comparison -> dimension; answer -> value.
PAIRS = ("m0-m2", "m0-m7", "m2-m7", "m6-m7")
BETTER = {"style_better": "style", "content_better": "content", "lang_better": "fluency"}
ANSWERS = {1: "a", 2: "b", -1: "tie"}
#: Style of the source -> direction, target style.
STYLES = {0: ("neg2pos", "positive"), 1: ("pos2neg", "negative")}
_TEXTS = ["source", "direction", "style", "system", "output"]


def load(root: Path) -> Dataset:
    """Items: ``source_id-system``, with ``-2`` for another text of that system, of ``civil-s1`` ….

    Texts of one line of ``yelp`` were not released.  Who compared is not known: it is one rater.
    """
    civil, ratings = _civil(root / _FOLDER / "f1659626_annon.csv")
    yelp, preferences = _yelp(root / _FOLDER / "textual-transfer-pairwise-comparison")
    items = pd.concat([civil, yelp], ignore_index=True)
    labels = {"collection": items["item_id"].str.partition("-")[0]}
    items = items.where(items.notna(), None)
    return assemble("mis", items, ratings=ratings, labels=labels, preferences=preferences)


def _items(collection: str, texts: pd.DataFrame) -> pd.DataFrame:
    """Each text of a system for a source once, with its ids."""
    items = texts.drop_duplicates(ignore_index=True)
    number = items.groupby(["source", "direction"], sort=False, dropna=False).ngroup() + 1
    items["source_id"] = f"{collection}-s" + number.astype(str)
    items["item_id"] = items["source_id"] + "-" + items["system"]
    items["item_id"] += items.groupby("item_id").cumcount().map(lambda n: f"-{n + 1}" * (n > 0))
    return items


def _civil(path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Items and ratings without the test questions; who rated is read to number the raters."""
    texts = ["original_toxic_comment", "variable", "value"]
    table = read_csv(path, usecols=["_golden", "_worker_id", *texts, *QUESTIONS.values()])
    table = table[table["_golden"] == "false"].assign(direction="", style="polite")
    table[["source", "system", "output"]] = table[texts].replace({"variable": SYSTEMS})
    items = _items("civil", table[_TEXTS])
    ids = table.merge(items, on=_TEXTS, how="left")["item_id"]
    workers = table["_worker_id"]
    rated = [(name, workers, floats(table[question])) for name, question in QUESTIONS.items()]
    return items, long_ratings(ids, rated)


def _yelp(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Items and comparisons; NaN stands for a text that was not released."""
    files = [folder / f"yelp-{pair}.human.jsonl" for pair in PAIRS]
    table = pd.DataFrame([row for file in files for row in read_json_lines(file)])
    table[["direction", "style"]] = [STYLES[style] for style in table["ori_style"]]
    sides = [table[["ori_sent", "direction", "style", f"model{k}", f"sent{k}"]] for k in (1, 2)]
    sides = [side.set_axis(_TEXTS, axis=1) for side in sides]
    items = _items("yelp", pd.concat(sides).sort_index(kind="stable"))
    a, b = (side.merge(items, on=_TEXTS, how="left")["item_id"] for side in sides)
    facts = {"item_a": a, "item_b": b, "rater": "yelp"}
    compared = [
        pd.DataFrame({**facts, "dimension": dimension, "value": table[key].map(ANSWERS)})
        for key, dimension in BETTER.items()
    ]
    return items, pd.concat(compared)
