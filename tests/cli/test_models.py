"""``tstmeta models`` as a user meets it; what a fetch does: tests/models/test_fetching.py."""

import json
import re

import pytest

from tests.command import refusal, table
from tstmeta.models import fetching, hub


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The user's cache folder, where SmolLM2 is and nothing else."""
    monkeypatch.setattr(fetching, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    fetching.folder("smollm2-135m").mkdir(parents=True)
    return tmp_path / "cache"


def test_models_are_listed_with_what_gets_those_that_are_absent(tstmeta, cache):
    rows = table(tstmeta("models --format csv")).set_index("name")
    assert [*rows.index] == [*fetching.catalogue(), "all-minilm-l6-v2"]
    assert rows.loc["smollm2-135m", ["MB", "licence", "here"]].tolist() == [98, "Apache 2.0", "yes"]
    assert rows.loc["mpnet", "here"] == "tstmeta models fetch mpnet"
    shown = json.loads(tstmeta("models --format json").stdout)
    assert [row["name"] for row in shown] == [*rows.index]
    lines = tstmeta("models").stdout.splitlines()
    assert len(lines) == len(rows) + 1
    assert "cosine bertscore" in lines[-1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "name a model: smollm2-135m, "),
        ("smollm3", "no model is called 'smollm3'; use smollm2-135m, "),
        ("gemma-3-270m", "read https://.*gemma/terms, then repeat .* --accept-terms"),
    ],
)
def test_a_fetch_of_nothing_known_says_what_can_be_fetched(tstmeta, cache, words, message):
    assert re.search(message, refusal(tstmeta(f"models fetch {words}")))


def test_models_are_fetched_one_after_the_other(tstmeta, monkeypatch):
    monkeypatch.setattr(fetching, "fetch", lambda name, accept: f"{name}/{accept}")
    shown = tstmeta("models fetch mpnet gemma-3-270m --accept-terms").stderr
    assert shown == "mpnet is in mpnet/True\ngemma-3-270m is in gemma-3-270m/True\n"


@pytest.mark.parametrize("metric", ["likelihood", "perplexity:gemma-3-270m", "cosine:mpnet"])
def test_scores_of_a_model_that_is_absent_name_the_command(tstmeta, tmp_path, monkeypatch, metric):
    monkeypatch.setattr(hub, "here", lambda model: False)
    (tmp_path / "styled.csv").write_text("source,output,style\na cat,a dog,formal\n")
    name = metric.partition(":")[2] or "smollm2-135m"
    result = tstmeta(f"score --data styled.csv --metric {metric}")
    assert table(result)["status"].tolist() == ["error"]
    assert f"{name} is not here: tstmeta models fetch {name}\n" in result.stderr
