"""Arming and disarming PX4, with its own reasons when it refuses."""

from __future__ import annotations

from ghost.px4.modes import HOLD, OFFBOARD
from ghost.px4.reasons import GENERAL_REFUSAL
from ghost.px4.requests import Request
from ghost.px4.session import Px4Session

__all__ = ["ArmRequest", "Arming"]

_COMPONENT_ARM_DISARM = 400
_RUN_PREARM_CHECKS = 401
_DO_SET_MODE = 176
_CUSTOM_MODE_ENABLED = 1.0
_MODE_NS = 1_500_000_000
"""Simulated time for a new mode to be heard."""
_FORCE = 21196.0
"""The number PX4 wants to see before it disarms in the air (Commander.cpp)."""
_REPORT_NS = 500_000_000
"""Simulated time for the report of the arming checks to come after it was asked for."""


class ArmRequest(Request):
    """One try to arm or disarm. Step the world (and poll the session) until `done`.

    A refusal is done when PX4 has also said what stands against arming: it limits how often it
    reports its checks, so that is asked for.

    After a flight in OFFBOARD, PX4 is in it again once it is disarmed, and does not arm there
    without set-points (UserModeIntention.cpp, checks/modeCheck.cpp): it is put into HOLD first.
    """

    __slots__ = ("_checks", "_inner", "_leave", "_session", "_since_ns", "_words", "wanted")

    def __init__(self, session: Px4Session, wanted: bool, force: bool) -> None:
        params = (float(wanted), _FORCE if force else 0.0)
        super().__init__(_COMPONENT_ARM_DISARM, params)
        self.wanted = wanted
        """Armed, or disarmed."""
        self._session = session
        self._checks: Request | None = None
        self._since_ns = session.now_ns
        self._words = ""
        self._inner: Request | None = None
        self._leave: Request | None = None
        if wanted and not session.armed and session.mode == OFFBOARD.name:
            self._leave = session.request(
                _DO_SET_MODE, _CUSTOM_MODE_ENABLED, float(HOLD.main), float(HOLD.sub)
            )
        else:
            self._inner = session.request(self.command, *params)
        session.add_task(self._advance)

    @property
    def text(self) -> str:
        """Why not, in PX4's own words; empty if accepted or not done."""
        return self._words

    def _advance(self, now_ns: int) -> bool:
        """One step of it; True when there is nothing more to do."""
        inner = self._inner
        if inner is None:
            self._left_offboard(now_ns)
            return False
        self.tries, self.sent_ns = inner.tries, inner.sent_ns
        if not inner.done:
            return False
        if inner.accepted:
            # PX4 has acted when it agrees; its heartbeat says so up to a second later.
            self._session.telemetry.armed = self.wanted
        elif inner.answered and self.wanted:
            if self._checks is None:
                self._checks = self._session.request(_RUN_PREARM_CHECKS)
                self._since_ns = now_ns
            if now_ns - self._since_ns < _REPORT_NS:
                return False
            texts = dict.fromkeys((*self._session.reasons, *inner.text.split("; ")))
            if len(texts) > 1:
                texts.pop(GENERAL_REFUSAL, None)
            self._words = "; ".join(texts)
        else:
            self._words = inner.text
        self.result = inner.result
        self.done = True
        return True

    def _left_offboard(self, now_ns: int) -> None:
        leave = self._leave
        assert leave is not None
        if not leave.done:
            return
        if self._session.mode != OFFBOARD.name or now_ns - self._since_ns >= _MODE_NS:
            self._inner = self._session.request(self.command, *self.params)


class Arming:
    """Arms and disarms the PX4 of a session."""

    def __init__(self, session: Px4Session) -> None:
        self._session = session

    @property
    def armed(self) -> bool:
        """As last heard."""
        return self._session.armed

    @property
    def ready(self) -> bool:
        """Whether PX4's arming checks pass."""
        return self._session.ready_to_arm

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why PX4 will not arm, in its own words, newest last."""
        return self._session.reasons

    def arm(self) -> ArmRequest:
        """Ask PX4 to arm."""
        return ArmRequest(self._session, True, False)

    def disarm(self, *, in_the_air: bool = False) -> ArmRequest:
        """Ask PX4 to disarm; `in_the_air` stops the motors wherever the vehicle is."""
        return ArmRequest(self._session, False, in_the_air)
