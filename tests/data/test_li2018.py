"""Outputs and crowd ratings on three corpora: made-up files for the form, real ones for numbers."""

import csv

import pytest

from tests.data.raw import write
from tstmeta.data import li2018

COLUMNS = ("Input.id", "Input.target", "Input.origs", "Input.mods", "Answer.responses")
HEADER = ["HITId", "WorkerId", *COLUMNS, "Approve", "Reject"]
WORKER = "MADEUPWORKER"
#: Answers of the eight texts of a form: grammaticality, sentiment, topic.
ANSWERS = [(k % 5 + 1, (k + 1) % 5 + 1, (k + 2) % 5 + 1) for k in range(8)]


def source(corpus, ending, number):
    # Captions have the same sources in both directions.
    return f"{corpus} source {0 if corpus == 'captions' else ending} {number} ."


def output(corpus, ending, number, system):
    """Each system's text; three systems agree on source 0, the human's text ends in a blank."""
    if number == 0 and system in ("MultiDecoder", "CrossAligned", "DeleteOnly"):
        return f"{corpus} {ending} all the same ."
    blank = " " if system == "Human" else ""
    return f"{corpus} {ending} {system} on {number} .{blank}"


def form(corpus, ending, number):
    """One worker's row: systems in reverse order, the human's text edited in every second one."""
    _, target = li2018.DIRECTIONS[corpus][ending]
    texts = [output(corpus, ending, number, system).strip() for system in li2018.SYSTEMS][::-1]
    if number == 1:
        texts[0] = "edited on its way"
    answers = [f"grammaticality={g} sentiment={s} topic={t}" for g, s, t in ANSWERS]
    sources = [source(corpus, ending, number)] * 8
    return ["HIT", WORKER, f"{target}-{number}", target, *map("\t".join, (sources, texts, answers))]


@pytest.fixture
def loaded(tmp_path):
    """Three sources a direction and corpus, of which two were rated."""
    for name, directions in li2018.DIRECTIONS.items():
        references, human_ending = li2018.FILES[name]
        folder = tmp_path / "evaluation"
        for end in directions:
            texts = [source(name, end, n) for n in range(3)]
            human = [f"{text}\t{output(name, end, n, 'Human')}" for n, text in enumerate(texts)]
            # As on Amazon, references come in another order.
            write(tmp_path / "data" / references / f"reference.{end}", human[::-1])
            for system, ending in li2018.SYSTEMS.items():
                stem = folder / "outputs" / name / f"sentiment.test.{end}"
                lines = [f"{t}\t{output(name, end, n, system)}\t{end}" for n, t in enumerate(texts)]
                gap = (name, system) == ("amazon", "DeleteOnly")
                if system == "Human":
                    ending, lines = human_ending, human
                write(stem.with_name(f"{stem.name}.{ending}"), lines[: len(lines) - gap])
        path = folder / "human_ratings" / f"ratings-{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = [form(name, end, n) for n in (0, 1) for end in directions]
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([HEADER, *rows])
    return li2018.load(tmp_path)


def test_every_output_is_an_item_and_so_is_every_edited_text(loaded):
    items = loaded.items
    # 8 systems x 6 sources, two gaps on Amazon, and two edited texts in each corpus
    corpora = loaded.label("corpus").value_counts()
    assert corpora.to_dict() == {"yelp": 50, "captions": 50, "amazon": 48}
    assert (items["system"] == "").sum() == 6
    assert items.loc[items["is_reference"], "system"].unique().tolist() == ["Human"]
    columns = ["source_id", "system", "style", "direction", "source", "output", "references"]
    assert items.set_index("item_id").loc["yelp-pos2neg-2-DeleteOnly", columns].tolist() == [
        *("yelp-pos2neg-2", "DeleteOnly", "negative", "pos2neg", "yelp source 1 2 ."),
        *("yelp 1 DeleteOnly on 2 .", ["yelp 1 Human on 2 . "]),
    ]


def test_a_rating_finds_its_system_by_its_text(loaded):
    # The last text of the form is the first system's, in the direction of the worker's target.
    means = loaded.means.loc["captions-factual2humorous-1-StyleEmbedding"]
    assert means[["fluency", "style", "content"]].tolist() == list(ANSWERS[7])
    assert loaded.means.loc["captions-factual2humorous-2-StyleEmbedding"].isna().all()


def test_texts_of_several_systems_get_one_rating_each_in_the_stated_order(loaded):
    three = [f"yelp-neg2pos-0-{s}" for s in ("MultiDecoder", "CrossAligned", "DeleteOnly")]
    # In the form they stand as DeleteOnly (2), CrossAligned (5), MultiDecoder (6).
    assert loaded.means.loc[three, "fluency"].tolist() == [ANSWERS[k][0] for k in (2, 5, 6)]
    assert loaded.label("ambiguous")[three].tolist() == ["3", "3", "3"]
    assert (loaded.label("ambiguous") == "3").sum() == 18
    assert set(loaded.ratings["rater"]) == {"r1"}


def test_an_edited_text_becomes_an_item_without_system(loaded):
    item = loaded.items.set_index("item_id").loc["amazon-pos2neg-1-rated-1"]
    columns = ["system", "output", "source_id", "is_reference"]
    assert item[columns].tolist() == ["", "edited on its way", "amazon-pos2neg-1", False]
    assert loaded.means.loc["amazon-pos2neg-1-rated-1", "fluency"] == ANSWERS[0][0]
    assert len(li2018.SUBSETS["amazon"](loaded).items) == 48
    assert len(li2018.SUBSETS["amazon-rated"](loaded).items) == 32
