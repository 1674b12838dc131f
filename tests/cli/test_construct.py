"""``tstmeta construct``: from sources to a rated data set, killed, resumed, mistreated."""

import csv
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing

import pytest

from tests.command import command_line, table
from tests.data.studio import exported
from tests.judge import scripted
from tests.judge.construct import author
from tests.judge.scripted import error, hang, says
from tstmeta.console import _ESCAPES

STYLE = ("--style", "more formal", "--style-now", "informal", "--seed", "3")


@pytest.fixture
def tstmeta(tmp_path, monkeypatch):
    """Run a command beside six sources, without a key of the machine's."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    run = command_line(tmp_path, monkeypatch)
    lines = [author.source(number) + "\n" for number in range(6)]
    (tmp_path / "texts.txt").write_text("".join(lines))
    return run


def words(server, *more, out="formal", sources=("--sources", "texts.txt")):
    return [
        "construct",
        *STYLE,
        *sources,
        "--server",
        server.url,
        "--model",
        "tiny",
        "--out",
        out,
        *more,
    ]


def rows(tmp_path):
    with (tmp_path / "formal" / "rows.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def save(tmp_path, frame):
    with (tmp_path / "formal" / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, frame[0])
        writer.writeheader()
        writer.writerows(frame)


def verdicts(tmp_path):
    return Counter(row["verdict"] for row in rows(tmp_path))


def rated(tstmeta, tmp_path):
    """Export the form of the set, have two people rate all of it, and import that."""
    assert tstmeta("construct", "export", "formal", "--out", "form").exit_code == 0
    files = sorted((tmp_path / "form").glob("tasks-*.json"))
    tasks = [task for file in files for task in json.loads(file.read_text())]
    answers = exported(tasks, 71, 83, answers=lambda who, n: (1 + n % 5, 1 + (who + n) % 5, 2))
    (tmp_path / "project.json").write_text(json.dumps(answers))
    assert not any("error" in str(task["data"]["item_id"]) for task in tasks)
    return tstmeta("construct", "import", "formal", "project.json")


# ---------------------------------------------------------------------------------- end to end


def test_from_sources_to_a_rated_data_set_that_metrics_are_held_against(tstmeta, tmp_path):
    with scripted.serving(author.served) as server:
        result = tstmeta(*words(server, "--format", "csv"))
        assert result.exit_code == 0, result.stderr
        assert server.requests == 24
        again = tstmeta(*words(server, "--format", "csv"))
        assert server.requests == 24
    assert "at most 24 requests (0 answers are kept)" in result.stderr
    assert "0 requests (24 answers are kept)" in again.stderr
    counts = table(result).set_index("verdict")["rows"]
    assert counts.to_dict() == {"passed": 24, "accepted": 0, "rejected": 0, "look": 0}
    assert table(again).equals(table(result))
    shown = tstmeta("data", "show", "formal/formal.csv", "--format", "csv")
    facts = table(shown).set_index("what")["value"]
    assert (facts["items"], facts["sources"], facts["systems"]) == ("24", "6", "4")
    unrated = tstmeta("evaluate", "--data", "formal/formal.csv", "--metric", "chrf", "--draws", 50)
    assert "label by construction" in unrated.stdout

    kept = rated(tstmeta, tmp_path)
    assert kept.exit_code == 0, kept.exception
    assert "144 ratings by 2 raters of 24 rewrites" in kept.stderr
    usual = tstmeta("data", "import-ratings", "project.json", "--data", "formal/formal.csv")
    ratings = table(usual).drop(columns="dataset").to_csv(index=False)
    assert ratings == (tmp_path / "formal" / "ratings.csv").read_text()
    evaluated = tstmeta(
        "evaluate", "--data", "formal/formal.csv", "--metric", "chrf", "--draws", 50,
        "--dimension", "style", "--no-tests", "--format", "csv",
    )  # fmt: skip
    assert evaluated.exit_code == 0, evaluated.exception
    assert set(table(evaluated)["against"]) == {"mean human rating"}
    assert "71" not in (tmp_path / "formal" / "ratings.csv").read_text()


def test_a_dry_run_asks_nothing_and_writes_nothing(tstmeta, tmp_path):
    with scripted.serving(author.served) as server:
        price = ("--price-in", "1", "--price-out", "2")
        result = tstmeta(*words(server, "--dry-run", *price))
        assert server.requests == 0
    assert result.exit_code == 0
    assert "24 requests" in result.stderr
    assert "of money" in result.stderr
    assert not (tmp_path / "formal").exists()


# ------------------------------------------------------------------------------------- killed


def test_a_killed_run_goes_on_where_it_stopped_and_asks_nothing_twice(tstmeta, tmp_path):
    answered: Counter[str] = Counter()
    open_ = False

    def script(asked):
        if not open_ and sum(answered.values()) >= 17:  # in the second step
            return hang()
        answered[json.dumps(asked.body, sort_keys=True)] += 1
        return author.served(asked)

    with scripted.serving(script) as server:
        command = [sys.executable, "-m", "tstmeta", *words(server, "--concurrency", "4")]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
        wait_for(tmp_path / "formal" / "answers.sqlite", 17, process)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert not (tmp_path / "formal" / "rows.csv").exists()
        open_ = True
        result = tstmeta(*words(server))
        assert result.exit_code == 0, result.stderr
    assert "at most 12 requests (12 answers are kept)" in result.stderr
    assert len(answered) == 24
    assert set(answered.values()) == {1}
    assert verdicts(tmp_path) == {"passed": 24}


def wait_for(path, count, process):
    deadline = time.monotonic() + 60
    while True:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        if path.exists():
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as answers:
                try:
                    if answers.execute("SELECT count(*) FROM answers").fetchone()[0] == count:
                        return
                except sqlite3.OperationalError:  # the table is being made
                    pass
        time.sleep(0.02)


# ------------------------------------------------------------------------ faults, and a person


def bad(asked):
    """A model that goes wrong in another way with every source."""
    wrong = {
        author.NAMES[0]: says("Sure! Here you are."),
        author.NAMES[1]: says(None, refusal="I can't help with that."),
        author.NAMES[2]: error(500, "no"),
        author.NAMES[3]: says('{"text": "Here is the text: \\u001b[31m<script>alert(1)</script>"}'),
        author.NAMES[4]: says('{"text": "' + author.source(4) + '"}'),
    }
    found = [act for name, act in wrong.items() if name in asked.prompt]
    return found[0] if found else author.served(asked)


def test_rows_that_fail_are_kept_with_the_reason_and_a_person_has_the_last_word(tstmeta, tmp_path):
    with scripted.serving(bad) as server:
        result = tstmeta(*words(server, "--retries", "0"))
    assert result.exit_code == 1
    assert verdicts(tmp_path) == {"passed": 4, "look": 20}
    why = {row["item_id"]: row["why"] for row in rows(tmp_path)}
    for number, reason in enumerate(
        ("no JSON", "refused", "no answer: ", "control characters", "copy: the same words"), 1
    ):
        assert reason in why[f"formal-{number:02}-strong"]
    assert "no text: not asked" in why["formal-01-strong-error"]
    checked = tstmeta("construct", "check", "formal", "--format", "csv")
    assert checked.exit_code == 1
    assert table(checked).query("check == ''").set_index("verdict")["rows"]["look"] == 20
    frame = rows(tmp_path)
    good = {row["system"]: row["output"] for row in frame if row["source_id"] == "formal-06"}
    kinds = {row["source_id"]: row["kind"] for row in frame}
    for row in frame:
        if row["source_id"] == "formal-01":
            row["output"] = good[row["system"]].replace("Felix", "Anna")
        elif row["source_id"] != "formal-06":
            row["accept"] = "no"
        if kinds["formal-01"] != kinds["formal-06"] and row["item_id"].startswith("formal-01"):
            row["accept"] = "yes"  # its error is of the other kind
    save(tmp_path, frame)
    checked = tstmeta("construct", "check", "formal")
    assert checked.exit_code == 0
    assert verdicts(tmp_path)["look"] == 0
    with (tmp_path / "formal" / "formal.csv").open() as file:
        assert {row["source_id"] for row in csv.DictReader(file)} == {"formal-01", "formal-06"}


def test_a_text_that_people_rated_cannot_change_unseen(tstmeta, tmp_path):
    with scripted.serving(author.served) as server:
        tstmeta(*words(server))
    rated(tstmeta, tmp_path)
    before = rows(tmp_path)
    others = [{**row, "output": row["output"].replace("a pleasure", "an honour")} for row in before]
    save(tmp_path, others)  # which would all pass
    message = str(tstmeta("construct", "check", "formal").exception)
    assert "people rated formal-01-strong, and now it has another text" in message
    before[2]["accept"] = "no"
    save(tmp_path, before)
    message = str(tstmeta("construct", "check", "formal").exception)
    assert "people rated formal-01-strong, and" in message
    (tmp_path / "formal" / "ratings.csv").unlink()
    assert tstmeta("construct", "check", "formal").exit_code == 1  # its error waits now


# ---------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--generate", "3"], "say one"),
        (["--language", "ja"], "written with spaces"),
        (["--price-in", "1"], "price has two parts"),
        (["--max-money", "1"], "needs a price"),
        (["--key-variable", "NOT_SET"], "NOT_SET is not set"),
    ],
)
def test_mistakes_are_told_before_anything_is_asked(tstmeta, more, said):
    with scripted.serving(author.served) as server:
        result = tstmeta(*words(server, *more))
        assert server.requests == 0
    assert said in str(result.exception)


def test_what_is_missing_is_named(tstmeta):
    result = tstmeta("construct", "--style", "polite", "--out", "x")
    assert result.exit_code == 2
    assert "--style, --server, --model and --out are all needed" in result.stderr
    missing = tstmeta("construct", "export", "nowhere", "--out", "form")
    assert "nowhere holds no construction" in str(missing.exception)


def test_no_key_is_shown_or_kept_whatever_the_server_says(tstmeta, tmp_path, monkeypatch):
    secret = "sk-recognise-me-2468"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    said = []
    for act in (
        says(json.dumps({"text": f"Your key is {secret}, and here it is again."})),
        error(401, f"wrong key {secret}"),
        error(500, f"broken by {secret}"),
    ):
        with scripted.serving(lambda asked, act=act: act) as server:
            result = tstmeta(*words(server, "--retries", "0", out=f"set{len(said)}"))
            said.append(result.stdout + result.stderr + str(result.exception))
            assert f"Bearer {secret}" in server.keys
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept) > 10
    assert all(secret.encode() not in path.read_bytes() for path in kept)
    assert secret not in "".join(said)
    assert "Remedy" in said[1]


def test_nothing_that_a_model_writes_steers_the_terminal(tstmeta):
    text = json.dumps({"text": "\u001b[2J red\u202e apples"})
    with scripted.serving(lambda asked: says(text)) as server:
        result = tstmeta(*words(server))
    signs = set(result.stdout + result.stderr) - {"\n", "\r"}
    assert not signs & {chr(code) for code in _ESCAPES}
