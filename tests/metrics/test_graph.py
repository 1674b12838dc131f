"""Smatch by hand, by brute force over all mappings, and by the library called in the usual way."""

import random
from itertools import permutations

import pytest
import smatch
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing import CAT, DOG, OLD, drawn, sentence, tree, write
from tstmeta.metrics import graph
from tstmeta.metrics.base import Request
from tstmeta.metrics.graph import SmatchAmr, SmatchDep, matched, optimum, tree_graph
from tstmeta.models.treebank import Graph
from tstmeta.schema import Status, TstmetaError

AMR = """# ::snt The boy wants to go.
(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))

# ::snt The boy wants the football.
(w / want-01 :ARG0 (b / boy) :ARG1 (f / football))

# ::snt Nothing alike.
(z / zebra)
"""
GO, BALL = "The boy wants to go.", "The boy wants the football."


def item(output, *against):
    return (Request(output, against, against[0]),)


def scored(metric, *units):
    return [score for unit in metric.score(list(units)) for score in unit]


def brute(one, other):
    """The most triples that agree over all one-to-one mappings of nodes; None maps to nothing."""
    targets = [*range(len(other.labels)), *[None] * len(one.labels)]
    best = 0
    for to in set(permutations(targets, len(one.labels))):
        both = sum(
            place is not None and label == other.labels[place]
            for label, place in zip(one.labels, to, strict=True)
        )
        rest = list(other.attributes)
        for name, node, value in one.attributes:
            if (name, to[node], value) in rest:
                rest.remove((name, to[node], value))
                both += 1
        rest = list(other.relations)
        for name, a, b in one.relations:
            if (name, to[a], to[b]) in rest:
                rest.remove((name, to[a], to[b]))
                both += 1
        best = max(best, both)
    return best


@pytest.fixture
def amr(tmp_path):
    path = tmp_path / "parsed.amr"
    path.write_text(AMR, encoding="utf-8")
    return str(path)


@pytest.fixture
def conllu(tmp_path):
    return write(tmp_path / "a.conllu", sentence(CAT), sentence(DOG), sentence(OLD))


# ------------------------------------------------------------------------------------- search


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3))
def test_no_more_triples_agree_than_under_the_best_of_all_mappings(seed, size, other_size):
    one, other = (tree_graph(drawn(seed + place, n)) for place, n in ((0, size), (1, other_size)))
    assert matched(one, other) <= brute(one, other)


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
def test_the_integer_program_finds_the_best_of_all_mappings(seed, size, other_size):
    one, other = (tree_graph(drawn(seed + place, n)) for place, n in ((0, size), (1, other_size)))
    assert optimum(one, other) == optimum(other, one) == brute(one, other)


def test_the_search_misses_some_of_what_the_program_finds_and_never_finds_more():
    pairs = [[tree_graph(drawn(2 * seed + place, 12)) for place in (0, 1)] for seed in range(12)]
    found = [(matched(*pair), optimum(*pair)) for pair in pairs]
    assert all(searched <= best for searched, best in found)
    assert any(searched < best for searched, best in found)


def test_the_program_compares_as_the_library_does():
    one = Graph(("Go_", "I"), (("TOP", 0, "top"),), (("ARG0", 0, 1),))
    other = Graph(("i", "go"), (("top", 1, "TOP"),), (("arg0", 1, 0),))
    assert optimum(one, other) == matched(one, other) == one.triples
    assert optimum(Graph(("a",)), Graph(("b",))) == 0


def test_a_program_that_is_not_solved_in_time_is_an_error(conllu, monkeypatch):
    monkeypatch.setattr(graph, "PATIENCE", 0)
    pair = item("the old cat sees a dog", "the cat sees a dog")
    [found] = scored(SmatchDep(f"exact+{conllu}"), pair)
    assert (found.status, found.detail) == (
        Status.ERROR,
        "no best mapping in 0 seconds: leave out the word exact",
    )


def test_on_tiny_graphs_the_search_finds_the_best_mapping_nearly_always():
    pairs = [[tree_graph(drawn(2 * seed + place, 3)) for place in (0, 1)] for seed in range(60)]
    found = [matched(*pair) == brute(*pair) for pair in pairs]
    assert sum(found) >= 58


