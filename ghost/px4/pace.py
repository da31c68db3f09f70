"""`AnswerPace`: which samples a PX4 answers whose rate loop is slower than its IMU.

PX4 runs its rate loop, and so answers, at `IMU_GYRO_RATEMAX` at most: it takes every n-th sample,
n = the ratio of the two rates, rounded (`VehicleAngularVelocity.cpp`). Measured: an IMU of 1 kHz
was answered once in four samples. Waiting for each of the others would cost a deadline.
"""

from __future__ import annotations

__all__ = ["AnswerPace"]

_ALIKE = 3
"""Gaps between answers, equal one after the other, that make a pace."""


class AnswerPace:
    """Learns the pace from regular gaps; forgets it when PX4 answers sooner."""

    __slots__ = ("_alike", "_gap_us", "interval_us", "skipped")

    def __init__(self) -> None:
        self.interval_us = 0
        """Time between two answers; 0: every sample is answered."""
        self.skipped = 0
        """Samples since the last answer that were awaited in vain."""
        self._gap_us = 0
        self._alike = 0

    def answered(self, gap_us: int) -> int:
        """Take note of an answer, `gap_us` after the one before.

        Returns how many samples go with one answer when that has just been learnt, else 0.
        """
        skipped = self.skipped
        self.irregular(gap_us)
        if self.interval_us:
            return 0
        if not skipped or gap_us != self._gap_us:
            self._gap_us, self._alike = gap_us, 1 if skipped else 0
            return 0
        self._alike += 1
        if self._alike < _ALIKE:
            return 0
        self.interval_us = gap_us
        return skipped + 1

    def irregular(self, gap_us: int) -> None:
        """Take note of an answer, `gap_us` after the one before, that was not the one awaited."""
        self.skipped = 0
        if gap_us < self.interval_us:
            self.interval_us = self._alike = 0
