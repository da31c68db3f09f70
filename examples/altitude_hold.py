"""A controller on the clock, flying on sensors alone: hold 3 m with altimeter and IMU.

It commands ATTITUDE (level, with a collective thrust), so everything above the attitude loop is
the program's own. The vehicle starts on the ground.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ghost.config import load_scenario
from ghost.hal import ActuatorSink, AttitudeCommand, SensorProvider
from ghost.runtime import make_backend

TARGET_M = 3.0
HOVER = 0.59  # of the x500's largest collective, about weight / thrust
LEVEL = np.array([1.0, 0.0, 0.0, 0.0])


class AltitudeHold:
    """PD on height: the rate is the altimeter's slope, corrected by the accelerometer."""

    def __init__(
        self, sensors: Mapping[str, SensorProvider[Any]], actuators: ActuatorSink, gravity: float
    ) -> None:
        self._sensors = sensors
        self._actuators = actuators
        self._gravity = gravity
        self.height_m = 0.0
        self._climb_mps = 0.0
        self.refused = 0

    def tick(self, now_ns: int) -> None:
        for sample in self._sensors["imu0"].poll():
            self._climb_mps += (sample.payload.accel_mps2[2] - self._gravity) * 0.004
            self.height_m += self._climb_mps * 0.004
        for sample in self._sensors["altimeter0"].poll():
            error = sample.payload.altitude_m - self.height_m
            self.height_m += 0.1 * error
            self._climb_mps += 0.3 * error
        climb = np.clip(TARGET_M - self.height_m, -1.0, 1.0) - self._climb_mps
        collective = float(np.clip(HOVER + 0.15 * climb, 0.1, 0.9))
        ack = self._actuators.send(AttitudeCommand(LEVEL, collective), now_ns)
        self.refused += not ack.accepted


scenario = load_scenario("hover")
with make_backend("embedded") as backend:
    backend.reset(scenario, seed=1)
    clock = backend.clock
    hold = AltitudeHold(backend.sensors(), backend.actuators(), scenario.world.gravity_mps2)
    clock.schedule_periodic(4_000_000, lambda: hold.tick(clock.now_ns()))  # 250 Hz
    while clock.now_ns() < 12_000_000_000:
        backend.step(scenario.step_ns)
    truth = backend.ground_truth()
    if truth is not None:
        print(f"asked for {TARGET_M:.1f} m, flying at {truth.pos_enu_m[2]:.1f} m")
    print(f"{hold.refused} commands refused")
