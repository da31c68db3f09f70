"""Backends by name: one explicit table, and the import that turns a row into a backend (D26).

Nothing is discovered: a name is in `BACKENDS` or it is an error. Anybody's own backend is reached
by its path, `package.module:Class`, without being listed.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ghost.core.errors import (
    ConfigError,
    ContractViolation,
    GhostError,
    MissingDependency,
    UnknownName,
)
from ghost.hal import SimulationBackend

__all__ = [
    "BACKENDS",
    "BackendEntry",
    "BackendState",
    "FeatureState",
    "Requirement",
    "backend_path",
    "backend_table",
    "make_backend",
    "split_settings",
]

_METHODS = ("reset", "step", "shutdown", "sensors", "actuators", "ground_truth")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A library a backend cannot do without."""

    module: str
    """Top-level name that is imported."""
    install: str
    """The command, or the image, that brings it."""


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """One row of the table of names."""

    name: str
    path: str
    """`module:Class`; the class is called without arguments, unless there is `instead`."""
    description: str
    requires: tuple[Requirement, ...] = ()
    instead: str = ""
    """For a class that a name alone cannot make: what to do instead of naming it."""
    prefix: str = ""
    """First part of the keys of its own settings (`gz` for `--set gz.attach=WORLD`). Such a class
    has `configured(settings, environ)`, which takes the keys without it, and the environment."""


BACKENDS: tuple[BackendEntry, ...] = (
    BackendEntry(
        name="embedded",
        path="ghost.backends.embedded:EmbeddedBackend",
        description="MuJoCo physics in this process; needs nothing but pip",
        requires=(
            Requirement("mujoco", "pip install mujoco"),
            Requirement("pymap3d", "pip install pymap3d"),
        ),
    ),
    BackendEntry(
        name="pybullet",
        path="ghost.backends.pybullet:PyBulletBackend",
        description="PyBullet physics in this process",
        requires=(
            Requirement("pybullet", 'pip install "ghost-hal[pybullet]"'),
            Requirement("pymap3d", "pip install pymap3d"),
        ),
    ),
    BackendEntry(
        name="gazebo",
        path="ghost.backends.gazebo:GazeboBackend",
        description="Gazebo Sim 8 or newer, in lockstep",
        requires=(
            Requirement("zmq", "pip install pyzmq"),
            Requirement("google", "pip install protobuf"),
            Requirement("pymap3d", "pip install pymap3d"),
        ),
        prefix="gz",
    ),
    BackendEntry(
        name="replay",
        path="ghost.backends.replay:ReplayBackend",
        description="a recording, through the same loop: ghost replay FILE",
        requires=(
            Requirement("mcap", "pip install mcap"),
            Requirement("zstandard", "pip install zstandard"),
            Requirement("foxglove_schemas_protobuf", "pip install foxglove-schemas-protobuf"),
        ),
        instead="it plays a file; use: ghost replay FILE",
    ),
)


@dataclass(frozen=True, slots=True)
class FeatureState:
    """An optional part of a backend, such as its colour cameras."""

    name: str
    available: bool
    detail: str
    fix: str
    """What to install to get it; empty if it is there."""


@dataclass(frozen=True, slots=True)
class BackendState:
    """A row of the table and whether it works on this machine."""

    name: str
    path: str
    description: str
    available: bool
    detail: str
    """Why it does not work; empty if it does."""
    fix: str
    """What to do about it; empty if it works or nobody knows."""
    levels: tuple[str, ...] = ()
    deterministic: bool | None = None
    ground_truth: bool | None = None
    features: tuple[FeatureState, ...] = ()


