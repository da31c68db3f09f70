"""Reproducible chance: a tree of labelled streams that grow from one seed (clock spec §4, D9)."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Protocol, TypeAlias, overload

from ghost.core.ns import as_ns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["RandomSource", "RandomStream", "check_seed"]

Size: TypeAlias = "int | tuple[int, ...]"

_LABEL = re.compile(r"/?[a-z0-9_]+(/[a-z0-9_]+)*")
_PERSON = b"ghost-rng-v1"
_SEED_END = 1 << 64


class RandomSource(Protocol):
    """A stream of random numbers with a place in the label tree.

    The draw methods return a plain number, or an array if `size` is given (clock spec §8.2).
    """

    @property
    def seed(self) -> int:
        """The seed of the root, the same in the whole tree."""

    @property
    def label(self) -> str:
        """The path from the root, for example `/sensors/imu0/noise`; the root is `/`."""

    def child(self, label: str) -> RandomSource:
        """Return the stream `label` below this one, at its start."""

    @overload
    def uniform(self, a: float, b: float) -> float: ...
    @overload
    def uniform(self, a: float, b: float, size: Size) -> NDArray[np.float64]: ...

    @overload
    def normal(self, mu: float, sigma: float) -> float: ...
    @overload
    def normal(self, mu: float, sigma: float, size: Size) -> NDArray[np.float64]: ...

    @overload
    def integers(self, low: int, high: int) -> int: ...
    @overload
    def integers(self, low: int, high: int, size: Size) -> NDArray[np.int64]: ...

    def numpy_rng(self) -> np.random.Generator:
        """Return the numpy generator behind the stream (not a copy)."""


class RandomStream:
    """The `RandomSource` of Ghost: numpy's Philox, keyed by seed and path (D9).

    The key is the first 128 bits, as a little-endian integer, of
    SHA-256(`ghost-rng-v1` + seed as 8 little-endian bytes + path in UTF-8). Philox is the
    counter-based generator of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
    SC11 (2011). Same seed and path give the same numbers from the start, whatever else was drawn
    and in whatever order the streams were made. Two objects with the same path are two readers of
    the same numbers; keep one per purpose.

    A label has the form `[a-z0-9_]+(/[a-z0-9_]+)*` with an optional leading `/`, and is always
    appended to this stream's path. It must be a literal, or the identifier of something that a
    configuration names, never a run-time value (clock spec §9).

    Raises `TypeError` for a seed that is no integer or a label that is no `str`, `ValueError` for a
    seed outside 0…2⁶⁴-1 or a malformed label.
    """

    __slots__ = ("_generator", "_label", "_seed")

    def __init__(self, seed: int, label: str = "/") -> None:
        self._seed = check_seed(seed)
        self._label = "/" if label == "/" else "/" + _check_label(label)
        self._generator: np.random.Generator | None = None

    def __repr__(self) -> str:
        return f"RandomStream(seed={self._seed}, label={self._label!r})"

    @property
    def seed(self) -> int:
        """The seed of the root."""
        return self._seed

    @property
    def label(self) -> str:
        """The path from the root; the root is `/`."""
        return self._label

    def child(self, label: str) -> RandomStream:
        """Return the stream `label` below this one, at its start."""
        return RandomStream(self._seed, self._label.rstrip("/") + "/" + _check_label(label))

    def numpy_rng(self) -> np.random.Generator:
        """Return the generator behind this stream: drawing from either moves both."""
        if self._generator is None:
            # Imported on the first draw, which keeps `import ghost.hal` fast.
            from numpy.random import Generator, Philox

            material = _PERSON + self._seed.to_bytes(8, "little") + self._label.encode()
            key = int.from_bytes(hashlib.sha256(material).digest()[:16], "little")
            self._generator = Generator(Philox(key=key))
        return self._generator

    @overload
    def uniform(self, a: float, b: float) -> float: ...
    @overload
    def uniform(self, a: float, b: float, size: Size) -> NDArray[np.float64]: ...
    def uniform(self, a: float, b: float, size: Size | None = None) -> float | NDArray[np.float64]:
        """Draw from [a, b). Raises `ValueError` if `b < a`."""
        if b < a:
            raise ValueError(f"uniform needs a <= b, got a={a!r}, b={b!r}")
        # Scaled here, not in numpy: compiled code may fuse the product and the sum, which rounds
        # differently from machine to machine.
        unit = self.numpy_rng().random(size)
        return a + (b - a) * unit

    @overload
    def normal(self, mu: float, sigma: float) -> float: ...
    @overload
    def normal(self, mu: float, sigma: float, size: Size) -> NDArray[np.float64]: ...
    def normal(
        self, mu: float, sigma: float, size: Size | None = None
    ) -> float | NDArray[np.float64]:
        """Draw from the normal distribution. Raises `ValueError` if `sigma < 0`."""
        if sigma < 0:
            raise ValueError(f"sigma must not be negative, got {sigma!r}")
        return mu + sigma * self.numpy_rng().standard_normal(size)

    @overload
    def integers(self, low: int, high: int) -> int: ...
    @overload
    def integers(self, low: int, high: int, size: Size) -> NDArray[np.int64]: ...
    def integers(self, low: int, high: int, size: Size | None = None) -> int | NDArray[np.int64]:
        """Draw integers from [low, high). Raises `ValueError` if `high <= low`."""
        if size is None:
            return int(self.numpy_rng().integers(low, high))
        return self.numpy_rng().integers(low, high, size=size)


def check_seed(seed: object) -> int:
    """Return `seed` as an `int`; `TypeError` if it is none, `ValueError` outside 0…2⁶⁴-1."""
    try:
        value = as_ns("seed", seed)
    except TypeError:
        raise TypeError(f"seed must be an integer, got {type(seed).__name__} {seed!r}") from None
    if not 0 <= value < _SEED_END:
        raise ValueError(f"seed must be in 0…2**64-1, got {value}")
    return value


def _check_label(label: object) -> str:
    if not isinstance(label, str):
        raise TypeError(f"label must be a str, got {type(label).__name__} {label!r}")
    if not _LABEL.fullmatch(label):
        raise ValueError(
            f"label {label!r} must be lower-case letters, digits and '_', in parts joined by '/'"
        )
    return label.removeprefix("/")
