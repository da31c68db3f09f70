"""The conformance suite (HAL spec §7): every check on every backend, one test each."""

from __future__ import annotations

import importlib.util
import shutil
from functools import cache

import pytest

from ghost.testing import (
    ALL_CHECKS,
    Check,
    Facts,
    NotApplicable,
    Subject,
    default_scenario,
    load_maker,
    probe,
)

BACKENDS = {
    "reference": ("ghost.testing.reference:ReferenceBackend", None, ""),
    "embedded": ("ghost.backends.embedded:EmbeddedBackend", "mujoco", "pip install mujoco"),
    "pybullet": (
        "ghost.backends.pybullet:PyBulletBackend",
        "pybullet",
        'pip install "ghost-hal[pybullet]"',
    ),
    "gazebo_test_server": (
        "tests.backends.gazebo.on_test_server:make",
        "mujoco",
        "pip install mujoco",
    ),
    "gazebo": (
        "ghost.backends.gazebo:GazeboBackend",
        "gz",
        "apt-get install gz-harmonic",
    ),
}
"""Name to import path, the package or program that it needs, and how to get that."""


def _there(dependency: str) -> bool:
    if dependency == "gz":
        return shutil.which("gz") is not None
    return importlib.util.find_spec(dependency) is not None


@pytest.fixture(params=BACKENDS)
def subject(request: pytest.FixtureRequest) -> Subject:
    path, dependency, install = BACKENDS[request.param]
    if dependency is not None and not _there(dependency):
        pytest.skip(f"the backend {request.param} needs {dependency}; install it with: {install}")
    return Subject(load_maker(path), default_scenario(), path)


@cache
def _facts(import_path: str) -> Facts:
    """What a backend says of itself, asked once: a fact about its class, not state of a test."""
    return probe(Subject(load_maker(import_path), default_scenario(), import_path))


@pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: f"test_{check.name}")
def test_backend_keeps_the_contract(subject: Subject, check: Check) -> None:
    assert subject.import_path is not None
    try:
        check(subject, _facts(subject.import_path))
    except NotApplicable as answer:
        pytest.skip(answer.reason)
