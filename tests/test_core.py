"""Nothing but the core dependencies: what runs, and what the rest says it needs."""

import json
from importlib.metadata import packages_distributions
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from packaging.utils import canonicalize_name

from tests.helpers import PROJECT, closure, python

#: Runs commands in a process in which only the core can be imported.
PROGRAM = """
import json, sys
from pathlib import Path
from importlib.machinery import PathFinder

class Core(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        known = name.partition(".")[0] not in {blocked!r}
        return PathFinder.find_spec(name, path, target) if known else None

sys.meta_path = [Core if finder is PathFinder else finder for finder in sys.meta_path]
from typer.testing import CliRunner
from tstmeta import cli, schema

results = {{}}
for words in {commands!r}:
    result = CliRunner().invoke(cli.app, words.split())
    ours = isinstance(result.exception, schema.TstmetaError | SystemExit | None)
    results[words] = [result.exit_code, result.output + str(result.exception), ours]
import tstmeta

def score(name):
    scores = tstmeta.score(data, [name], progress=False, store=store)
    assert not scores["status"].eq("error").any(), scores["detail"].iloc[0]

data, store = tstmeta.load("mine.csv"), Path("store")
scores = tstmeta.score(data, ["bleu"], progress=False, store=store)
calls = {{f"tst.score {{name}}": lambda name=name: score(name) for name in {metrics!r}}}
calls["tst.plot"] = lambda: tstmeta.plot.heatmap(None)
calls["tst.explain"] = lambda: tstmeta.explain(data)
calls["tst.evaluate"] = lambda: tstmeta.evaluate(data, scores=scores, draws=20).plot()
for name, call in calls.items():
    try:
        call()
        results[name] = [0, "done", True]
    except (schema.TstmetaError, AssertionError) as error:
        results[name] = [1, str(error), "ModuleNotFoundError" not in str(error)]
    except Exception as error:
        results[name] = [1, repr(error), False]
print(json.dumps(results))
"""
SERVER = "--server http://127.0.0.1:9/v1 --model m"
RUNS = (
    "data list",
    "data show contrast",
    "metrics --format csv",
    "score --data mine.csv --metric lexical --store store",
    "evaluate --data mine.csv --draws 20 --store store",
    "evaluate --data mine.csv --draws 20 --store store --format latex",
    "reproduce --paper pang2019 --store store",
    "judge show pauli2025 --data mine.csv",
)
#: Metrics with a model behind them.
MODELS = (
    *("bertscore", "cosine:labse", "masked-cosine", "wmd", "sim", "style-accuracy:toxicity"),
    *("perplexity", "bleurt", "likelihood:3b", "questeval", "smatch-dep"),
)
NEEDS = {
    "score --data mine.csv --metric bertscore --store store": "models",
    "evaluate --data rated.csv --metric lexical --combine hybrid-learned --store store": "models",
    "explain --source a --output b --style positive": "models",
    f"judge run --data mine.csv --prompt pauli2025 {SERVER}": "judge",
    f"construct --style kind --sources texts.txt {SERVER} --out new": "judge",
    "run 01_datasets": "book",
    "evaluate --data rated.csv --metric bleu --report report --store store": "book",
    "tst.plot": "book",
    "tst.evaluate": "book",
    "tst.explain": "models",
    **{f"tst.score {name}": "models" for name in MODELS},
}
#: A module that is not here where the rest of its extra is -> what is run, and the extra.
HALF = {
    "nbclient": ("run 01_datasets", "book"),
    "httpx2": (f"judge run --data mine.csv --prompt pauli2025 {SERVER}", "judge"),
    "sklearn": ("evaluate --data rated.csv --metric lexical --combine hybrid-learned", "models"),
}
#: Runs the command itself where these cannot be imported.
WHOLE = (
    PROGRAM[: PROGRAM.index("from typer")]
    + """
from tstmeta import cli
sys.argv = ["tstmeta", *{words!r}.split()]
cli.main()
"""
)
MINE = """source,output,style,content.r1
The food was awful.,The food was great.,positive,5
The food was awful.,I had a day.,positive,1
He came late.,He came early.,positive,4
"""


def ran(folder: Path, code: str, codes: tuple[int, ...] = (0,)) -> CompletedProcess[str]:
    """A program, run in a folder with the files that the commands name."""
    (folder / "mine.csv").write_text(MINE)
    (folder / "texts.txt").write_text("The food was awful and the room was cold.\n")
    rows = [
        f"they said {i},it was {i * j},{'AB'[j]},{i % 5 + j}" for i in range(20) for j in (0, 1)
    ]
    (folder / "rated.csv").write_text("\n".join(["source,output,system,content.r1", *rows, ""]))
    env = {"PYTHONWARNINGS": "ignore", "TSTMETA_DATA": str(folder)}
    return python("-c", code, codes=codes, cwd=folder, env=env)


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> dict[str, list]:
    """Command -> exit code, output with the error, whether the error is one of ours."""
    kept = closure(PROJECT["project"]["dependencies"]) | {"tstmeta"}
    blocked = {
        module
        for module, owners in packages_distributions().items()
        if not {canonicalize_name(owner) for owner in owners} & kept
    }
    assert {"torch", "matplotlib", "openai", "sklearn"} <= blocked
    commands = [*RUNS, *(words for words in NEEDS if not words.startswith("tst."))]
    code = PROGRAM.format(blocked=blocked, commands=commands, metrics=MODELS)
    done = ran(tmp_path_factory.mktemp("core"), code)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("words", RUNS)
def test_the_core_runs_what_needs_no_model_no_server_and_no_figure(results, words):
    code, output, _ = results[words]
    assert code == 0, output
    assert output


@pytest.mark.parametrize(("words", "extra"), NEEDS.items(), ids=lambda value: value.split()[0])
def test_what_needs_more_names_the_extra(results, words, extra):
    code, output, ours = results[words]
    assert code
    assert ours, output
    assert f"pip install 'tstmeta[{extra}]'" in output


@pytest.mark.parametrize(("words", "extra"), HALF.values(), ids=HALF)
def test_half_an_extra_is_one_line_that_names_it(tmp_path, words, extra):
    done = ran(tmp_path, WHOLE.format(blocked=set(HALF), words=words), codes=(1, 2))
    assert f"is not installed: pip install 'tstmeta[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
