"""Arming, modes and failsafes, with PX4's refusals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from .control import Target
from .estimator import Estimator
from .modes import Mode
from .navigator import LandDetector, Navigator
from .params import Params
from .setpoints import OffboardSetpoints

__all__ = ["ACCEPTED", "Commander", "DENIED", "REJECTED", "UNSUPPORTED"]

ACCEPTED, REJECTED, DENIED, UNSUPPORTED, FAILED = 0, 1, 2, 3, 4
_CRITICAL, _WARNING, _INFO = 2, 4, 6
_STATION_ACTIONS = {1: Mode.LOITER, 2: Mode.RTL, 3: Mode.LAND}
_OFFBOARD_ACTIONS = {0: Mode.RTL, 3: Mode.RTL, 4: Mode.LAND, 5: Mode.LOITER}


class Commander:
    """The state everybody asks for. `say` sends a STATUSTEXT."""

    def __init__(
        self,
        params: Params,
        est: Estimator,
        setpoints: OffboardSetpoints,
        say: Callable[[int, str], None],
        refusal: str = "",
    ) -> None:
        self._params = params
        self._est = est
        self._setpoints = setpoints
        self._say = say
        self._refusal = refusal
        self.navigator = Navigator(params, say)
        self.lander = LandDetector(params["MPC_THR_HOVER"])
        self.armed = False
        self.armed_us = 0
        self.mode = self.intended = Mode.LOITER
        self.failsafe = False
        self._after_disarm = Mode.LOITER
        self._taken_off = False
        self._landed_us = -1
        self._station_us = -1
        self._station_was = False
        self._rtl_down = False
        self._print_us = -1_000_000
        self.home_us = 0

    def station_heard(self) -> None:
        """A heartbeat of a ground station came."""
        if self._station_us >= 0 and not self.station:
            self._say(_INFO, "GCS connection regained\t")
        self._station_us = self._est.now_us
        self._station_was = True

    @property
    def station(self) -> bool:
        """Whether a ground station is connected."""
        timeout_us = self._params["COM_DL_LOSS_T"] * 1e6
        return self._station_us >= 0 and self._est.now_us - self._station_us < timeout_us

    def problems(self) -> Iterator[tuple[int, str]]:
        """Why it does not arm: severity and PX4's text, "" where PX4 only has an event."""
        if self._refusal:
            yield _CRITICAL, self._refusal
        problem = self._est.problem()
        if problem:
            yield _CRITICAL, problem
        if self._params["NAV_DLL_ACT"] > 0 and not self.station:
            yield _WARNING, "Preflight Fail: No connection to the GCS"
        if self.mode in (Mode.LAND, Mode.RTL) or not self.can_run(self.mode):
            yield _CRITICAL, ""

    @property
    def ready(self) -> bool:
        """Whether it would arm in the present mode."""
        return next(self.problems(), None) is None

    @property
    def system_status(self) -> int:
        """MAV_STATE as HEARTBEAT has it."""
        if self.armed:
            return 5 if self.failsafe else 4
        return 3 if self.ready else 0

    def can_run(self, mode: Mode) -> bool:
        """Whether a mode has what it needs. There are no sticks and no missions."""
        if mode is Mode.OFFBOARD:
            fresh = self._setpoints.fresh(self._est.now_us, self._params["COM_OF_LOSS_T"])
            return fresh and not (self._setpoints.needs_position and self._est.origin is None)
        return not (mode.by_hand or mode is Mode.MISSION)

    def arm(self, forced: bool) -> int:
        """Arm; the result for COMMAND_ACK. As in PX4 a forced request from outside is checked."""
        del forced
        if self.armed:
            return ACCEPTED
        problems = list(self.problems())
        if problems:
            for severity, text in problems:
                if text:
                    self._say(severity, text)
            self._say(_CRITICAL, "Arming denied: Resolve system health failures first\t")
            return REJECTED
        self.armed = True
        self.armed_us = self._est.now_us
        self._taken_off = False
        self._landed_us = -1
        self.set_home()
        self._say(_INFO, "Armed by external command\t")
        self._enter(self.mode)
        return ACCEPTED

    def disarm(self, forced: bool, reason: str = "external command") -> int:
        """Disarm; the result for COMMAND_ACK."""
        if not self.armed:
            return ACCEPTED
        if not forced and not (self.lander.landed or self.lander.contact):
            self._say(_CRITICAL, "Disarming denied: not landed\t")
            return REJECTED
        self.armed = self.failsafe = False
        self.mode = self.intended = self._after_disarm
        self._say(_INFO, f"Disarmed by {reason}\t")
        return ACCEPTED

    def set_home(self) -> None:
        """Home is here."""
        self.navigator.home = self._est.pos
        self.home_us = self._est.now_us

    def change(self, mode: Mode, *, force: bool = False, loud: bool = True) -> bool:
        """Change the mode as the user wants it: always while disarmed, else if it can run."""
        if self.armed and not force and not self.can_run(mode):
            now = self._est.now_us
            if loud and now - self._print_us > 1_000_000:
                self._print_us = now
                self._say(_CRITICAL, f"Switching to {mode.label} is currently not available\t")
            return False
        self.intended = mode
        if mode not in (Mode.TAKEOFF, Mode.LAND, Mode.RTL):
            self._after_disarm = mode
        self.failsafe = False
        self._switch(mode)
        return True

    def _switch(self, mode: Mode) -> None:
        if mode is not self.mode or mode in (Mode.LAND, Mode.RTL):
            self.mode = mode
            self._enter(mode)

    def _enter(self, mode: Mode) -> None:
        navigator, est = self.navigator, self._est
        if mode is Mode.LAND:
            navigator.land(est)
        elif mode is Mode.RTL:
            self._rtl_down = False
            home = navigator.home
            navigator.go(est, (home[0], home[1], min(est.pos[2], home[2] - 2.0)))
            if self.armed:
                above = home[2] - est.pos[2]
                amsl = (est.origin or (0.0, 0.0, 0.0))[2] - est.pos[2]
                self._say(
                    _INFO,
                    f"RTL: start return at {math.ceil(amsl)} m "
                    f"({math.ceil(above)} m above destination)\t",
                )
        elif mode is not Mode.TAKEOFF:
            navigator.hold(est)
            if mode is not Mode.OFFBOARD:
                self._setpoints.target = None

    def wants_up(self, target: Target) -> bool:
        """Whether a vehicle on the ground is to leave it."""
        if self.mode is Mode.TAKEOFF:
            return True
        if self.mode is not Mode.OFFBOARD:
            return False
        if target.attitude is not None or target.rates is not None:
            return target.thrust > 0.1
        d, vd, ad = target.pos[2], target.vel[2], target.acc[2]
        return d < self._est.pos[2] - 0.05 or vd < -0.05 or ad < -0.05

    def target(self, dt: float) -> Target:
        """What is to be flown now."""
        if self.mode is Mode.OFFBOARD and self._setpoints.target is not None:
            return self._setpoints.target
        return self.navigator.target(dt)

    def update(self, landed_before: bool) -> None:
        """Once a sample, after the land detector."""
        now = self._est.now_us
        if not self.armed:
            if not self.home_us and self._est.origin is not None and not self._est.problem():
                self.set_home()
            return
        landed = self.lander.landed
        if landed is not landed_before:
            self._say(_INFO, "Landing detected\t" if landed else "Takeoff detected\t")
            self._taken_off = self._taken_off or not landed
            self._landed_us = now if landed else -1
        if landed:
            self._auto_disarm(now)
        elif self.mode is Mode.TAKEOFF and self.navigator.reached(self._est):
            self.intended = Mode.LOITER
            self.mode = Mode.LOITER
        elif self.mode is Mode.RTL and not self._rtl_down and self._over_home():
            self._rtl_down = True
            self._say(_INFO, "RTL: land at destination\t")
            self.navigator.landing = True  # at home, not where it happens to be
        if self.armed:
            self._check_failsafes()

    def _over_home(self) -> bool:
        return self.navigator.distance(self._est) < 0.5 and math.hypot(*self._est.vel) < 0.5

    def _auto_disarm(self, now_us: int) -> None:
        if self._taken_off:
            wait_s = self._params["COM_DISARM_LAND"]
            if wait_s > 0.0 and now_us - self._landed_us >= wait_s * 1e6:
                self.disarm(True, "landing")
            return
        wait_s = self._params["COM_DISARM_PRFLT"]
        waited_s = (now_us - self.armed_us) * 1e-6
        if wait_s > 0.0 and waited_s >= wait_s + self._params["COM_SPOOLUP_TIME"]:
            self.disarm(True, "auto preflight disarming")

    def _check_failsafes(self) -> None:
        action = None
        if self.intended is Mode.OFFBOARD and not self.can_run(Mode.OFFBOARD):
            action = _OFFBOARD_ACTIONS.get(int(self._params["COM_OBL_RC_ACT"]), Mode.RTL)
        elif self._station_was and not self.station:
            self._station_was = False
            self._say(_WARNING, "Connection to ground station lost\t")
        if action is None and not self.station and self._params["NAV_DLL_ACT"] > 0:
            action = _STATION_ACTIONS.get(int(self._params["NAV_DLL_ACT"]), Mode.RTL)
            if self.intended in (Mode.LAND, Mode.RTL):
                action = None
        if action is None:
            if self.failsafe:
                self.failsafe = False
                self._switch(self.intended)
        elif not self.failsafe and not self.lander.landed:
            self.failsafe = True
            self._say(_CRITICAL, "Failsafe activated\t")
            self._switch(action)
        elif not self.failsafe:
            self.failsafe = True
