"""Games: what they say, who stands for honest work, and how metrics are held against them."""

import math

import pandas as pd
import pytest

from tests.report.tiny import constructed, rated, scores
from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, ratings_table
from tstmeta.report import games
from tstmeta.report.bench import Bench
from tstmeta.schema import TstmetaError

SOURCE = "we ate hot soup today"


def two(target: str = "formal", **ratings) -> Dataset:
    """Two sources with two systems."""
    items = items_table(
        "two",
        item_id=list("abcd"),
        source_id=["s1", "s1", "s2", "s2"],
        system=["A", "B", "A", "B"],
        style=target,
        source=[SOURCE] * 2 + ["he ran home fast"] * 2,
        output=["we had some hot soup", "soup", "he went home fast", "he"],
        references=[[], ["today we ate soup"], [], []],
    )
    card = Card("two", "two", {"scale": {"content": [1, 5], "style": [1, 5]}})
    columns = {(name, "r1"): values for name, values in ratings.items()}
    table = ratings_table("two", list("abcd"), columns) if columns else None
    return Dataset.of("two", items, card, ratings=table)


def outputs(dataset: Dataset, source: str = "s1") -> dict[str, str]:
    items = dataset.items[dataset.items["source_id"] == source]
    return dict(zip(items["system"], items["output"], strict=True))


# --------------------------------------------------------------------------------- the games


def test_each_game_says_what_its_name_says():
    played = outputs(games.play(two(), seed=1))
    shuffled = played.pop("shuffled")
    assert sorted(shuffled.split()) == sorted(SOURCE.split())
    assert shuffled != SOURCE
    assert played == {
        "copy": SOURCE,
        "style word": f"Furthermore, {SOURCE}",
        "first half": "we ate hot",
        "twice": f"{SOURCE} {SOURCE}",
        "set phrase": games.STYLE_WORDS["formal"].sentence,
        "empty": "",
    }


#: source, what the first half, the shuffled source and its double are
ODD = {
    "one word": ("Go", "Go", "Go", "Go Go"),
    "nothing": ("", "", "", " "),
    "white space": ("  ", "", "", "     "),
}


@pytest.mark.parametrize(("source", "half", "shuffled", "twice"), ODD.values(), ids=ODD)
def test_odd_sources_can_be_played_too(source, half, shuffled, twice):
    items = items_table(
        "odd", item_id=["a"], source_id=["s"], system=["A"], source=source, output="x"
    )
    played = outputs(games.play(Dataset.of("odd", items)), "s")
    assert played["first half"] == half
    assert played["shuffled"] == shuffled
    assert played["twice"] == twice


def test_games_are_items_of_every_source_with_its_style_and_references():
    played = games.play(two("polite"), ("copy", "empty"))
    items = played.items
    assert items["item_id"].tolist() == [
        "s1-game-copy",
        "s2-game-copy",
        "s1-game-empty",
        "s2-game-empty",
    ]
    assert items["style"].unique().tolist() == ["polite"]
    assert items["references"].tolist() == [["today we ate soup"], []] * 2
    assert not items["is_reference"].any()
    assert played.ratings.empty


def test_shuffles_come_from_the_seed():
    first, again, other = (games.play(two(), ("shuffled",), seed) for seed in (1, 1, 4))
    assert first.items["output"].tolist() == again.items["output"].tolist()
    assert first.items["output"].tolist() != other.items["output"].tolist()


def test_every_target_style_of_our_set_has_words_and_others_get_some():
    styles = set(Bench().dataset("contrast").items["style"])
    assert styles <= set(games.STYLE_WORDS)
    assert games.words_of("baroque") == games.ANY_STYLE
    assert all(words.marker and words.sentence for words in games.STYLE_WORDS.values())


def test_an_unknown_game_is_refused():
    with pytest.raises(TstmetaError, match="unknown game chess; known: copy"):
        games.play(two(), ["copy", "chess"])


# -------------------------------------------------------------------------------- honest work

#: content, style, the system that is best
HONEST = {
    "the best in content alone": ([5, 4, 5, 4], None, "A"),
    "a copy loses by its style": ([5, 4, 5, 4], [1, 4, 1, 4], "B"),
    "both count alike": ([5, 3, 5, 3], [3, 4, 3, 4], "A"),
    "an item without a rating does not count": ([5, 4, math.nan, 4], [5, 4, 1, 4], "A"),
}


@pytest.mark.parametrize(("content", "style", "best"), HONEST.values(), ids=HONEST)
def test_the_honest_system_keeps_the_content_and_shifts_the_style(content, style, best):
    given = {"content": content} | ({"style": style} if style else {})
    assert games.honest_system(two(**given)) == best


