"""What a reviewer asks: which sets came in and why, what raters were asked, what had seen what."""

from typing import Any

import pandas as pd

from tstmeta.data import paths

DIMENSIONS = ("content", "style", "fluency")


def context() -> dict[str, Any]:
    """The flow of the sets, their questions, and what metrics and systems had seen of them."""
    sets = pd.read_csv(paths.own("cards", "synthesis.csv"), keep_default_na=False)
    panels = {name: sets[sets["panel"] == name] for name in ("out", "stress", "pool")}
    pool, used = panels["pool"], sets[sets["panel"] != "out"]
    rated = {name: pool[pool["dimensions"].str.contains(name)] for name in DIMENSIONS}
    columns = ["set", "family", "panel", "task", "dimensions", "outputs", "year"]
    return {
        "all": counted(sets),
        "panels": {name: counted(own) for name, own in panels.items()},
        "reasons": {name: together(panels[name], "reason") for name in ("out", "stress")},
        "pool": {name: counted(own) for name, own in rated.items()},
        "sets": sets[columns].astype({"year": str}),
        "questions": questions(used),
        "trained": trained(used),
        "optimised": together(sets[sets["optimised"] != ""], "optimised"),
    }


def counted(sets: pd.DataFrame) -> dict[str, int]:
    return {"sets": len(sets), "families": sets["family"].nunique()}


def together(sets: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """One row for all sets that share the values of ``keys``."""
    return sets.groupby([*keys], sort=False)["set"].agg(", ".join).reset_index()[["set", *keys]]


def questions(sets: pd.DataFrame) -> pd.DataFrame:
    """What raters were asked; what the set does not rate, or is left out of the pool, is a dash."""
    texts = sets.assign(**{name: sets[f"question_{name}"] for name in DIMENSIONS})
    for name in DIMENSIONS:
        enters = texts["dimensions"].str.contains(name)
        texts[name] = texts[name].replace("", "not stated in what was released").where(enters)
    return together(texts.fillna("–"), *DIMENSIONS)


def trained(sets: pd.DataFrame) -> pd.DataFrame:
    """What metrics and judges were trained on, and the sets of the families that are near it."""
    rows = pd.read_csv(paths.own("metric_cards", "trained_on.csv"), keep_default_na=False)
    near = together(sets, "family").set_index("family")["set"].to_dict()
    near |= {"": "–", "any": "any set"}
    rows["near"] = [", ".join(near.get(f, f) for f in text.split("; ")) for text in rows["near"]]
    return rows.rename(columns={"trained": "trained on", "near": "sets on or near that"})
