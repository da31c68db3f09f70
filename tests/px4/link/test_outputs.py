"""From PX4's channels to rotors and servos."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ghost.core import OutputSpec, VehicleSpec
from ghost.px4.outputs import MotorMap

CONTROLS = (0.1, 0.2, 0.3, 0.4, -0.5, *[0.0] * 11)


def test_without_outputs_channels_are_rotors(vehicle: VehicleSpec) -> None:
    motors = MotorMap(replace(vehicle, outputs=()))
    assert motors.thrusts(CONTROLS) == (0.1, 0.2, 0.3, 0.4)
    assert motors.zeros == (0.0, 0.0, 0.0, 0.0)
    assert motors.servos(CONTROLS) == {}


def test_order_reversal_and_curve(vehicle: VehicleSpec) -> None:
    outputs = (
        OutputSpec(channel=7, rotor=0),
        OutputSpec(channel=2, rotor=1, reversed=True),
        OutputSpec(channel=1, rotor=2, curve="speed"),
        OutputSpec(channel=0, rotor=3, reversed=True, curve="speed"),
        OutputSpec(channel=4, servo="gimbal"),
        OutputSpec(channel=3, servo="hatch", reversed=True),
    )
    motors = MotorMap(replace(vehicle, outputs=outputs))
    assert motors.thrusts(CONTROLS) == pytest.approx((0.0, 0.7, 0.04, 0.81))
    assert motors.servos(CONTROLS) == {"gimbal": -0.5, "hatch": -0.4}


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize(
    ("value", "thrust"), [(1.5, 1.0), (-0.2, 0.0), (math.nan, 0.0), (math.inf, 1.0)]
)
def test_impossible_controls(vehicle: VehicleSpec, place: int, value: float, thrust: float) -> None:
    controls = [0.5] * 16
    controls[place] = value
    wanted = [0.5] * 4
    wanted[place] = thrust
    assert MotorMap(vehicle).thrusts(tuple(controls)) == tuple(wanted)


def test_a_servo_that_is_off_is_left_out(vehicle: VehicleSpec) -> None:
    outputs = (
        *(OutputSpec(channel=i, rotor=i) for i in range(4)),
        OutputSpec(channel=4, servo="a"),
        OutputSpec(channel=5, servo="b"),
    )
    motors = MotorMap(replace(vehicle, outputs=outputs))
    controls = (0.0, 0.0, 0.0, 0.0, math.nan, 3.0, *[0.0] * 10)
    assert motors.servos(controls) == {"b": 1.0}
