"""PX4 in a container: the face of `Px4Process`, through a Docker engine.

The container shares the host's network, so that its ports are those of a local PX4. It lives no
longer than we do: PX4 runs under a shell that ends it when the connection to its standard input
closes, which the kernel does for us, however we end.
"""

from __future__ import annotations

import contextlib
import importlib
import socket
from collections.abc import Mapping
from typing import Any

from ghost.core import BackendLost, ConfigError, MissingDependency
from ghost.core.kept_process import tail_of
from ghost.px4.process import px4_environment, why_it_ended

__all__ = ["ContainerProcess", "check_image"]

_KEY = "autopilot.image"
_DEFAULT_HOST = "unix:///var/run/docker.sock"
_TIMEOUT_S = 30.0
"""For one answer of the engine. Creating a container on a slow disk takes seconds."""
_KNOCK_S = 5.0
_STOP_S = 3
_LOG_LINES = 200
_LABEL = "ghost.px4.instance"
_DEFAULT_ENTRY = ["px4"]
# The first process of a container: PX4 beside a reader of our connection. If that ends, or on
# SIGTERM, PX4 gets a second; the end of this shell ends everything else in the container.
_KEEPER = """\
trap 'kill -TERM $px4; (sleep 1; kill -KILL $px4) & wait $px4; exit 143' TERM
exec 3<&0
"$@" </dev/null 3<&- & px4=$!
(cat <&3 >/dev/null; kill -TERM $$) &
wait $px4
"""


def check_image(image: str) -> None:
    """Refuse an image without a tag, and `latest`: a run could not be repeated with it.

    Raises `ConfigError`.
    """
    if "@sha256:" in image:
        return
    _, _, tag = image.rpartition("/")[2].partition(":")
    if tag in ("", "latest"):
        raise ConfigError(
            f"the image {image!r} needs a tag that stays what it is, such as "
            "px4io/px4-sitl:v1.18.0-beta2: without one, and with `latest`, it is another PX4 after "
            "the next pull",
            key=_KEY,
        )


