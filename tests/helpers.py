"""What several test modules share."""

import pytest

from tstmeta import data


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip a test, with the reason, when the raw files of a data set are not on this machine."""
    missing = [name for name in names if not data.has_texts(name)]
    return pytest.mark.skipif(
        bool(missing),
        reason=f"raw data not on this machine: {', '.join(missing)} (tstmeta data fetch)",
    )
