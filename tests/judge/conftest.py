"""What tests of the judge share: no key of the machine's, and retries that follow at once."""

import pytest


@pytest.fixture(autouse=True)
def no_key_of_the_machine(monkeypatch: pytest.MonkeyPatch, quick_retries: None) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
