"""Requests as trees: what every layout must keep, whatever the requests."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.models import forest
from tstmeta.models.causal import Continuation

# few different tokens: prefixes are shared by chance
TOKENS = st.lists(st.integers(0, 3), min_size=1, max_size=7).map(tuple)
CONTEXTS = st.lists(st.integers(0, 2), min_size=1, max_size=7).map(tuple)
REQUESTS = st.lists(st.builds(Continuation, CONTEXTS, TOKENS), max_size=30)
OPTIONS = st.fixed_dictionaries(
    {
        "reuse": st.booleans(),
        "row_tokens": st.integers(1, 60),
        "split_tokens": st.integers(1, 40),
        "shared_by": st.integers(2, 5),
    }
)


def path(plan, row, node):
    """The tokens from the root down to a node, the node's own the last, and their depths."""
    tokens, depths = [], []
    while node >= 0:
        trie, at = (
            (plan.trunk, node) if node < row.trie.offset else (row.trie, node - row.trie.offset)
        )
        tokens.append(trie.tokens[at])
        depths.append(trie.depths[at])
        node = trie.parents[at]
    return tokens[::-1], depths[::-1]


def seen(plan, row, node):
    """What a node attends to by the mask: tokens of the trunk and of the row, by their depth."""
    trunk = plan.trunk.sees()
    if node < row.trie.offset:
        line, tokens, depths = trunk[node], plan.trunk.tokens, plan.trunk.depths
    else:
        line = row.trie.sees(trunk)[node - row.trie.offset]
        tokens = plan.trunk.tokens + row.trie.tokens
        depths = plan.trunk.depths + row.trie.depths
    places = np.flatnonzero(line)
    return sorted((depths[place], tokens[place]) for place in places)


@given(REQUESTS, OPTIONS)
def test_every_token_is_foreseen_by_what_came_before_it_and_by_nothing_else(requests, options):
    plan = forest.plan(requests, **options)
    answered = []
    for row in plan.rows:
        for place, nodes in row.members:
            answered.append(place)
            context, tokens = requests[place]
            assert len(nodes) == len(tokens)
            for i, node in enumerate(nodes):
                before = [*context, *tokens[:i]]
                assert path(plan, row, node) == (before, list(range(len(before))))
                assert seen(plan, row, node) == list(enumerate(before))
    assert sorted(answered) == list(range(len(requests)))


@given(REQUESTS, OPTIONS)
def test_rows_are_within_their_limits_unless_one_request_is_longer(requests, options):
    plan = forest.plan(requests, **{**options, "reuse": True})
    assert [row.size for row in plan.rows] == sorted((row.size for row in plan.rows), reverse=True)
    for row in plan.rows:
        if len({requests[place].context for place, _ in row.members}) > 1:
            assert row.size <= options["row_tokens"]
        elif len(row.members) > 1:
            # one context in pieces: as many requests as the limit on pieces or on rows allows
            assert row.size <= max(options["split_tokens"], options["row_tokens"])


@given(st.lists(st.integers(0, 50), max_size=20), st.integers(1, 200))
def test_batches_are_all_rows_longest_first_and_within_the_budget_unless_a_single_row(rows, budget):
    batches = list(forest.batches(rows, budget))
    places = [place for batch in batches for place in batch]
    assert sorted(places) == list(range(len(rows)))
    assert [rows[place] for place in places] == sorted(rows, reverse=True)
    for batch, after in zip(batches, [*batches[1:], []], strict=False):
        longest = max(1, *(rows[place] for place in batch))
        assert len(batch) * longest <= budget or len(batch) == 1
        assert not after or (len(batch) + 1) * longest > budget
