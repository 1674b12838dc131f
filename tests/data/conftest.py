"""Files of one's own, as tests write them."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """Write a file of any kind and give its path; None is no file."""

    def make(content, name: str = "mine.csv") -> Path:
        path = tmp_path / name
        if isinstance(content, pd.DataFrame):
            content.to_parquet(path, index=False)
        elif isinstance(content, pa.Table):
            pq.write_table(content, path)
        elif isinstance(content, str):
            path.write_bytes(content.encode("utf-8", "surrogateescape"))
        elif content is not None:
            path.write_bytes(content)
        return path

    return make
