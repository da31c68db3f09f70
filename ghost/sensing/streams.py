"""Random numbers that depend on the index of a sample and on nothing else (D10)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from ghost.core import RandomSource

__all__ = ["BLOCK", "IndexedStream", "Lane", "LaneNoise", "UniformLane", "sensor_stream"]

FloatArray = npt.NDArray[np.float64]

BLOCK = 256
"""Samples whose noise is drawn at once: one numpy call instead of one for each sample."""

_STRIDE_BITS = 40
# Room for 2**40 draws at each index; the largest image (4096·4096·3) takes under 2**26.


class _Seekable(Protocol):
    """The part of numpy's Philox that lets one jump (D9 fixes the generator to Philox)."""

    state: Any

    def advance(self, delta: int) -> Any: ...


def sensor_stream(root: RandomSource, sensor_id: str, purpose: str) -> RandomSource:
    """Return the stream `/sensors/<sensor_id>/<purpose>` below the root."""
    # The label is dynamic, but only in the identifier that the vehicle file gives (clock spec §9
    # forbids run-time values): this is the one place where sensors get their streams.
    return root.child(f"/sensors/{sensor_id}/{purpose}")


class IndexedStream:
    """A random stream read by index: `seek(i)` and draw; what comes depends on `i` alone.

    Philox is counter-based, so a jump costs the same however far it goes.
    """

    __slots__ = ("_bits", "_rng", "_start")

    def __init__(self, source: RandomSource) -> None:
        self._rng = source.numpy_rng()
        self._bits = cast(_Seekable, self._rng.bit_generator)
        self._start = self._bits.state

    def seek(self, index: int) -> None:
        """Go to the start of the numbers of `index` (>= 0)."""
        self._bits.state = self._start
        self._bits.advance(index << _STRIDE_BITS)

    def normal(self, *shape: int) -> FloatArray:
        """Standard normal numbers, float64."""
        return self._rng.standard_normal(shape)

    def normal32(self, *shape: int) -> npt.NDArray[np.float32]:
        """Standard normal numbers, float32 (images: half the time and memory)."""
        return self._rng.standard_normal(shape, dtype=np.float32)

    def uniform32(self, *shape: int) -> npt.NDArray[np.float32]:
        """Uniform numbers in [0, 1), float32."""
        return self._rng.random(shape, dtype=np.float32)

    def uniform(self, *shape: int) -> FloatArray:
        """Uniform numbers in [0, 1), float64."""
        return self._rng.random(shape)


class UniformLane:
    """One uniform number in [0, 1) for each index."""

    __slots__ = ("_block", "_stream", "_values")

    def __init__(self, source: RandomSource) -> None:
        self._stream = IndexedStream(source)
        self._block = -1
        self._values: list[float] = []

    def at(self, k: int) -> float:
        """The number of sample `k` (>= 0)."""
        block = k // BLOCK
        if block != self._block:
            self._stream.seek(block)
            self._values = self._stream.uniform(BLOCK).tolist()
            self._block = block
        return self._values[k % BLOCK]


@dataclass(frozen=True, slots=True)
class Lane:
    """The error of one measured number, per sample, in the number's unit.

    error(k) = bias + slow(k) + white_sigma·w(k), with slow(k) = decay·slow(k−1) + slow_gain·v(k):
    a random walk for decay 1 (starting at 0), a first-order Gauss-Markov process below 1 (starting
    in its steady state). w and v are standard normal.
    """

    white_sigma: float = 0.0
    bias: float = 0.0
    slow_gain: float = 0.0
    decay: float = 1.0
    slow_start_sigma: float = 0.0

    @staticmethod
    def inertial(white_density: float, bias: float, walk_density: float, rate_hz: float) -> Lane:
        """White density u/√Hz and walk density u/√s, discretised by the sample interval (D19).

        A sensor that averages over its sample interval dt = 1/rate turns a white density N into
        N/√dt per sample, and a walk density K into steps of K·√dt (IEEE Std 952-1997, annex C;
        J. L. Crassidis, "Sigma-point Kalman filtering for integrated GPS and inertial navigation",
        IEEE TAES 42 (2006), appendix).
        """
        return Lane(
            white_sigma=white_density * math.sqrt(rate_hz),
            bias=bias,
            slow_gain=walk_density / math.sqrt(rate_hz),
        )

    @staticmethod
    def wandering(
        white_sigma: float, wander_sigma: float, wander_time_s: float, rate_hz: float
    ) -> Lane:
        """White plus Gauss-Markov with standard deviation `wander_sigma`, correlation time in s."""
        decay = math.exp(-1.0 / (rate_hz * wander_time_s))
        return Lane(
            white_sigma=white_sigma,
            slow_gain=wander_sigma * math.sqrt(-math.expm1(-2.0 / (rate_hz * wander_time_s))),
            decay=decay,
            slow_start_sigma=wander_sigma,
        )

    @property
    def silent(self) -> bool:
        """True if the error is always 0."""
        return not (self.white_sigma or self.bias or self.slow_gain or self.slow_start_sigma)


class LaneNoise:
    """The errors of a sensor's few numbers, drawn in blocks.

    Every lane always draws both of its numbers, used or not, so that a change of one figure in the
    vehicle file leaves the noise of the other axes as it was.
    """

    __slots__ = (
        "_bias",
        "_block",
        "_decay",
        "_gain",
        "_rows",
        "_slow",
        "_start",
        "_stream",
        "_white",
    )

    def __init__(self, lanes: Sequence[Lane], source: RandomSource) -> None:
        self._stream = IndexedStream(source)
        self._white = np.array([lane.white_sigma for lane in lanes])
        self._bias = np.array([lane.bias for lane in lanes])
        self._gain = np.array([lane.slow_gain for lane in lanes])
        self._decay = [lane.decay for lane in lanes]
        self._start = np.array([lane.slow_start_sigma for lane in lanes])
        self._slow = self._start
        self._rows: list[list[float]] = []
        self._block = -1

    @classmethod
    def of(cls, lanes: Sequence[Lane], source: RandomSource) -> LaneNoise | None:
        """The noise, or None if all lanes are silent (then nothing is drawn at all)."""
        return None if all(lane.silent for lane in lanes) else cls(lanes, source)

    def row(self, k: int) -> list[float]:
        """The errors of sample `k` (>= 0), one for each lane. The list is not the caller's."""
        if k // BLOCK != self._block:
            self._load(k // BLOCK)
        return self._rows[k % BLOCK]

    def _load(self, block: int) -> None:
        if self._block < 0 or block < self._block:
            # Index 0 of the stream holds the start of the slow part, index b + 1 block b.
            self._stream.seek(0)
            self._slow = self._start * self._stream.normal(len(self._decay))
            self._block = -1
        # A slow error is a sum over all samples before, so no block can be left out.
        while self._block < block:
            self._block += 1
            self._stream.seek(self._block + 1)
            drawn = self._stream.normal(BLOCK, 2, len(self._decay))
            slow = self._accumulate(drawn[:, 1, :] * self._gain)
        self._rows = (self._bias + slow + drawn[:, 0, :] * self._white).tolist()

    def _accumulate(self, kicks: FloatArray) -> FloatArray:
        if all(decay == 1.0 for decay in self._decay):
            slow = self._slow + np.cumsum(kicks, axis=0)
        else:
            slow = np.empty_like(kicks)
            state = self._slow.tolist()
            for i, kick in enumerate(kicks.tolist()):
                state = [d * s + w for d, s, w in zip(self._decay, state, kick, strict=True)]
                slow[i] = state
        self._slow = slow[-1].copy()
        return slow
