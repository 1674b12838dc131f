"""``tstmeta construct``: from sources to a rated data set, resumed, mistreated."""

import json

import pandas as pd
import pytest

from tests.command import refusal, table
from tests.judge import scripted
from tests.judge.construct import author
from tests.judge.construct.author import rows
from tests.judge.scripted import error, says
from tests.studio import exported
from tstmeta.console import _ESCAPES


@pytest.fixture(autouse=True)
def six_sources(tstmeta, tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(map(author.source, range(6))))


def construct(server):
    """The words of a command."""
    words = "construct --style 'more formal' --sources texts.txt --seed 3 --out formal"
    return f"{words} --server {server.url} --model tiny"


def rate(tstmeta, tmp_path):
    """Export the form of the set, have two people rate all of it, and import that."""
    assert tstmeta("construct export formal --out form").exit_code == 0
    files = sorted((tmp_path / "form").glob("tasks-*.json"))
    tasks = pd.DataFrame([t["data"] for file in files for t in json.loads(file.read_text())])
    assert not tasks["item_id"].str.contains("error").any()
    grades = lambda who, n: (1 + n % 5, 1 + (who + n) % 5, 2 + n % 2)  # noqa: E731
    (tmp_path / "project.json").write_text(json.dumps(exported(tasks, 71, 83, answers=grades)))
    return tstmeta("construct import formal project.json")


def test_from_sources_to_a_rated_data_set_that_metrics_are_held_against(tstmeta, tmp_path):
    with scripted.serving(author.served) as server:
        results = [tstmeta(f"{construct(server)} --format csv") for _ in range(2)]
        assert server.requests == 24
    assert ["24 requests" in result.stderr for result in results] == [True, False]
    for result in results:
        counts = table(result).set_index("verdict")["rows"]
        assert counts.to_dict() == {"passed": 24, "accepted": 0, "rejected": 0, "look": 0}
    evaluate = "evaluate --data formal/formal.csv --metric chrf --draws 50"
    assert "label by construction" in tstmeta(evaluate).stdout

    assert "144 ratings by 2 raters of 24 rewrites" in rate(tstmeta, tmp_path).stderr
    assert "71" not in (tmp_path / "formal" / "ratings.csv").read_text()
    evaluated = table(tstmeta(f"{evaluate} --dimension style --format csv"))
    assert set(evaluated["against"]) == {"mean human rating"}

    file = tmp_path / "formal" / "rows.csv"
    file.write_text(file.read_text().replace("a pleasure", "an honour"))  # which would all pass
    refused = refusal(tstmeta("construct check formal"))
    assert "people rated formal-01-strong, and now it has another" in refused
    (tmp_path / "formal" / "ratings.csv").unlink()
    assert tstmeta("construct check formal").exit_code == 0


def bad(request):
    """A model that goes wrong in another way with every source but the last."""
    wrong = {
        author.NAMES[0]: says("Sure! Here you are."),
        author.NAMES[1]: says(None, refusal="I can't help with that."),
        author.NAMES[2]: error(500, "no"),
        author.NAMES[3]: says('{"text": "Here is the text: \\u001b[31m<script>alert(1)</script>"}'),
        author.NAMES[4]: says('{"text": "' + author.source(4) + '"}'),
    }
    acts = [act for name, act in wrong.items() if name in request.prompt]
    return acts[0] if acts else author.served(request)


def test_rows_that_fail_are_kept_with_the_reason_and_a_person_has_the_last_word(tstmeta, tmp_path):
    with scripted.serving(bad) as server:
        result = tstmeta(f"{construct(server)} --retries 0")
    assert result.exit_code == 1
    assert "20 rows wait for a person" in result.stderr
    signs = set(result.stdout + result.stderr) - {"\n", "\r"}
    assert not signs & {chr(code) for code in _ESCAPES}
    frame = rows(tmp_path)
    reasons = ("no JSON", "refused", "no answer: ", "control characters", "copy: the same words")
    for number, reason in enumerate(reasons, 1):
        assert reason in frame.loc[f"formal-{number:02}-strong", "why"]
    checked = tstmeta("construct check formal --format csv")
    assert checked.exit_code == 1
    assert table(checked).set_index("verdict")["rows"]["look"] == 20
    good = frame[frame["source_id"] == "formal-06"].set_index("system")["output"]
    first = frame["source_id"] == "formal-01"
    mended = frame["system"].map(good).str.replace(author.NAMES[5], author.NAMES[0])
    frame["output"] = frame["output"].where(~first, mended)
    frame["accept"] = frame["source_id"].map({"formal-01": "yes", "formal-06": ""}).fillna("no")
    frame.to_csv(tmp_path / "formal" / "rows.csv", index=False)
    assert tstmeta("construct check formal").exit_code == 0
    items = pd.read_csv(tmp_path / "formal" / "formal.csv")
    assert set(items["source_id"]) == {"formal-01", "formal-06"}


def test_what_is_lacking_is_named_before_anything_is_asked(tstmeta):
    result = tstmeta("construct --style polite --out x")
    assert result.exit_code == 2
    assert "--style, --sources, --server, --model and --out are all needed" in result.stderr
