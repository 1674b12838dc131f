"""The two metrics: values, signature, one pass for both, missing models, the warning."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests import scored
from tests.likelihood import small
from tests.likelihood.test_scorer import Constant
from tstmeta import metrics, scoring
from tstmeta.likelihood import instructions
from tstmeta.likelihood.scorer import Rewrite, Scorer
from tstmeta.likelihood.tokens import VARIANTS, Variant
from tstmeta.likelihood.zeroshot import Likelihood, LikelihoodStyle
from tstmeta.metrics import Request
from tstmeta.models.causal import Backbone, backbone
from tstmeta.models.engine import Engine
from tstmeta.schema import DemonstrationWarning, Status, TstmetaError

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


def test_tokens_are_kept_a_file_a_model_and_two_runs_write_the_same_bytes(tmp_path):
    def files(store: Path) -> dict[str, bytes]:
        run(DATA, both(small.engine()), store)
        run(DATA, both(small.engine("qwen")), store)
        assert not list(store.rglob("*.journal"))
        return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*.p*")}

    first = files(tmp_path / "one")
    assert len(list((tmp_path / "one" / "tokens").glob("*.parquet"))) == 2
    assert len(first) == 6
    assert files(tmp_path / "one") == files(tmp_path / "two") == first


class Mortal(small.Counted):
    """A backend that dies after its first answers."""

    def logprobs(self, requests, *, known=(), progress=False):
        for batch in super().logprobs(requests, known=known, progress=progress):
            yield batch
            raise KeyboardInterrupt


def test_a_run_that_dies_goes_on_where_it_stopped(tmp_path):
    words = small.tokenizer("llama")
    network = small.network("llama", len(words))
    engine = Engine(network, words, "tiny", budget=16, row_tokens=8)  # many batches
    whole = run(DATA, both(engine), tmp_path / "other")
    with pytest.raises(KeyboardInterrupt):
        run(DATA, both(Mortal(engine)), tmp_path)
    counted = small.Counted(engine)
    assert run(DATA, both(counted), tmp_path).equals(whole)
    assert 0 < len(counted.requests) < 3 * (len(ROWS) - 1)


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


# ----------------------------------------------------------------------------------- signature

OWN = instructions.Instructions("paper", "", "{style} {source}", "{source}", "{source}")
MODEL = small.engine()
CHANGES = {
    "model": {"model": small.engine("qwen")},
    "rounding": {"model": small.engine(rounded=True)},
    "variant": {"variant": "released"},
    "a variant with a name that is taken": {"variant": Variant("equation", "", skip_first=True)},
    "another such": {"variant": Variant("equation", "", end_of_turn=True)},
    "instructions": {"instructions": "emphasis"},
    "instructions with a name that is taken": {"instructions": OWN},
    "wordings": {"wordings": {**instructions.wordings(), "layman": "simple"}},
    "no wordings": {"wordings": {}},
}


def signature(words: str = "", **options) -> str:
    return str(Likelihood(words, **{"model": MODEL, **options}).signature("source"))


def test_each_setting_that_changes_a_value_changes_the_signature():
    assert signature(name="likelihood:other", variant=VARIANTS["equation"]) == signature()
    changed = {name: signature(**options) for name, options in CHANGES.items()}
    assert len({*changed.values(), signature()}) == len(CHANGES) + 1
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


def test_other_files_of_a_folder_are_another_model(tmp_path):
    folder = small.saved(tmp_path / "tiny")
    before = signature(str(folder), model=None)
    (tmp_path / "moved").mkdir()
    moved = folder.rename(tmp_path / "moved" / "tiny")
    assert signature(str(moved), model=None) == before, "a path is no setting"
    (moved / "chat_template.jinja").write_text("{{ messages[0]['content'] }}")
    assert signature(str(moved), model=None) != before


# --------------------------------------------------------------------------------------- words


def test_files_of_ones_own_are_read(tmp_path):
    (tmp_path / "i.toml").write_text(
        '[x]\nsystem=""\nstyle="{style}|{source}"\nparaphrase="{source}"\nrepeat="{source}!"\n'
    )
    (tmp_path / "w.csv").write_text("style,wording\nformal,very formal\n")
    metric = Likelihood(f"{tmp_path}/i.toml+{tmp_path}/w.csv", model=small.engine())
    assert metric.instructions.name == "x"
    assert metric.scorer().requests("It is.", "formal") == (
        "very formal|It is.",
        "It is.",
        "It is.!",
    )


@pytest.mark.parametrize("words", ["no.csv", "no.toml", "nonsense", "3b+8b"])
def test_a_mistake_is_refused_when_the_metric_is_named(words):
    for name in ("likelihood", "likelihood-style"):
        with pytest.raises(TstmetaError):
            metrics.get(f"{name}:{words}")


def test_objects_win_over_words():
    options = {"model": MODEL, "variant": "equation", "instructions": "paper"}
    metric = Likelihood("8b+released+emphasis", **options)
    assert (metric.model, metric.variant.name, metric.instructions.name) == tuple(options.values())
    assert isinstance(Likelihood(model="3b").model, Backbone)


# ------------------------------------------------------------------ models that are not here


def test_a_model_that_is_not_here_gives_rows_with_the_remedy_and_others_go_on(tmp_path):
    (tmp_path / "empty").mkdir()
    table = run(DATA, [Likelihood(str(tmp_path / "empty")), "constant"], tmp_path / "store")
    failed = table[table["metric"].str.startswith("likelihood")]
    assert set(failed["status"]) == {"error"}
    assert failed["detail"].str.contains("holds no .safetensors file").all()
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


def test_other_models_give_no_warning():
    assert Likelihood("3b").profile == "real"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(Likelihood(model=small.engine()).score([(Request("a", ("x",), "b", "formal"),)]))
