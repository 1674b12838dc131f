"""Yelp, Amazon and image captions: outputs, references and crowd ratings of Li et al. (2018).

Seven systems and a human rewrite of each source; for 400 sources a corpus one crowd worker rated
all eight, 1 to 5.  ``r1`` is a slot, not a person.

The rated rewrites came in shuffled order without their system, so that is looked up by the text.
Where several systems wrote it (label ``ambiguous`` = how many), it was rated once for each, and the
ratings go to them in the order of ``SYSTEMS``.  A text that none wrote was edited on its way to the
raters: it is an item of its own with system ``""``.
"""

from functools import partial
from pathlib import Path

import pandas as pd

from .base import Dataset, by_label, labelled
from .raw import read_csv, read_lines
from .tables import assemble, ratings_table

#: System -> ending of its output files.
SYSTEMS = {
    "StyleEmbedding": "fader",
    "MultiDecoder": "multi_decoder",
    "CrossAligned": "mit",
    "TemplateBased": "rule_base",
    "RetrieveOnly": "retrieval",
    "DeleteOnly": "label",
    "DeleteAndRetrieve": "orgin",
    "Human": "human",
}
HUMAN = "Human"
#: Questions of the form -> dimension, in the order of their answers.
QUESTIONS = {"grammaticality": "fluency", "sentiment": "style", "topic": "content"}
_ANSWER = " ".join(f"{question}=([1-5])" for question in QUESTIONS)
_SENTIMENT = {"0": ("neg2pos", "positive"), "1": ("pos2neg", "negative")}
_CAPTIONS = {"0": ("factual2romantic", "romantic"), "1": ("factual2humorous", "humorous")}
#: Corpus -> ending of files -> direction, raters' word for the style.
DIRECTIONS = {"yelp": _SENTIMENT, "amazon": _SENTIMENT, "captions": _CAPTIONS}
#: Corpus -> folder of the references, ending of the human outputs.
FILES = {"yelp": ("yelp", "human"), "amazon": ("amazon", "human")}
FILES |= {"captions": ("imagecaption", "target")}


def load(root: Path) -> Dataset:
    """Items: ``corpus-direction-number-system``; a text that no system wrote ends in ``rated-k``.

    The reference is the human rewrite, also for the system ``Human``.
    """
    tables, rated = [], []
    for name, directions in DIRECTIONS.items():
        released = pd.concat([_released(root, name, ending) for ending in directions])
        path = root / "evaluation" / "human_ratings" / f"ratings-{name}.csv"
        rated.append(_matched(_forms(path), released))
        tables += [released, rated[-1][rated[-1]["system"] == ""]]
    rewrites, ratings = pd.concat(tables, ignore_index=True), pd.concat(rated, ignore_index=True)
    shared = ratings[ratings["writers"] > 1].set_index("item_id")["writers"].astype(int).to_dict()
    values = {(dimension, "r1"): ratings[dimension] for dimension in QUESTIONS.values()}
    return assemble(
        "li2018",
        rewrites,
        style=rewrites["target"],
        is_reference=rewrites["system"] == HUMAN,
        ratings=ratings_table("li2018", ratings["item_id"], values),
        labels={
            "corpus": rewrites["corpus"],
            "ambiguous": [shared.get(item, "") for item in rewrites["item_id"]],
        },
    )


def _released(root: Path, name: str, ending: str) -> pd.DataFrame:
    """The outputs of all systems in one direction, joined by source: orders of files differ."""
    direction, target = DIRECTIONS[name][ending]
    folder, human = FILES[name]
    stem = root / "evaluation" / "outputs" / name / f"sentiment.test.{ending}"
    words = SYSTEMS | {HUMAN: human}
    outputs = {name: _pairs(Path(f"{stem}.{word}")) for name, word in words.items()}
    references = _pairs(root / "data" / folder / f"reference.{ending}")
    rows = [
        (f"{name}-{direction}-{number}", system, source, pairs[source], [references[source]])
        for number, source in enumerate(outputs[HUMAN])
        for system, pairs in outputs.items()
        if source in pairs
    ]
    table = pd.DataFrame(rows, columns=["source_id", "system", "source", "output", "references"])
    table["item_id"] = table["source_id"] + "-" + table["system"]
    return table.assign(target=target, direction=direction, corpus=name)


def _pairs(path: Path) -> dict[str, str]:
    """Source -> rewrite from lines of ``source TAB rewrite [TAB label]``, in file order."""
    return dict(line.split("\t")[:2] for line in read_lines(path))


def _forms(path: Path) -> pd.DataFrame:
    """The raters' forms, one row a text: form, place, target, source, output and its ratings."""
    table = read_csv(path)  # its header ends in two columns that the rows do not have
    forms = pd.DataFrame(
        {
            "form": table.index,
            "target": table["Input.target"],
            "source": [cell.split("\t")[0].strip() for cell in table["Input.origs"]],
            "output": [[t.strip() for t in cell.split("\t")] for cell in table["Input.mods"]],
            "answer": table["Answer.responses"].str.split("\t"),
        }
    ).explode(["output", "answer"], ignore_index=True)
    answers = forms.pop("answer").str.extract(_ANSWER).astype(float)
    forms["place"] = forms.groupby("form").cumcount() + 1
    return forms.join(answers.set_axis([*QUESTIONS.values()], axis=1))


def _matched(forms: pd.DataFrame, released: pd.DataFrame) -> pd.DataFrame:
    """The item of each rated text; ``writers`` counts the systems that wrote it."""
    text = ["target", "source", "output"]
    written = released.assign(**{name: released[name].str.strip() for name in text[1:]})
    written["turn"] = written.groupby(text).cumcount()
    facts = ["source_id", "direction", "references", "corpus"]
    sources = written.drop_duplicates(text[:2])[[*text[:2], *facts]]
    rated = forms.merge(sources, on=text[:2], how="left")
    rated = rated.join(written.groupby(text).size().rename("writers"), on=text)
    rated["turn"] = rated.groupby(text).cumcount()  # a text of n items is rated n times
    items = written[[*text, "turn", "system", "item_id"]]
    rated = rated.merge(items, on=[*text, "turn"], how="left").fillna({"system": ""})
    edited = rated["source_id"] + "-rated-" + rated["place"].astype(str)
    rated["item_id"] = rated["item_id"].fillna(edited)
    originals = released.set_index("source_id")["source"].to_dict()
    return rated.assign(source=rated["source_id"].map(originals))  # blanks at its ends, too


def _rated(dataset: Dataset, corpus: str) -> Dataset:
    part = labelled(dataset, "corpus", corpus)
    return part.where(part.items["item_id"].isin(part.ratings["item_id"]))


SUBSETS = by_label("corpus", DIRECTIONS)
SUBSETS |= {f"{corpus}-rated": partial(_rated, corpus=corpus) for corpus in DIRECTIONS}
