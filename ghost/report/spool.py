"""Rows on their way into a table: kept on disk, so that memory does not grow with a recording.

Columns may appear late (the first command of another level) and change their kind (a None before
the first number). They are settled when all rows are known.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from ghost.report.flatten import Scalar

__all__ = ["BulkSpool", "Spool"]

_BLOCK = 4096
_INT64 = range(-(2**63), 2**63)


class Spool:
    """The rows of one table. Close it when the table is written."""

    def __init__(self) -> None:
        self.count = 0
        self._kinds: dict[str, str] = {}
        self._seen: dict[str, int] = {}
        self._block: list[dict[str, Scalar]] = []
        self._file = TemporaryFile(prefix="ghost-export-")  # noqa: SIM115 - closed by close()

    def add(self, row: dict[str, Scalar]) -> None:
        """Append a row."""
        kinds, seen = self._kinds, self._seen
        for name, value in row.items():
            kind = _kind(value)
            known = kinds.get(name)
            if known is None:
                kinds[name], seen[name] = kind, 0
            elif known != kind:
                kinds[name] = _wider(known, kind)
            if value is not None:
                seen[name] += 1
        self.count += 1
        self._block.append(row)
        if len(self._block) >= _BLOCK:
            self._flush()

    @property
    def columns(self) -> dict[str, str]:
        """Name to kind: `bool`, `int`, `float` or `text`; all None counts as float."""
        return {name: "float" if kind == "none" else kind for name, kind in self._kinds.items()}

    def complete(self, name: str) -> bool:
        """Tell whether every row has a value in this column."""
        return self._seen[name] == self.count

    def blocks(self) -> Iterator[list[dict[str, Scalar]]]:
        """Yield all rows, some thousands at a time."""
        self._flush()
        self._file.seek(0)
        while True:
            try:
                # Only what this process wrote a moment ago, into a file without a name.
                yield pickle.load(self._file)
            except EOFError:
                return

    def close(self) -> None:
        """Give the disk space back."""
        self._file.close()

    def _flush(self) -> None:
        if self._block:
            self._file.seek(0, 2)
            pickle.dump(self._block, self._file, pickle.HIGHEST_PROTOCOL)
            self._block = []


class BulkSpool:
    """One bulk array of a topic: all frames, or all points of all scans."""

    def __init__(self) -> None:
        self.shapes: list[tuple[int, ...]] = []
        self.dtype: np.dtype[Any] | None = None
        self._file = TemporaryFile(prefix="ghost-export-")  # noqa: SIM115 - closed by close()

    def add(self, array: npt.NDArray[Any]) -> None:
        """Append one message's array."""
        if self.dtype is None:
            self.dtype = array.dtype
        self.shapes.append(array.shape)
        self._file.write(array.astype(self.dtype, copy=False).tobytes())

    def shape(self) -> tuple[int, ...] | None:
        """Return the shape of the stack; None if the frames have different sizes."""
        first = self.shapes[0]
        if all(shape == first for shape in self.shapes):
            return (len(self.shapes), *first)
        return None

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of all arrays in order."""
        self._file.seek(0)
        while piece := self._file.read(1 << 20):
            yield piece

    def close(self) -> None:
        """Give the disk space back."""
        self._file.close()


def _kind(value: Scalar) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if value in _INT64 else "text"
    return "float" if isinstance(value, float) else "text"


def _wider(a: str, b: str) -> str:
    """The kind that holds both; a flag beside a number is a text, since no column means both."""
    if "none" in (a, b):
        return a if b == "none" else b
    return "float" if {a, b} == {"int", "float"} else "text"
