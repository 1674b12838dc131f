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
from tstmeta.likelihood.tokens import VARIANTS, Variant
from tstmeta.likelihood.zeroshot import Likelihood, LikelihoodStyle
from tstmeta.metrics import Request
from tstmeta.models.causal import backbone
from tstmeta.schema import DemonstrationWarning, Status

ROWS = [
    {"source_id": "a", "source": "It was bad.", "output": "It was great.", "style": "positive"},
    {"source_id": "a", "source": "It was bad.", "output": "Great!", "style": "positive"},
    {"source_id": "b", "source": "It rained.", "output": "", "style": "formal"},
    {"source_id": "c", "source": "It rained.", "output": "Rain fell.", "style": ""},
    {"source_id": "d", "source": "So what", "output": "In the", "style": "layman"},
    {"source_id": "e", "source": "It was bad.", "output": "Great!", "style": "positive"},
]
DATA = scored.dataset(*ROWS)


def both(model, **more):
    return [
        Likelihood(model=model, name="likelihood:m", **more),
        LikelihoodStyle(model=model, name="likelihood-style:m", **more),
    ]


def run(data, wanted, store: Path):
    return scoring.score(data, wanted, store=store, progress=False)


def test_scores_are_those_of_the_scorer(tmp_path):
    table = run(DATA, both(small.engine()), tmp_path)
    scorer = Scorer(small.engine())
    own = scorer.judge([Rewrite(row["source"], row["output"], row["style"]) for row in ROWS])
    for name, value in (("likelihood:m", scorer.content), ("likelihood-style:m", scorer.style)):
        rows = table[table["metric"] == name]
        np.testing.assert_allclose(rows["value"], [value(scores) for scores in own])
        assert rows["status"].tolist() == ["ok", "ok", "empty", "invalid", "ok", "ok"]
        assert set(rows["dimension"]) == {"style" if "style" in name else "content"}
    assert set(table["basis"]) == {"source"}


def test_style_after_content_and_other_columns_need_no_new_pass(tmp_path):
    counted = small.Counted(small.engine())
    content, style = both(counted)
    run(DATA, [content], tmp_path)
    distinct = {(row["source"], row["output"], row["style"]) for row in ROWS if row["style"]}
    assert len(set(counted.requests)) == 3 * len(distinct)
    counted.requests.clear()
    skipping = Likelihood(model=counted, variant=Variant("mine", "", skip_first=True))
    run(DATA, [style, skipping], tmp_path)
    assert counted.requests == []


@pytest.mark.parametrize(
    ("value", "variant", "expected", "detail"),
    [
        (-200.0, "equation", (-200.0, Status.OK), ""),
        (-200.0, "released", (math.nan, Status.INVALID), "a token's probability was rounded to 0"),
    ],
)
def test_a_probability_that_is_rounded_to_nothing_gives_no_value(value, variant, expected, detail):
    metric = Likelihood(model=Constant(value), variant=variant)
    [[score]] = metric.score([(Request("abc", ("s",), "s", "formal"),)])
    assert (score.value, score.status) == pytest.approx(expected, nan_ok=True)
    assert score.detail == detail


OWN = instructions.Instructions("paper", "", "{style} {source}", "{source}", "{source}")
MODEL = small.engine()
CHANGES = [
    {"model": small.engine("qwen")},
    {"model": small.engine(rounded=True)},
    {"variant": "released"},
    {"variant": Variant("equation", "", skip_first=True)},  # a name that is taken
    {"variant": Variant("equation", "", end_of_turn=True)},
    {"instructions": "emphasis"},
    {"instructions": OWN},
    {"wordings": {**instructions.wordings(), "layman": "simple"}},
    {"wordings": {}},
]


def signature(words: str = "", **options) -> str:
    return str(Likelihood(words, **{"model": MODEL, **options}).signature("source"))


def test_each_setting_that_changes_a_value_changes_the_signature():
    assert signature(name="likelihood:other", variant=VARIANTS["equation"]) == signature()
    changed = {signature(**options) for options in CHANGES}
    assert len({*changed, signature()}) == len(CHANGES) + 1
    words = ("", "float16", "8b", "released", "emphasis")
    assert len({signature(word, model=None) for word in words}) == len(words)


def test_the_signature_names_all_that_changes_a_value():
    model = backbone("3b")
    hashes = f"emphasis@{instructions.get('emphasis').hash}"
    assert signature("3b+emphasis+bfloat16", model=None).startswith(
        f"likelihood|basis:source|model:{model.where}@{model.revision} bfloat16 sdpa|"
        f"variant:equation|instructions:{hashes}|styles:01dec357|date:26 Jul 2024|transformers:"
    )
    assert signature("8b+released", model=None) == signature("released+8b", model=None)


def test_files_of_ones_own_are_read(tmp_path):
    (tmp_path / "i.toml").write_text(
        '[x]\nsystem=""\nstyle="{style}|{source}"\nparaphrase="{source}"\nrepeat="{source}!"\n'
    )
    (tmp_path / "w.csv").write_text("style,wording\nformal,very formal\n")
    metric = Likelihood(f"{tmp_path}/i.toml+{tmp_path}/w.csv", model=small.engine())
    requests = metric.scorer().requests("It is.", "formal")
    assert requests == ("very formal|It is.", "It is.", "It is.!")


def test_a_model_that_is_not_here_gives_rows_with_the_remedy_and_others_go_on(tmp_path):
    (tmp_path / "empty").mkdir()
    table = run(DATA, [Likelihood(str(tmp_path / "empty")), "constant"], tmp_path / "store")
    failed = table[table["metric"].str.startswith("likelihood")]
    assert set(failed["status"]) == {"error"}
    assert failed["detail"].str.contains("Remedy: the folder needs config.json").all()
    assert set(table.loc[table["metric"] == "constant", "status"]) == {"ok"}


@pytest.mark.parametrize("kind", [Likelihood, LikelihoodStyle])
@pytest.mark.parametrize("words", ["", "released"])
def test_the_embedded_model_scores_and_is_called_a_demonstration(kind, words):
    metric = kind(words)
    assert metric.profile == "embedded"
    with pytest.warns(DemonstrationWarning, match=r"reproduce nothing.*likelihood:3b"):
        [[score]] = metric.score([(Request("It was great.", ("x",), "It was bad.", "positive"),)])
    assert score.status is Status.OK
    assert score.value < 0 or kind is LikelihoodStyle
    assert -1 <= score.value <= 1 or kind is Likelihood
