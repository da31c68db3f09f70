"""Recording a run: an observer that feeds a `Recorder` and tells it all about the run."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ghost.core import ConfigError, MessageBus, ScenarioSpec
from ghost.hal.frames import q_from_rpy
from ghost.runtime.observer import RunInfo, RunStatus
from ghost.runtime.result import RunResult

if TYPE_CHECKING:
    from ghost.recording import Recorder, RecorderStats, StaticTransform

__all__ = ["ENCODINGS", "RecordObserver", "check_recording"]

BODY_FRAME = "base_link"
"""The body's frame in a recording."""
ENCODINGS = ("raw", "png", "jpeg")
_ENGINES = ("mujoco", "pybullet", "pymap3d")
"""Packages whose version changes what a world computes; numpy's is written by the recorder."""


_MAGIC = b"\x89MCAP0\r\n"
"""What an MCAP file begins with (mcap.dev/spec); the writer's own copy is slow to import."""


def check_recording(
    path: str,
    scenario: ScenarioSpec,
    encodings: Mapping[str, str],
    *,
    force: bool,
    scenario_file: str | None = None,
) -> None:
    """Refuse, before anything flies, what cannot be meant.

    Raises `ConfigError` for a file that exists (unless `force`, and even so for `scenario_file` and
    for one that is no MCAP file), a folder that does not exist, a file that cannot be opened, and
    an encoding that is unknown or of something that is no colour camera.
    """
    if not path:
        raise ConfigError("the name of the file is empty", key="--record")
    file = Path(path)
    if file.is_dir():
        raise ConfigError(f"{path} is a folder; give the name of a file", key="--record")
    if file.exists() and not force:
        raise ConfigError(
            f"{path} exists already; give another name, or --force to replace it", key="--record"
        )
    if not file.parent.is_dir():
        raise ConfigError(f"the folder {file.parent} does not exist", key="--record")
    try:
        _check_file(file, scenario_file)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{path} cannot be written: {reason}", key="--record") from error
    cameras = sorted(sensor.id for sensor in scenario.vehicle.sensors if sensor.type == "rgb")
    for sensor_id, encoding in encodings.items():
        if encoding not in ENCODINGS:
            raise ConfigError(
                f"{sensor_id}={encoding}: the encoding must be one of {', '.join(ENCODINGS)}",
                key="--encoding",
            )
        if sensor_id not in cameras:
            known = ", ".join(cameras) or "it has none"
            raise ConfigError(
                f"{sensor_id!r} is no colour camera of {scenario.vehicle.name!r} ({known})",
                key="--encoding",
            )


def _check_file(file: Path, scenario_file: str | None) -> None:
    """See that the file can be opened, without a trace, and holds nothing but a recording."""
    if not file.exists():
        made = file.resolve()  # behind a link that leads to no file yet
        os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        made.unlink()
        return
    if scenario_file is not None and Path(scenario_file).exists() and file.samefile(scenario_file):
        raise ConfigError(f"{file} is the scenario itself; give another name", key="--record")
    if not file.is_file():
        return  # a device or a pipe: opening it may do something, or wait
    with file.open("rb") as stream:
        # A recording that was cut off at once may hold less than the magic.
        if not _MAGIC.startswith(stream.read(len(_MAGIC))):
            raise ConfigError(
                f"{file} is no MCAP file, and --force replaces nothing else; give another name",
                key="--record",
            )
    os.close(os.open(file, os.O_WRONLY))


class RecordObserver:
    """A `RunObserver` that records the whole bus into a file.

    What goes wrong with the file in flight never stops the run: it is an event, and in `problem`.
    A file that cannot be begun does: `attach` raises `ConfigError`.

    Args:
        path: the file; one that exists is replaced.
        encodings: by sensor id, `raw`, `png` or `jpeg`.
    """

    def __init__(self, path: str, *, encodings: Mapping[str, str] = MappingProxyType({})) -> None:
        self.path = path
        self._encodings: dict[str, Any] = dict(encodings)
        self._recorder: Recorder | None = None

    def attach(self, bus: MessageBus, info: RunInfo) -> None:
        """Open the file and listen."""
        # Not before a run is recorded: both are slow to import.
        from ghost.config import spec_to_dict
        from ghost.recording import Recorder

        metadata: dict[str, object] = {
            "backend": info.backend,
            "scenario": spec_to_dict(info.scenario),
            "seed": info.seed,
            "capabilities": _plain_capabilities(info),
            "sensors": info.sensors,
            "autopilot": info.autopilot,
            "engines": _engine_versions(),
            "encodings": self._encodings,
        }
        if info.actuators is not None:
            metadata["actuators"] = info.actuators
        if info.initial_truth is not None:
            metadata["initial_truth"] = info.initial_truth
        self._recorder = Recorder(
            self.path,
            bus,
            metadata=metadata,
            encodings=self._encodings,
            transforms=_transforms(info.scenario),
        )
        self._recorder.start()
        if self._recorder.fault is not None:
            raise ConfigError(self._recorder.fault, key="--record")

    def tick(self, status: RunStatus) -> None:
        """Nothing to do: the recorder listens to the bus."""

    def close(self, result: RunResult | None) -> None:
        """Add the result and finish the file."""
        recorder = self._recorder
        if recorder is None:
            return
        if result is not None:
            recorder.annotate(digest=result.digest, outcome=result.outcome, run=result.to_json())
        recorder.close()

    @property
    def problem(self) -> str | None:
        """What is missing in the file, in a sentence; None if it holds the whole run."""
        if self._recorder is None:
            return f"{self.path} was not written: the run never started"
        if self._recorder.fault is not None:
            return self._recorder.fault
        stats = self._recorder.stats()
        lost = [
            f"{count} {what}"
            for count, what in (
                (stats.dropped, "messages were dropped"),
                (stats.left_out, "messages have no form in the file"),
            )
            if count
        ]
        return f"{self.path}: {', '.join(lost)}" if lost else None

    @property
    def stats(self) -> RecorderStats | None:
        """What became of the messages; None before the run."""
        return None if self._recorder is None else self._recorder.stats()


def _plain_capabilities(info: RunInfo) -> dict[str, object]:
    """The capabilities as plain data; an extension that is none is named and left out."""
    capabilities = info.capabilities
    plain: dict[str, object] = {
        name: getattr(capabilities, name)
        for name in (
            "hal_version",
            "sensor_ids",
            "actuator_levels",
            "has_ground_truth",
            "synchronous_step",
            "deterministic",
            "supports_replay",
        )
    }
    plain["extensions"] = {
        name: value if _is_plain(value) else f"({type(value).__name__}, not recorded)"
        for name, value in capabilities.extensions.items()
    }
    return plain


def _is_plain(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def _engine_versions() -> dict[str, str]:
    from ghost.recording.versions import installed_version  # slow to import, as above

    found = {}
    for name in _ENGINES:
        try:
            found[name] = installed_version(name)
        except PackageNotFoundError:
            continue
    return found


def _transforms(scenario: ScenarioSpec) -> list[StaticTransform]:
    """Where the sensors sit, for the picture in 3D."""
    from ghost.recording import StaticTransform

    return [
        StaticTransform(
            BODY_FRAME,
            sensor.frame,
            sensor.mount.pos_m,
            q_from_rpy(*(math.radians(angle) for angle in sensor.mount.rpy_deg)),
        )
        for sensor in scenario.vehicle.sensors
    ]
