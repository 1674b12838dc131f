"""Trainings of tiny models: one thread, as in the tests of models."""

from tests.models.conftest import single_thread  # noqa: F401
