"""Parts of a run in a folder: complete or absent, and known again."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .. import storage
from ..schema import TstmetaError


class PartFolder:
    """The folder of a run's parts, whose names begin with ``part-`` and the run's key.

    Where the target is a Parquet file, the folder stands beside it until that is written.

    Raises:
        TstmetaError: it is an address, or holds something else.
    """

    def __init__(self, target: str, key: str):
        if "://" in target:
            raise TstmetaError("--out is an address. Remedy: name a folder here, and copy it")
        self._target, self._to_file = Path(target), target.lower().endswith(".parquet")
        self.folder = Path(f"{target}.parts") if self._to_file else self._target
        self._there = {path.name for path in self.folder.glob("[!.]*")}
        if any(not name.startswith(f"part-{key}-") for name in self._there):
            raise TstmetaError(
                f"{target} holds something else than parts of this run (another file, other "
                "metrics, or an earlier version). Remedy: name another folder with --out, or "
                "delete this one"
            )

    def finish(self, names: Sequence[str], facts: dict[str, Any]) -> None:
        """Delete parts of rows that have changed, and put the others together in the file."""
        for name in self._there.difference(names):
            (self.folder / name).unlink()
        if not self._to_file:
            return
        metadata = {"tstmeta": json.dumps(facts)}
        schema = pq.read_schema(self.folder / names[0]).with_metadata(metadata)
        with storage.replacing(self._target) as draft, pq.ParquetWriter(draft, schema) as writer:
            for name in names:
                writer.write_table(pq.read_table(self.folder / name))
        if not any(facts["groups"]["errors"]):
            shutil.rmtree(self.folder)


def facts_in(path: Path) -> dict[str, Any] | None:
    """The facts in a file; None if it is not there, damaged, or has errors: then it is computed."""
    try:
        facts = json.loads(pq.read_schema(path).metadata[b"tstmeta"])
        return None if any(facts["groups"]["errors"]) else facts
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError):
        return None
