import pytest

from tests.command import command_line


@pytest.fixture
def tstmeta(tmp_path, monkeypatch):
    """Run a command on a machine without raw data and with a score store of its own."""
    return command_line(tmp_path, monkeypatch)
