"""Backends by name: one explicit table, and the import that turns a row into a backend (D26).

Nothing is discovered: a name is in `BACKENDS` or it is an error. Anybody's own backend is reached
by its path, `package.module:Class`, without being listed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from ghost.core.errors import ConfigError, GhostError, MissingDependency, UnknownName
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
    """`module:Class`; the class is called without arguments."""
    description: str
    requires: tuple[Requirement, ...] = ()


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


def make_backend(name_or_path: str) -> SimulationBackend:
    """Make a new backend from a name of the table or from `package.module:Class`.

    Raises `UnknownName` for a name that is not in the table, `ConfigError` for a path that leads to
    nothing, to something that cannot be imported (the cause is chained) or to something that is no
    `SimulationBackend`, and `MissingDependency` when a listed backend's library is not installed.
    An error inside a listed backend passes through unchanged.
    """
    if ":" in name_or_path:
        return _checked(name_or_path, _import_path(name_or_path))
    return _checked(name_or_path, _load(_entry(name_or_path)))


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


def _load(entry: BackendEntry) -> Callable[[], object]:
    """Return the class of a row; missing libraries become `MissingDependency`, nothing else."""
    module_name, _, attribute = entry.path.partition(":")
    needs = {requirement.module: requirement for requirement in entry.requires}

    def missing(error: ModuleNotFoundError) -> MissingDependency | None:
        requirement = needs.get((error.name or "").partition(".")[0])
        if requirement is None:
            return None
        return MissingDependency(
            requirement.module,
            needed_for=f"the backend {entry.name!r}",
            install=requirement.install,
        )

    try:
        cls = getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        problem = missing(error)
        if problem is None:
            raise
        raise problem from error

    def make() -> object:
        # A driver may import its library only when it is made.
        try:
            return cls()
        except ModuleNotFoundError as error:
            problem = missing(error)
            if problem is None:
                raise
            raise problem from error

    return make


def _import_path(path: str) -> Callable[[], object]:
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute or not attribute.isidentifier():
        raise ConfigError(
            f"backend {path!r} is not of the form package.module:Class", key="--backend"
        )
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        missing_itself = isinstance(error, ModuleNotFoundError) and (
            error.name == module_name or module_name.startswith(f"{error.name}.")
        )
        if missing_itself:
            raise ConfigError(
                f"backend {path!r}: there is no module {error.name!r}; "  # type: ignore[attr-defined]  # checked above
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
        raise UnknownName(f"class in {module_name}", attribute, known, key="--backend")
    if not callable(target):
        raise ConfigError(
            f"backend {path!r} is a {type(target).__name__}, not a class or a function that makes "
            "a backend",
            key="--backend",
        )
    return cast("Callable[[], object]", target)


def _checked(path: str, make: Callable[[], object]) -> SimulationBackend:
    """Call the maker and see that the result has the methods of a `SimulationBackend`."""
    if isinstance(make, type):
        _check_face(path, make)
    try:
        made = make()
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


def _features(entry: BackendEntry) -> tuple[FeatureState, ...]:
    """Ask the backend's room about its optional parts, if it has any."""
    module = importlib.import_module(entry.path.partition(":")[0])
    rendering = getattr(module, "rendering_status", None)
    if rendering is None:
        return ()
    available, detail, fix = rendering()
    return (FeatureState("rgb", bool(available), str(detail), "" if available else str(fix)),)
