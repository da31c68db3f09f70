"""Which sensors must have spoken at a time: their periods as Gazebo really keeps them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ghost.core import as_ns
from ghost.gz.transport.types import Incoming

__all__ = ["DueTimes", "SensorTopic", "sensor_period_ns"]


def sensor_period_ns(rate_hz: float) -> int:
    """Return the period of a sensor with this `<update_rate>`.

    Gazebo cuts it to whole milliseconds: 30 Hz fires each 33 ms, as seen in its stamps (4, 36, 68,
    100, 132, 168 ms in a world of 4 ms steps; measured on Gazebo Sim 8.14). A rate of 0, or above
    1 kHz, fires at every step: period 0.
    """
    return int(1000.0 / rate_hz) * 1_000_000 if rate_hz > 0.0 else 0


@dataclass(frozen=True, slots=True)
class SensorTopic:
    """A topic that a caller of `WorldControl` listens to.

    `type` is Gazebo's name of the message (`gz.msgs.IMU`); a message of another type is not handed
    on. `period_ns` is that of `sensor_period_ns`, 0 for a sensor of every step, and None for a
    topic that is not waited for. `rendered` sensors (cameras, LiDAR) come from a thread of their
    own, up to a period late: no step waits for them, `WorldControl.await_stamp` does. Topics that
    are not `stamped` (acknowledgements) are handed on with the present time.

    `on_message(message, stamp_ns)` is called on the thread that steps, in the order of arrival.
    """

    topic: str
    type: str
    on_message: Callable[[Incoming, int], None]
    period_ns: int | None = None
    phase_ns: int = 0
    rendered: bool = False
    stamped: bool = True

    def __post_init__(self) -> None:
        if self.period_ns is not None:
            as_ns("period_ns", self.period_ns, minimum=0)
        as_ns("phase_ns", self.phase_ns, minimum=0)

    @property
    def awaited(self) -> bool:
        """Whether a step waits for it."""
        return self.period_ns is not None and self.stamped and not self.rendered


class DueTimes:
    """The grid `phase + k·period` of one sensor; it fires on the first step that reaches a time.

    The grid of a sensor that was created while the world ran is not known beforehand, so it is
    learnt: a stamp that no grid time explains moves the grid onto itself.
    """

    __slots__ = ("_given_phase_ns", "_heard", "_period_ns", "_phase_ns", "_step_ns")

    def __init__(self, period_ns: int, phase_ns: int, step_ns: int) -> None:
        self._step_ns = step_ns
        self._period_ns = max(period_ns, step_ns)
        self._given_phase_ns = phase_ns
        self._phase_ns = phase_ns
        self._heard = False

    @property
    def period_ns(self) -> int:
        """The period, at least one step."""
        return self._period_ns

    def restart(self) -> None:
        """The world was reset, or the sensor may be new: go back to the given phase."""
        self._phase_ns = self._given_phase_ns
        self._heard = False

    def due(self, at_ns: int) -> bool:
        """Whether the step that ends at `at_ns` makes the sensor fire.

        The first step after time 0 always does: the grid time 0 is met there.
        """
        since = at_ns - self._phase_ns
        if since < 0:
            return False
        return since % self._period_ns < self._step_ns or (
            since <= self._step_ns and not self._heard
        )

    def heard(self, stamp_ns: int) -> bool:
        """Take note of a sample. Returns False if the grid did not explain it, and was moved."""
        if not self._heard:
            # A new sensor fires at once, wherever its grid is.
            self._heard = True
            return True
        if (stamp_ns - self._phase_ns) % self._period_ns < self._step_ns:
            return True
        self._phase_ns = stamp_ns % self._period_ns
        return False
