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
OPTIONS = st.fixed_dictionaries({"reuse": st.booleans(), "row_tokens": st.integers(1, 60)})


@given(REQUESTS, OPTIONS)
def test_every_token_is_foreseen_by_what_came_before_it_and_by_nothing_else(requests, options):
    answered = []
    for row in forest.plan(requests, **options):
        sees = row.sees()
        for place, nodes in row.members:
            answered.append(place)
            context, tokens = requests[place]
            assert len(nodes) == len(tokens)
            for i, node in enumerate(nodes):
                seen = np.flatnonzero(sees[node])
                known = sorted((row.depths[at], row.tokens[at]) for at in seen)
                assert known == list(enumerate([*context, *tokens[:i]]))
    assert sorted(answered) == list(range(len(requests)))


@given(REQUESTS, OPTIONS)
def test_a_row_has_nothing_twice_and_is_within_its_limit_unless_one_request_is_longer(
    requests, options
):
    rows = forest.plan(requests, **options)
    assert [row.size for row in rows] == sorted((row.size for row in rows), reverse=True)
    for row in rows:
        assert row.size <= options["row_tokens"] or len(row.members) == 1 or not options["reuse"]
        paths = [(*requests[place].context, *requests[place].tokens) for place, _ in row.members]
        assert row.size == len({path[: n + 1] for path in paths for n in range(len(path) - 1)})


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
