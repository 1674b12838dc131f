"""The two metrics: values, signature, one pass for both, missing models, the warning."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests import scored
from tests.likelihood import small
from tstmeta import metrics, scoring
from tstmeta.likelihood import instructions, styles
from tstmeta.likelihood.scorer import Rewrite, Scorer
from tstmeta.likelihood.tokens import VARIANTS, Variant
from tstmeta.likelihood.zeroshot import DemonstrationWarning, Likelihood, LikelihoodStyle
from tstmeta.metrics import Request
from tstmeta.models import hub
from tstmeta.models.causal import Backbone, Continuation, backbone
from tstmeta.schema import Status, TstmetaError

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
    judged = scorer.judge([Rewrite(row["source"], row["output"], row["style"]) for row in ROWS])
    for name, value in (("likelihood:m", scorer.content), ("likelihood-style:m", scorer.style)):
        rows = table[table["metric"] == name]
        expected = [value(one) if one.status.has_value else math.nan for one in judged]
        np.testing.assert_allclose(rows["value"], expected)
        assert rows["status"].tolist() == ["ok", "ok", "empty", "invalid", "ok", "ok"]
    assert table["basis"].unique().tolist() == ["source"]
    dimensions = table.groupby("metric")["dimension"].unique().map(list).to_dict()
    assert dimensions == {"likelihood:m": ["content"], "likelihood-style:m": ["style"]}


def test_style_after_content_asks_the_model_nothing(tmp_path):
    counted = small.Counted(small.engine())
    content, style = both(counted)
    run(DATA, [content], tmp_path)
    distinct = {(row["source"], row["output"], row["style"]) for row in ROWS if row["style"]}
    assert len(set(counted.asked)) == 3 * len(distinct)
    counted.asked.clear()
    run(DATA, [style], tmp_path)
    assert counted.asked == []
    run(DATA, [Likelihood(model=counted, variant=Variant("mine", "", skip_first=True))], tmp_path)
    assert counted.asked == [], "a variant that only looks at other columns needs no new pass"


def test_an_item_that_stands_in_two_data_sets_is_computed_once(tmp_path):
    counted = small.Counted(small.engine())
    run(scored.dataset(*ROWS[:2], name="one"), both(counted), tmp_path)
    counted.asked.clear()
    run(scored.dataset(*ROWS[1:3], name="two"), both(counted), tmp_path)
    assert len(set(counted.asked)) == 3
    template = Scorer(small.engine()).template
    assert {request.tokens for request in counted.asked} == {(template.end_of_turn,)}


def test_tokens_are_kept_in_the_store_and_nothing_of_another_model_is_taken(tmp_path):
    first = run(DATA, both(small.engine()), tmp_path)
    assert len(list((tmp_path / "tokens").glob("*.parquet"))) == 1
    run(DATA, both(small.engine("qwen")), tmp_path)
    assert len(list((tmp_path / "tokens").glob("*.parquet"))) == 2
    assert not list(tmp_path.rglob("*.journal"))
    again = run(DATA, both(small.engine()), tmp_path)
    assert again.equals(first)


def test_two_runs_write_the_same_bytes(tmp_path):
    def files(store: Path) -> dict[str, bytes]:
        run(DATA, both(small.engine()), store)
        return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*.p*")}

    one, two = files(tmp_path / "one"), files(tmp_path / "two")
    assert len(one) == 3
    assert one == two


class Certain:
    """A backend that gives every token the same log-probability."""

    identity, window, vocabulary = "certain", 4096, 100
    tokenizer = small.tokenizer("llama")

    def __init__(self, value: float):
        self.value = value

    def logprobs(self, requests: list[Continuation], *, known=(), progress=False):
        for place, one in enumerate(requests):
            yield [(place, np.full(len(one.tokens), self.value, dtype=np.float32))]


@pytest.mark.parametrize(
    ("value", "variant", "expected"),
    [
        (-2.0, "equation", (-2.0, Status.OK)),
        (-200.0, "equation", (-200.0, Status.OK)),
        (-200.0, "released", (math.nan, Status.INVALID)),
    ],
)
def test_a_probability_that_is_rounded_to_nothing_gives_no_value(value, variant, expected):
    metric = Likelihood(model=Certain(value), variant=variant)
    [[score]] = metric.score([(Request("abc", ("s",), "s", "formal"),)])
    assert (score.value, score.status) == pytest.approx(expected, nan_ok=True)
    assert score.detail == (
        "a token's probability was rounded to 0" if variant != "equation" else ""
    )


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
    "wordings": {"wordings": {**styles.shipped(), "layman": "simple"}},
}
SAME = {
    "name": {"name": "likelihood:other"},
    "defaults": {"variant": "equation", "instructions": "paper", "wordings": styles.shipped()},
    "what an engine does with memory": {"budget": 7},
    "the shipped variant as an object": {"variant": VARIANTS["equation"]},
}


def signature(**options) -> str:
    return str(Likelihood(**{"model": MODEL, **options}).signature("source"))


def test_each_setting_that_changes_a_value_changes_the_signature():
    found = {name: signature(**options) for name, options in CHANGES.items()}
    assert len({*found.values(), signature()}) == len(CHANGES) + 1


@pytest.mark.parametrize("options", SAME.values(), ids=SAME)
def test_what_changes_no_value_leaves_the_signature_as_it_is(options):
    assert signature(**options) == signature()


@pytest.mark.parametrize(
    "more", [{"dtype": "float16"}, {"attention": "eager"}, {"model": "8b"}, {"words": "released"}]
)
def test_how_a_model_is_loaded_is_part_of_the_signature(more):
    assert str(Likelihood(**more).signature("source")) != str(Likelihood().signature("source"))


def test_the_signature_tells_all():
    shown = str(Likelihood("3b+emphasis+bfloat16").signature("source"))
    model = backbone("3b")
    for part in (
        "likelihood|basis:source",
        f"model:{model.where}@{model.revision} bfloat16 sdpa",
        "variant:equation",
        f"instructions:emphasis@{instructions.get('emphasis').hash}",
        f"styles:{styles.hash_of(styles.shipped())}",
        "date:26 Jul 2024",
    ):
        assert part in shown


def test_the_same_words_in_another_order_are_the_same_metric():
    one, two = (metrics.get(f"likelihood:{words}") for words in ("8b+released", "released+8b"))
    assert str(one.signature("source")) == str(two.signature("source"))


def test_other_files_of_a_folder_are_another_model(tmp_path):
    folder = small.saved(tmp_path / "tiny")
    before = str(Likelihood(str(folder)).signature("source"))
    (tmp_path / "moved").mkdir()
    moved = (tmp_path / "tiny").rename(tmp_path / "moved" / "tiny")
    assert str(Likelihood(str(moved)).signature("source")) == before, "a path is no setting"
    (moved / "chat_template.jinja").write_text("{{ messages[0]['content'] }}")
    assert str(Likelihood(str(moved)).signature("source")) != before


# --------------------------------------------------------------------------------------- words


def test_files_of_ones_own_are_read(tmp_path):
    (tmp_path / "i.toml").write_text(
        '[x]\nsystem=""\nstyle="{style}|{source}"\nparaphrase="{source}"\nrepeat="{source}!"\n'
    )
    (tmp_path / "w.csv").write_text("style,wording\nformal,very formal\n")
    metric = Likelihood(f"{tmp_path}/i.toml+{tmp_path}/w.csv", model=small.engine())
    assert metric.instructions.name == "x"
    assert metric.wordings["formal"] == "very formal"
    scorer = metric.scorer()
    [judged] = scorer.judge([Rewrite("It is.", "Is it", "formal")])
    by_hand = Scorer(small.engine(), metric.instructions, wordings={"formal": "very formal"})
    assert scorer.content(judged) == by_hand.content(
        by_hand.judge([Rewrite("It is.", "Is it", "formal")])[0]
    )


@pytest.mark.parametrize("words", ["no.csv", "no.toml", "nonsense", "3b+8b"])
def test_a_mistake_is_told_when_the_metric_is_named(words):
    for name in ("likelihood", "likelihood-style"):
        with pytest.raises(TstmetaError):
            metrics.get(f"{name}:{words}")


def test_objects_win_over_words():
    metric = Likelihood(
        "8b+released+emphasis", model=MODEL, variant="equation", instructions="paper"
    )
    assert (metric.model, metric.variant.name, metric.instructions.name) == (
        MODEL,
        "equation",
        "paper",
    )
    assert isinstance(Likelihood(model="3b").model, Backbone)


# -------------------------------------------------------------------------------- missing models


def test_a_model_that_is_not_here_gives_rows_with_the_remedy_and_others_go_on(tmp_path):
    (tmp_path / "empty").mkdir()
    table = run(DATA, [Likelihood(str(tmp_path / "empty")), "constant"], tmp_path / "store")
    failed = table[table["metric"].str.startswith("likelihood")]
    assert set(failed["status"]) == {"error"}
    assert failed["detail"].str.contains("holds no .safetensors file").all()
    assert set(table.loc[table["metric"] == "constant", "status"]) == {"ok"}


def test_missing_says_what_to_do_and_is_empty_for_what_is_here(monkeypatch):
    monkeypatch.setattr(hub, "here", lambda model: model.name == "embedded")
    assert Likelihood().missing == ""
    assert Likelihood(model=MODEL).missing == ""
    assert "hf download" in Likelihood("3b").missing


# ---------------------------------------------------------------------------------- the warning


def embedded(metric) -> list:
    return list(metric.score([(Request("It was great.", ("x",), "It was bad.", "positive"),)]))


@pytest.mark.parametrize("make", [Likelihood, LikelihoodStyle])
@pytest.mark.parametrize("words", ["", "released"])
def test_the_embedded_model_scores_and_says_that_it_is_a_demonstration(make, words):
    metric = make(words)
    assert metric.profile == "embedded"
    with pytest.warns(DemonstrationWarning, match=r"reproduce nothing.*likelihood:3b"):
        [[score]] = embedded(metric)
    assert score.status is Status.OK
    assert score.value < 0 or make is LikelihoodStyle
    assert -1 <= score.value <= 1 or make is Likelihood


def test_other_models_say_nothing():
    assert Likelihood("3b").profile == "real"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embedded(Likelihood(model=small.engine()))
