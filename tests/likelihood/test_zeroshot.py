"""The two metrics: values, signature, one pass for both, missing models, the warning."""

import math
from pathlib import Path

import numpy as np
import pytest

from tests import scored
from tests.likelihood import small
from tests.likelihood.test_scorer import Constant
from tstmeta import scoring
from tstmeta.likelihood import instructions
from tstmeta.likelihood.scorer import Rewrite, Scorer
from tstmeta.likelihood.zeroshot import Likelihood, LikelihoodStyle, Server
from tstmeta.metrics import Request
from tstmeta.models import hub
from tstmeta.models.causal import backbone
from tstmeta.schema import Status

ROWS = [
    {"source_id": "a", "source": "It was bad.", "output": "It was great.", "style": "positive"},
    {"source_id": "a", "source": "It was bad.", "output": "Great!", "style": "positive"},
    {"source_id": "b", "source": "It rained.", "output": "", "style": "formal"},
    {"source_id": "c", "source": "It rained.", "output": "Rain fell.", "style": ""},
    {"source_id": "d", "source": "So what", "output": "In the", "style": "layman"},
    {"source_id": "e", "source": "It was bad.", "output": "Great!", "style": "positive"},
]
DATA = scored.dataset(*ROWS)


def both(model):
    return [Likelihood(model=model), LikelihoodStyle(model=model)]


def run(data, wanted, store: Path):
    return scoring.score(data, wanted, store=store, progress=False)


def test_scores_are_those_of_the_scorer(tmp_path):
    table = run(DATA, both(small.engine()), tmp_path)
    scorer = Scorer(small.engine())
    file = scorer.judge([Rewrite(row["source"], row["output"], row["style"]) for row in ROWS])
    for name, value in (("likelihood", scorer.content), ("likelihood-style", scorer.style)):
        rows = table[table["metric"] == name]
        wanted = [value(scores) for scores in file]
        wanted[2] = -1.0 if name == "likelihood-style" else wanted[2]  # no style in a blank output
        np.testing.assert_allclose(rows["value"], wanted)
        assert rows["status"].tolist() == ["ok", "ok", "empty", "invalid", "ok", "ok"]
        assert rows["detail"].iloc[3] == "no target style; name it in the column style"
        assert set(rows["dimension"]) == {"style" if "style" in name else "content"}
    assert set(table["basis"]) == {"source"}


def test_style_after_content_needs_no_new_pass(tmp_path):
    counted = small.Counted(small.engine())
    content, style = both(counted)
    run(DATA, [content], tmp_path)
    distinct = {(row["source"], row["output"], row["style"]) for row in ROWS if row["style"]}
    assert len(set(counted.requests)) == 3 * len(distinct)
    counted.requests.clear()
    run(DATA, [style], tmp_path)
    assert counted.requests == []


@pytest.mark.parametrize(
    ("words", "expected", "detail"),
    [
        ("equation", (-200.0, Status.OK), ""),
        ("released", (math.nan, Status.INVALID), "a token's probability was rounded to 0"),
    ],
)
def test_a_probability_that_is_rounded_to_nothing_gives_no_value(words, expected, detail):
    metric = Likelihood(words, model=Constant(-200.0))
    [score] = metric.score([Request("abc", ("s",), "s", "formal")])
    assert (score.value, score.status) == pytest.approx(expected, nan_ok=True)
    assert score.detail == detail


def signature(words: str = "", **options) -> str:
    return str(Likelihood(words, **options).signature("source"))


def test_each_setting_that_changes_a_value_changes_the_signature(tmp_path):
    model, other = small.engine(), small.engine("qwen")
    file = tmp_path / "own.toml"
    file.write_text(
        '[paper]\nsystem=""\nstyle="{style}{source}"\nparaphrase="{source}"\nrepeat="{source}"'
    )
    assert signature(model=model) == signature("equation", model=model)
    changed = {signature(words, model=model) for words in ("", "released", "emphasis", str(file))}
    changed |= {signature(model=other), signature(model=small.engine(rounded=True))}
    words = ("", "8b", "released", "emphasis")
    facts = [(metric.profile, metric.languages) for metric in map(Likelihood, ("8b", ""))]
    assert facts == [("real", ()), ("embedded", ("en",))]
    assert len(changed | {signature(word) for word in words}) == 6 + len(words)


def test_the_signature_names_all_that_changes_a_value():
    model = backbone("3b")
    hashes = f"emphasis@{instructions.get('emphasis').hash}"
    dtype = hub.dtype_of(model)
    assert signature("3b+emphasis").startswith(
        f"likelihood|basis:source|model:{model.where}@{model.revision} {dtype} sdpa|"
        f"variant:equation|instructions:{hashes}|styles:01dec357|date:26 Jul 2024|transformers:"
    )
    assert " rounded|" in signature("8b+released") == signature("released+8b")


def test_a_model_that_is_not_here_gives_rows_with_the_remedy_and_others_go_on(tmp_path):
    (tmp_path / "empty").mkdir()
    table = run(DATA, [Likelihood(str(tmp_path / "empty")), "constant"], tmp_path / "store")
    failed = table[table["metric"].str.startswith("likelihood")]
    assert set(failed["status"]) == {"error"}
    assert failed["detail"].str.contains("Remedy: the folder needs config.json").all()
    assert set(table.loc[table["metric"] == "constant", "status"]) == {"ok"}


SERVERS = {
    "named by its tokenizer": ("8b+http://h/v1", "meta-llama/Llama-3.1-8B-Instruct", "8b"),
    "named there": ("http://h/v1#owner/name", "owner/name", "owner/name"),
    "with a name of its own": ("3b+http://h/v1#served", "served", "3b"),
}


@pytest.mark.parametrize(("words", "model", "tokenizer"), SERVERS.values(), ids=SERVERS)
def test_a_server_and_its_model(words, model, tokenizer):
    metric = Likelihood(words)
    assert metric.model == Server("http://h/v1", model, backbone(tokenizer))
    assert (metric.profile, metric.languages) == ("real", ())


def test_a_server_s_model_is_known_by_its_name_and_its_tokenizer(tmp_path):
    identities = []
    for kind in ("llama", "qwen"):
        folder = small.saved(tmp_path / kind / "tiny", kind)
        metric = Likelihood(f"{folder}+http://localhost:1/v1#served")
        server = metric.scorer().model.model
        assert (server.url, server.model) == ("http://localhost:1/v1", "served")
        assert server.identity == metric.model.identity
        assert server.identity.startswith("served|server|tokenizer tiny@")
        identities.append(server.identity)
    assert len(set(identities)) == 2
