"""The public API: what a notebook imports."""

import pytest

import tstmeta as tst
from tests.helpers import python


@pytest.mark.parametrize("name", tst.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert name == "SENTINELS" or (getattr(tst, name).__doc__ or "").strip()
    assert name in dir(tst)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'tstmeta' has no attribute 'nothing'"):
        tst.nothing  # noqa: B018


def test_importing_the_package_imports_nothing_slow():
    program = (
        "import sys, tstmeta, tstmeta.likelihood\n"
        "tstmeta.load, tstmeta.correlate, tstmeta.metrics\n"
        "print([name for name in ('torch', 'transformers', 'matplotlib', 'openai', 'nltk')"
        " if name in sys.modules])"
    )
    assert python("-c", program, timeout=120).stdout.strip() == "[]"