def split_settings(overrides: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Part `--set` texts into those of the scenario and the settings of backends, by full key.

    A key whose first part is the prefix of a backend of the table is a setting of that backend.
    """
    prefixes = {entry.prefix for entry in BACKENDS if entry.prefix}
    scenario, settings = [], {}
    for text in overrides:
        key, _, value = text.partition("=")
        if key.partition(".")[0].strip() in prefixes:
            settings[key.strip()] = value.strip()
        else:
            scenario.append(text)
    return tuple(scenario), settings


def make_backend(name_or_path: str, settings: Mapping[str, str] | None = None) -> SimulationBackend:
    """Make a new backend from a name of the table or from `package.module:Class`.

    `settings` are those of `split_settings`; one that is not of this backend is a `ConfigError`.
    Raises `UnknownName` for a name that is not in the table, `ConfigError` for one that a name
    alone cannot make (a replay needs its file) and for a path that leads to nothing, to something
    that cannot be imported (the cause is chained) or to something that is no `SimulationBackend`,
    and `MissingDependency` when a listed backend's library is not installed.
    An error inside a listed backend passes through unchanged, but `SystemExit` in a constructor is
    a `ContractViolation`. Raises `TypeError` for a name that is no text.
    """
    if not isinstance(name_or_path, str):
        raise TypeError(
            "the backend's name must be a str (a name of `ghost backends`, or "
            f"package.module:Class), got {name_or_path!r}"
        )
    if ":" in name_or_path:
        _refuse(name_or_path, settings or {})
        return _checked(name_or_path, _import_path(name_or_path))
    entry = _entry(name_or_path)
    own = _own_settings(entry, settings or {})
    if entry.instead:
        raise ConfigError(f"backend {entry.name!r}: {entry.instead}", key="--backend")
    return _checked(name_or_path, _load(entry, own))


def backend_path(name_or_path: str) -> str:
    """Return the `module:Class` behind a name of the table; a path is returned as it is.

    Raises `UnknownName` for a name that is not in the table.
    """
    return name_or_path if ":" in name_or_path else _entry(name_or_path).path


def backend_table() -> tuple[BackendState, ...]:
    """Return every row of the table with its state on this machine, by trying it."""
    return tuple(_state(entry) for entry in BACKENDS)


def _entry(name: str) -> BackendEntry:
    for entry in BACKENDS:
        if entry.name == name:
            return entry
    raise UnknownName("backend", name, [entry.name for entry in BACKENDS])


def _own_settings(entry: BackendEntry, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of a backend, without its prefix."""
    mine = f"{entry.prefix}."
    own = {key: value for key, value in settings.items() if entry.prefix and key.startswith(mine)}
    _refuse(entry.name, {key: value for key, value in settings.items() if key not in own})
    return {key.removeprefix(mine): value for key, value in own.items()}


def _refuse(name: str, settings: Mapping[str, str]) -> None:
    for key in settings:
        raise ConfigError(f"is no setting of the backend {name!r}: take it out", key=key)


def _load(entry: BackendEntry, own: Mapping[str, str] | None = None) -> Callable[[], object]:
    """Return the maker of a row; missing libraries become `MissingDependency`, nothing else."""
    cls: Any = _load_class(entry)

    def make() -> object:
        # A driver may import its library only when it is made.
        try:
            return cls.configured(own or {}, os.environ) if entry.prefix else cls()
        except ModuleNotFoundError as error:
            problem = _missing(entry, error)
            if problem is None:
                raise
            raise problem from error

    return make


def _load_class(entry: BackendEntry) -> Callable[[], object]:
    module_name, _, attribute = entry.path.partition(":")
    try:
        cls: Callable[[], object] = getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        problem = _missing(entry, error)
        if problem is None:
            raise
        raise problem from error
    return cls


def _missing(entry: BackendEntry, error: ModuleNotFoundError) -> MissingDependency | None:
    """The row's own word on a module that is not there; None if the row does not know it."""
    needs = {requirement.module: requirement for requirement in entry.requires}
    requirement = needs.get((error.name or "").partition(".")[0])
    if requirement is None:
        return None
    return MissingDependency(
        requirement.module,
        needed_for=f"the backend {entry.name!r}",
        install=requirement.install,
    )


def _import_path(path: str) -> Callable[[], object]:
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute or not attribute.isidentifier():
        raise ConfigError(
            f"backend {path!r} is not of the form package.module:Class", key="--backend"
        )
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        missing_itself = isinstance(error, ModuleNotFoundError) and (
            error.name == module_name or module_name.startswith(f"{error.name}.")
        )
        if missing_itself:
            raise ConfigError(
                f"backend {path!r}: there is no module {error.name!r}; "  # type: ignore[union-attr]  # checked above
                "is its folder on PYTHONPATH, or the current one?",
                key="--backend",
            ) from error
        raise ConfigError(
            f"backend {path!r}: importing {module_name} raised {type(error).__name__}: {error} "
            "(ghost --debug shows where)",
            key="--backend",
        ) from error
    target = getattr(module, attribute, None)
    if target is None:
        known = [n for n, v in vars(module).items() if isinstance(v, type) and hasattr(v, "step")]
        raise _no_class(module_name, attribute, known)
    if not callable(target):
        raise ConfigError(
            f"backend {path!r} is a {type(target).__name__}, not a class or a function that makes "
            "a backend",
            key="--backend",
        )
    return cast("Callable[[], object]", target)


def _no_class(module_name: str, attribute: str, known: Sequence[str]) -> ConfigError:
    text = f"module {module_name} has no class {attribute}"
    nearest = UnknownName("class", attribute, known).nearest
    if nearest:
        text += "; did you mean " + " or ".join(nearest) + "?"
    if known:
        text += f" (backends in it: {', '.join(sorted(known))})"
    return ConfigError(text, key="--backend")


def _checked(path: str, make: Callable[[], object]) -> SimulationBackend:
    """Call the maker and see that the result has the methods of a `SimulationBackend`."""
    if isinstance(make, type):
        _check_face(path, make)
    try:
        made = make()
    except SystemExit as error:
        raise ContractViolation(
            f"backend {path!r}: its constructor ended the program: {error!r}"
        ) from error
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise  # from inside the driver, not from the call
        raise ConfigError(
            f"backend {path!r} cannot be made without arguments: {error}", key="--backend"
        ) from error
    _check_face(path, type(made))
    if not hasattr(made, "capabilities"):
        raise ConfigError(f"backend {path!r} has no 'capabilities' (HAL spec §2)", key="--backend")
    return cast(SimulationBackend, made)


def _check_face(path: str, cls: type[Any]) -> None:
    lacks = [name for name in _METHODS if not callable(getattr(cls, name, None))]
    if not hasattr(cls, "clock"):
        lacks.append("clock")
    if not lacks:
        return
    if callable(getattr(cls, "start", None)) and callable(getattr(cls, "stop", None)):
        why = "it is a RuntimeBackend, whose world moves by itself and cannot be stepped"
    else:
        why = f"it lacks {', '.join(lacks)}"
    raise ConfigError(
        f"backend {path!r} is no SimulationBackend: {why} (HAL spec §2)", key="--backend"
    )


def _state(entry: BackendEntry) -> BackendState:
    try:
        if entry.instead:
            return _state_of_class(entry)
        backend = _checked(entry.name, _load(entry))
    except MissingDependency as error:
        return BackendState(
            entry.name,
            entry.path,
            entry.description,
            available=False,
            detail=f"{error.dependency} is not installed",
            fix=error.install,
        )
    except (GhostError, ImportError) as error:
        # The table reports on each backend; one that is broken must not hide the others.
        return BackendState(
            entry.name,
            entry.path,
            entry.description,
            available=False,
            detail=f"{type(error).__name__}: {error}",
            fix="",
        )
    try:
        capabilities = backend.capabilities
        return BackendState(
            entry.name,
            entry.path,
            entry.description,
            available=True,
            detail="",
            fix="",
            levels=tuple(level.name for level in capabilities.actuator_levels),
            deterministic=capabilities.deterministic,
            ground_truth=capabilities.has_ground_truth,
            features=_features(entry),
        )
    finally:
        backend.shutdown()


def _state_of_class(entry: BackendEntry) -> BackendState:
    """What can be said of a backend that is made from more than its name."""
    _load_class(entry)
    return BackendState(
        entry.name, entry.path, entry.description, available=True, detail="", fix=""
    )


def _features(entry: BackendEntry) -> tuple[FeatureState, ...]:
    """Ask the backend's room about its optional parts, if it has any."""
    module = importlib.import_module(entry.path.partition(":")[0])
    rendering = getattr(module, "rendering_status", None)
    if rendering is None:
        return ()
    available, detail, fix = rendering()
    return (FeatureState("rgb", bool(available), str(detail), "" if available else str(fix)),)
