"""`Mixer` against the forces and torques that its thrusts make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.config import load_vehicle
from ghost.core import VehicleSpec
from ghost.physics import lump
from ghost.physics.mixer import Mixer

X500 = load_vehicle("x500")
TOP_N = X500.motor.thrust_coeff * X500.motor.max_rad_s**2
STILL = (0.0, 0.0, 0.0)
wide = st.floats(-1e4, 1e4)
rates = st.tuples(*[st.floats(-5.0, 5.0)] * 3)


def made(vehicle: VehicleSpec, ratios: Sequence[float]) -> tuple[float, npt.NDArray[np.float64]]:
    """Thrust (N) and torque about the centre of mass (N·m, body axes) by cross products."""
    top = vehicle.motor.thrust_coeff * vehicle.motor.max_rad_s**2
    com = np.array(lump(vehicle).com_m)
    torque = np.zeros(3)
    for rotor, ratio in zip(vehicle.rotors, ratios, strict=True):
        push = np.array([0.0, 0.0, ratio * top])
        torque += np.cross(np.array(rotor.pos_m) - com, push)
        torque[2] -= rotor.sign * vehicle.motor.moment_ratio * push[2]
    return float(sum(ratios) * top), torque


def accelerations(
    torque: npt.NDArray[np.float64], rate: Sequence[float]
) -> npt.NDArray[np.float64]:
    """Euler's equation for principal axes."""
    moments = np.array(lump(X500).inertia_kgm2[:3])
    spin = np.cross(rate, moments * rate)
    result: npt.NDArray[np.float64] = (torque - spin) / moments
    return result


@settings(deadline=None)
@given(wide, wide, wide, wide, rates)
def test_never_beyond_the_motors(
    thrust: float, roll: float, pitch: float, yaw: float, rate: tuple[float, float, float]
) -> None:
    ratios, _ = Mixer(X500).mix(thrust, roll, pitch, yaw, rate)
    assert len(ratios) == 4
    assert all(0.0 <= ratio <= 1.0 for ratio in ratios)


@settings(deadline=None)
@given(st.tuples(*[st.floats(0.001, 0.999)] * 4), rates)
def test_exact_when_nothing_saturates(
    wanted: tuple[float, ...], rate: tuple[float, float, float]
) -> None:
    """What any four thrusts make, asked for, gives these four thrusts."""
    thrust, torque = made(X500, wanted)
    roll, pitch, yaw = accelerations(torque, rate)
    ratios, saturated = Mixer(X500).mix(thrust, roll, pitch, yaw, rate)
    assert not saturated
    assert ratios == pytest.approx(wanted, abs=1e-9)


@settings(deadline=None)
@given(st.floats(0.3, 0.7), st.floats(-20.0, 20.0), st.floats(-20.0, 20.0), st.floats(200.0, 1e4))
def test_yaw_gives_way_first(level: float, roll: float, pitch: float, yaw: float) -> None:
    """Whatever yaw is asked for, thrust, roll and pitch are made in full."""
    for signed in (yaw, -yaw):
        ratios, saturated = Mixer(X500).mix(4.0 * level * TOP_N, roll, pitch, signed, STILL)
        thrust, torque = made(X500, ratios)
        got = accelerations(torque, STILL)
        assert saturated
        assert thrust == pytest.approx(4.0 * level * TOP_N, rel=1e-9)
        assert got[:2] == pytest.approx([roll, pitch], abs=1e-6)
        assert got[2] * signed >= 0.0
        assert abs(got[2]) < yaw
        # As much of the yaw as there is: one motor at least is at its limit.
        assert min(ratios) < 1e-9 or max(ratios) > 1.0 - 1e-9


@pytest.mark.parametrize("level", [0.0, 0.02, 0.98, 1.0, 1.5, -0.5])
@pytest.mark.parametrize(("roll", "pitch"), [(30.0, 0.0), (0.0, -30.0), (20.0, 20.0)])
def test_total_thrust_gives_way_before_roll_and_pitch(
    level: float, roll: float, pitch: float
) -> None:
    ratios, saturated = Mixer(X500).mix(4.0 * level * TOP_N, roll, pitch, 0.0, STILL)
    _, torque = made(X500, ratios)
    assert saturated
    assert accelerations(torque, STILL)[:2] == pytest.approx([roll, pitch], abs=1e-6)


def test_gyroscopic_torque_is_made_up_for() -> None:
    """A body that already turns about two axes keeps turning as asked: with no acceleration."""
    rate = (3.0, -2.0, 1.0)
    ratios, _ = Mixer(X500).mix(2.0 * TOP_N, 0.0, 0.0, 0.0, rate)
    _, torque = made(X500, ratios)
    assert accelerations(torque, rate) == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    assert np.abs(torque).max() > 1e-3


def test_centre_of_mass_off_the_middle() -> None:
    """Level thrust of a lopsided vehicle makes no torque about its own centre of mass."""
    heavy = replace(X500.rotors[0], mass_kg=0.3)
    lopsided = replace(X500, rotors=(heavy, *X500.rotors[1:]))
    ratios, _ = Mixer(lopsided).mix(2.0 * TOP_N, 0.0, 0.0, 0.0, STILL)
    _, torque = made(lopsided, ratios)
    assert torque == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    assert ratios[0] > ratios[1]


def test_largest_thrust() -> None:
    assert Mixer(X500).max_total_thrust_n == pytest.approx(4.0 * TOP_N)


def test_rotors_in_a_row_are_refused() -> None:
    row = tuple(replace(rotor, pos_m=(0.0, 0.1 * i, 0.0)) for i, rotor in enumerate(X500.rotors))
    with pytest.raises(ValueError, match=r"'x500'.*rotors\[\]\.pos_m"):
        Mixer(replace(X500, rotors=row))
