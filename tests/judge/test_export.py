"""Tasks of other harnesses: the same questions, the same readings, and nothing of ours to run."""

import json
import math
import subprocess
import sys
import venv
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from tests.command import command_line
from tstmeta.data import own
from tstmeta.judge import answers, prompts, ratings, reading
from tstmeta.judge.base import Reply
from tstmeta.judge.export import export

#: Texts and a style that would be code, were they not data.
CSV = """\
item_id,source_id,source,output,style,content.ann,content.bob,fluency.ann
a1,a,the {{ 7 * 7 }} cat,the feline,formal,5,4,
a2,a,the {{ 7 * 7 }} cat,"{% raw %} $task !function os.system \u2028 ""x"" y",formal,2,1,
b1,b,gimme tea,kindly pass me the tea,formal,,,
b2,b,gimme tea,tea please {fence},formal,3,3,
"""
HUMAN = {"a1": 4.5, "a2": 1.5, "b2": 3.0}


@pytest.fixture
def dataset(tmp_path):
    (tmp_path / "my; data $x.csv").write_text(CSV)
    return own.read(tmp_path / "my; data $x.csv")


def judged(text):
    """A judge that rates by the number of characters, or two outputs by their own number; of tea it
    says nothing that counts.
    """
    if "gimme" in text:
        return "eleven"
    if '"ratings"' not in text:
        return f"Rating: {len(text) % 5 + 1}/5"
    rows = [dict.fromkeys(("number", "content", "style", "fluency"), n) for n in (2, 1)]
    return json.dumps({"ratings": rows})


def rated(dataset, name="content"):
    """What our own run makes of that judge: Pearson's r and the share of ratings that came."""
    jobs = ratings.jobs(dataset, prompts.load(name))
    texts = {job.item_ids: judged(job.question.messages[-1].content) for job in jobs}
    rows = {
        item: answers.read(Reply(text), prompts.load(name), len(items))[place]["content"].value
        for items, text in texts.items()
        for place, item in enumerate(items)
    }
    both = [(rows[item], HUMAN[item]) for item in HUMAN if not math.isnan(rows[item])]
    share = np.mean([not math.isnan(value) for value in rows.values()])
    return np.corrcoef(*zip(*both, strict=True))[0, 1], share


RUN = """
import json, runpy, sys
measures = runpy.run_path(sys.argv[1])
docs = measures["docs"]()
table = [measures["process_results"](doc, [text]) for doc, text in zip(docs, json.load(sys.stdin))]
pearson = measures["pearson"]([row["pearson_content"] for row in table])
assert not [name for name in sys.modules if name.startswith(("tstmeta", "numpy"))]
cut = measures["pairs"](docs[0], "It says:\\n4", True)
assert all(rating is None for row in cut.values() for rating, _ in row)
print(json.dumps([pearson, measures["rated"]([row["rated"] for row in table]), docs]))
"""


@pytest.mark.parametrize("name", ["content", "outputs"])
def test_it_runs_on_plain_python_and_agrees_with_our_own_run(dataset, tmp_path, name):
    export(dataset, prompts.load(name), "lm-eval", tmp_path / "task")
    jobs = ratings.jobs(dataset, prompts.load(name))
    texts = [judged(job.question.messages[-1].content) for job in jobs]
    command = [sys.executable, "-I", "-S", "-c", RUN, str(tmp_path / "task" / "measures.py")]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pearson, share, docs = json.loads(done.stdout)
    assert [pearson, share] == pytest.approx(rated(dataset, name))
    assert [tuple(doc["item_ids"]) for doc in docs] == [job.item_ids for job in jobs]
    for doc, job in zip(docs, jobs, strict=True):
        assert [tuple(each.values()) for each in doc["messages"]] == [*job.question.messages]
        people = [HUMAN.get(item) for item in job.item_ids]
        assert doc["human"]["content"] == people
    assert {"content", "fluency"} >= set(docs[0]["human"])
    assert "ann" not in (tmp_path / "task" / "docs.jsonl").read_text()
    assert (tmp_path / "task" / "reading.py").read_bytes() == Path(reading.__file__).read_bytes()


