"""A recording as tables: one for each topic, and images and points beside them (`ghost export`)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ghost.core import ConfigError
from ghost.hal import SensorSample
from ghost.report.flatten import bulk_of, flatten
from ghost.report.needs import need
from ghost.report.spool import BulkSpool, Spool
from ghost.report.survey import Row
from ghost.report.tables import FORMATS, as_png, write_bulk

__all__ = ["Exported", "ImageForm", "TableForm", "export"]

TableForm = Literal["csv", "parquet", "npz"]
ImageForm = Literal["npz", "png", "none"]


@dataclass(frozen=True, slots=True)
class Exported:
    """One file, or one folder of images, that was written."""

    topic: str
    path: Path
    rows: int
    columns: int
    """0 for images and points."""


@dataclass(slots=True)
class _Topic:
    name: str
    spool: Spool = field(default_factory=Spool)
    bulk: dict[str, BulkSpool] = field(default_factory=dict)
    stamps_ns: list[int] = field(default_factory=list)
    images: int = 0
    folder: Path | None = None

    def close(self) -> None:
        self.spool.close()
        for bulk in self.bulk.values():
            bulk.close()


def export(
    rows: Iterable[Row], folder: Path, form: TableForm, *, images: ImageForm = "npz"
) -> list[Exported]:
    """Write one table for each topic into `folder`, which is made if it is not there.

    Columns are the fields of the message (`flatten`), with `stamp_sim_ns` first. Pixels and points
    go to `<topic>.images.npz` and `<topic>.points.npz` (`write_bulk`); with `images="png"` each
    frame is a file of its own, depth in whole millimetres; with `none` they are left out. Rows wait
    on the disk for their table, never in memory.

    Raises `MissingDependency` if the format's library is not installed, and `ConfigError` if
    something cannot be written there.
    """
    if form == "parquet":
        need("pyarrow.parquet", extra="export", needed_for="--to parquet")
    topics: dict[str, _Topic] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            for name, stamp_ns, _sequence, message in rows:
                topic = topics.get(name)
                if topic is None:
                    topic = topics[name] = _Topic(name)
                    stack.callback(topic.close)
                row = flatten(message)
                topic.spool.add({"stamp_sim_ns": stamp_ns, **row})
                if images != "none":
                    _take_bulk(topic, folder, stamp_ns, message, images)
            return [done for topic in topics.values() for done in _write(topic, folder, form)]
    except OSError as error:
        where = error.filename or folder
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot be written: {reason}", file=str(where)) from error


def _take_bulk(topic: _Topic, folder: Path, stamp_ns: int, message: Any, images: ImageForm) -> None:
    arrays = bulk_of(message)
    if not arrays:
        return
    topic.stamps_ns.append(stamp_ns)
    for name, array in arrays.items():
        if images == "png" and name in ("image", "depth_m"):
            if topic.folder is None:
                topic.folder = folder / _file_name(topic.name)
                topic.folder.mkdir(exist_ok=True)
            number = message.seq if isinstance(message, SensorSample) else topic.images
            (topic.folder / f"{number:06d}_{stamp_ns}.png").write_bytes(as_png(array))
            topic.images += 1
        else:
            if name not in topic.bulk:
                topic.bulk[name] = BulkSpool()
            topic.bulk[name].add(array)


def _write(topic: _Topic, folder: Path, form: TableForm) -> list[Exported]:
    ending, write = FORMATS[form]
    name = _file_name(topic.name)
    path = folder / (name + ending)
    write(path, topic.spool)
    done = [Exported(topic.name, path, topic.spool.count, len(topic.spool.columns))]
    if topic.bulk:
        what = "images" if {"image", "depth_m"} & topic.bulk.keys() else "points"
        path = folder / f"{name}.{what}.npz"
        write_bulk(path, topic.bulk, topic.stamps_ns)
        done.append(Exported(topic.name, path, len(topic.stamps_ns), 0))
    if topic.folder is not None:
        done.append(Exported(topic.name, topic.folder, topic.images, 0))
    return done


def _file_name(topic: str) -> str:
    """`/sensors/imu0` is `sensors_imu0`; what no file system likes becomes `_`."""
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in topic.strip("/"))
    return name.lstrip(".") or "root"
