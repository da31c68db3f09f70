from __future__ import annotations

import pickle

import pytest

from ghost.core import (
    BackendLost,
    ClosedError,
    ConfigError,
    ContractViolation,
    GhostError,
    MissingDependency,
    UnknownName,
)


def test_the_tree() -> None:
    for kind in (ContractViolation, ConfigError, BackendLost, MissingDependency):
        assert issubclass(kind, GhostError)
    assert issubclass(ClosedError, ContractViolation)
    assert issubclass(UnknownName, ConfigError)


@pytest.mark.parametrize(
    ("file", "key", "line", "text"),
    [
        (None, None, None, "must be > 0"),
        ("a.yaml", None, None, "a.yaml: must be > 0"),
        ("a.yaml", "step_ns", 3, "a.yaml:3: step_ns: must be > 0"),
        (None, "step_ns", None, "step_ns: must be > 0"),
        (None, None, 3, "line 3: must be > 0"),
    ],
)
def test_config_error_says_where_on_one_line(
    file: str | None, key: str | None, line: int | None, text: str
) -> None:
    error = ConfigError("must\n  be > 0", file=file, key=key, line=line)
    assert str(error) == text
    assert (error.file, error.key, error.line) == (file, key, line)


def test_unknown_name_offers_the_nearest() -> None:
    error = UnknownName("backend", "embeded", ["pybullet", "embedded"], key="backend")
    assert error.nearest == ("embedded",)
    assert str(error) == (
        "backend: unknown backend 'embeded'; did you mean 'embedded'? (known: embedded, pybullet)"
    )


def test_unknown_name_without_anything_near_or_known() -> None:
    assert str(UnknownName("backend", "xyz", ["embedded"])) == (
        "unknown backend 'xyz' (known: embedded)"
    )
    assert str(UnknownName("vehicle", "x", [])) == "unknown vehicle 'x' (no vehicle is known)"


def test_missing_dependency_says_what_brings_it() -> None:
    error = MissingDependency(
        "pybullet", needed_for="backend pybullet", install="pip install 'ghost-hal[pybullet]'"
    )
    assert str(error) == (
        "backend pybullet needs pybullet, which is not installed; "
        "install it with: pip install 'ghost-hal[pybullet]'"
    )
    assert str(MissingDependency("ffmpeg")) == "ffmpeg is not installed"


@pytest.mark.parametrize(
    "error",
    [
        ConfigError("bad", file="a.yaml", key="k", line=2),
        UnknownName("backend", "embeded", ["embedded"], file="a.yaml"),
        MissingDependency("x", needed_for="y", install="z"),
        BackendLost("gone"),
    ],
)
def test_errors_survive_the_way_between_processes(error: GhostError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
