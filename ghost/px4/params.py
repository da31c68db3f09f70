"""Parameters of PX4: files of them, how they reach PX4 at its start, and what a vehicle needs."""

from __future__ import annotations

import importlib.resources
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from ghost.core import ConfigError, UnknownName, VehicleSpec

__all__ = [
    "ParamSet",
    "ParamValueType",
    "find_params",
    "list_params",
    "load_params",
    "parse_params",
    "scale_loss_timeouts",
    "vehicle_params",
]

ParamValueType: TypeAlias = int | float
"""PX4 has two types: INT32 (int here) and FLOAT (float here)."""

_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,15}\Z")
_SUFFIX = ".params"
_INT32, _REAL32 = 6, 9
"""MAV_PARAM_TYPE, the last column of QGroundControl's files."""
_MAX_BYTES = 1 << 20
_ENVIRONMENT = "PX4_PARAM_"
_LOSS_TIMEOUTS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"COM_OF_LOSS_T": (0.0, 60.0), "COM_DL_LOSS_T": (5, 300), "COM_RC_LOSS_T": (0.0, 35.0)}
)
"""With their ranges (commander_params.c of PX4 v1.17)."""
_GRAVITY = 9.80665
_MOTOR_1 = 101
"""Output function of PX4's first motor."""


@dataclass(frozen=True, slots=True)
class ParamSet:
    """Parameters to set, by name."""

    name: str
    """What the set is called: the name of a shipped file, or a path."""
    values: Mapping[str, ParamValueType]

    def texts(self) -> dict[str, str]:
        """The values as PX4's shell takes them."""
        return {name: repr(value) for name, value in self.values.items()}

    def environment(self) -> dict[str, str]:
        """Variables that make PX4's start script (rcS) set them, after the airframe's own."""
        return {f"{_ENVIRONMENT}{name}": text for name, text in self.texts().items()}

    def with_values(self, values: Mapping[str, ParamValueType]) -> ParamSet:
        """The same set with these over its own."""
        return ParamSet(self.name, {**self.values, **values})


def list_params() -> tuple[str, ...]:
    """Names of the shipped sets."""
    return tuple(sorted(_files()))


def find_params(name: str, relative_to: Path | None = None) -> Path:
    """The file that `name` means: a path if it has a folder in it or ends in `.params`.

    A path is relative to `relative_to`, else to the working directory, and is returned whether it
    exists or not. Raises `UnknownName` for a name that no shipped set has.
    """
    if name.endswith(_SUFFIX) or "/" in name or "\\" in name:
        return Path(name) if relative_to is None else relative_to / name
    known = _files()
    if name not in known:
        raise UnknownName("parameter set", name, known)
    return known[name]


def load_params(name: str, relative_to: Path | None = None) -> ParamSet:
    """Read a shipped set or a file. `ConfigError` with file and line for what is wrong in it."""
    path = find_params(name, relative_to)
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigError(f"is larger than {_MAX_BYTES} bytes", file=str(path))
        text = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"cannot be read: {reason}", file=str(path)) from error
    return ParamSet(name, parse_params(text, str(path)))


def parse_params(text: str, file: str) -> dict[str, ParamValueType]:
    """Parameters of a file's text; `#` begins a comment.

    Two forms of line: QGroundControl's `VEHICLE COMPONENT NAME VALUE TYPE` (type 6 INT32, 9 FLOAT),
    and `NAME VALUE`, where a value with a point or an exponent is a FLOAT.
    """
    values: dict[str, ParamValueType] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        try:
            name, value = _parameter(words)
        except ValueError as error:
            raise ConfigError(str(error), file=file, line=number) from error
        if name in values:
            raise ConfigError(
                f"{name} is given twice, first in line {lines[name]}", file=file, line=number
            )
        values[name], lines[name] = value, number
    return values


def scale_loss_timeouts(params: ParamSet, rtf: float, *, wall_clock_senders: bool) -> ParamSet:
    """The loss timeouts that fit a world at `rtf` times real time (inf: as fast as it goes).

    PX4's timeouts (COM_OF_LOSS_T, COM_DL_LOSS_T, COM_RC_LOSS_T) count its own time. In lockstep
    that is simulated time, and so is everything Ghost sends: a set-point per step and a heartbeat
    per simulated second. Nothing of that changes with the speed of the world, nothing is scaled,
    and a fail-safe comes as soon as it would in the field.

    With `wall_clock_senders` others send too, by the clock of the host: QGroundControl, a joystick,
    a program on MAVSDK or MAVROS of its own. A second of theirs is `rtf` seconds for PX4, so the
    timeouts are multiplied by `rtf`, within PX4's ranges; a slow world (`rtf` below 1) shortens
    none. PX4's start script does the same for PX4_SIM_SPEED_FACTOR. COM_DISARM_PRFLT and
    COM_DISARM_LAND wait for the vehicle, not for a sender, and are never scaled.

    A value that the set does not have is taken as PX4's default. Raises `ValueError` for an `rtf`
    that is not above 0.
    """
    if not rtf > 0.0:
        raise ValueError(f"rtf must be above 0, got {rtf!r}")
    if not wall_clock_senders or rtf <= 1.0:
        return params
    defaults: dict[str, ParamValueType] = {
        "COM_OF_LOSS_T": 1.0,
        "COM_DL_LOSS_T": 10,
        "COM_RC_LOSS_T": 0.5,
    }
    scaled: dict[str, ParamValueType] = {}
    for name, (low, high) in _LOSS_TIMEOUTS.items():
        value = params.values.get(name, defaults[name])
        seconds = min(max(value * rtf, low), high) if value > 0 else value
        scaled[name] = math.ceil(seconds) if isinstance(defaults[name], int) else float(seconds)
    return params.with_values(scaled)


