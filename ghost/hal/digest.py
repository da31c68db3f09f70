"""Fingerprints of messages and of whole runs (D11, D22).

`canonical_bytes` writes a message so that two messages have the same bytes exactly when they carry
the same data. Every value starts with a tag of one byte and says its own length, so nothing can be
read in two ways, and messages written one after the other stay apart. Integers are little-endian.

| tag | value | what follows |
|---|---|---|
| `N` `T` `F` | None, True, False | nothing |
| `i` | int within 64 bits | int64 |
| `I` | any other int | uint32 length, two's complement |
| `f` | float | IEEE double; every NaN is written as the one quiet NaN |
| `s` `b` | str (UTF-8), bytes | uint32 length, bytes |
| `e` | enum member | class name (as `s`), its value |
| `t` | tuple or list | uint32 count, the items |
| `m` | mapping | uint32 count, pairs of key and value, ordered by the bytes of the key |
| `a` | array | dtype (as `s`, little-endian), uint32 dimensions, each as uint64, data in C order |
| `d` | dataclass | class name (as `s`), uint32 count, the fields in order |

`stamp_wall_ns` is left out of every dataclass: it is for debugging and differs between runs (D7).
Scalars of numpy are written like the Python number of the same value. 0.0 and −0.0 are two values.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from operator import attrgetter
from struct import Struct
from struct import error as StructError
from typing import Any

import numpy as np
import numpy.typing as npt

from ghost.hal.sensor import SensorMeta

__all__ = ["RunDigest", "canonical_bytes", "digest"]

_LEFT_OUT = frozenset({"stamp_wall_ns"})
_NAN_BYTES = b"f\x00\x00\x00\x00\x00\x00\xf8\x7f"
_SHORT = 32
"""Below this size Python looks for a NaN in a list faster than numpy in an array."""
_MEMO_SIZE = 1024
_LITTLE = sys.byteorder == "little"

_Encoder = Callable[[Any], bytes]

_count = Struct("<I").pack
_int64 = Struct("<cq").pack
_double = Struct("<cd").pack


def canonical_bytes(message: object) -> bytes:
    """Return `message` (a dataclass, or any value the table above names) in canonical form.

    Raises `TypeError` naming the class of a value that has none, such as an object put into
    `extensions`.
    """
    return _ENCODERS[type(message)](message)


def digest(message: object) -> str:
    """Return the SHA-256 of `canonical_bytes(message)` as 64 hexadecimal digits."""
    return hashlib.sha256(_ENCODERS[type(message)](message)).hexdigest()


class RunDigest:
    """The fingerprint of a sequence of messages: every sample, truth and ack of a run, in order."""

    __slots__ = ("_hash", "_update", "count")

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._update = self._hash.update
        self.count = 0
        """How many messages were added."""

    def update(self, message: object) -> None:
        """Add the next message. Raises like `canonical_bytes`, and then adds nothing."""
        self._update(_ENCODERS[type(message)](message))
        self.count += 1

    def hexdigest(self) -> str:
        """Return the fingerprint so far as 64 hexadecimal digits; more may be added afterwards."""
        return self._hash.hexdigest()


def _none(_value: None) -> bytes:
    return b"N"


def _bool(value: object) -> bytes:
    return b"T" if value else b"F"


def _int(value: int) -> bytes:
    try:
        return _int64(b"i", value)
    except StructError:
        size = value.bit_length() // 8 + 1
        return b"I" + _count(size) + value.to_bytes(size, "little", signed=True)


def _float(value: float) -> bytes:
    # NaN is the one value unequal to itself, and this is several times faster than math.isnan
    return _double(b"f", value) if value == value else _NAN_BYTES


def _str(value: str) -> bytes:
    try:
        data = value.encode()
    except UnicodeEncodeError:  # a lone surrogate, as from a file name that is not UTF-8
        data = value.encode("utf-8", "surrogatepass")
    return b"s" + _count(len(data)) + data


def _bytes(value: bytes) -> bytes:
    return b"b" + _count(len(value)) + bytes(value)


def _sequence(value: tuple[object, ...] | list[object]) -> bytes:
    encoders = _ENCODERS
    items = [encoders[type(item)](item) for item in value]
    return b"t" + _count(len(items)) + b"".join(items)


def _mapping(value: Mapping[object, object]) -> bytes:
    encoders = _ENCODERS
    pairs = [(encoders[type(key)](key), encoders[type(item)](item)) for key, item in value.items()]
    pairs.sort()
    return b"m" + _count(len(pairs)) + b"".join([key + item for key, item in pairs])


def _array(value: npt.NDArray[Any]) -> bytes:
    dtype = value.dtype
    if dtype is _FLOAT64 and value.ndim == 1 and value.size < _SHORT:
        # The vectors of every sample and truth. A NaN anywhere makes the sum NaN, and so do
        # infinities of both signs, which then only take the longer way.
        numbers = value.tolist()
        total = sum(numbers)
        if total == total:
            return _VECTOR_HEADS[len(numbers)] + value.tobytes()
    if dtype.kind == "f" and (missing := np.isnan(value)).any():
        value = np.where(missing, dtype.type(np.nan), value)
    return _array_head(dtype, value.shape) + _array_data(dtype, value)


def _array_data(dtype: np.dtype[Any], value: npt.NDArray[Any]) -> bytes:
    if dtype.isnative and _LITTLE:
        return value.tobytes()
    return value.astype(dtype.newbyteorder("<")).tobytes()


@lru_cache(maxsize=_MEMO_SIZE)
def _array_head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise TypeError(f"an array of {dtype} has no canonical form")
    sizes = Struct(f"<{len(shape)}Q").pack(*shape)
    return b"a" + _str(dtype.newbyteorder("<").str) + _count(len(shape)) + sizes


def _number_of_numpy(value: np.generic) -> bytes:
    plain = value.item()
    if isinstance(plain, np.generic):  # longdouble: no Python number holds it
        raise TypeError(f"a {type(value).__name__} has no canonical form")
    return _ENCODERS[type(plain)](plain)


def _enum_encoder(cls: type[Enum]) -> _Encoder:
    head = b"e" + _str(cls.__name__)
    # Hashing a member calls Python code; its identity does not, and members live as long as cls.
    by_id = {id(member): head + _ENCODERS[type(member.value)](member.value) for member in cls}

    def encode(value: Enum) -> bytes:
        data = by_id.get(id(value))
        if data is None:  # a combination of flags
            data = head + _ENCODERS[type(value.value)](value.value)
        return data

    return encode


def _dataclass_encoder(cls: type[Any]) -> _Encoder:
    names = [field.name for field in fields(cls) if field.name not in _LEFT_OUT]
    head = b"d" + _str(cls.__name__) + _count(len(names))
    encoders = _ENCODERS
    if len(names) < 2:  # attrgetter gives a tuple only for two names and more

        def encode_short(message: object) -> bytes:
            values = [getattr(message, name) for name in names]
            return head + b"".join([encoders[type(value)](value) for value in values])

        return encode_short
    values_of = attrgetter(*names)

    def encode(message: object) -> bytes:
        return head + b"".join([encoders[type(value)](value) for value in values_of(message)])

    return encode


def _meta_encoder() -> _Encoder:
    """Every sample of a sensor carries the same `SensorMeta`: remember its bytes by identity.

    Each remembered object is held, so that its identity cannot pass to another, and it cannot
    change: it is frozen, and one with more than plain values in `extensions` is not remembered.
    """
    encode = _dataclass_encoder(SensorMeta)
    memo: dict[int, tuple[SensorMeta, bytes]] = {}

    def encode_once(meta: SensorMeta) -> bytes:
        found = memo.get(id(meta))
        if found is not None:
            return found[1]
        data = encode(meta)
        if all(type(value) in _PLAIN for value in meta.extensions.values()):
            if len(memo) >= _MEMO_SIZE:
                memo.clear()
            memo[id(meta)] = (meta, data)
        return data

    return encode_once


def _build(cls: type[Any]) -> _Encoder:
    if is_dataclass(cls):
        return _meta_encoder() if cls is SensorMeta else _dataclass_encoder(cls)
    if issubclass(cls, Enum):
        return _enum_encoder(cls)
    if issubclass(cls, np.generic):
        return _number_of_numpy
    for base, encoder in _BASES:
        if issubclass(cls, base):
            return encoder
    raise TypeError(f"{cls.__module__}.{cls.__qualname__} has no canonical form")


class _Encoders(dict[type[Any], _Encoder]):
    """_Encoder by class, built at first use; a pure function of the class."""

    def __missing__(self, cls: type[Any]) -> _Encoder:
        encoder = self[cls] = _build(cls)
        return encoder


_PLAIN = frozenset({type(None), bool, int, float, str, bytes})
# Order matters below: bool is an int. Subclasses are written like their base.
_BASES: tuple[tuple[type[Any], _Encoder], ...] = (
    (type(None), _none),
    (bool, _bool),
    (int, _int),
    (float, _float),
    (str, _str),
    (bytes, _bytes),
    (tuple, _sequence),
    (list, _sequence),
    (np.ndarray, _array),
    (Mapping, _mapping),
)
_ENCODERS = _Encoders()
_FLOAT64 = np.dtype(np.float64) if _LITTLE else None
_VECTOR_HEADS = tuple(_array_head(np.dtype(np.float64), (size,)) for size in range(_SHORT))
