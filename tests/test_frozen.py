"""Evaluations that must not move, where the frozen files are; the ledger's cells: test_ledger."""

import pytest

from tests.helpers import ROOT, python

CHECK = ROOT.parent / "shared" / "tools" / "frozen.py"
ACCEPTED = ROOT / "tests" / "frozen" / "accepted.csv"
#: Its quick part but for mir, of which all metrics would be scored anew.
QUICK = "import frozen as f; f.ASKED = [a for a in f.ASKED[::7] if a[0] != 'mir']; "
QUICK += "assert len(f.ASKED) == 3; f.main()"
ALL = pytest.param([CHECK], marks=pytest.mark.nightly)


@pytest.mark.timeout(3600)
@pytest.mark.skipif(not CHECK.is_file(), reason="the frozen files are not beside the checkout")
@pytest.mark.parametrize("command", [["-c", QUICK], ALL])
def test_nothing_that_is_frozen_has_moved(command):
    words = [*command, *["--only", "evaluate"] * (QUICK in command)]
    python(*words, cwd=ROOT, env={"PYTHONPATH": str(CHECK.parent)})
