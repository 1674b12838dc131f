"""What a backbone is worth: C and S by hand, shares of pairs."""

import math

import pytest
import torch

from tests.models.training.toy import OPTIONS, PROMPTS
from tstmeta.data import paths
from tstmeta.models.training.evaluate import likelihood_scores, read_rows, shares
from tstmeta.models.training.network import network
from tstmeta.models.training.tokenizer import train_tokenizer

ROWS = [
    {"source_id": "a", "source": "Ida ran.", "output": text, "style": "formal", **cell}
    for text, cell in [
        ("Ida has run.", {"shift": "strong", "error": "none"}),
        ("Ben has run.", {"shift": "strong", "error": "substitution"}),
        ("Ida did run.", {"shift": "light", "error": "none"}),
        ("Ben did run.", {"shift": "light", "error": "substitution"}),
    ]
]


def values(*content, style=(0, 0, 0, 0)):
    return [{"content": c, "style": s} for c, s in zip(content, style, strict=True)]


def test_scores_are_the_equations_of_the_paper():
    """Against a loop over tokens with the full softmax in float64."""
    tokenizer = train_tokenizer(PROMPTS, OPTIONS.vocabulary)
    model = network(OPTIONS, tokenizer, seed=2).eval()
    found = likelihood_scores(ROWS, model, tokenizer, PROMPTS[0])
    for row, got in zip(ROWS, found, strict=True):
        answer = tokenizer(row["output"], add_special_tokens=False)["input_ids"]
        table = []
        for user in PROMPTS[0].fill(row["source"], row["style"]):
            messages = [
                {"role": "system", "content": PROMPTS[0].system},
                {"role": "user", "content": user},
            ]
            ids = tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, return_dict=False
            )
            line = []
            for token in answer:
                logits = model(torch.tensor([ids])).logits[0, -1].detach().double()
                line.append(float(torch.softmax(logits, 0)[token]))
                ids = [*ids, token]
            table.append(line)
        columns = list(zip(*table, strict=True))
        content = sum(math.log(max(column)) for column in columns) / len(columns)
        style = sum(column[0] - max(column[1:]) for column in columns) / len(columns)
        assert got["content"] == pytest.approx(content, abs=1e-4)
        assert got["style"] == pytest.approx(style, abs=1e-5)


def test_shares_compare_the_cells_of_a_source():
    found = shares(ROWS, values(-1, -3, -2, -4, style=(0.5, 0, 0.1, 0)))
    assert found == {
        "light > light-error": 1.0,
        "strong > strong-error": 1.0,
        "strong > light-error": 1.0,
        "style: strong > light": 1.0,
    }
    other = shares(ROWS, values(-4, -3, -2, -1, style=(0, 0, 0.1, 0)))
    assert set(other.values()) == {0.0}


def test_ties_count_one_half():
    assert set(shares(ROWS, values(1, 1, 1, 1)).values()) == {0.5}


def test_a_metric_of_content_has_no_share_of_style():
    found = shares(ROWS, [{"content": 1.0}] * 4)
    assert list(found) == ["light > light-error", "strong > strong-error", "strong > light-error"]


def test_sources_without_a_cell_are_left_out():
    assert shares(ROWS[:2], [{"content": 2.0}, {"content": 1.0}]) == {"strong > strong-error": 1.0}


def test_both_shipped_sets_can_be_read():
    for folder in ("contrast", "world"):
        assert len(read_rows(paths.own(folder, f"{folder}.csv"))) == 960
