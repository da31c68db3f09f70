"""What sensors would measure without error, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ghost.core import (
    CameraSpec,
    GnssNoise,
    InitialState,
    MountSpec,
    NoiseModel,
    ScenarioSpec,
    SensorConfig,
    SensorType,
    WorldSpec,
)
from ghost.hal.frames import q_from_rotvec, q_from_rpy, q_multiply, q_rotate_inverse
from ghost.physics import Engine
from ghost.physics.sensors import SensorRig, isa_pressure_pa
from ghost.physics.world import QuadWorld

Make = Callable[..., tuple[QuadWorld, SensorRig]]
GRAVITY = 9.8


@pytest.fixture
def make(engine: Engine, in_vacuum: ScenarioSpec) -> Make:
    def build(
        *sensors: SensorConfig, initial: InitialState | None = None, world: WorldSpec | None = None
    ) -> tuple[QuadWorld, SensorRig]:
        scenario = replace(
            in_vacuum,
            vehicle=replace(in_vacuum.vehicle, sensors=sensors),
            initial=initial or in_vacuum.initial,
            world=world or in_vacuum.world,
        )
        quad = QuadWorld(engine, scenario)
        return quad, SensorRig(engine, quad, scenario)

    return build


def sensor(kind: SensorType, name: str = "s0", **figures: Any) -> SensorConfig:
    return SensorConfig(id=name, type=kind, rate_hz=50.0, **figures)


@pytest.mark.parametrize(
    ("height_m", "pressure_pa"),
    [(0.0, 101325.0), (500.0, 95461.0), (1000.0, 89874.6), (5000.0, 54019.9), (10000.0, 26436.3)],
)
def test_standard_atmosphere(height_m: float, pressure_pa: float) -> None:
    """The table of ISO 2533:1975."""
    assert isa_pressure_pa(height_m) == pytest.approx(pressure_pa, rel=3e-4)


def test_barometer_and_altimeters(make: Make) -> None:
    aloft = MountSpec(pos_m=(0.0, 0.0, 0.5))
    _, rig = make(
        sensor("barometer", "baro"),
        sensor("altimeter", "agl", mount=aloft),
        sensor("altimeter", "local", reference="LOCAL"),
        sensor("altimeter", "amsl", reference="AMSL"),
        sensor("gps", "gps", mount=aloft),
    )
    assert rig.readers["baro"]().pressure_pa == isa_pressure_pa(588.0)
    assert rig.readers["baro"]().temperature_c == pytest.approx(15.0 - 0.65)
    assert rig.readers["agl"]().altitude_m == pytest.approx(100.5)
    assert rig.readers["local"]().altitude_m == 100.0
    assert rig.readers["amsl"]().altitude_m == 588.0
    gps = rig.readers["gps"]()
    assert gps[:3] == pytest.approx((0.0, 0.0, 100.5))
    assert gps.vel_enu_mps is None


def test_imu_in_free_fall_and_at_hover(make: Make) -> None:
    quad, rig = make(sensor("imu"))
    quad.advance(10)
    assert rig.readers["s0"]() == pytest.approx((0.0,) * 6, abs=1e-9)


def test_imu_off_the_centre_of_a_spinning_body(make: Make) -> None:
    """ω × (ω × r) of a pure yaw spin: towards the axis, ω²·r; and gravity is not felt."""
    mount = MountSpec(pos_m=(0.3, 0.0, 0.0))
    quad, rig = make(sensor("imu", mount=mount))
    state = list(quad.state)
    state[12] = 2.0
    quad.state = state
    quad._before = state  # no acceleration in the last step
    ax, ay, az, gx, gy, gz = rig.readers["s0"]()
    assert (ax, ay, az) == pytest.approx((-(2.0**2) * 0.3, 0.0, GRAVITY))
    assert (gx, gy, gz) == (0.0, 0.0, 2.0)


def test_turned_sensors_measure_in_their_own_axes(make: Make) -> None:
    rpy_deg = (30.0, -40.0, 100.0)
    rpy = tuple(math.radians(angle) for angle in rpy_deg)
    field = (6.0e-6, 2.3e-5, -4.2e-5)
    quad, rig = make(
        sensor("magnetometer", "mag", mount=MountSpec(rpy_deg=rpy_deg)),
        sensor("imu", "imu", mount=MountSpec(rpy_deg=rpy_deg)),
        initial=InitialState((0.0, 0.0, 100.0), (10.0, 20.0, 30.0)),
        world=WorldSpec(magnetic_field_enu_t=field),
    )
    body = q_from_rpy(*(math.radians(angle) for angle in (10.0, 20.0, 30.0)))
    mount = q_from_rpy(rpy[0], rpy[1], rpy[2])
    expected = q_rotate_inverse(mount, q_rotate_inverse(body, field))
    assert rig.readers["mag"]() == pytest.approx(expected, rel=1e-12)
    quad._before = quad.state
    felt = q_rotate_inverse(mount, q_rotate_inverse(body, (0.0, 0.0, GRAVITY)))
    assert rig.readers["imu"]()[:3] == pytest.approx(felt, rel=1e-12)


@pytest.mark.parametrize("pos_m", [(0.0, 0.0, 0.0), (0.4, -0.2, 0.3)])
def test_velocity_of_an_antenna(make: Make, pos_m: tuple[float, float, float]) -> None:
    """That of the body and ω × r of the mast, against the difference of two places."""
    noise = NoiseModel(gnss=GnssNoise(velocity_sigma_mps=0.0))
    start = InitialState((0.0, 0.0, 100.0), (20.0, -30.0, 70.0), (3.0, -2.0, 1.0))
    quad, rig = make(sensor("gps", noise=noise, mount=MountSpec(pos_m=pos_m)), initial=start)
    state = list(quad.state)
    state[10:13] = rate = (0.5, -0.8, 1.5)
    quad.state = state
    here = rig.readers["s0"]()
    places = []
    for dt in (-1e-5, 1e-5):
        turned = q_multiply(state[3:7], q_from_rotvec(tuple(w * dt for w in rate)))
        moved = [x + v * dt for x, v in zip(state[:3], state[7:10], strict=True)]
        quad.state = [*moved, *turned, *state[7:]]
        places.append(rig.readers["s0"]()[:3])
    expected = [(b - a) / 2e-5 for a, b in zip(*places, strict=True)]
    assert here.vel_enu_mps == pytest.approx(expected, abs=1e-6)
    if not any(pos_m):
        assert here.vel_enu_mps == (3.0, -2.0, 1.0)


def test_flow_of_a_level_flight(make: Make) -> None:
    """Flying over the ground at v and height h is a rotation of the scene by v/h."""
    initial = InitialState((0.0, 0.0, 4.0), vel_enu_mps=(2.0, 1.0, 0.0))
    quad, rig = make(sensor("optical_flow"), initial=initial)
    state = quad.state
    for _ in range(5):
        quad.state = state
        rig.accumulate()
    truth = rig.readers["s0"]()
    seconds = 5 * rig.step_ns * 1e-9
    assert truth.integration_ns == 5 * rig.step_ns
    assert (truth.flow_x, truth.flow_y) == pytest.approx(
        (1.0 / 4.0 * seconds, -2.0 / 4.0 * seconds)
    )
    assert (truth.gx, truth.gy, truth.gz) == (0.0, 0.0, 0.0)
    assert truth.distance_m == pytest.approx(4.0)
    assert truth.quality == 255
    again = rig.readers["s0"]()
    assert (again.integration_ns, again.flow_x, again.quality) == (0, 0.0, 0)


def test_flow_looking_at_the_sky_sees_nothing(make: Make) -> None:
    quad, rig = make(sensor("optical_flow", mount=MountSpec(rpy_deg=(180.0, 0.0, 0.0))))
    quad.advance(1)
    rig.accumulate()
    truth = rig.readers["s0"]()
    assert math.isnan(truth.distance_m)
    assert (truth.flow_x, truth.flow_y, truth.quality) == (0.0, 0.0, 0)


def test_depth_is_along_the_axis(make: Make) -> None:
    """A camera 3 m up that looks straight down: the same depth in every pixel, beyond 4 m none."""
    camera = CameraSpec(32, 24, 60.0, min_range_m=0.1, max_range_m=5.0)
    down = MountSpec(rpy_deg=(0.0, 90.0, 0.0))
    _, rig = make(
        sensor("depth", camera=camera, mount=down),
        initial=InitialState((0.0, 0.0, 3.0)),
    )
    depth = rig.readers["s0"]().depth_m
    assert depth.shape == (24, 32)
    assert depth.dtype == np.float32
    np.testing.assert_allclose(depth, 3.0, rtol=1e-6)
