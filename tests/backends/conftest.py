"""Both engines and both backends, one after the other, in the same checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest

from ghost.backends.embedded import EmbeddedBackend, rendering_status
from ghost.backends.embedded.engine import MujocoEngine
from ghost.backends.pybullet import PyBulletBackend
from ghost.backends.pybullet.engine import PyBulletEngine
from ghost.core import (
    BodySpec,
    BoxObstacle,
    CameraSpec,
    MotorSpec,
    RotorSpec,
    ScenarioSpec,
    SensorConfig,
    VehicleSpec,
    WorldSpec,
)
from ghost.physics import Engine, PhysicsBackend

ENGINES: dict[str, Callable[[], Engine]] = {"mujoco": MujocoEngine, "pybullet": PyBulletEngine}
BACKENDS: dict[str, Callable[[], PhysicsBackend]] = {
    "mujoco": EmbeddedBackend,
    "pybullet": PyBulletBackend,
}
BOTH = ["mujoco", pytest.param("pybullet", marks=pytest.mark.pybullet)]
DRAWING = [
    pytest.param("mujoco", marks=pytest.mark.gl),
    pytest.param("pybullet", marks=pytest.mark.pybullet),
]


def _need(name: str) -> str:
    if name == "pybullet" and find_spec("pybullet") is None:
        pytest.skip("pybullet is not installed")
    return name


def _need_drawing(name: str) -> str:
    if name == "mujoco" and not rendering_status()[0]:
        pytest.skip(f"no colour images here: {rendering_status()[1]}")
    return _need(name)


@pytest.fixture
def closing() -> Iterator[Callable[[Engine], Engine]]:
    """Registers an engine to be closed after the test."""
    opened: list[Engine] = []

    def register(engine: Engine) -> Engine:
        opened.append(engine)
        return engine

    yield register
    for engine in opened:
        engine.close()


@pytest.fixture(params=BOTH)
def make_engine(
    request: pytest.FixtureRequest, closing: Callable[[Engine], Engine]
) -> Callable[[], Engine]:
    """Makes engines of one kind."""
    kind = ENGINES[_need(request.param)]
    return lambda: closing(kind())


@pytest.fixture(params=DRAWING)
def drawing_engine(request: pytest.FixtureRequest, closing: Callable[[Engine], Engine]) -> Engine:
    """An engine that can draw."""
    return closing(ENGINES[_need_drawing(request.param)]())


@pytest.fixture(params=BOTH)
def make_backend(request: pytest.FixtureRequest) -> Iterator[Callable[[], PhysicsBackend]]:
    """Makes backends of one kind, and shuts them down after the test."""
    kind = BACKENDS[_need(request.param)]
    made: list[PhysicsBackend] = []

    def make() -> PhysicsBackend:
        made.append(kind())
        return made[-1]

    yield make
    for backend in made:
        backend.shutdown()


@pytest.fixture(params=DRAWING)
def drawing_backend(request: pytest.FixtureRequest) -> Iterator[PhysicsBackend]:
    """A backend with colour cameras."""
    backend = BACKENDS[_need_drawing(request.param)]()
    yield backend
    backend.shutdown()


@pytest.fixture
def camera() -> CameraSpec:
    """The one camera of `vehicle`."""
    return CameraSpec(width=160, height=120, hfov_deg=80.0)


@pytest.fixture
def vehicle(camera: CameraSpec) -> VehicleSpec:
    """A quadrotor whose centre of mass and principal axes are not those of its body frame."""
    return VehicleSpec(
        name="uneven",
        body=BodySpec(2.0, (0.022, 0.025, 0.04), (0.4, 0.3, 0.1), (0.0, 0.0, -0.05)),
        rotors=(
            RotorSpec((0.17, -0.17, 0.06), "ccw", 0.10, (1e-6, 3e-5, 3e-5)),
            RotorSpec((-0.17, 0.17, 0.06), "ccw", 0.02, (1e-6, 3e-5, 3e-5)),
            RotorSpec((0.17, 0.17, 0.06), "cw", 0.05, (1e-6, 3e-5, 3e-5)),
            RotorSpec((-0.17, -0.17, 0.06), "cw", 0.02, (1e-6, 3e-5, 3e-5)),
        ),
        motor=MotorSpec(8.5e-06, 0.016, 1000.0, 0.0125, 0.025, 8.0e-05, 1e-06),
        sensors=(SensorConfig(id="cam0", type="rgb", rate_hz=10.0, camera=camera),),
    )


@pytest.fixture
def scenario(vehicle: VehicleSpec) -> ScenarioSpec:
    """A red box, 1 m wide and 2 m high, with its near face 4.5 m to the east."""
    box = BoxObstacle((5.0, 0.0, 1.0), (1.0, 1.0, 2.0), color_rgb=(0.9, 0.1, 0.1))
    return ScenarioSpec(
        name="box", vehicle=vehicle, duration_ns=10**10, world=WorldSpec(obstacles=(box,))
    )
