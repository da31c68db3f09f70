"""What each mode wants flown, and whether the vehicle stands on the ground."""

from __future__ import annotations

import math
from collections.abc import Callable

from .control import Control, Target
from .estimator import Estimator
from .params import Params

__all__ = ["LandDetector", "Navigator"]

_NAN = math.nan
_CRUISE_MPS = 5.0
_REACHED_M = 0.3


class Navigator:
    """Targets of the modes that fly by themselves: a point moves to the goal, to be followed."""

    def __init__(self, params: Params, say: Callable[[int, str], None]) -> None:
        self._params = params
        self._say = say
        self._ref = [0.0, 0.0, 0.0]
        self._goal = (0.0, 0.0, 0.0)
        self._yaw = 0.0
        self._down_mps = 0.0
        self.home = (0.0, 0.0, 0.0)
        self.landing = False
        self.takeoff_d = _NAN

    def hold(self, est: Estimator) -> None:
        """Stop and stay."""
        lead = 0.7
        n, e, d = est.pos
        vn, ve, vd = est.vel
        self._start(est, (n + lead * vn, e + lead * ve, d + 0.5 * lead * vd))
        self._ref = list(self._goal)

    def take_off(self, est: Estimator, altitude_amsl_m: float) -> None:
        """Climb where it stands."""
        if altitude_amsl_m != altitude_amsl_m or est.origin is None:
            height = self._params["MIS_TAKEOFF_ALT"]
            self._say(6, f"Using default takeoff altitude: {height:.1f} m\t")
            goal = self.home[2] - height
        else:
            goal = est.origin[2] - altitude_amsl_m
        self.takeoff_d = goal
        self._start(est, (est.pos[0], est.pos[1], goal))

    def land(self, est: Estimator) -> None:
        """Go down where it is."""
        self.hold(est)
        self.landing = True

    def go(self, est: Estimator, goal: tuple[float, float, float], yaw: float = _NAN) -> None:
        """Fly to a point."""
        self._start(est, goal)
        if yaw == yaw:
            self._yaw = yaw

    def _start(self, est: Estimator, goal: tuple[float, float, float]) -> None:
        self._ref = list(est.pos)
        self._goal = goal
        self._yaw = est.yaw
        self.landing = False

    def distance(self, est: Estimator) -> float:
        """To the goal, m."""
        return math.dist(est.pos, self._goal)

    def reached(self, est: Estimator) -> bool:
        """Whether the goal is."""
        return self.distance(est) < _REACHED_M

    def target(self, dt: float) -> Target:
        """The next target; `dt` since the last one."""
        if self.landing:
            speed = self._params["MPC_LAND_SPEED"]
            return Target((self._goal[0], self._goal[1], _NAN), (_NAN, _NAN, speed), yaw=self._yaw)
        up = self._params["MPC_TKO_SPEED"]
        ref, goal = self._ref, self._goal
        n, e, d = goal[0] - ref[0], goal[1] - ref[1], goal[2] - ref[2]
        far = math.hypot(n, e)
        speed = min(_CRUISE_MPS, 0.6 * far + 0.1)
        vn, ve = (speed * n / far, speed * e / far) if far > 1e-3 else (0.0, 0.0)
        vd = max(-up, min(1.0, 1.0 * d + math.copysign(0.1, d))) if abs(d) > 1e-3 else 0.0
        share = min(1.0, speed * dt / far) if far > 1e-3 else 1.0
        ref[0] += share * n
        ref[1] += share * e
        ref[2] += d if abs(vd * dt) >= abs(d) else vd * dt
        return Target((ref[0], ref[1], ref[2]), (vn, ve, vd), yaw=self._yaw)


class LandDetector:
    """Landed or not, with PX4's thresholds and waits."""

    _CONTACT_US = 350_000
    _LANDED_US = 550_000

    def __init__(self, hover: float) -> None:
        self._hover = hover
        self.landed = True
        self.contact = False
        self._since_us = -1
        self._up_us = -1

    def update(self, now_us: int, est: Estimator, control: Control, armed: bool) -> None:
        """Once a sample."""
        if not armed:
            self.landed, self.contact, self._since_us, self._up_us = True, False, -1, -1
            return
        vn, ve, vd = est.vel
        if self.landed:
            if control.thrust > 0.9 * self._hover and vd < -0.05:
                if self._up_us < 0:
                    self._up_us = now_us
                if now_us - self._up_us > 100_000:
                    self.landed = self.contact = False
                    self._since_us = -1
            else:
                self._up_us = -1
            return
        down = control.descending or self.contact
        low = control.thrust < 0.6 * self._hover
        if down and low and abs(vd) < 0.25 and vn * vn + ve * ve < 2.25:
            if self._since_us < 0:
                self._since_us = now_us
            passed = now_us - self._since_us
            self.contact = passed >= self._CONTACT_US
            self.landed = passed >= self._LANDED_US
            self._up_us = -1
        else:
            self._since_us = -1
            self.contact = False
