"""What others borrow is found in one place."""

import importlib
import pkgutil
import types

import pytest

from tstmeta import stats


@pytest.mark.parametrize("name", stats.__all__)
def test_every_name_is_there_and_is_no_module(name):
    assert not isinstance(getattr(stats, name), types.ModuleType)


def test_no_name_hides_a_module():
    modules = {one.name for one in pkgutil.iter_modules(stats.__path__)}
    assert not modules & set(stats.__all__)
    for name in ("intervals", "ranks"):  # called like their modules
        assert callable(getattr(importlib.import_module(f"tstmeta.stats.{name}"), name))
