"""What a recording says about how it was made, as texts of JSON."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

import numpy as np

from ghost import __version__
from ghost.hal import HAL_PROTOCOL_VERSION
from ghost.recording.schema import FORMAT_VERSION

__all__ = ["as_json_values", "installed_version", "versions"]

_PACKAGES = ("numpy", "mcap", "protobuf", "zstandard", "foxglove-schemas-protobuf")


@lru_cache(maxsize=64)
def installed_version(package: str) -> str:
    """Return the version of an installed package; `PackageNotFoundError` if it is none.

    `importlib.metadata.version` parses the whole metadata, the package's description among them:
    1 ms a package, which a short run would notice.
    """
    found = distribution(package)
    for line in (found.read_text("METADATA") or "").splitlines():
        name, _, value = line.partition(":")
        if name.lower() == "version":
            return value.strip()
        if not line:
            break
    return found.version


def versions() -> dict[str, str]:
    """Return the versions that matter to a reader, as metadata."""
    packages = {}
    for name in _PACKAGES:
        try:
            packages[name] = installed_version(name)
        except PackageNotFoundError:  # vendored without its metadata
            packages[name] = "unknown"
    return as_json_values(
        {
            "format": FORMAT_VERSION,
            "ghost": __version__,
            "hal": HAL_PROTOCOL_VERSION,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "packages": packages,
        }
    )


def as_json_values(values: Mapping[str, object]) -> dict[str, str]:
    """Return each value as JSON; `TypeError` naming the key of one that is no plain data."""
    out = {}
    for name, value in values.items():
        try:
            out[name] = json.dumps(_plain(value), ensure_ascii=False, sort_keys=False)
        except (TypeError, ValueError) as error:
            raise TypeError(f"metadata[{name!r}]: {error}") from error
    return out


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"a {type(value).__name__} is no plain data")
