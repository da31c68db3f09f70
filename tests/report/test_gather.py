"""One pass over a run: what is kept, what is paired, and how little of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ghost.core import ScenarioSpec
from ghost.hal import IMUPayload, RGBImagePayload, SensorHealth, SensorMeta, SensorSample
from ghost.report import gather
from ghost.report.figures_sensors import fault_windows
from ghost.report.pictures import Sampled, shrunk
from ghost.report.survey import Row

MS = 1_000_000


def test_a_flight(flight_rows: list[Row], flight_spec: ScenarioSpec) -> None:
    run = gather(flight_rows, flight_spec)
    assert [log.sensor_id for log in run.ordered()][:2] == ["imu0", "gps0"]
    assert run.event_counts["sensor_fault"] == 1
    ((begin, end, kind),) = fault_windows(run, "gps0")
    assert (begin, end) == pytest.approx((0.5, 0.8))
    assert kind == "offline"
    assert fault_windows(run, "imu0") == []
    gps = run.sensors["/sensors/gps0"]
    silent = [span for span in gps.spans if span.health is None]
    assert len(silent) == 1
    assert silent[0].end_ns - silent[0].start_ns > 300 * MS
    imu = run.sensors["/sensors/imu0"]
    gyro = imu.measures[1].residual
    assert gyro is not None
    # The sensor's own white noise, 5.5e-5 rad/s/√Hz at 250 Hz, as the vehicle file says.
    assert gyro.moments.sigma == pytest.approx([8.7e-4] * 3, rel=0.15)


def test_a_delayed_sample_is_compared_with_the_truth_at_its_capture(parts: Any) -> None:
    rows: list[Row] = []
    for k in range(1, 60):
        stamp = k * 10 * MS
        if k > 5:
            capture = stamp - 50 * MS
            # A position that would be the truth of 50 ms ago.
            sample = SensorSample(
                "gps0", k, capture, stamp, 0, SensorHealth.OK,
                _fix(capture * 1e-9), SensorMeta("gps0"),
            )  # fmt: skip
            rows.append(("/sensors/gps0", stamp, k, sample))
        rows.append(("/ground_truth", stamp, k, parts.truth(stamp, (stamp * 1e-9, 0.0, 0.0))))
    run = gather(rows)
    residual = run.sensors["/sensors/gps0"].measures[0].residual
    assert residual is not None
    assert residual.moments.count[0] > 40
    assert np.abs(residual.moments.high).max() < 1e-9
    delay = run.sensors["/sensors/gps0"].latency.moments
    assert delay.mean[0] == pytest.approx(0.05)


def _fix(east: float) -> Any:
    from ghost.hal import GpsFix, GpsPayload

    return GpsPayload(0.0, 0.0, 0.0, np.array([east, 0.0, 0.0]), GpsFix.FIX_3D, 1.0, 1.0)


def test_without_truth_nothing_is_compared_and_little_is_kept() -> None:
    def rows() -> Iterator[Row]:
        payload = IMUPayload(np.zeros(3), np.zeros(3))
        for k in range(6000):
            sample = SensorSample(
                "imu0", k, k * MS, k * MS, 0, SensorHealth.OK, payload, SensorMeta("imu0")
            )
            yield "/sensors/imu0", k * MS, k, sample

    run = gather(rows())
    log = run.sensors["/sensors/imu0"]
    residual = log.measures[0].residual
    assert residual is not None
    assert len(residual.curve()) == 0
    assert len(log.measures[0].measured.curve()) <= 1000


def test_every_kind_of_payload_is_drawn(parts: Any) -> None:
    run = gather(parts.handmade(30))
    for log in run.sensors.values():
        assert log.measures, log.sensor_id
        assert any(len(item.measured.curve()) for item in log.measures)
    cam, lidar = run.sensors["/sensors/cam0"], run.sensors["/sensors/lidar0"]
    assert cam.frames is not None
    assert len(cam.frames.items()) == 12
    assert lidar.clouds is not None
    clouds = lidar.clouds.items()
    assert len(clouds) == 12
    # In the world: the sensor sits at the true position.
    assert clouds[0].points_enu_m[0] == pytest.approx([0.1, 0.25, 1.5])


def test_frames_are_spread_over_a_run_of_any_length() -> None:
    for count in (1, 11, 12, 13, 24, 1000, 12345):
        sampled: Sampled[int] = Sampled(12)
        for k in range(count):
            if sampled.wants():
                sampled.keep(k)
            else:
                sampled.pass_by()
        items = sampled.items()
        assert items[0] == 0
        assert len(items) == min(count, 12)
        steps = np.diff(items)
        assert count < 13 or steps.max() <= 3 * steps.min()
        assert items[-1] >= (count - 1) * 0.45


def test_large_pictures_are_kept_small(parts: Any) -> None:
    payload = RGBImagePayload(np.zeros((1000, 2000, 3), np.uint8), parts.camera(2000, 1000), 0)
    assert shrunk(payload).shape == (200, 400, 3)


def test_two_runs_in_one_file_do_not_break_it(flight_rows: list[Row]) -> None:
    run = gather([*flight_rows, *flight_rows])
    assert run.survey.count == 2 * len(flight_rows)


def test_unknown_messages_are_counted_and_passed_by(parts: Any) -> None:
    run = gather([("/mine", MS, 0, object()), ("/other", MS, 1, parts.truth(MS))])
    assert run.survey.topics["/mine"].count == 1