class ContainerProcess:
    """One PX4 in a container of `image`, named after its instance.

    `airframe` and `model` are its `PX4_SYS_AUTOSTART` and `PX4_SIM_MODEL`, `settings` further
    variables; nothing else of our environment gets in. `environ` says where the engine is
    (`DOCKER_HOST` and its TLS variables; else the machine's own).

    `alive` and `exit_code` ask the engine, which takes milliseconds: ask when there is reason to,
    not once per step. `stop` removes the container.
    """

    def __init__(
        self,
        image: str,
        instance: int,
        *,
        airframe: int,
        model: str,
        environ: Mapping[str, str],
        settings: Mapping[str, str] | None = None,
        timeout_s: float = _TIMEOUT_S,
    ) -> None:
        check_image(image)
        self.image = image
        self.instance = instance
        self.name = f"ghost_px4_{instance}"
        self._environ = dict(environ)
        # The Gazebo image would open a window.
        self._settings = px4_environment({"HEADLESS": "1"}, airframe, model, settings or {})
        self._timeout_s = timeout_s
        self._api: Any = None
        self._id: str | None = None
        self._connection: Any = None
        self._log = ""
        self._exit_code: int | None = None
        self._silent = ""

    def start(self) -> None:
        """Create the container and start it, anew after `stop`.

        Raises `MissingDependency` without the Docker SDK or the image, `ConfigError` without an
        engine, without the right to use it, or if the container's name is in use, `BackendLost` if
        the engine fails otherwise.
        """
        self.stop()
        self._log, self._exit_code, self._silent = "", None, ""
        docker = _sdk()
        self._api = self._connect(docker)
        try:
            self._create(docker)
        except docker.errors.ImageNotFound as error:
            self.stop()
            raise MissingDependency(
                f"the image {self.image}",
                needed_for="PX4 in a container",
                install=f"docker pull {self.image}",
            ) from error
        except docker.errors.APIError as error:
            self.stop()
            text = _reason(error)
            raise BackendLost(
                f"Docker could not start a container of {self.image}: {text}"
            ) from error
        except OSError as error:  # also what `requests` raises
            self.stop()
            raise BackendLost(f"the Docker engine does not answer: {error}") from error
        except BaseException:
            self.stop()
            raise

    @property
    def alive(self) -> bool:
        """Whether it runs, as the engine says; False if that does not answer."""
        state = self._state()
        return state is not None and bool(state["Running"])

    @property
    def exit_code(self) -> int | None:
        """How PX4 ended by itself; None if it runs or was stopped."""
        state = self._state()
        if state is not None and not state["Running"] and state["Status"] in ("exited", "dead"):
            self._exit_code = int(state["ExitCode"])
        return self._exit_code

    def log_tail(self) -> str:
        """The last lines of what it printed, on one line; also after `stop`."""
        return tail_of(self._log_text())

    def stop(self) -> None:
        """End PX4 and remove the container. Idempotent; never raises."""
        _ = self.exit_code  # kept, if it ended by itself
        self._log = self._log_text()
        api, self._api = self._api, None
        container, self._id = self._id, None
        connection, self._connection = self._connection, None
        if connection is not None:
            _hang_up(connection)
        if api is None:
            return
        if container is not None:
            errors = (_sdk().errors.DockerException, OSError)
            with contextlib.suppress(*errors):
                api.stop(container, timeout=_STOP_S)
            with contextlib.suppress(*errors):
                api.remove_container(container, force=True, v=True)
        api.close()

    def describe(self) -> str:
        """What it is and how it fares, and, if it ended by itself, why."""
        text = f"PX4 in the container {self.name} ({self.image}), instance {self.instance}"
        code = self.exit_code
        if code is not None:
            why = why_it_ended(code, self._log_text(), self.instance, container=True)
            return f"{text}, {why}"
        if self._silent:
            return f"{text}: the Docker engine does not answer: {self._silent}"
        return f"{text}, {'runs' if self.alive else 'does not run'}"

    def _connect(self, docker: Any) -> Any:
        # Named always, so that no context of Docker's own command line decides.
        where = self._environ.get("DOCKER_HOST") or _DEFAULT_HOST
        environ = {**self._environ, "DOCKER_HOST": where}
        try:
            _knock(where)
            return docker.from_env(version="auto", timeout=self._timeout_s, environment=environ).api
        except (docker.errors.DockerException, OSError) as error:
            text = f"cannot use the Docker engine at {where}"
            if isinstance(error, PermissionError):
                text += (
                    ": no permission; join its group with `sudo usermod -aG docker $USER` and log "
                    "in anew"
                )
            elif isinstance(error, (FileNotFoundError, ConnectionRefusedError)):
                text += (
                    ": it does not run; start it with `sudo systemctl start docker` (to install "
                    "it: docs.docker.com/engine/install), or name another with DOCKER_HOST"
                )
            else:
                text += f": {_reason(error)}"
            text += "; or fly a PX4 program instead of an image: --set autopilot.binary=PATH"
            raise ConfigError(text, key=_KEY) from error

    def _create(self, docker: Any) -> None:
        api = self._api
        entry = api.inspect_image(self.image)["Config"].get("Entrypoint") or _DEFAULT_ENTRY
        arguments = ["-i", str(self.instance), "-d"]
        for last in (False, True):
            try:
                created = api.create_container(
                    self.image,
                    entrypoint=["/bin/sh"],
                    command=["-c", _KEEPER, "ghost", *entry, *arguments],
                    name=self.name,
                    environment=self._settings,
                    # Not detached: then its input ends with the one connection to it.
                    stdin_open=True,
                    detach=False,
                    labels={_LABEL: str(self.instance)},
                    host_config=api.create_host_config(network_mode="host"),
                )
                break
            except docker.errors.APIError as error:
                if error.status_code != 409 or last:
                    raise
                self._make_room()
        self._id = created["Id"]
        self._connection = api.attach_socket(self._id, params={"stdin": 1, "stream": 1})
        api.start(self._id)

    def _make_room(self) -> None:
        """Remove what is left of an earlier run under our name. Raises `ConfigError` if in use."""
        found = self._api.inspect_container(self.name)
        state = found["State"]
        ours = _LABEL in (found["Config"].get("Labels") or {})
        if state["Running"] or not ours:
            since = f" since {state['StartedAt'][:19]}Z" if state["Running"] else ""
            whose = "" if ours else ", and is not one of Ghost's"
            raise ConfigError(
                f"the container name {self.name} is taken: {found['Id'][:12]} of "
                f"{found['Config']['Image']} is {state['Status']}{since}{whose}; remove it with "
                f"`docker rm -f {self.name}`, or fly another instance: --set autopilot.instance=-1",
                key=_KEY,
            )
        self._api.remove_container(self.name, force=True, v=True)

    def _state(self) -> dict[str, Any] | None:
        """What the engine says of the container; None if there is none, or no answer."""
        if self._api is None or self._id is None:
            return None
        self._silent = ""
        try:
            state: dict[str, Any] = self._api.inspect_container(self._id)["State"]
        except _sdk().errors.NotFound:
            self._silent = "somebody removed the container"
            return None
        except (_sdk().errors.DockerException, OSError) as error:
            self._silent = _reason(error)
            return None
        return state

    def _log_text(self) -> str:
        if self._api is not None and self._id is not None:
            with contextlib.suppress(_sdk().errors.DockerException, OSError):
                raw: bytes = self._api.logs(self._id, tail=_LOG_LINES)
                return raw.decode("utf-8", errors="replace")
        return self._log


def _sdk() -> Any:
    try:
        return importlib.import_module("docker")
    except ModuleNotFoundError as error:
        raise MissingDependency(
            "the Python package docker",
            needed_for="PX4 in a container",
            install='pip install "ghost-hal[px4]"',
        ) from error


def _knock(where: str) -> None:
    """Raise the `OSError` of a local engine that is not there, which the SDK hides in others."""
    scheme, _, path = where.partition("://")
    if scheme == "unix":
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(_KNOCK_S)
            sock.connect(path)


def _hang_up(connection: Any) -> None:
    """Close what `attach_socket` gave: a reader over a socket that other parts of the SDK hold."""
    sock = getattr(connection, "_sock", connection)
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
    # In this order: whoever reads it first, the socket itself last.
    for each in (getattr(connection, "_response", None), connection, sock):
        if each is not None:
            with contextlib.suppress(OSError):
                each.close()


def _reason(error: BaseException) -> str:
    explanation = getattr(error, "explanation", None)
    return " ".join(str(explanation or error).split())
