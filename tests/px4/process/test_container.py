"""PX4 in a container, against a stand-in for the Docker engine."""

from __future__ import annotations

import builtins
import importlib
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from ghost.core import AutopilotSpec, BackendLost, ConfigError, MissingDependency
from ghost.px4.container import ContainerProcess, check_image
from ghost.px4.launch import AIRFRAMES, make_process
from ghost.px4.process import Px4Process
from tests.px4.process.fake_docker import Container, FakeDocker
from tests.px4.process.standins import WaitFor, write_px4

pytest.importorskip("docker", reason="needs the Python package docker")

_IMAGE = "px4io/px4-sitl:v1.18.0-beta2"
_ENTRY = "/opt/px4/bin/px4-entrypoint.sh"


@pytest.fixture
def engine() -> Iterator[FakeDocker]:
    """An engine that has PX4's image."""
    # Not under the test's own folder: the path of a Unix socket must be short.
    with tempfile.TemporaryDirectory(prefix="ghost_test_") as folder:
        docker = FakeDocker(Path(folder) / "docker.sock")
        docker.images[_IMAGE] = [_ENTRY]
        yield docker
        docker.close()


def _px4(engine: FakeDocker, *, settings: dict[str, str] | None = None) -> ContainerProcess:
    return ContainerProcess(
        _IMAGE,
        7,
        airframe=10016,
        model="none_iris",
        environ=engine.environ,
        settings=settings,
        timeout_s=5.0,
    )


def _only(engine: FakeDocker) -> Container:
    (container,) = engine.containers.values()
    return container


def test_it_is_created_with_network_name_and_environment(engine: FakeDocker) -> None:
    process = _px4(engine, settings={"PX4_PARAM_COM_OF_LOSS_T": "5"})
    process.start()
    container = _only(engine)
    config = container.config
    assert container.name == "ghost_px4_7"
    assert config["Image"] == _IMAGE
    assert config["HostConfig"]["NetworkMode"] == "host"
    assert sorted(config["Env"]) == [
        *("HEADLESS=1", "PX4_PARAM_COM_OF_LOSS_T=5"),
        *("PX4_SIM_MODEL=none_iris", "PX4_SYS_AUTOSTART=10016"),
    ]
    assert config["Entrypoint"] == ["/bin/sh"]
    assert config["Cmd"][0] == "-c"
    assert config["Cmd"][3:] == [_ENTRY, "-i", "7", "-d"]
    assert (config["OpenStdin"], config["StdinOnce"], config["Tty"]) == (True, True, False)
    assert config["Labels"] == {"ghost.px4.instance": "7"}
    process.stop()


def test_its_input_is_connected_before_it_starts_and_closed_at_the_end(
    engine: FakeDocker, wait_for: WaitFor
) -> None:
    process = _px4(engine)
    process.start()
    container = _only(engine)
    assert container.connected.is_set()
    calls = [call.rpartition("/")[2] for call in engine.calls]
    assert calls.index("attach") < calls.index("start")
    process.stop()
    wait_for(lambda: not container.connected.is_set())


def test_it_runs_until_it_is_stopped_and_again(engine: FakeDocker) -> None:
    engine.on_start = b"INFO  [px4] instance: 7\n"
    process = _px4(engine)
    assert process.describe().endswith("does not run")
    for _ in range(2):
        process.start()
        assert process.alive
        assert process.exit_code is None
        assert process.describe() == (
            f"PX4 in the container ghost_px4_7 ({_IMAGE}), instance 7, runs"
        )
        process.stop()
        process.stop()
        assert engine.containers == {}
        assert process.log_tail() == "INFO  [px4] instance: 7"
        assert process.exit_code is None
    process.start()
    process.start()  # anew
    assert len(engine.containers) == 1
    process.stop()
    assert not process.alive


def test_one_that_dies_says_why_also_after_stop(engine: FakeDocker) -> None:
    process = _px4(engine)
    process.start()
    _only(engine).end(139, b"\xff\xfe garbage\nERROR [px4] \x1b[31mgone\x1b[0m\n")
    for _ in range(2):
        assert not process.alive
        assert process.exit_code == 139
        assert "ended by itself (SIGSEGV); its last lines: " in process.describe()
        assert process.describe().endswith("garbage | ERROR [px4] gone")
        process.stop()


def test_an_image_without_px4_is_explained(engine: FakeDocker) -> None:
    engine.images[_IMAGE] = None
    process = _px4(engine)
    process.start()
    assert _only(engine).config["Cmd"][3] == "px4"
    _only(engine).end(127, b"sh: 1: px4: not found\n")
    assert "the image has no such program" in process.describe()
    process.stop()


def test_an_image_that_is_missing_says_what_to_pull(engine: FakeDocker) -> None:
    engine.images.clear()
    process = _px4(engine)
    with pytest.raises(MissingDependency, match=f"docker pull {_IMAGE}"):
        process.start()
    assert not process.alive
    assert engine.containers == {}


def test_what_an_earlier_run_left_is_replaced(engine: FakeDocker) -> None:
    earlier = _px4(engine)
    earlier.start()
    old = _only(engine)
    old.end(1)
    process = _px4(engine)
    process.start()
    assert _only(engine) is not old
    earlier.stop()
    assert process.alive
    process.stop()


