"""The command advise: what it prints, for people and for programs."""

import json

import pytest

import tstmeta as tst
from tests.command import command_line, table
from tstmeta.analysis import advice


@pytest.fixture
def tstmeta(tmp_path, monkeypatch):
    """Run a command on a machine without raw data, with advice on metrics of words alone."""
    some = "metric in ['chrf', 'bleu', 'ter']"
    monkeypatch.setattr(advice, "verdicts", lambda *about: tst.verdicts(*about).query(some))
    return command_line(tmp_path, monkeypatch)


def test_a_task_alone_gets_a_plain_table_with_sets_and_notes(tstmeta):
    shown = tstmeta("advise", "--task", "Formality", "--dimension", "content")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "\x1b" not in shown.stdout
    assert "strap@formality" in shown.stdout
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("content: ")
    assert max(map(len, lines)) <= advice.WIDTH
    assert ["dimension", "metric", "basis", "verdict", "expected"] in [s.split()[:5] for s in lines]


def test_a_file_is_described_and_its_references_are_used(tstmeta):
    words = ("advise", "--data", "mine.csv", "--task", "formality", "--dimension", "content")
    rows = table(tstmeta(*words, "--format", "csv"))
    assert list(rows.columns) == advice.COLUMNS
    assert set(rows["basis"]) == {"source", "reference"}
    described = [line.split() for line in tstmeta(*words).stdout.splitlines()]
    facts = [["task", "formality"], ["language", "en"], ["items", "4"], ["sources", "4"]]
    assert [line for line in described if line in facts] == facts


def test_json_is_rows_alone_and_notes_stand_beside(tstmeta):
    shown = tstmeta("advise", "--language", "sw", "--dimension", "content", "-f", "json")
    assert {row["verdict"] for row in json.loads(shown.stdout)} == {"unknown"}
    assert "Nothing is known of content for sw" in shown.stderr
    assert "Rate first content of " in shown.stderr
