"""When a flight has ended in a crash."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ghost.core import Event, EventSeverity, EventType

__all__ = ["ImpactWatch"]

CRASH_MPS2 = 150.0
"""A mean acceleration that only a hard impact makes (about 15 g), m/s²."""
CRASH_WINDOW_NS = 20_000_000
"""Time over which that mean is taken: an engine with stiff contacts stops a body in one physics
step, one with soft contacts in about this time, and a crash should be the same in both."""


class ImpactWatch:
    """Watches the velocity of one run, a value a step, and reports its first hard impact."""

    def __init__(self, step_ns: int, source: str) -> None:
        self._step_ns = step_ns
        self._source = source
        self._velocities: deque[Sequence[float]] = deque(maxlen=max(1, CRASH_WINDOW_NS // step_ns))
        self._crashed = False

    def start(self, velocity_mps: Sequence[float]) -> None:
        """Begin a run at this velocity."""
        self._velocities.clear()
        self._velocities.append(velocity_mps)
        self._crashed = False

    def take(self, now_ns: int, state: Sequence[float]) -> Event | None:
        """Look at the state after a step (see `ghost.physics.Kinematics`)."""
        if self._crashed:
            return None
        velocities = self._velocities
        ox, oy, oz = velocities[0]
        now = state[7:10]
        dx, dy, dz = now[0] - ox, now[1] - oy, now[2] - oz
        window_s = len(velocities) * self._step_ns * 1e-9
        velocities.append(now)
        limit = CRASH_MPS2 * window_s
        squared = dx * dx + dy * dy + dz * dz
        # At the start the window is short, and a short one must not be the more sensitive.
        if squared <= limit * limit or squared <= (CRASH_MPS2 * CRASH_WINDOW_NS * 1e-9) ** 2:
            return None
        self._crashed = True
        change, (x, y, z) = squared**0.5, state[:3]
        return Event(
            EventType.CRASH,
            now_ns,
            EventSeverity.ERROR,
            self._source,
            f"hard impact: velocity changed by {change:.1f} m/s at ({x:.2f}, {y:.2f}, {z:.2f}) m",
            {"acceleration_mps2": change / window_s},
        )