def vehicle_params(vehicle: VehicleSpec) -> dict[str, ParamValueType]:
    """What PX4 must know of a multirotor: where its rotors are, how they turn, what drives them.

    For the simulator link (PWM_MAIN_FUNC is what `HIL_ACTUATOR_CONTROLS` carries). Positions are
    body FRD; CA_ROTORi_KM is torque per thrust, m, positive for a rotor that turns
    counter-clockwise (module.yaml of PX4's control_allocator). MPC_THR_HOVER is the part of the
    highest thrust that carries the weight, within PX4's 0.1..0.8.
    """
    values: dict[str, ParamValueType] = {"CA_AIRFRAME": 0, "CA_ROTOR_COUNT": len(vehicle.rotors)}
    motor = vehicle.motor
    for index, rotor in enumerate(vehicle.rotors):
        x, y, z = rotor.pos_m
        values[f"CA_ROTOR{index}_PX"] = float(x)
        values[f"CA_ROTOR{index}_PY"] = -float(y) + 0.0
        values[f"CA_ROTOR{index}_PZ"] = -float(z) + 0.0
        counter_clockwise = rotor.direction == "ccw"
        values[f"CA_ROTOR{index}_KM"] = motor.moment_ratio * (1.0 if counter_clockwise else -1.0)
    channels = {output.rotor: output for output in vehicle.outputs if output.rotor is not None}
    reversed_mask = 0
    for index in range(len(vehicle.rotors)):
        output = channels.get(index)
        channel = index if output is None else output.channel
        values[f"PWM_MAIN_FUNC{channel + 1}"] = _MOTOR_1 + index
        if output is not None and output.reversed:
            reversed_mask |= 1 << channel
    values["PWM_MAIN_REV"] = reversed_mask
    # Thrust = f u² + (1 − f) u for an output u (PX4's thrust curve, THR_MDL_FAC).
    speeds = [output.curve == "speed" for output in channels.values()]
    values["THR_MDL_FAC"] = 1.0 if speeds and all(speeds) else 0.0
    most_n = len(vehicle.rotors) * motor.thrust_coeff * motor.max_rad_s**2
    for sensor in vehicle.sensors:
        noise = None if sensor.noise is None else sensor.noise.gnss
        if sensor.type == "gps" and noise is not None:
            # EKF2 takes no fix for better than this, whatever the receiver says; its own default
            # (0.5 m) lets the estimate swim half a metre around an RTK fix.
            sigma_m = noise.horizontal_sigma_m + noise.wander_sigma_m
            values["EKF2_GPS_P_NOISE"] = round(min(max(sigma_m, 0.01), 10.0), 4)
            break
    values["MPC_THR_HOVER"] = round(min(max(vehicle.mass_kg * _GRAVITY / most_n, 0.1), 0.8), 4)
    return values


def _parameter(words: list[str]) -> tuple[str, ParamValueType]:
    kind: int | None = None
    if len(words) == 5:
        _, _, name, text, kind_text = words
        if kind_text not in (str(_INT32), str(_REAL32)):
            raise ValueError(f"type must be 6 (INT32) or 9 (FLOAT), got {kind_text!r}")
        kind = int(kind_text)
    elif len(words) == 2:
        name, text = words
    else:
        raise ValueError(
            "a line is NAME VALUE, or QGroundControl's VEHICLE COMPONENT NAME VALUE TYPE, got "
            f"{len(words)} words"
        )
    if not _NAME.match(name):
        raise ValueError(
            f"a parameter's name is up to 16 of A-Z, 0-9 and _, beginning with a letter, got "
            f"{name!r}"
        )
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number, got {text!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {text!r}")
    whole = re.fullmatch(r"[+-]?[0-9]+", text) is not None
    if kind == _REAL32 or (kind is None and not whole):
        return name, number
    if not whole:
        raise ValueError(f"{name} is of type 6 (INT32), got {text!r}")
    integer = int(text)
    if not -(2**31) <= integer < 2**31:
        raise ValueError(f"{name} must fit into 32 bits, got {text}")
    return name, integer


def _files() -> dict[str, Path]:
    """Inside an installed wheel `ghost/_data/px4_params`, in a checkout beside `ghost`."""
    package = Path(str(importlib.resources.files("ghost")))
    for folder in (package / "_data" / "px4_params", package.parent / "px4_params"):
        if folder.is_dir():
            return {path.stem: path for path in sorted(folder.glob(f"*{_SUFFIX}"))}
    raise ConfigError("this installation of Ghost lacks its px4_params: install it again")
