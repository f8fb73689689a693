"""Named targets: NVIDIA's products by the names that people know, read from `products.tsv`.

A product's figures are what differs between products of one architecture; the rest follows from the architecture
(`capabilities.py`). The published names (`nvidia/geforce-gtx-480`) all stand here, however old.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pkgutil import get_data

from tirx.target import TargetTag

__all__ = ["TAGS", "records"]

KIB = 1024
# column of the table -> attribute of the target, factor
_FIGURES = {
    "multiprocessors": ("multiprocessors", 1),
    "l2": ("l2_cache_size_bytes", KIB),
    "bandwidth": ("memory_bandwidth", 1),
}


def records(name: str) -> Iterator[dict[str, str]]:
    """The lines of a table by the names of its columns."""
    text = (get_data("tirx_cuda", name) or b"").decode("utf-8")
    lines = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return (dict(zip(lines[0], line, strict=True)) for line in lines[1:])


def _tag(row: Mapping[str, str], documents: Mapping[str, str]) -> TargetTag:
    figures = {key: int(row[column]) * unit for column, (key, unit) in _FIGURES.items() if row[column]}
    tensor = {"tensor_core_dtypes": ()} if row["tensor"] == "none" else {}
    sources = [
        f"{column}: {documents[row[f'{column}_source']]}" for column in ("arch", *_FIGURES) if row[f"{column}_source"]
    ]
    return TargetTag(
        f"nvidia/{row['name']}", "cuda", {"arch": row["arch"], **figures, **tensor}, source="; ".join(sources)
    )


def _tags() -> Iterator[TargetTag]:
    documents = {row["key"]: row["document"] for row in records("products_sources.tsv")}
    return (_tag(row, documents) for row in records("products.tsv"))


TAGS = tuple(_tags())
