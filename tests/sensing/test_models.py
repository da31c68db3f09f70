"""Statistics and payloads of the other sensors (D19)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ghost.core import (
    AltimeterNoise,
    BarometerNoise,
    CameraSpec,
    FlowNoise,
    GnssNoise,
    LidarSpec,
    MagnetometerNoise,
    NoiseModel,
    RandomStream,
    RangeNoise,
)
from ghost.hal import GpsFix
from ghost.sensing import (
    AltimeterTruth,
    BaroTruth,
    DepthTruth,
    FlowTruth,
    GnssTruth,
    LidarTruth,
    MagTruth,
    beam_directions,
    make_model,
)

if TYPE_CHECKING:
    from tests.sensing.conftest import Kit

N = 20_000
# Standard deviation of the standard deviation of N normal values, relative: 1/√(2N) = 0.5 %.
WITHIN = 0.02


def model_of(kit: Kit, kind: str, noise: NoiseModel | None = None, **changes: Any) -> Any:
    config = kit.sensor(kind, noise=noise, **changes)
    return make_model(config, RandomStream(11).child("/sensors/x/noise"), kit.to_geodetic)


def series(model: Any, truth: Any, count: int = N) -> list[Any]:
    readings = [model.measure(k, truth) for k in range(1, count + 1)]
    assert all(error is None for _, error in readings)
    return [payload for payload, _ in readings]


def test_magnetometer(kit: Kit) -> None:
    sigma, bias = np.array((1e-7, 2e-7, 3e-7)), np.array((1e-6, -2e-6, 3e-6))
    noise = MagnetometerNoise(white_sigma_t=(1e-7, 2e-7, 3e-7), bias_t=(1e-6, -2e-6, 3e-6))
    model = model_of(kit, "magnetometer", NoiseModel(magnetometer=noise))
    truth = MagTruth(6.0e-6, 2.3e-5, -4.2e-5)
    errors = np.array([p.field_t for p in series(model, truth)]) - np.array(truth)
    np.testing.assert_allclose(errors.mean(axis=0), bias, atol=4 * 3e-7 / math.sqrt(N))
    np.testing.assert_allclose(errors.std(axis=0), sigma, rtol=WITHIN)


def test_barometer_white_and_bias(kit: Kit) -> None:
    noise = BarometerNoise(white_sigma_pa=3.0, bias_pa=40.0)
    model = model_of(kit, "barometer", NoiseModel(barometer=noise))
    payloads = series(model, BaroTruth(101_325.0, 12.5))
    errors = np.array([p.pressure_pa for p in payloads]) - 101_325.0
    assert errors.mean() == pytest.approx(40.0, abs=4 * 3.0 / math.sqrt(N))
    assert errors.std() == pytest.approx(3.0, rel=WITHIN)
    assert {p.temperature_c for p in payloads} == {12.5}


def test_barometer_drifts_by_its_density(kit: Kit) -> None:
    noise = BarometerNoise(random_walk_pa_sqrt_s=2.0)
    model = model_of(kit, "barometer", NoiseModel(barometer=noise), rate_hz=50.0)
    pressure = np.array([p.pressure_pa for p in series(model, BaroTruth(0.0, 15.0))])
    steps = np.diff(pressure)
    assert steps.std() == pytest.approx(2.0 / math.sqrt(50.0), rel=WITHIN)
    # Over one second the steps add up to 2 Pa: they are independent.
    assert np.diff(pressure[::50]).std() == pytest.approx(2.0, rel=0.12)


def test_altimeter(kit: Kit) -> None:
    noise = AltimeterNoise(white_sigma_m=0.05, bias_m=-0.2)
    model = model_of(kit, "altimeter", NoiseModel(altimeter=noise), reference="AMSL")
    payloads = series(model, AltimeterTruth(10.0))
    altitude = np.array([p.altitude_m for p in payloads])
    assert altitude.mean() == pytest.approx(9.8, abs=4 * 0.05 / math.sqrt(N))
    assert altitude.std() == pytest.approx(0.05, rel=WITHIN)
    assert payloads[0].variance_m2 == pytest.approx(altitude.var(), rel=2 * WITHIN)
    assert payloads[0].reference == "AMSL"


def test_optical_flow(kit: Kit) -> None:
    model = model_of(kit, "optical_flow", NoiseModel(flow=FlowNoise(sigma_rad=0.01)))
    truth = FlowTruth(0.1, -0.2, 0.3, 0.4, 0.5, 20_000_000, math.nan, 77)
    payloads = series(model, truth)
    flow = np.array([p.flow_rad for p in payloads])
    np.testing.assert_allclose(flow.mean(axis=0), (0.1, -0.2), atol=4 * 0.01 / math.sqrt(N))
    np.testing.assert_allclose(flow.std(axis=0), 0.01, rtol=WITHIN)
    last = payloads[-1]
    assert last.gyro_rad.tolist() == [0.3, 0.4, 0.5]
    assert (last.integration_ns, last.quality) == (20_000_000, 77)
    assert math.isnan(last.distance_m)


def test_gnss_white_part_and_accuracy(kit: Kit) -> None:
    noise = GnssNoise(horizontal_sigma_m=0.3, vertical_sigma_m=0.6)
    payloads = series(model_of(kit, "gps", NoiseModel(gnss=noise)), GnssTruth(1.0, 2.0, 3.0))
    enu = np.array([p.enu_local_m for p in payloads])
    np.testing.assert_allclose(enu.mean(axis=0), (1.0, 2.0, 3.0), atol=4 * 0.6 / math.sqrt(N))
    np.testing.assert_allclose(enu.std(axis=0), (0.3, 0.3, 0.6), rtol=WITHIN)
    fix = payloads[5]
    assert (fix.lat_deg, fix.lon_deg, fix.alt_m) == kit.to_geodetic(*fix.enu_local_m.tolist())
    assert (fix.hacc_m, fix.vacc_m, fix.fix_type) == (0.3, 0.6, GpsFix.FIX_3D)


def test_gnss_wander_is_gauss_markov(kit: Kit) -> None:
    tau_s, rate_hz, sigma_m = 0.5, 100.0, 2.0
    noise = GnssNoise(wander_sigma_m=sigma_m, wander_time_s=tau_s)
    model = model_of(kit, "gps", NoiseModel(gnss=noise), rate_hz=rate_hz)
    enu = np.array([p.enu_local_m for p in series(model, GnssTruth(0.0, 0.0, 0.0), 100_000)])
    # 1000 s hold about 1000 independent stretches of 2τ on each of three axes.
    assert enu.std() == pytest.approx(sigma_m, rel=0.05)
    for lag in (25, 50, 100):
        correlation = np.mean(enu[:-lag] * enu[lag:]) / np.mean(enu * enu)
        assert correlation == pytest.approx(math.exp(-lag / rate_hz / tau_s), abs=0.06)
    assert model.measure(1, GnssTruth(0.0, 0.0, 0.0))[0].hacc_m == sigma_m


def test_gnss_wander_is_in_its_steady_state_from_the_first_fix(kit: Kit) -> None:
    noise = GnssNoise(wander_sigma_m=2.0, wander_time_s=1000.0)
    config = kit.sensor("gps", noise=NoiseModel(gnss=noise))
    first = np.array(
        [
            make_model(config, RandomStream(seed), kit.to_geodetic)
            .measure(1, GnssTruth(0.0, 0.0, 0.0))[0]  # type: ignore[index]  # GNSS loses no frame
            .enu_local_m
            for seed in range(400)
        ]
    )
    assert first.std() == pytest.approx(2.0, rel=0.10)


VELOCITY = (3.0, -2.0, 0.5)


def _velocities(model: Any, count: int = N) -> Any:
    truth = GnssTruth(1.0, 2.0, 3.0, VELOCITY)
    readings = [model.measure(k, truth) for k in range(1, count + 1)]
    assert all(set(extensions) == {"vel_enu_mps"} for _, extensions in readings)
    return np.array([extensions["vel_enu_mps"] for _, extensions in readings])


def test_gnss_velocity_has_white_errors_of_its_own(kit: Kit) -> None:
    noise = GnssNoise(horizontal_sigma_m=0.3, vertical_sigma_m=0.3, velocity_sigma_mps=0.05)
    model = model_of(kit, "gps", NoiseModel(gnss=noise))
    velocity = _velocities(model) - VELOCITY
    np.testing.assert_allclose(velocity.mean(axis=0), 0.0, atol=4 * 0.05 / math.sqrt(N))
    np.testing.assert_allclose(velocity.std(axis=0), 0.05, rtol=WITHIN)
    fixes = [model.measure(k, GnssTruth(1.0, 2.0, 3.0, VELOCITY))[0] for k in range(1, N + 1)]
    position = np.array([fix.enu_local_m for fix in fixes]) - (1.0, 2.0, 3.0)
    # Neither with one another nor from one fix to the next: 4 sigma of a correlation of nothing.
    together = np.corrcoef(np.hstack((position, velocity)).T) - np.eye(6)
    assert np.abs(together).max() < 4.0 / math.sqrt(N)
    assert abs(np.mean(velocity[1:] * velocity[:-1])) < 4.0 * 0.05**2 / math.sqrt(3 * N)


def test_gnss_velocity_without_error_is_the_truth(kit: Kit) -> None:
    model = model_of(kit, "gps", NoiseModel(gnss=GnssNoise(velocity_sigma_mps=0.0)))
    assert {tuple(row) for row in _velocities(model, 300).tolist()} == {VELOCITY}


def test_gnss_velocity_leaves_the_position_as_it_is(kit: Kit) -> None:
    figures = {"horizontal_sigma_m": 0.3, "vertical_sigma_m": 0.5, "wander_sigma_m": 1.0}
    plain = model_of(kit, "gps", NoiseModel(gnss=GnssNoise(**figures)))
    both = model_of(kit, "gps", NoiseModel(gnss=GnssNoise(**figures, velocity_sigma_mps=0.1)))
    truth = GnssTruth(1.0, 2.0, 3.0, VELOCITY)
    for k in (1, 2, 255, 256, 257, 900):
        assert plain.measure(k, truth) == (both.measure(k, truth)[0], None)


def test_gnss_velocity_that_is_not_finite_or_not_there(kit: Kit) -> None:
    model = model_of(kit, "gps", NoiseModel(gnss=GnssNoise(velocity_sigma_mps=0.1)))
    payload, error = model.measure(1, GnssTruth(0.0, 0.0, 0.0, (0.0, math.nan, 0.0)))
    assert payload.fix_type is GpsFix.NO_FIX
    assert error == "reading is not finite"
    payload, extensions = model.measure(2, GnssTruth(0.0, 0.0, 0.0))
    assert payload.fix_type is GpsFix.FIX_3D
    assert extensions is None


def test_gnss_without_a_finite_position_has_no_fix(kit: Kit) -> None:
    payload, error = model_of(kit, "gps").measure(1, GnssTruth(math.nan, 0.0, 0.0))
    assert payload.fix_type is GpsFix.NO_FIX
    assert error == "reading is not finite"


@pytest.mark.parametrize(
    ("kind", "truth"),
    [
        ("magnetometer", MagTruth(0.0, math.inf, 0.0)),
        ("barometer", BaroTruth(math.nan, 15.0)),
        ("altimeter", AltimeterTruth(math.inf)),
        ("optical_flow", FlowTruth(0.0, math.nan, 0.0, 0.0, 0.0, 1, 1.0, 1)),
    ],
)
def test_numbers_that_are_not_finite_are_faulty(kit: Kit, kind: str, truth: Any) -> None:
    _, error = model_of(kit, kind).measure(1, truth)
    assert error == "reading is not finite"


CAMERA = CameraSpec(width=200, height=100, hfov_deg=60.0, min_range_m=0.5, max_range_m=10.0)


def depth_model(kit: Kit, noise: RangeNoise | None) -> Any:
    model = NoiseModel(range=noise) if noise else None
    return model_of(kit, "depth", model, camera=CAMERA)


@pytest.mark.parametrize("distance_m", [1.0, 4.0, 8.0])
def test_depth_noise_grows_with_distance(kit: Kit, distance_m: float) -> None:
    model = depth_model(kit, RangeNoise(sigma_m=0.01, sigma_ratio=0.02))
    truth = DepthTruth(np.full((100, 200), distance_m, np.float32))
    depth = model.measure(1, truth)[0].depth_m
    sigma = 0.01 + 0.02 * distance_m
    assert np.mean(depth) == pytest.approx(distance_m, abs=4 * sigma / math.sqrt(N))
    assert np.std(depth) == pytest.approx(sigma, rel=WITHIN)
    assert depth.dtype == np.float32
    assert not depth.flags.writeable


def test_depth_dropout(kit: Kit) -> None:
    model = depth_model(kit, RangeNoise(dropout_ratio=0.25))
    frame = DepthTruth(np.full((100, 200), 3.0, np.float32))
    one, two = (model.measure(k, frame)[0].depth_m for k in (1, 2))
    lost = np.isnan(one)
    assert lost.mean() == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / N))
    assert set(one[~lost]) == {np.float32(3.0)}
    assert not np.array_equal(lost, np.isnan(two))


@pytest.mark.parametrize("noise", [None, RangeNoise(sigma_m=1e-6, sigma_ratio=1e-6)])
def test_depth_range_limits(kit: Kit, noise: RangeNoise | None) -> None:
    depth = np.full((100, 200), 3.0, np.float32)
    depth[0, :6] = (0.4, 0.6, 9.9, 10.1, np.nan, np.inf)
    depth[0, 6] = -np.inf
    truth = depth.copy()
    measured = depth_model(kit, noise).measure(1, DepthTruth(truth))[0].depth_m
    expected = np.isin(np.arange(200), [0, 3, 4, 5, 6])
    np.testing.assert_array_equal(np.isnan(measured[0]), expected)
    assert not np.isnan(measured[1:]).any()
    np.testing.assert_array_equal(truth, depth)


LIDAR = LidarSpec(columns=500, rows=4, min_range_m=0.5, max_range_m=20.0)


def test_lidar_points_lie_on_their_beams(kit: Kit) -> None:
    model = model_of(kit, "lidar", lidar=LIDAR)
    ranges = np.linspace(1.0, 19.0, 2000).astype(np.float32)
    ranges[[3, 700]] = (np.nan, np.inf)
    ranges[[4, 701]] = (0.4, 20.5)
    cloud = model.measure(1, LidarTruth(ranges))[0]
    hit = np.setdiff1d(np.arange(2000), [3, 4, 700, 701])
    expected = beam_directions(LIDAR)[hit] * ranges[hit, np.newaxis]
    np.testing.assert_allclose(cloud.points_m, expected, atol=2e-6)
    np.testing.assert_array_equal(cloud.ring, hit // 500)
    assert (cloud.min_range_m, cloud.max_range_m) == (0.5, 20.0)
    assert not cloud.points_m.flags.writeable
    assert not cloud.ring.flags.writeable


def test_lidar_noise_and_dropout(kit: Kit) -> None:
    noise = NoiseModel(range=RangeNoise(sigma_m=0.02, sigma_ratio=0.01, dropout_ratio=0.1))
    model = model_of(kit, "lidar", noise, lidar=LIDAR)
    truth = LidarTruth(np.full(2000, 5.0, np.float32))
    ranges = [np.linalg.norm(model.measure(k, truth)[0].points_m, axis=1) for k in range(1, 21)]
    kept = np.concatenate(ranges)
    assert len(kept) / 40_000 == pytest.approx(0.9, abs=4 * math.sqrt(0.09 / 40_000))
    assert kept.std() == pytest.approx(0.07, rel=WITHIN)
    assert kept.mean() == pytest.approx(5.0, abs=4 * 0.07 / math.sqrt(36_000))


def test_lidar_may_see_nothing(kit: Kit) -> None:
    model = model_of(kit, "lidar", lidar=LIDAR)
    cloud, error = model.measure(1, LidarTruth(np.full(2000, np.inf, np.float32)))
    assert (cloud.points_m.shape, cloud.ring.shape, error) == ((0, 3), (0,), None)
