"""Judges as metrics: those of papers say what they take, one with a server is asked."""

import re

import pandas as pd
import pytest

from tests.command import command_line, table
from tests.judge import scripted
from tests.judge.scripted import says
from tests.judge.talking import Talking
from tstmeta import metrics
from tstmeta.judge import prompts
from tstmeta.judge.base import Reply
from tstmeta.metrics import Request
from tstmeta.metrics.catalogue import OPEN
from tstmeta.metrics.judges import Judge
from tstmeta.schema import Status, TstmetaError

UNIT = (Request("he left", ("he went",), "he went", "formal"),)
OTHER = (Request("he left early", ("he went",), "he went", "formal"),)


def judge(answer, prompt="content"):
    metric = Judge(f"http://h/v1#m+{prompt}")
    metric.chat = Talking(answer)
    return metric


def words(texts):
    return Reply(text=str(len(texts[-1].split())))


def test_a_judge_scores_each_rewrite_in_order_and_asks_equal_ones_once():
    metric = judge(words)
    units = [UNIT, OTHER, UNIT]
    found = [score for (score,) in metric.score(units)]
    assert [score.value for score in found] == [2, 3, 2]
    assert {(score.status, score.detail) for score in found} == {(Status.OK, "")}
    assert len(metric.chat.asked) == 2


def test_a_prompt_of_sources_makes_a_metric_of_sources():
    reply = '{"ratings": [{"number": 2, "content": 20}, {"number": 1, "content": 10}]}'
    metric = judge(lambda texts: Reply(text=reply), "lai2023-content")
    assert metric.unit == "source"
    ((first, second),) = metric.score([UNIT + OTHER])
    assert (first.value, second.value) == (10, 20)


def test_a_unit_that_the_prompt_does_not_take_says_why_and_the_others_go_on():
    bare = (Request("he left", ("he went",), "he went", ""),)
    metric = judge(words)
    (refused,), (rated,) = metric.score([bare, UNIT])
    assert (refused.status, rated.value) == (Status.ERROR, 2)
    assert "a target style, and there is none" in refused.detail


def test_the_dimension_is_the_one_that_is_named():
    def answer(texts):
        return Reply(text='{"content": 1, "style": 2, "fluency": 3}')

    for dimension, value in (("content", 1), ("style", 2), ("fluency", 3)):
        metric = judge(answer, f"joint#{dimension}")
        assert metric.dimensions == (dimension,)
        assert metric.name == f"judge:m+joint#{dimension}"
        assert next(metric.score([UNIT]))[0].value == value
    assert judge(answer, "joint").dimensions == ("content",)
    with pytest.raises(TstmetaError, match="rates content, style, fluency"):
        judge(answer, "joint#overall")


@pytest.mark.parametrize(
    ("name", "model", "revision", "dimension"),
    [
        ("https://h:8/v1/#owner/m@main+joint#style", "owner/m", "main", "style"),
        ("http://h/v1#@cf/m+content", "@cf/m", "", "content"),
        ("http://me:secret@h/v1#m+content", "m", "", "content"),
    ],
)
def test_a_name_says_whom_to_ask_and_what(name, model, revision, dimension):
    metric = metrics.get(f"judge:{name}")
    assert isinstance(metric, Judge)
    assert (metric.chat.model, metric.chat.revision) == (model, revision)
    assert metric.dimensions == (dimension,)
    assert metric.missing == ""
    shown = f"{metric.name} {metric.signature('source')} {metric.chat!r} {vars(metric)}"
    assert "secret" not in shown


def test_scoring_asks_once_and_both_ways_give_the_same_signature(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    tstmeta = command_line(tmp_path, monkeypatch)
    rows = "x,y z,formal\nu,v w q,formal\n"
    (tmp_path / "mine.csv").write_text("source,output,style\n" + rows)

    def counting(asked):
        text = re.findall(r"^====\n(.*)\n====$", asked.prompt, re.MULTILINE)[-1]
        count = len(text.split())
        return says(f'{{"content": {count}, "style": 1, "fluency": 5}}')

    with scripted.serving(counting) as server:
        stem = f"judge:{server.url}#tiny+joint"
        found = table(tstmeta("score", "-d", "mine.csv", "-m", stem, "-m", f"{stem}#style")).astype(
            {"value": float}
        )
        assert server.requests == 2, "both dimensions come from the same answers"
        assert found["value"].tolist() == [2, 3, 1, 1]
        names = [f"judge:tiny+joint#{dimension}" for dimension in ("content", "style")]
        assert found["metric"].unique().tolist() == names
        run = ("judge", "run", "-d", "mine.csv", "-p", "joint", "--server", server.url)
        result = tstmeta(*run, "--model", "tiny", "--scores-out", "scores.csv")
        assert result.exit_code == 0
        assert server.requests == 2, "the command and the metric keep answers in one place"
    again = pd.read_csv(tmp_path / "scores.csv")
    assert set(found["signature"]) < set(again["signature"])


@pytest.mark.parametrize("name", [name for name in OPEN if "--prompt" in OPEN[name]])
def test_the_remedy_of_a_papers_judge_is_a_command_whose_prompt_there_is(name):
    (prompt,) = re.findall(r"--prompt (\S+)", OPEN[name])
    loaded = prompts.load(prompt)
    assert loaded.cites
    assert "--scores-out FILE" in OPEN[name]
    assert (loaded.answer == "yes-no") == name.endswith("+binary")
    with pytest.raises(metrics.UnknownMetric, match="no server: to ask"):
        metrics.get(name)