def test_a_seed_gives_the_same_number_whatever_was_drawn_before():
    pairs = [[tree_graph(drawn(2 * seed + place, 14)) for place in (0, 1)] for seed in range(8)]
    forward = [matched(*pair, seed=3) for pair in pairs]
    random.seed(5)
    backward = [matched(*pair, seed=3) for pair in reversed(pairs)]
    assert forward == backward[::-1]


def test_some_seeds_find_more_than_others():
    pairs = [[tree_graph(drawn(2 * seed + place, 14)) for place in (0, 1)] for seed in range(8)]
    seeds = [tuple(matched(*pair, seed=seed, restarts=1) for pair in pairs) for seed in range(6)]
    assert len(set(seeds)) > 1


def test_the_library_is_left_as_it_was_and_so_are_the_random_numbers_of_the_process():
    before = smatch.random, smatch.iteration_num
    state = random.getstate()
    matched(tree_graph(tree(CAT)), tree_graph(tree(OLD)))
    assert (smatch.random, smatch.iteration_num) == before
    assert random.getstate() == state
    assert not smatch.match_triple_dict


def test_the_number_of_starts_is_the_librarys_own():
    assert smatch.iteration_num == graph.RESTARTS + 1


def test_equal_graphs_agree_in_all_triples_however_alike_their_nodes():
    alike = Graph(("a",) * 12, (), tuple(("r", node, node + 1) for node in range(11)))
    assert matched(alike, alike) == alike.triples == 23


# ---------------------------------------------------------------------------------- meaning


@pytest.mark.parametrize(
    ("words", "value"),
    [  # 3 + 1 + 3 triples against 3 + 1 + 2; two labels, TOP and two relations agree
        ("", 2 * 5 / (7 + 6)),
        ("p+", 5 / 6),
        ("r+", 5 / 7),
    ],
)
def test_smatch_of_meaning_graphs_by_hand(amr, words, value):
    metric = SmatchAmr(f"{words}{amr}")
    assert metric.missing == ""
    [found] = scored(metric, item(BALL, GO))
    assert found.value == pytest.approx(value)


def test_smatch_is_what_the_library_says_of_the_same_graphs(amr):
    [ours] = scored(SmatchAmr(amr), item(BALL, GO))
    one, other = (block.split("\n", 1)[1] for block in AMR.split("\n\n")[:2])
    smatch.match_triple_dict.clear()
    counts = smatch.get_amr_match(other, one)
    smatch.match_triple_dict.clear()
    assert ours.value == pytest.approx(smatch.compute_f(*counts)[2])


def test_a_copy_has_1_and_a_graph_with_nothing_alike_has_its_root_in_common(amr):
    found = scored(SmatchAmr(amr), item(GO, GO), item("Nothing alike.", GO))
    assert [one.value for one in found] == pytest.approx([1, 2 * 1 / (2 + 7)])


# --------------------------------------------------------------------------------- dependency


def test_a_tree_has_two_triples_a_word():
    found = tree_graph(tree("I/2/nsubj Go/0/root You/4/nsubj go/0/root"))
    assert found == Graph(
        ("i", "go", "you", "go"),
        (("TOP", 1, "top"), ("TOP", 3, "top")),
        (("nsubj", 1, 0), ("nsubj", 3, 2)),
    )
    assert found.triples == 8


def test_smatch_of_dependency_trees_by_hand(conllu):
    texts = ["the cat sees a dog", "the dog sees a cat", "the old cat sees a dog"]
    found = scored(SmatchDep(conllu), *[item(text, texts[0]) for text in texts])
    # cat and dog change places: their labels, or their relations and what hangs on them;
    # "old" adds a label and a relation
    assert [one.value for one in found] == pytest.approx([1, 8 / 10, 2 * 10 / (10 + 12)])
    [recall] = scored(SmatchDep(f"r+{conllu}"), item(texts[2], texts[0]))
    assert recall.value == 1
    exact = scored(SmatchDep(f"exact+{conllu}"), *[item(text, texts[0]) for text in texts])
    assert exact == found


