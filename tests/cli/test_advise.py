"""The command advise: what it prints, for people and for programs."""

import json

import pytest

import tstmeta as tst
from tests.command import table
from tstmeta.analysis import advice


@pytest.fixture(autouse=True)
def metrics_of_words_alone(monkeypatch):
    some = "metric in ['chrf', 'bleu', 'ter']"
    monkeypatch.setattr(advice, "verdicts", lambda *about: tst.verdicts(*about).query(some))


def test_a_task_alone_gets_a_plain_table_with_sets_and_notes(tstmeta):
    shown = tstmeta("advise --task Formality --dimension content")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "\x1b" not in shown.stdout
    assert "strap@formality" in shown.stdout
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("content: ")
    assert max(map(len, lines)) <= advice.WIDTH
    assert ["dimension", "metric", "basis", "verdict", "expected"] in [s.split()[:5] for s in lines]


def test_a_file_is_described_and_its_references_are_used(tstmeta):
    command = "advise --data mine.csv --task formality --dimension content"
    rows = table(tstmeta(f"{command} --format csv"))
    assert list(rows.columns) == advice.COLUMNS
    assert set(rows["basis"]) == {"source", "reference"}
    described = [line.split() for line in tstmeta(command).stdout.splitlines()]
    facts = [["task", "formality"], ["language", "en"], ["items", "4"], ["sources", "4"]]
    assert [line for line in described if line in facts] == facts


def test_json_is_rows_alone_and_notes_stand_beside(tstmeta):
    shown = tstmeta("advise --language sw --dimension content -f json")
    assert {row["verdict"] for row in json.loads(shown.stdout)} == {"unknown"}
    assert "Nothing is known of content for sw" in shown.stderr
    assert "Rate first content of " in shown.stderr
