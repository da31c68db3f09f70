"""PX4 in a container, on a real Docker engine, with a stand-in image made of this machine's shell.

The engine is that of `DOCKER_HOST`, or the machine's own.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ghost.core import ConfigError, HostClock, MissingDependency
from ghost.px4.container import ContainerProcess
from ghost.px4.instances import ClaimedInstance
from tests.px4.process.standins import WaitFor

docker = pytest.importorskip("docker", reason="needs the Python package docker")

_IMAGE = f"ghost-test-px4:{os.getpid()}"  # not that of a test run beside us
_NEEDED = ("sh", "cat", "sleep")
_PX4 = """\
#!/bin/sh
echo "INFO  [px4] instance: $2, model $PX4_SIM_MODEL, display ${DISPLAY:-none}"
case "$STAND_IN" in
die) echo "ERROR [px4] bad"; exit 7 ;;
stubborn) trap '' TERM INT ;;
esac
while :; do sleep 0.1; done
"""


def _no_engine() -> str:
    """Why there is none; "" if there is one."""
    where = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    if not where.startswith("unix://"):
        return f"the engine at {where} is not of this machine"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        try:
            sock.connect(where.removeprefix("unix://"))
        except OSError as error:
            return f"no Docker engine at {where}: {error.strerror}"
    return ""


pytestmark = [pytest.mark.docker, pytest.mark.skipif(bool(_no_engine()), reason=_no_engine())]


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name.lstrip("/"))
    entry.size, entry.mode = len(data), 0o755
    archive.addfile(entry, io.BytesIO(data))


def _root_folder() -> bytes:
    """A few programs of this machine with the libraries they load, and the stand-in."""
    files: dict[str, Path] = {}
    for name in _NEEDED:
        program = shutil.which(name)
        assert program is not None
        files[f"/bin/{name}"] = Path(program).resolve()
        loads = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
        for library in re.findall(r"(/\S+) \(0x", loads.stdout):
            files[library] = Path(library).resolve()
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, path in files.items():
            _add(archive, name, path.read_bytes())
        _add(archive, "/opt/px4/bin/px4", _PX4.encode())
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o777
        archive.addfile(folder)
    return stream.getvalue()


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    """The engine, with the stand-in's image."""
    client = docker.from_env(timeout=60)
    try:
        client.api.import_image_from_data(
            _root_folder(),
            repository=_IMAGE.partition(":")[0],
            tag=_IMAGE.partition(":")[2],
            changes=['ENTRYPOINT ["/opt/px4/bin/px4"]', "ENV PX4_SIM_MODEL=sihsim_quadx"],
        )
        yield client
        client.images.remove(_IMAGE, force=True)
    finally:
        client.close()


@pytest.fixture
def process(engine: Any, claimed: ClaimedInstance) -> Iterator[ContainerProcess]:
    """A PX4 in a container; ended."""
    made = _px4(claimed.number)
    yield made
    made.stop()
    assert not _containers(engine, made.name)


def _px4(instance: int, stand_in: str = "", image: str = _IMAGE) -> ContainerProcess:
    return ContainerProcess(
        image,
        instance,
        airframe=10016,
        model="none_iris",
        environ=os.environ,
        settings={"STAND_IN": stand_in},
    )


def _containers(engine: Any, name: str) -> list[Any]:
    found = engine.containers.list(all=True, filters={"name": f"^/{name}$"})
    return list(found)


def test_it_runs_until_it_is_stopped_and_again(
    engine: Any, process: ContainerProcess, wait_for: WaitFor
) -> None:
    for _ in range(2):
        process.start()
        wait_for(lambda: "none_iris" in process.log_tail())
        assert process.alive
        (container,) = _containers(engine, process.name)
        assert container.attrs["HostConfig"]["NetworkMode"] == "host"
        host = HostClock()
        start_ns = host.now_ns()
        process.stop()
        assert host.now_ns() - start_ns < 10e9
        assert not _containers(engine, process.name)
        assert process.exit_code is None
        assert process.log_tail() == (
            f"INFO  [px4] instance: {process.instance}, model none_iris, display none"
        )


def test_one_that_dies_says_why(process: ContainerProcess, wait_for: WaitFor) -> None:
    dying = _px4(process.instance, "die")
    dying.start()
    wait_for(lambda: not dying.alive)
    for _ in range(2):
        assert dying.exit_code == 7
        assert "ended by itself (exit code 7); its last lines: INFO " in dying.describe()
        assert dying.describe().endswith("ERROR [px4] bad")
        dying.stop()


def test_one_that_ignores_signals_is_killed(process: ContainerProcess, wait_for: WaitFor) -> None:
    stubborn = _px4(process.instance, "stubborn")
    stubborn.start()
    wait_for(lambda: "instance" in stubborn.log_tail())
    host = HostClock()
    start_ns = host.now_ns()
    stubborn.stop()
    assert host.now_ns() - start_ns < 15e9


def test_one_that_is_removed_by_somebody_is_noticed(
    engine: Any, process: ContainerProcess, wait_for: WaitFor
) -> None:
    process.start()
    wait_for(lambda: process.alive)
    (container,) = _containers(engine, process.name)
    container.remove(force=True)
    assert not process.alive
    assert "somebody removed the container" in process.describe()


def test_a_name_in_use_is_refused_while_it_runs(
    engine: Any, process: ContainerProcess, wait_for: WaitFor
) -> None:
    process.start()
    with pytest.raises(ConfigError, match=f"docker rm -f {process.name}"):
        _px4(process.instance).start()
    (container,) = _containers(engine, process.name)
    container.kill()
    wait_for(lambda: not process.alive)
    second = _px4(process.instance)
    second.start()  # what is dead makes room
    second.stop()


def test_a_missing_image_says_what_to_pull(process: ContainerProcess) -> None:
    image = "ghost-test-none:1"
    missing = ContainerProcess(image, process.instance, airframe=1, model="m", environ=os.environ)
    with pytest.raises(MissingDependency, match=f"docker pull {image}"):
        missing.start()


@pytest.mark.parametrize("stand_in", ["", "stubborn"])
def test_it_dies_with_us(
    engine: Any, process: ContainerProcess, wait_for: WaitFor, stand_in: str
) -> None:
    code = (
        "import sys\n"
        "from tests.px4.process.test_container_real import _px4\n"
        "process = _px4(int(sys.argv[1]), sys.argv[2], sys.argv[3])\n"
        "process.start()\n"
        "print('started', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(process.instance), stand_in, _IMAGE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "started\n"
        (container,) = _containers(engine, process.name)
        wait_for(lambda: b"instance" in container.logs())
        owner.kill()
        owner.wait()
    wait_for(lambda: _containers(engine, process.name)[0].status == "exited")
    _containers(engine, process.name)[0].remove(force=True)