def test_parts_of_speech_see_no_difference_where_the_sentence_is_built_alike(tmp_path):
    one = "a/2/det/a/DET cat/0/root/cat/NOUN"
    other = "the/2/det/the/DET dogs/0/root/dog/NOUN"
    path = write(tmp_path / "a.conllu", sentence(one), sentence(other))
    pair = item("the dogs", "a cat")
    [form], [upos] = (scored(SmatchDep(f"{words}{path}"), pair) for words in ("", "upos+"))
    assert (form.value, upos.value) == (0.5, 1)


def test_lemmas_that_the_parser_did_not_give_are_an_error_not_a_match(conllu):
    [found] = scored(SmatchDep(f"lemma+{conllu}"), item("the cat sees a dog", "the dog sees a cat"))
    assert found.status is Status.ERROR
    assert "no lemma of 'the': use the variant form" in found.detail


def test_a_text_without_a_parse_costs_only_itself(conllu):
    text = "the cat sees a dog"
    found = scored(SmatchDep(conllu), item("unheard of", text), item(text, text), item(" ", text))
    assert [one.status for one in found] == [Status.ERROR, Status.OK, Status.EMPTY]
    assert "no parse of 'unheard of'" in found[0].detail
    assert found[2].value == 0


def test_of_a_long_text_the_first_nodes_are_used_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(graph, "MAX_NODES", 4)
    path = write(tmp_path / "a.conllu", sentence(CAT), sentence(OLD))
    [found] = scored(SmatchDep(path), item("the old cat sees a dog", "the cat sees a dog"))
    assert (found.status, found.detail) == (Status.TRUNCATED, "6 nodes, first 4 used")
    # the/cat/sees/a of seven triples against the/old/cat/sees of eight: all but a and old, amod
    assert found.value == pytest.approx(2 * 6 / (7 + 8))


def test_of_several_references_the_best_counts(conllu):
    texts = ("the dog sees a cat", "the old cat sees a dog")
    [found] = scored(SmatchDep(conllu), item("the cat sees a dog", *texts))
    assert found.value == pytest.approx(2 * 10 / (10 + 12))


# -------------------------------------------------------------------------------------- words


@pytest.mark.parametrize("make", [SmatchAmr, SmatchDep])
def test_without_a_file_each_score_says_what_to_do(make):
    metric = make()
    assert "needs parses and no parser comes with us" in metric.missing
    assert f"{metric.name}:/path/" in metric.missing
    [found] = scored(metric, item("a", "b"))
    assert (found.status, found.detail) == (Status.ERROR, metric.missing)
    assert "parses:none" in str(metric.signature("source"))


def test_a_file_with_a_fault_is_told_with_its_line_by_each_score(tmp_path):
    path = tmp_path / "broken.conllu"
    path.write_text("1\ta\n")
    [found] = scored(SmatchDep(str(path)), item("a", "b"))
    assert "broken.conllu, line 1: 2 columns" in found.detail


def test_the_signature_names_what_changes_a_value_and_no_path(conllu, amr):
    signature = str(SmatchDep(f"upos+p+seed=7+{conllu}").signature("source"))
    for part in (
        "basis:source",
        "measure:p",
        "label:upos",
        "seed:7",
        "restarts:",
        "parses:conllu@",
    ):
        assert part in signature
    assert conllu not in signature
    exact = str(SmatchDep(f"exact+{conllu}").signature("source"))
    assert "search:exact" in exact
    assert "scipy:" in exact
    assert "seed" not in exact
    assert "parses:amr@" in str(SmatchAmr(amr).signature("reference"))
    assert SmatchDep(conllu).name == f"smatch-dep:{conllu}"


def test_words_that_contradict_each_other_are_refused(conllu):
    with pytest.raises(TstmetaError, match="two words of the kind measure"):
        SmatchDep(f"p+r+{conllu}")
    with pytest.raises(TstmetaError, match="names 2 files where smatch-dep takes 1"):
        SmatchDep(f"precision+{conllu}")
    with pytest.raises(TstmetaError, match=r"what is no file is one of f1, p, r, climb, exact$"):
        SmatchAmr("lemma+a.amr")
