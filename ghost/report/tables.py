"""Tables on disk: CSV by the standard library, NPZ by numpy, Parquet by pyarrow."""

from __future__ import annotations

import csv
import io
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ghost.report.flatten import Scalar
from ghost.report.needs import need
from ghost.report.spool import BulkSpool, Spool

__all__ = ["FORMATS", "as_png", "write_bulk", "write_csv", "write_npz", "write_parquet"]

_DTYPES: Mapping[str, Any] = {"bool": np.bool_, "int": np.int64, "float": np.float64}


def write_csv(path: Path, spool: Spool) -> None:
    """One header line, then one line for each row. Floats have all their digits; None is empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        columns = list(spool.columns)
        writer.writerow(columns)
        for block in spool.blocks():
            writer.writerows([[_cell(row.get(name)) for name in columns] for row in block])


def _cell(value: Scalar) -> Scalar:
    # As Python's float() and pandas read it; csv writes repr, which is exact.
    return ("true" if value else "false") if isinstance(value, bool) else value


def write_parquet(path: Path, spool: Spool) -> None:
    """One file, Snappy-compressed; None is null, and stamps are int64."""
    arrow = need("pyarrow", extra="export", needed_for="--to parquet")
    parquet = need("pyarrow.parquet", extra="export", needed_for="--to parquet")
    types = {
        "bool": arrow.bool_(),
        "int": arrow.int64(),
        "float": arrow.float64(),
        "text": arrow.string(),
    }
    schema = arrow.schema([(name, types[kind]) for name, kind in spool.columns.items()])
    with parquet.ParquetWriter(str(path), schema) as writer:
        for block in spool.blocks():
            columns = [
                arrow.array([_typed(row.get(name), kind) for row in block], types[kind])
                for name, kind in spool.columns.items()
            ]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))


def _typed(value: Scalar, kind: str) -> Scalar:
    if value is None or kind in ("bool", "int"):
        return value
    return float(value) if kind == "float" else str(value)


def write_npz(path: Path, spool: Spool) -> None:
    """One array for each column. A number that is missing is NaN, so its column is float64."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, kind in spool.columns.items():
            if kind == "text":
                values = (str(v) if v is not None else "" for v in _column(spool, name))
                size = max((len(value) for value in values), default=0)
                dtype: np.dtype[Any] = np.dtype(f"<U{max(1, size)}")
                empty: Any = ""
            elif kind == "bool" and not spool.complete(name):
                dtype, empty = np.dtype(np.float64), math.nan
            elif spool.complete(name):
                dtype, empty = np.dtype(_DTYPES[kind]), None
            else:
                dtype, empty = np.dtype(np.float64), math.nan
            pieces = (
                np.array(
                    [empty if (v := row.get(name)) is None else _typed(v, kind) for row in block],
                    dtype,
                ).tobytes()
                for block in spool.blocks()
            )
            _npy(archive, name, dtype, (spool.count,), pieces)


def _column(spool: Spool, name: str) -> Iterator[Scalar]:
    for block in spool.blocks():
        for row in block:
            yield row.get(name)


def write_bulk(path: Path, arrays: Mapping[str, BulkSpool], stamps_ns: Iterable[int]) -> None:
    """Stack the frames of a camera, or the points of all scans, into one NPZ.

    Frames of one size are `(n, …)`. What differs in length (points, camera events) is joined along
    its first axis, and scan `i` is `name[offsets[i]:offsets[i + 1]]` with `name_offsets`.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        stamps = np.array(list(stamps_ns), np.int64)
        _npy(archive, "stamp_sim_ns", stamps.dtype, stamps.shape, [stamps.tobytes()])
        for name, spool in arrays.items():
            assert spool.dtype is not None
            shape = spool.shape()
            if shape is None or len(shape) < 3 or name == "points_m":
                lengths = [s[0] if s[1:] == spool.shapes[0][1:] else -1 for s in spool.shapes]
                if min(lengths) < 0:  # images that changed their size: rows of numbers
                    lengths = [math.prod(s) for s in spool.shapes]
                    sizes = np.array(spool.shapes, np.int64)
                    _npy(archive, f"{name}_shapes", sizes.dtype, sizes.shape, [sizes.tobytes()])
                    shape = (sum(lengths),)
                else:
                    shape = (sum(lengths), *spool.shapes[0][1:])
                offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
                _npy(archive, f"{name}_offsets", offsets.dtype, offsets.shape, [offsets.tobytes()])
            _npy(archive, name, spool.dtype, shape, spool.pieces())


def _npy(
    archive: zipfile.ZipFile,
    name: str,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    pieces: Iterable[bytes],
) -> None:
    """Write one array as `numpy.savez` does, but piece by piece."""
    head = io.BytesIO()
    np.lib.format.write_array_header_2_0(
        head,
        {
            "descr": np.lib.format.dtype_to_descr(dtype),
            "fortran_order": False,
            "shape": shape,
        },
    )
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        file.write(head.getvalue())
        for piece in pieces:
            file.write(piece)


FORMATS: Mapping[str, tuple[str, Callable[[Path, Spool], None]]] = {
    "csv": (".csv", write_csv),
    "parquet": (".parquet", write_parquet),
    "npz": (".npz", write_npz),
}
"""Name of a format to the ending of its files and what writes them."""


def as_png(array: npt.NDArray[Any]) -> bytes:
    """Return an image as a PNG file: colour as it is, depth in whole millimetres (0: nothing)."""
    from PIL import Image

    if array.dtype == np.uint8:
        picture = Image.fromarray(array)
    else:
        mm = np.nan_to_num(array.astype(np.float64) * 1000.0, nan=0.0, posinf=0.0, neginf=0.0)
        picture = Image.fromarray(np.clip(np.rint(mm), 0, 65535).astype(np.uint16))
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()
