"""Files and names to `ScenarioSpec` and `VehicleSpec`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ghost.config import overrides as sets
from ghost.config.catalogue import Kind, find, list_scenarios, list_vehicles
from ghost.config.files import read_text
from ghost.config.problems import ConfigProblems, Mark, Problem
from ghost.config.problems import Path as KeyPath
from ghost.config.schema import fields_of
from ghost.config.tree import Node, parse
from ghost.config.validate import validate
from ghost.core import ConfigError, ScenarioSpec, UnknownName, VehicleSpec

__all__ = ["CheckedFile", "check_file", "load_scenario", "load_vehicle"]

_KINDS: tuple[Kind, Kind] = ("scenario", "vehicle")


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What `check_file` found: which kind of file it is, and what it says."""

    kind: Kind
    path: Path
    spec: ScenarioSpec | VehicleSpec


def load_scenario(
    path_or_name: str | os.PathLike[str], overrides: Iterable[str] = ()
) -> ScenarioSpec:
    """Load a scenario from a file or the shipped catalogue.

    `overrides` are texts `key.path=value`, as after `--set`: the value is YAML, list items are
    named by index and sensors also by id. Raises `ConfigError`; if the file could be read, it is a
    `ConfigProblems` with one line for each problem. Raises `TypeError` if `overrides` are no texts.
    """
    overrides = _texts(overrides)
    path = _find_scenario(os.fspath(path_or_name))
    read = _read(path, "scenario")
    if _kind(read[0]) == "vehicle":
        raise ConfigError("this is a vehicle file; ghost run takes a scenario", file=str(path))
    return _scenario(path, read, overrides)


def load_vehicle(
    path_or_name: str | os.PathLike[str], overrides: Iterable[str] = ()
) -> VehicleSpec:
    """Load a vehicle from a file or the shipped catalogue; see `load_scenario`."""
    overrides = _texts(overrides)
    path = find("vehicle", os.fspath(path_or_name))
    root, problems = _read(path, "vehicle")
    if isinstance(root.value, dict):
        for text in overrides:
            _try(problems, root, VehicleSpec, sets.read_override(text))
    return validate(VehicleSpec, root, problems)


def check_file(path: str | os.PathLike[str]) -> CheckedFile:
    """Check a file, finding out by its keys whether it is a scenario or a vehicle.

    `path` may also be the name of a shipped one; a scenario comes before a vehicle of its name.
    Raises `ConfigError` as `load_scenario` does, also if it looks like neither.
    """
    file = _find_either(os.fspath(path))
    root, problems = _read(file, "scenario or vehicle")
    if not isinstance(root.value, dict):
        validate(ScenarioSpec, root, problems)
    kind = _kind(root)
    if kind is None:
        keys = ", ".join(sorted(root.value))
        raise ConfigError(
            "is neither a scenario (which has 'vehicle' and 'duration_ns') nor a vehicle (which "
            f"has 'body', 'rotors', 'motor' and 'sensors'); its keys: {keys}",
            file=str(file),
        )
    if kind == "scenario":
        return CheckedFile("scenario", file, _scenario(file, (root, problems), ()))
    return CheckedFile("vehicle", file, validate(VehicleSpec, root, problems))


def _kind(root: Node) -> Kind | None:
    """What the keys of a file say it is; None if they cannot tell."""
    if not isinstance(root.value, dict):
        return None
    scenario, vehicle = set(fields_of(ScenarioSpec)), set(fields_of(VehicleSpec))
    keys = set(root.value)
    as_scenario, as_vehicle = len(keys & (scenario - vehicle)), len(keys & (vehicle - scenario))
    if as_scenario == as_vehicle:
        return None
    return "scenario" if as_scenario > as_vehicle else "vehicle"


def _find_scenario(name: str) -> Path:
    """The file of a scenario; a vehicle's name gets an answer of its own."""
    try:
        return find("scenario", name)
    except UnknownName as error:
        if name not in [entry.name for entry in list_vehicles()]:
            raise
        raise ConfigError(
            f"{name!r} is a vehicle, not a scenario; fly it in one: ghost run hover --set "
            f"vehicle={name}"
        ) from error


def _find_either(name: str) -> Path:
    """The file that `name` means, be it a scenario or a vehicle."""
    for kind in _KINDS:
        with contextlib.suppress(UnknownName):
            return find(kind, name)
    known = [entry.name for entry in (*list_scenarios(), *list_vehicles())]
    raise UnknownName("scenario or vehicle", name, known)


def _texts(overrides: Iterable[str]) -> tuple[str, ...]:
    texts = (overrides,) if isinstance(overrides, str) else tuple(overrides)
    wrong = [text for text in texts if not isinstance(text, str)]
    if isinstance(overrides, str) or wrong:
        given = repr(overrides) if isinstance(overrides, str) else repr(wrong[0]) + " in it"
        raise TypeError(f"overrides must be a list of texts key=value, got {given}")
    return texts


def _read(path: Path, kind: str, depth: int = 0) -> tuple[Node, list[Problem]]:
    problems: list[Problem] = []
    root = parse(read_text(path, kind), Mark(str(path), depth=depth), problems)
    if root.value is None:
        raise ConfigError(f"is empty, expected a {kind}", file=str(path))
    return root, problems


def _try(problems: list[Problem], root: Node, cls: type, override: sets.Override) -> None:
    """Apply an override; one that leads nowhere joins the problems of the file."""
    try:
        sets.apply(root, cls, override)
    except ConfigError as error:
        mark = Mark(override=override.text)
        problems.append(Problem(mark, error.key or "", _without_origin(error, override)))


def _without_origin(error: ConfigError, override: sets.Override) -> str:
    return error.message.removesuffix(f" (from --set {override.text})")


def _scenario(path: Path, read: tuple[Node, list[Problem]], texts: Iterable[str]) -> ScenarioSpec:
    root, problems = read
    overrides = [sets.read_override(text) for text in texts]
    broken: list[KeyPath] = []
    if isinstance(root.value, dict):
        for override in overrides:
            if override.keys == ("vehicle",):
                _try(problems, root, ScenarioSpec, override)
        if not _graft_vehicle(path, root, problems):
            broken.append(("vehicle",))
        for override in overrides:
            if override.keys != ("vehicle",) and not (broken and override.keys[0] == "vehicle"):
                _try(problems, root, ScenarioSpec, override)
    return validate(ScenarioSpec, root, problems, broken)


def _graft_vehicle(path: Path, root: Node, problems: list[Problem]) -> bool:
    """Put the tree of the vehicle file in the place of its name; False if that failed."""
    reference = root.value.get("vehicle")
    if reference is None or not isinstance(reference.value, str):
        return True
    # A path in a file is relative to that file, one on the command line to the working directory.
    base = path.parent if reference.mark.override is None else None
    try:
        file = find("vehicle", reference.value, base)
        vehicle, found = _read(file, "vehicle", depth=1)
    except ConfigError as error:
        problems.append(_vehicle_problem(reference, error))
        return False
    problems += found
    root.value["vehicle"] = vehicle
    return True


def _vehicle_problem(reference: Node, error: ConfigError) -> Problem:
    """An error of the vehicle file itself stays there; one of finding it is at its name."""
    if error.line is not None:
        return Problem(Mark(error.file, error.line), error.key or "", error.message)
    text = f"{error.file}: {error.message}" if error.file else error.message
    return Problem(reference.mark, "vehicle", text)


def problems_of(error: ConfigError) -> tuple[str, ...]:
    """One line of text for each problem that an error carries."""
    return error.problems if isinstance(error, ConfigProblems) else (str(error),)
