"""What another package adds by entry points: metrics, data sets; sound and broken."""

import json
import os

import pytest

from tests.helpers import python

#: Modules of a package that adds to ours, and its entry points.
MODULES = {
    "sound": "def shared(source, output):\n    return len({*source.split()} & {*output.split()})\n",
    "fails": "import no_such_module\n",
    "leaves": "raise SystemExit(3)\n",
    "odd": """
def giving():
    return 3

from tstmeta.metrics import PairMetric

class Sauce(PairMetric):
    bases = ("sauce",)
""",
    "texts": """
import pandas as pd
from tstmeta.data import Dataset
from tstmeta.data.tables import items_table
RAW = False

def load(root):
    ids = {"item_id": ["1"], "source_id": ["1"]}
    frame = pd.DataFrame({**ids, "source": ["a b"], "output": ["a c"]})
    return Dataset.of("theirs", items_table("theirs", frame))
""",
}
METRICS = """
theirs = their_sound:shared
bleu = their_sound:shared
fails = their_fails:metric
nothing = their_sound:nothing
leaves = their_leaves:f
giving = their_odd:giving
sauce = their_odd:Sauce
"""
#: Metric -> what is said of it.
BROKEN = {
    "fails": "No module named 'no_such_module' (their_fails.py, line 1)",
    "nothing": "has no attribute 'nothing'",
    "leaves": "SystemExit: 3 (their_leaves.py, line 1)",
    "giving": "3 is no metric",
    "sauce": "has bases ('sauce',): name some of source, reference, none",
}
#: What is tried in a process that has that package; prints what came of it as JSON.
PROGRAM = """
import json, sys, tempfile, warnings
from pathlib import Path
from typer.testing import CliRunner
from tstmeta import cli, data, schema
from tstmeta.data import catalogue
from tstmeta.metrics import registry

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    results = {"names": registry.names(), "data": data.names()}
    heavy = {"nltk", "sacrebleu", "rouge_score", "torch", "tstmeta.metrics.lexical", "their_sound"}
    results["imported"] = sorted(heavy & set(sys.modules))
    results["list"] = CliRunner().invoke(cli.app, ["metrics", "--format", "csv"]).stdout
    results["all"] = registry.resolve(["all"])
results["warnings"] = [str(each.message) for each in caught]
results["errors"] = {}
for name in (*json.loads(sys.argv[1]), "theirs:variant"):
    try:
        registry.get(name)
    except schema.TstmetaError as error:
        results["errors"][name] = str(error)
store = tempfile.mkdtemp()
words = ["score", "--data", "theirs", "-m", "theirs", "-m", "bleu", "--store", store]
scored = CliRunner().invoke(cli.app, words)
results["score"] = [scored.exit_code, scored.output, str(scored.exception)]
results["bleu"] = type(registry.get("bleu")).__name__
catalogue.names = lambda: ["contrast", "theirs", "broken"]  # all of them take seconds
shown = CliRunner().invoke(cli.app, ["data", "list"])
results["sets"] = [shown.exit_code, shown.output + str(shown.exception)]
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> dict:
    site = tmp_path_factory.mktemp("site")
    for name, text in MODULES.items():
        (site / f"their_{name}.py").write_text(text)
    about = site / "their_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        f"[tstmeta.metrics]\n{METRICS}\n[tstmeta.datasets]\ntheirs = their_texts\n"
        "broken = their_fails\n"
    )
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    env = {"PYTHONPATH": path, "TSTMETA_DATA": str(site)}
    done = python("-c", PROGRAM, json.dumps(list(BROKEN)), cwd=site, env=env)
    return json.loads(done.stdout.splitlines()[-1])


def test_names_are_listed_without_importing_a_metric(results):
    assert {"theirs", "bleu", "meteor", "likelihood", *BROKEN} <= set(results["names"])
    assert results["imported"] == []


@pytest.mark.parametrize(("name", "words"), BROKEN.items())
def test_a_broken_metric_is_an_error_with_its_package_and_the_place(results, name, words):
    error = results["errors"][name]
    assert f"{name!r} of the package their-package (their_" in error
    assert words in error
    assert error.count("\n") == 0


def test_a_broken_metric_is_a_row_with_its_reason_and_the_others_are_listed(results):
    rows = {line.partition(",")[0]: line for line in results["list"].splitlines()}
    for name, words in BROKEN.items():
        assert words.split("(")[0].strip() in rows[name]
        assert ",error," in rows[name]
    assert {"theirs", "bleu", "bleu:pauli2025", "likelihood:8b"} <= set(rows)
    assert {"theirs", "bleu", "ter"} <= set(results["all"])
    assert not set(BROKEN) & set(results["all"])


def test_what_cannot_be_loaded_is_a_warning_with_its_name(results):
    told = "\n".join(results["warnings"])
    for name in ("fails", "nothing", "leaves"):
        assert f"{name!r} of the package their-package" in told
    assert (
        "'bleu' of the package their-package (their_sound:shared) is not used: that name is taken"
        in told
    )
    assert results["bleu"] == "SentenceBleu"


def test_a_function_and_a_data_set_of_another_package_are_used_by_name(results):
    code, output, error = results["score"]
    assert code == 0, output + error
    assert "theirs,1,theirs,content,source,theirs|basis:source|refs:max|version:" in output
    assert ",1.0,ok," in output
    assert results["errors"]["theirs:variant"].startswith("no metric is called 'theirs:variant'")


def test_a_broken_data_set_hides_no_other(results):
    code, output = results["sets"]
    assert code == 0, output
    assert {"contrast", "theirs", "broken"} <= {line.split(" ")[0] for line in output.splitlines()}
    assert "No module named 'no_such_module'" in output
