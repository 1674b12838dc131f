"""What tests of the judge share: no key of the machine's, and retries that follow at once."""

from collections.abc import Iterator
from contextlib import suppress

import pytest


@pytest.fixture(autouse=True)
def no_key_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture(scope="session", autouse=True)
def quick_retries() -> Iterator[None]:
    """The client's own retries, thousandths of a second apart."""
    with pytest.MonkeyPatch.context() as patch:
        with suppress(ImportError):
            patch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)
        yield
