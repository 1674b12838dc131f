"""Evaluations that must not move, where the frozen files are; the ledger's cells: test_ledger."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHECK = ROOT.parent / "shared" / "tools" / "frozen.py"
ACCEPTED = ROOT / "tests" / "frozen" / "accepted.csv"


@pytest.mark.skipif(not CHECK.is_file(), reason="the frozen files are not beside the checkout")
def test_no_frozen_evaluation_has_moved():
    command = [sys.executable, str(CHECK), "--quick", "--only", "evaluate"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=550)
    assert done.returncode == 0, done.stdout + done.stderr
