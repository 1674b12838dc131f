"""Croissant 1.0 (mlcommons.org/croissant): a folder of Parquet files described in JSON-LD."""

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

#: The context that the specification gives (mlcommons.org/croissant/1.0, "Context").
_CROISSANT = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject"),
    *("fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField"),
    *("path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
    *("separator", "source", "subField", "transform"),
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{name: f"cr:{name}" for name in _CROISSANT},
}


def describe(folder: Path, **about: str) -> dict[str, Any]:
    """The description of the Parquet files in a folder: their hashes, a record set each.

    Args:
        about: ``name``, ``description``, ``license``, ``url``, ``citeAs``, ...; empty ones are
            left out.
    """
    files = sorted(folder.glob("*.parquet"))
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **{key: text for key, text in about.items() if text},
        "distribution": [_file(path) for path in files],
        "recordSet": [_records(path) for path in files],
    }


def _file(path: Path) -> dict[str, str]:
    content = path.read_bytes()
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "contentSize": f"{len(content)} B",
        "encodingFormat": "application/x-parquet",
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _records(path: Path) -> dict[str, Any]:
    """A record set: a field a column."""
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{path.stem}/{column.name}",
            "name": column.name,
            "dataType": _kind(column.type),
            "source": {"fileObject": {"@id": path.name}, "extract": {"column": column.name}},
            **({"repeated": True} if pa.types.is_list(column.type) else {}),
        }
        for column in pq.read_schema(path)
    ]
    return {"@type": "cr:RecordSet", "@id": path.stem, "name": path.stem, "field": fields}


def _kind(column: pa.DataType) -> str:
    for test, name in ((pa.types.is_boolean, "Boolean"), (pa.types.is_integer, "Integer")):
        if test(column):
            return f"sc:{name}"
    return "sc:Float" if pa.types.is_floating(column) else "sc:Text"
