"""Nine languages: the form on made-up files, the sums of the upstream report on the real ones."""

import pandas as pd
import pytest
from scipy.stats import zscore

from tests.data.raw import write_rows
from tests.helpers import needs
from tstmeta import data
from tstmeta.analysis.committed import read_frozen
from tstmeta.data import textdetox2024

HUMAN = "toxic_sentence neutral_sentence lang content_score toxic_pairwise_score neutral_fluency"
TEAMS = ("b team", "ann_other")  # no order of systems but that of the names
JUDGED = f"id {' '.join(HUMAN.split())} fluency_score"


@pytest.fixture
def root(tmp_path):
    """Two languages, two systems; one judge of a known version and one answer twice of another."""
    for team in TEAMS:
        for lang, file in (("en", "English"), ("hi", "Hindi")):
            rows = [(f"{lang} {n}", f"{team} {n}", lang, n, 0.5, 1) for n in (0, 1)]
            path = tmp_path / "textdetox2024" / textdetox2024.FILE / team / f"{file}.tsv"
            write_rows(path, HUMAN, rows, delimiter="\t")
            pairs = [(f"{lang} {n}", f"human {lang} {n}") for n in (0, 1)]
            texts = tmp_path / textdetox2024.REFERENCES[0] / "any/2024_with_answers"
            write_rows(texts / f"{file}_test.csv", "toxic_sentence neutral_sentence", pairs)
    rows = [(f"ann_other_{n}_hi", f"hi {n}", "", "hi", c, 0.5, 1, 0) for n, c in ((0, 1), (1, ""))]
    for stem in textdetox2024.JUDGES.values():
        write_rows(tmp_path / f"textdetox2024_judges/x/textdetoxeval/{stem}.csv", JUDGED, rows)
    twice = [("0", 1), ("0", 0.5), ("", 0)]
    rows = [("English", "s02", row, "qwen-plus", "zero", 1, cs, 0) for row, cs in twice]
    columns = "lang system row judge shot sta cs fs"
    write_rows(tmp_path / textdetox2024.UNKNOWN[0] / textdetox2024.UNKNOWN[1], columns, rows)
    return tmp_path / "textdetox2024"


def test_systems_are_numbered_by_name_and_every_source_has_its_human_rewrite(root):
    loaded = textdetox2024.load(root)
    columns = ["source_id", "output", "references", "system", "language"]
    row = loaded.items.set_index("item_id").loc["hi-2-s01", columns].tolist()
    assert row == ["hi-2", "ann_other 1", ["human hi 1"], "s01", "hi"]
    assert loaded.means.loc["hi-2-s01"].to_dict() == {"content": 1, "fluency": 1, "style": 0.5}
    assert not any(team in text for team in TEAMS for text in loaded.items["item_id"])
    assert textdetox2024.SUBSETS["hi"](loaded).items["language"].unique().tolist() == ["hi"]


def test_scores_of_judges_are_joined_and_two_answers_are_averaged(root):
    scores = textdetox2024.load(root).scores
    tuned = scores[scores["metric"] == "released:llama-3.1-8b-tuned"]
    assert set(tuned["item_id"]) == {"hi-1-s01", "hi-2-s01"}
    content = tuned[tuned["dimension"] == "content"].set_index("item_id")
    assert content["status"].to_dict() == {"hi-1-s01": "ok", "hi-2-s01": "invalid"}
    unknown = scores[scores["metric"] == "released:qwen-unknown-zero-shot"]
    assert set(unknown["item_id"]) == {"en-1-s02"}
    values = unknown.set_index("dimension")["value"].to_dict()
    assert values == {"content": 0.75, "style": 1, "fluency": 0}


@pytest.mark.parametrize("complete", [True, False])
def test_scores_of_translation_metrics_are_read_where_they_are(root, complete):
    columns = ["lang", "toxic_sentence", "neutral_sentence", *textdetox2024.METRICS]
    row = ["en", "en 0", "b team 0", *([0.25] * len(textdetox2024.METRICS))]
    file = root.parent / textdetox2024.TRANSLATION[0] / "x" / textdetox2024.TRANSLATION[1]
    pd.DataFrame([row], columns=columns).iloc[:, : None if complete else -1].to_csv(
        file, index=False
    )
    if complete:
        scores = textdetox2024.load(root).scores.query("metric == 'released:xcomet-lite'")
        assert scores[["item_id", "value"]].to_numpy().tolist() == [["en-1-s02", 0.25]]
    else:
        with pytest.warns(UserWarning, match="left out: no column CLS_OLD_REF"):
            textdetox2024.load(root)


def test_a_missing_folder_of_references_is_named(root):
    for file in root.parent.rglob("*_test.csv"):
        file.unlink()
    with pytest.raises(FileNotFoundError, match="textdetox2024_refs_llm/2024_with_answers"):
        textdetox2024.load(root)


#: Language, r of content and style, mean content, mean style.
REPORT = """
am -.185 .878 .773, ar -.131 .785 .881, zh -.083 .824 .776, en -.053 .832 .945, de -.105 .768 .853,
hi -.099 .738 .895, ru -.113 .652 .930, es .037 .741 .859, uk -.097 .625 .939
"""


@needs("textdetox2024")
@pytest.mark.parametrize("row", map(str.split, REPORT.split(",")), ids=lambda row: row[0])
def test_each_language_has_the_means_and_the_correlation_of_its_source(row):
    means = data.load(f"textdetox2024@{row[0]}").means
    found = [means["content"].corr(means["style"]), means["content"].mean(), means["style"].mean()]
    assert found == pytest.approx(list(map(float, row[1:])), abs=0.00051)


@needs("textdetox2024")
def test_what_chapter_20_says_of_three_judges_is_frozen_as_their_answers_give_it():
    loaded = data.load("textdetox2024@en")
    table = loaded.scores.query("dimension == 'content'").pivot_table("value", "item_id", "metric")
    table = table.filter(like="-unknown-").dropna()
    three, people = table.filter(like="-zero-"), loaded.means["content"][table.index]
    rho = three.apply(zscore).sub(zscore(people), axis=0).corr().to_numpy()
    keys = ["dataset", "dimension", "prompt"]
    row = read_frozen("judges").set_index(keys).loc[(loaded.name, "content", "zero")]
    assert row["rewrites"] == len(table)
    assert row["judges in effect"] == pytest.approx(9 / rho.sum())
    assert row["r of one, mean"] == pytest.approx(three.corrwith(people).mean())


@needs("textdetox2024")
def test_what_chapter_14_says_of_judges_of_two_languages_is_frozen_as_their_answers_give_it():
    r = read_frozen("judged_more").set_index(["dataset", "judge"])["r"]
    for language, judge in (("en", "OpenAI"), ("zh", "Qwen")):
        loaded, name = data.load(f"textdetox2024@{language}"), f"{judge.lower()}-unknown-zero-shot"
        scores = loaded.scores.query(f"dimension == 'content' and metric == 'released:{name}'")
        values = scores.groupby("item_id")["value"].mean()
        wanted = values.corr(loaded.means["content"][values.index])
        assert r[loaded.name, f"{judge}, unknown version"] == pytest.approx(wanted)
