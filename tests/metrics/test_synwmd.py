"""SynWMD: word flow by networkx, word distance by plain loops, least cost by linear programming."""

import math
from itertools import product

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics import item, scores, transport
from tests.models.style import needs_encoder
from tests.parsing import drawn, needs_spacy, sentence, tree, write
from tools import counts
from tstmeta.metrics.synwmd import UNKNOWN, WEIGHTS, SynWmd, read_weights, word_weights
from tstmeta.schema import Status

CAT = "the/2/det/the/DET cat/3/nsubj/cat/NOUN sees/0/root/see/VERB dogs/3/obj/dog/NOUN"
FOOD = "bad/2/amod/bad/ADJ cats/3/nsubj/cat/NOUN eat/0/root/eat/VERB food/3/obj/food/NOUN"
AND = "the/2/det/the/DET the/0/root/the/PRON"
NEW = "zzz/0/root/zzz/NOUN"
TEXTS = ["the cat sees dogs", "bad cats eat food", "the the", "zzz"]
VECTORS = {
    **{"cat": (1, 0, 0), "cats": (1, 0.2, 0), "sees": (0, 1, 0), "eat": (0, 1, 1)},
    **{"dogs": (1, 0, 1), "food": (0, 0.3, 1), "bad": (-1, 0.5, 0), "the": (0.1, 0.1, 0.1)},
}


@pytest.fixture
def files(tmp_path):
    """The words of a metric: parses and word vectors of ours."""
    parses = write(tmp_path / "a.conllu", *map(sentence, (CAT, FOOD, AND, NEW)))
    lines = [f"{word} {' '.join(map(str, numbers))}\n" for word, numbers in VECTORS.items()]
    (tmp_path / "v.txt").write_text("".join(lines))
    return f"{parses}+vectors={tmp_path / 'v.txt'}"


def weights_by_networkx(trees, hops=3, damping=0.2):
    graph = networkx.DiGraph()
    for words in trees:
        links = networkx.Graph()
        links.add_nodes_from(range(1, len(words) + 1))
        links.add_edges_from((place, word.head) for place, word in enumerate(words, 1) if word.head)
        for first, far in networkx.all_pairs_shortest_path_length(links, cutoff=hops):
            for other, steps in far.items():
                if steps:
                    pair = words[first - 1].form.lower(), words[other - 1].form.lower()
                    before = graph.get_edge_data(*pair, {"weight": 0})["weight"]
                    graph.add_edge(*pair, weight=before + 1 / steps)
    ranks = networkx.pagerank(graph, alpha=damping, tol=1e-14) if graph else {}
    return {form: 1 / rank for form, rank in ranks.items()}


def unit(vector):
    return np.asarray(vector, dtype=float) / np.linalg.norm(vector)


def below(words, place, levels):
    """A word and its dependents down to some levels, by their places counted from 1."""
    result = {place}
    for _ in range(levels):
        result |= {number for number, word in enumerate(words, 1) if word.head in result}
    return frozenset(result)


def side(words, weights):
    """Places with mass, their mass, and the direction of each subtree, as the paper has them."""
    kept = [n for n, word in enumerate(words, 1) if word.upos not in ("DET", "PRON")]
    kept = kept or list(range(1, len(words) + 1))
    mass = {n: weights[words[n - 1].form] for n in kept}
    spans = set()
    for place in range(1, len(words) + 1):
        levels = {below(words, place, levels) for levels in (1, 2, 3)}
        spans |= {(place, span) for span in levels if len(span) > 1 and span & mass.keys()}
    result = [
        (span, unit(sum(mass[n] * unit(VECTORS[words[n - 1].form]) for n in span & mass.keys())))
        for _, span in spans
    ]
    return {n: first / sum(mass.values()) for n, first in mass.items()}, result


def by_hand(first, other, weights):
    (mass, spans), (other_mass, other_spans) = side(first, weights), side(other, weights)
    costs = []
    for a, b in product(mass, other_mass):
        cost = 1 - unit(VECTORS[first[a - 1].form]) @ unit(VECTORS[other[b - 1].form])
        far = [1 - u @ v for s, u in spans for t, v in other_spans if a in s and b in t]
        costs.append(cost + (sum(far) / len(far) if far else 0))
    return transport(costs, [*mass.values()], [*other_mass.values()])


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_word_weights_are_one_over_the_page_rank_of_networkx(seed, size):
    trees = [drawn(seed + step, size, forms="abcdef") for step in range(3)]
    assert word_weights(trees) == pytest.approx(weights_by_networkx(trees), rel=1e-9)


@pytest.mark.parametrize("pair", [(0, 1), (0, 0), (1, 2), (2, 0)])
def test_the_distance_is_the_least_cost_of_a_linear_program(files, pair):
    trees = [tree(text) for text in (CAT, FOOD, AND)]
    weights = weights_by_networkx(trees)
    metric = SynWmd(files)
    assert metric.missing == ""
    [result] = scores(metric, item(TEXTS[pair[1]], TEXTS[pair[0]]))
    expected = by_hand(*(trees[each] for each in pair), weights)
    assert result.status is Status.OK
    assert result.value == pytest.approx(expected, abs=1e-7)


def test_texts_without_a_vector_or_a_parse_cost_only_themselves(files):
    pairs = [("zzz", TEXTS[0]), ("unheard of", TEXTS[0]), (" ", TEXTS[0]), (TEXTS[0], TEXTS[1])]
    result = scores(SynWmd(files), *[item(*pair) for pair in pairs])
    statuses = [Status.INVALID, Status.ERROR, Status.EMPTY, Status.OK]
    assert [score.status for score in result] == statuses
    assert result[0].detail == "a text has no word with a vector and a weight"
    assert all(math.isnan(score.value) for score in result[:2])


@needs_encoder
def test_the_embedded_encoders_vectors_are_taken_where_none_are_given(files):
    metric = SynWmd(files.partition("+")[0])
    result = scores(metric, item(TEXTS[0], TEXTS[0]), item(TEXTS[1], TEXTS[0]))
    assert result[0].value < result[1].value
    assert "input embeddings of all-minilm" in str(metric.signature("source"))


def test_words_of_a_single_text_share_their_median_weight():
    forest = [tree(text) for text in (CAT, FOOD, AND, CAT)]
    weights = weights_by_networkx(forest)
    shared = {form: weights[form] for form in ("the", "cat", "sees", "dogs")}
    rare = np.median([weights[form] for form in ("bad", "cats", "eat", "food")])
    assert counts.word_weights(forest) == pytest.approx({UNKNOWN: rare, **shared})


def test_the_shipped_weights_are_lower_for_frequent_words():
    weights = read_weights(WEIGHTS)
    assert weights["the"] < weights["dog"] < weights[UNKNOWN]
    assert min(weights.values()) > 1


@needs_spacy
def test_without_a_file_spacy_parses_and_shipped_weights_count(files):
    vectors = files.partition("+")[2]
    trees = [SynWmd(vectors).read().find(text) for text in TEXTS[:2]]
    weights = read_weights(WEIGHTS)
    metric = SynWmd(vectors)
    assert metric.missing == ""
    [result] = scores(metric, item(TEXTS[1], TEXTS[0]))
    assert result.value == pytest.approx(by_hand(*trees, weights), abs=1e-7)
    assert "graph:en_core_web_sm.txt.xz@" in str(metric.signature("source"))
