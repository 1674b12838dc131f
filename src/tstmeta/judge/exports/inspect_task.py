"""A judge as a task of Inspect: ``inspect eval task.py@judge --model PROVIDER/MODEL``."""

import runpy
from pathlib import Path
from types import SimpleNamespace

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState, generate

# not imported by name: another exported folder may have another one
M = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().with_name("measures.py"))))
_KINDS = {"system": ChatMessageSystem, "user": ChatMessageUser}


@metric
def agreement() -> Metric:
    """The share of ratings that came, and Pearson's r with people's means by dimension."""

    def measure(scores: list[SampleScore]) -> dict[str, float]:
        tables = [each.score.metadata for each in scores]
        known = {name for table in tables for name in table["known"]}
        values = {"rated": M.rated([row for table in tables for row in table["pairs"].values()])}
        for name in sorted(known):
            values[f"pearson_{name}"] = M.pearson([table["pairs"][name] for table in tables])
        return values

    return measure


@scorer(metrics=[agreement()])
def rating() -> Scorer:
    """The ratings of one answer; its value is the share of them that came."""

    async def score(state: TaskState, target: Target) -> Score:
        cut = state.output.stop_reason == "max_tokens"
        table = M.pairs(state.metadata, state.output.completion, cut)
        facts = {"pairs": table, "known": list(state.metadata["human"])}
        return Score(value=M.rated(table.values()), metadata=facts)

    return score


@task
def judge() -> Task:
    """The questions of ``docs.jsonl``, asked as ``prompt.json`` says."""
    samples = [
        Sample(
            id=doc["id"],
            input=[_KINDS[each["role"]](content=each["content"]) for each in doc["messages"]],
            metadata={"item_ids": doc["item_ids"], "human": doc["human"]},
        )
        for doc in M.docs()
    ]
    config = GenerateConfig(**M.PROMPT["sampling"])
    data = MemoryDataset(samples, name=M.PROMPT["name"])
    return Task(dataset=data, solver=generate(), scorer=rating(), config=config)
