"""A rig that drives sensors step by step with constant truth, and shared sensor definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from ghost.core import (
    AltimeterNoise,
    BarometerNoise,
    CameraSpec,
    Event,
    EventType,
    FaultSpec,
    FlowNoise,
    GnssNoise,
    ImageNoise,
    ImuNoise,
    LidarSpec,
    MagnetometerNoise,
    NoiseModel,
    RandomStream,
    RangeNoise,
    SensorConfig,
    TriadNoise,
)
from ghost.hal import SensorHealth, SensorSample
from ghost.sensing import (
    AltimeterTruth,
    BaroTruth,
    ChannelProvider,
    ChannelSet,
    DepthTruth,
    FlowTruth,
    GnssTruth,
    ImuTruth,
    LidarTruth,
    MagTruth,
    RgbTruth,
)

MS = 1_000_000
CAMERA = CameraSpec(width=8, height=6, hfov_deg=80.0)
LIDAR = LidarSpec(columns=12, rows=4)


def _image() -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)


TRUTHS: dict[str, Callable[[], Any]] = {
    "imu": lambda: ImuTruth(0.1, -0.2, 9.8, 0.01, 0.02, -0.03),
    "magnetometer": lambda: MagTruth(6.0e-6, 2.3e-5, -4.2e-5),
    "barometer": lambda: BaroTruth(101_325.0, 15.0),
    "gps": lambda: GnssTruth(1.0, 2.0, 3.0),
    "altimeter": lambda: AltimeterTruth(4.0),
    "rgb": lambda: RgbTruth(_image(), (400.0, 0.0)),
    "depth": lambda: DepthTruth(np.full((6, 8), 5.0, np.float32)),
    "lidar": lambda: LidarTruth(np.full(48, 7.0, np.float32)),
    "optical_flow": lambda: FlowTruth(0.1, 0.2, 0.3, 0.4, 0.5, 20 * MS, 2.5, 200),
}

_INERTIAL = TriadNoise(
    white_density=(0.01, 0.02, 0.03), bias=(0.1, 0.2, 0.3), random_walk_density=(0.1, 0.1, 0.1)
)
NOISE: dict[str, NoiseModel] = {
    "imu": NoiseModel(imu=ImuNoise(accel=_INERTIAL, gyro=_INERTIAL)),
    "magnetometer": NoiseModel(magnetometer=MagnetometerNoise(white_sigma_t=(1e-7, 1e-7, 1e-7))),
    "barometer": NoiseModel(
        barometer=BarometerNoise(white_sigma_pa=3.0, random_walk_pa_sqrt_s=1.0)
    ),
    "gps": NoiseModel(
        gnss=GnssNoise(horizontal_sigma_m=0.3, vertical_sigma_m=0.5, wander_sigma_m=1.0)
    ),
    "altimeter": NoiseModel(altimeter=AltimeterNoise(white_sigma_m=0.05)),
    "rgb": NoiseModel(
        image=ImageNoise(read_sigma=2.0, exposure_sigma=0.02, dropout_ratio=0.2, motion_blur=True)
    ),
    "depth": NoiseModel(range=RangeNoise(sigma_m=0.01, sigma_ratio=0.01, dropout_ratio=0.1)),
    "lidar": NoiseModel(range=RangeNoise(sigma_m=0.01, sigma_ratio=0.01, dropout_ratio=0.1)),
    "optical_flow": NoiseModel(flow=FlowNoise(sigma_rad=0.01)),
}


def make_sensor(kind: str, sensor_id: str | None = None, **changes: Any) -> SensorConfig:
    """A 100 Hz sensor of `kind` without noise, named after its kind."""
    values: dict[str, Any] = {"id": sensor_id or f"{kind}0", "type": kind, "rate_hz": 100.0}
    if kind in ("rgb", "depth"):
        values["camera"] = CAMERA
    if kind == "lidar":
        values["lidar"] = LIDAR
    return SensorConfig(**(values | changes))


def to_geodetic(e: float, n: float, u: float) -> tuple[float, float, float]:
    """A flat Earth: good enough to see that the conversion is applied to the noisy fix."""
    return 47.0 + n / 111_000.0, 8.0 + e / 76_000.0, 488.0 + u


class Rig:
    """A `ChannelSet` with its clock and its events."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.wall = 0
        self.channels = ChannelSet(self.events.append, self._wall_ns)
        self.now_ns = 0

    def _wall_ns(self) -> int:
        self.wall += 1
        return self.wall

    def build(
        self,
        *sensors: SensorConfig,
        faults: Iterable[FaultSpec] = (),
        readers: Mapping[str, Callable[[], Any]] | None = None,
        seed: int = 7,
    ) -> Rig:
        """Reset with these sensors; a sensor without a reader gets the truth of its kind."""
        given = {s.id: TRUTHS[s.type] for s in sensors if s.type in TRUTHS} | dict(readers or {})
        self.channels.build(sensors, RandomStream(seed), faults, given, to_geodetic)
        self.now_ns = 0
        return self

    def __getitem__(self, sensor_id: str) -> ChannelProvider:
        return self.channels.providers[sensor_id]

    def health(self, sensor_id: str) -> SensorHealth:
        """What the provider says now."""
        return self[sensor_id].health

    def step(self, step_ns: int = MS) -> dict[str, int]:
        """One step."""
        self.now_ns += step_ns
        return self.channels.sample(self.now_ns)

    def run(self, until_ns: int, step_ns: int = MS) -> None:
        """Step up to and including `until_ns`."""
        while self.now_ns < until_ns:
            self.step(step_ns)

    def collect(self, sensor_id: str, until_ns: int, step_ns: int = MS) -> list[SensorSample[Any]]:
        """Run and return every sample of one sensor, polled at each step."""
        samples: list[SensorSample[Any]] = []
        while self.now_ns < until_ns:
            self.step(step_ns)
            samples += self[sensor_id].poll()
        return samples

    def seen(self, *types: EventType) -> list[tuple[int, EventType, Any]]:
        """(stamp, type, kind) of the events, all or those of the given types."""
        return [
            (e.stamp_sim_ns, e.type, e.payload.get("kind"))
            for e in self.events
            if not types or e.type in types
        ]


class Kit:
    """What tests get from the fixture: they cannot import from this file."""

    Rig = Rig
    truths = TRUTHS
    noise = NOISE
    camera = CAMERA
    lidar = LIDAR
    kinds: Sequence[str] = tuple(TRUTHS)
    sensor = staticmethod(make_sensor)
    to_geodetic = staticmethod(to_geodetic)

    @staticmethod
    def numbers(payload: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Every floating-point number of a payload, in field order, as one flat array."""
        parts: list[Any] = []
        for name in type(payload).__dataclass_fields__:
            value = getattr(payload, name)
            if isinstance(value, float):
                parts.append([value])
            elif isinstance(value, np.ndarray):
                parts.append(value.astype(np.float64).ravel())
        return np.concatenate(parts)

    @staticmethod
    def same_but_wall(a: Sequence[SensorSample[Any]], b: Sequence[SensorSample[Any]]) -> bool:
        """Equal in everything but the host's stamp."""

        def key(s: SensorSample[Any]) -> tuple[Any, ...]:
            return (s.sensor_id, s.seq, s.stamp_sensor_ns, s.stamp_sim_ns, s.health)

        return len(a) == len(b) and all(
            key(x) == key(y) and x.payload == y.payload and x.meta == y.meta
            for x, y in zip(a, b, strict=True)
        )


@pytest.fixture
def rig() -> Rig:
    return Rig()


@pytest.fixture(scope="session")
def kit() -> Kit:
    return Kit()