def test_a_system_that_rewrote_few_sources_does_not_stand_for_honest_work():
    data = two(content=[3, 4, 3, 5], style=[3, 4, 3, 5])
    third = data.items.assign(source_id=["s1", "s2", "s3", "s4"], system=["A", "A", "A", "B"])
    few = Dataset.of("two", third, data.card, ratings=data.ratings)
    assert games.honest_system(few) == "A"


def test_by_construction_the_honest_rewrites_are_known():
    assert games.honest_system(constructed()) == "strong"


NAN = math.nan
NOBODY = {
    "no ratings": two(),
    "no system": two(content=[1, 2, 3, 4]),
    "no item with both": two(content=[1, 2, NAN, NAN], style=[NAN, NAN, 1, 2]),
}


@pytest.mark.parametrize("name", NOBODY)
def test_without_ratings_or_systems_nobody_stands_for_honest_work(name):
    data = NOBODY[name]
    items = data.items.assign(system="") if name == "no system" else data.items
    with pytest.raises(TstmetaError, match="no rated system can stand for honest rewrites"):
        games.honest_system(Dataset.of("two", items, ratings=data.ratings))


# ---------------------------------------------------------------------------------- the table


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(store=tmp_path)


def test_copying_beats_honest_work_for_metrics_of_likeness(bench):
    metrics = ["edit-similarity", "ter", "pinc", "output-only", "constant"]
    found = games.table_of_games(bench, two(), metrics, honest="A", draws=30)
    wins = found.pivot_table(index="metric", columns="game", values="wins", sort=False)
    for metric in ("edit-similarity", "ter", "pinc"):  # the last two: less is better
        assert wins["copy"][metric] == 1
        assert wins["empty"][metric] == 0
    assert wins.loc["constant"].tolist() == [0.5] * len(games.GAMES)
    assert wins["twice"]["output-only"] == 1
    assert wins["copy"]["output-only"] == 0.5  # as long as the honest one, both times
    better = found.drop_duplicates("metric").set_index("metric")["better"]
    assert better.to_dict() == {
        "edit-similarity": "higher",
        "ter": "lower",
        "pinc": "lower",
        "output-only": "higher",
        "constant": "higher",
    }


def test_gaps_are_in_standard_deviations_of_honest_scores(bench):
    found = games.table_of_games(bench, two(), ["output-only"], honest="A", draws=30)
    by_game = found.set_index("game")
    # honest rewrites have 5 and 4 words: mean 4.5, standard deviation 0.5
    assert by_game["gap"]["empty"] == pytest.approx(-9)
    assert by_game["gap"]["twice"] == pytest.approx((9 - 4.5) / 0.5)
    assert by_game["n"].tolist() == [2] * len(games.GAMES)
    assert set(by_game["honest"]) == {"A"}


def test_a_gap_needs_honest_scores_that_vary(bench):
    found = games.table_of_games(bench, two(), ["constant"], honest="A", draws=30)
    assert found["gap"].isna().all()
    assert found["gap_low"].isna().all()


def test_references_serve_as_basis_where_there_are_any(bench):
    found = games.table_of_games(
        bench, two(), ["edit-similarity"], ["reference"], honest="B", draws=30
    )
    assert set(found["basis"]) == {"reference"}
    assert found["n"].tolist() == [1] * len(games.GAMES)  # of two sources one has a reference


def test_metrics_of_whole_outputs_are_left_out(bench):
    found = games.table_of_games(
        bench, two(), ["corpus-bleu", "output-only"], None, honest="A", draws=5
    )
    assert set(found["metric"]) == {"output-only"}


def test_the_same_seed_gives_the_same_table(bench):
    first, again = (
        games.table_of_games(bench, two(), ["random"], honest="A", draws=30, seed=5)
        for _ in range(2)
    )
    pd.testing.assert_frame_equal(first, again)


def test_some_games_may_be_chosen(bench):
    found = games.table_of_games(
        bench, constructed(), ["copy-rate"], games=("copy", "empty"), draws=5
    )
    assert found["game"].unique().tolist() == ["copy", "empty"]
    assert set(found["honest"]) == {"strong"}


def test_systems_that_are_not_there_or_called_like_a_game_are_refused(bench):
    with pytest.raises(TstmetaError, match="no system is called 'Z'; known: A, B"):
        games.table_of_games(bench, two(), ["constant"], honest="Z")
    called = two().items.assign(system=["copy", "B"] * 2)
    with pytest.raises(TstmetaError, match="'copy' is a system and a game"):
        games.table_of_games(bench, Dataset.of("two", called), ["constant"], honest="copy", draws=5)


def test_the_input_is_not_changed(bench):
    data = rated()
    before = data.items.copy()
    games.table_of_games(bench, data, ["constant"], draws=5)
    pd.testing.assert_frame_equal(data.items, before)
    assert scores(data, range(6)).shape[0] == 6
