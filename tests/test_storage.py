"""Files that survive a kill, and locks."""

import subprocess
import sys
from pathlib import Path

import pytest

from tstmeta.schema import TstmetaError
from tstmeta.storage import locked, replacing, write


def test_a_file_is_written_whole_or_stays_as_it_was(tmp_path):
    path = tmp_path / "deep" / "file"
    write(path, "first")
    with pytest.raises(UnicodeEncodeError), replacing(path) as draft:
        draft.write_text("half \ud800", encoding="utf-8")
    assert path.read_text() == "first"
    write(path, b"second")
    assert path.read_text() == "second"
    assert [file.name for file in path.parent.iterdir()] == ["file"]


def test_a_file_or_a_lock_that_cannot_be_made_is_named_with_a_remedy(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(TstmetaError, match=r"cannot write .*file/x: .* Remedy: see that there is"):
        write(tmp_path / "file" / "x", "text")
    with pytest.raises(TstmetaError, match=r"cannot write .*x.lock: .*/file is a folder"):
        locked(tmp_path / "file" / "x.lock").__enter__()
    with pytest.raises(TstmetaError, match=r"cannot write .*folder: .* Remedy"):
        locked(tmp_path / "folder").__enter__()


@pytest.mark.parametrize("name", [".", "half \udcff"])
def test_a_name_that_is_none_is_refused_and_leaves_nothing(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TstmetaError, match=r"cannot write (\.|half)"):
        write(Path(name), "text")
    assert list(tmp_path.iterdir()) == []


HOLD = "import sys\nfrom pathlib import Path\nfrom tstmeta.storage import locked\n" + (
    "with locked(Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()\n"
)


def test_a_lock_keeps_another_process_out_and_goes_with_its_holder(tmp_path):
    lock = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(TstmetaError, match="another run is at work"), locked(lock, timeout=0):
            pass
        holder.kill()
    with locked(lock, timeout=5):
        pass
