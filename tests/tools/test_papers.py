"""Where we differ from the papers: every cell under one reason, and each card and prompt named."""

from __future__ import annotations

import pandas as pd

from tools import pages, papers
from tstmeta.data import Card, paths
from tstmeta.judge import prompts
from tstmeta.ledger import reproduce
from tstmeta.likelihood import instructions


def is_whole(rows: pd.DataFrame) -> None:
    """Every cell that does not match stands under one reason of its paper, and is counted there."""
    context = papers.departures(rows)
    text = pages.render("departures", context)
    for paper in context["papers"]:
        given = [(cell, row["status"]) for row in paper["reasons"] for cell in row["cells"]]
        other = rows[(rows["paper"] == paper["key"]) & (rows["status"] != "match")]
        assert sorted(given) == sorted(zip(other["cell"], other["status"], strict=True))
        lines = text.partition(f"## {paper['title']}")[2].partition("\n## ")[0].splitlines()
        for row in paper["reasons"]:
            start = f"- **{row['status']}**, {len(row['cells'])} of {row['tables']}"
            shown = [line for line in lines if line.startswith(start)]
            assert row["reason"]
            assert [line.endswith(f": {row['reason']}.") for line in shown].count(True) == 1
    assert f" {context['matched']} match" in text


def test_every_prompt_of_ours_and_every_card_that_differs_is_named_with_a_reason():
    context = papers.departures(reproduce("pang2019", "1"))["papers"]
    ours = [prompt for prompt in map(prompts.load, prompts.names()) if prompt.cites]
    ours = [each for each in (*ours, *instructions.shipped().values()) if each.origin == "ours"]
    named = {name: about for paper in context for name, about in paper["words"].items()}
    assert named == {each.name: each.about for each in ours}
    assert all(len(about) > 20 for about in named.values())
    differs = {
        (path.name, paper): why
        for folder in ("metric_cards", "cards")
        for path in paths.own(folder).glob("*.md")
        for paper, why in Card.read(path.stem, path).facts.get("differs", {}).items()
    }
    shown = {
        (card["link"].partition("/")[2], paper["key"]): card["why"]
        for paper in context
        for card in paper["cards"]
    }
    assert shown == differs
    assert all(why[0].isupper() and why.endswith(".") for why in differs.values())
    assert {("bleu.md", "pauli2025"), ("overall-ours1.md", "mukherjee2025")} <= set(differs)
