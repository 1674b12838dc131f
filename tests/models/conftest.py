"""Engines that several modules of tests use, made once."""

import pytest
import torch

from tests.models import tiny


@pytest.fixture(scope="session", autouse=True)
def single_thread():
    """Tiny matrices gain nothing from threads, and sums in another order are other bytes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session", params=tiny.KINDS)
def kind(request):
    return request.param