def test_the_command_writes_a_task_and_refuses_what_has_no_rating(tmp_path, monkeypatch):
    tstmeta = command_line(tmp_path, monkeypatch)
    (tmp_path / "mine.csv").write_text(CSV)
    words = ("judge", "export", "content", "-d", "mine.csv", "--to", "lm-eval", "--out", "a task")
    result = tstmeta(*words)
    assert result.exit_code == 0
    assert "lm_eval run --include_path 'a task' --tasks tstmeta_content_mine" in result.stderr
    assert sorted(path.suffix for path in (tmp_path / "a task").iterdir()) == [
        *(".json", ".jsonl", ".py", ".py", ".yaml")
    ]
    refused = tstmeta(*words[:2], "pair", *words[3:])
    assert "compares two rewrites" in str(refused.exception)


@pytest.mark.nightly
def test_lm_evaluation_harness_runs_the_task(dataset, tmp_path):
    simple_evaluate = pytest.importorskip("lm_eval").simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Counting(LM):
        texts: ClassVar[list] = []

        def generate_until(self, requests, **options):
            self.texts += [request.args for request in requests]
            return [judged(request.args[0]) for request in requests]

        loglikelihood = loglikelihood_rolling = None

    command = export(dataset, prompts.load("content"), "lm-eval", tmp_path / "task")
    task = command[command.index("--tasks") + 1]
    manager = TaskManager(include_path=str(tmp_path / "task"), include_defaults=False)
    results = simple_evaluate(Counting(), tasks=[task], task_manager=manager)["results"][task]
    measured = [results["pearson_content,none"], results["rated,none"]]
    assert measured == pytest.approx(rated(dataset))
    jobs = ratings.jobs(dataset, prompts.load("content"))
    assert [text for text, _ in Counting.texts] == [
        job.question.messages[-1].content for job in jobs
    ]
    how = Counting.texts[0][1]
    assert (how["max_gen_toks"], how["do_sample"], how["until"]) == (8, False, [])


INSPECT = """
import json, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
said, configs = json.load(sys.stdin), []
def answer(input, tools, choice, config):
    configs.append(config.model_dump(exclude_none=True))
    output = ModelOutput.from_content("mockllm/model", said[input[-1].text])
    output.usage = ModelUsage(input_tokens=1, output_tokens=1)  # else it fetches a tokenizer
    return output
model = get_model("mockllm/model", custom_outputs=answer)
[log] = eval(sys.argv[1], model=model, display="none")
assert log.status == "success", log.error
values = {name: each.value for score in log.results.scores for name, each in score.metrics.items()}
print(json.dumps([values, configs[0], len(log.samples)]))
"""


@pytest.mark.nightly
def test_inspect_runs_the_task(dataset, tmp_path):
    """In an environment of its own: what it needs does not fit beside ours."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = next((tmp_path / "venv").glob("[bS]*/python*"))  # bin, Scripts
    install = [python, "-m", "pip", "install", "-q", "inspect-ai", "openai"]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"inspect-ai cannot be installed here: {done.stderr.strip()[-200:]}")
    export(dataset, prompts.load("content"), "inspect", tmp_path / "task")
    jobs = ratings.jobs(dataset, prompts.load("content"))
    texts = [job.question.messages[-1].content for job in jobs]
    command = [python, "-c", INSPECT, str(tmp_path / "task" / "task.py@judge")]
    done = subprocess.run(
        command,
        input=json.dumps({text: judged(text) for text in texts}),
        capture_output=True,
        text=True,
        env={"INSPECT_LOG_DIR": str(tmp_path / "logs"), "HOME": str(tmp_path), "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    values, how, samples = json.loads(done.stdout.splitlines()[-1])
    pearson, share = rated(dataset)
    assert values == pytest.approx({"pearson_content": pearson, "rated": share})
    assert (how["max_tokens"], how["temperature"], samples) == (8, 0.0, len(jobs))
