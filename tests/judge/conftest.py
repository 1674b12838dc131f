"""What tests of the judge share: no key of the machine's, and short names."""

import pytest


@pytest.fixture(autouse=True)
def no_key_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