@pytest.mark.parametrize("ours", [True, False])
def test_a_name_in_use_is_refused(engine: FakeDocker, ours: bool) -> None:
    config = {"Image": "busybox:1", "Labels": {"ghost.px4.instance": "7"} if ours else None}
    engine.containers["a" * 64] = Container("a" * 64, "ghost_px4_7", config, ours, "running")
    with pytest.raises(
        ConfigError, match=r"name ghost_px4_7 is taken: a{12} of busybox:1"
    ) as caught:
        _px4(engine).start()
    assert "docker rm -f ghost_px4_7" in str(caught.value)
    assert ("since 2026-01-02T03:04:05Z" in str(caught.value)) == ours
    assert ("is not one of Ghost's" in str(caught.value)) == (not ours)
    assert list(engine.containers) == ["a" * 64]


def test_an_engine_that_fails_is_lost_and_nothing_is_left(engine: FakeDocker) -> None:
    for failing in ("/create", "/start"):
        engine.failing = failing
        with pytest.raises(BackendLost, match=f"container of {_IMAGE}: the disk is full"):
            _px4(engine).start()
        engine.failing = ""
        assert engine.containers == {}


def test_an_engine_that_goes_away_ends_nothing_in_an_exception(engine: FakeDocker) -> None:
    process = _px4(engine)
    process.start()
    engine.failing = "/json"
    assert not process.alive
    assert process.exit_code is None
    assert "the Docker engine does not answer: the disk is full" in process.describe()
    engine.failing = ""
    engine.containers.clear()
    assert not process.alive
    assert "somebody removed the container" in process.describe()
    process.stop()
    assert process.log_tail() == ""


def _refused(where: str) -> str:
    process = ContainerProcess(
        _IMAGE, 7, airframe=1, model="m", environ={"DOCKER_HOST": where}, timeout_s=2.0
    )
    with pytest.raises(ConfigError) as caught:
        process.start()
    process.stop()
    assert caught.value.key == "autopilot.image"
    text = str(caught.value)
    assert "--set autopilot.binary=PATH" in text
    return text


def test_no_engine_is_explained(tmp_path: Path) -> None:
    text = _refused(f"unix://{tmp_path}/none.sock")
    assert f"cannot use the Docker engine at unix://{tmp_path}/none.sock: it does not run" in text
    with tempfile.TemporaryDirectory(prefix="ghost_test_") as folder:
        path = Path(folder) / "dead.sock"
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path))
        assert "it does not run; start it with `sudo systemctl start docker`" in _refused(
            f"unix://{path}"
        )


def test_no_permission_is_explained(engine: FakeDocker, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: socket.socket, _address: object) -> None:
        self.close()  # the SDK does not
        raise PermissionError(13, "Permission denied")

    # Root is refused nothing: say for it what anybody else would hear.
    class Refused(socket.socket):
        connect = refuse

    monkeypatch.setattr(socket, "socket", Refused)
    text = _refused(engine.environ["DOCKER_HOST"])
    assert "no permission; join its group with `sudo usermod -aG docker $USER`" in text


def test_what_is_no_engine_is_explained() -> None:
    assert "cannot use the Docker engine at nonsense://x: " in _refused("nonsense://x")


def test_without_the_sdk_it_says_what_to_install(
    engine: FakeDocker, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def missing(name: str, package: str | None = None) -> ModuleType:
        if name == "docker":
            raise builtins.ModuleNotFoundError("No module named 'docker'", name="docker")
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", missing)
    process = _px4(engine)
    with pytest.raises(MissingDependency, match=r'pip install "ghost-hal\[px4\]"'):
        process.start()
    process.stop()


@pytest.mark.parametrize(
    "image",
    ["px4io/px4-sitl", "px4io/px4-sitl:latest", "host:5000/px4", "px4:", "host:5000/px4:latest"],
)
def test_an_image_that_moves_is_refused(image: str) -> None:
    with pytest.raises(ConfigError, match="needs a tag that stays what it is") as caught:
        check_image(image)
    assert caught.value.key == "autopilot.image"


@pytest.mark.parametrize(
    "image", [_IMAGE, "host:5000/px4:v1.17", "px4io/px4-sitl@sha256:" + "0" * 64]
)
def test_an_image_that_stays_is_taken(image: str) -> None:
    check_image(image)


def test_a_scenario_says_which_of_both(tmp_path: Path, engine: FakeDocker) -> None:
    program = write_px4(tmp_path / "build")
    environ = {"PX4_BIN": str(program), "PATH": os.defpath, **engine.environ}
    local = make_process(AutopilotSpec(), 200, environ=environ)
    assert isinstance(local, Px4Process)
    assert local.program.binary == program
    spec = AutopilotSpec(link="gz_bridge", image=_IMAGE)
    contained = make_process(spec, 200, environ=environ, settings={"PX4_GZ_WORLD": "w"})
    assert isinstance(contained, ContainerProcess)
    contained.start()
    airframe, model = AIRFRAMES["gz_bridge"]
    assert {*(f"PX4_SYS_AUTOSTART={airframe}", f"PX4_SIM_MODEL={model}", "PX4_GZ_WORLD=w")} <= set(
        _only(engine).config["Env"]
    )
    contained.stop()


def test_another_airframe_in_a_container_needs_its_model(engine: FakeDocker) -> None:
    spec = AutopilotSpec(image=_IMAGE, airframe=10040)
    with pytest.raises(ConfigError, match="airframe 10040 needs its model too"):
        make_process(spec, 200, environ=engine.environ)
    settings = {"PX4_SIM_MODEL": "sihsim_quadx"}
    assert make_process(spec, 200, environ=engine.environ, settings=settings)
