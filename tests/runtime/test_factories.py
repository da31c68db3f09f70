"""Backends by name and by path."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ghost.config import load_scenario
from ghost.core import ConfigError, ContractViolation, MissingDependency, UnknownName
from ghost.runtime import (
    BACKENDS,
    backend_path,
    backend_table,
    factories,
    make_backend,
    split_settings,
)

GOOD = """
from ghost.backends.embedded import EmbeddedBackend

class Mine(EmbeddedBackend):
    pass

def make():
    return Mine()

class NeedsPort:
    def __init__(self, port): ...
    def reset(self): ...
    def step(self): ...
    def shutdown(self): ...
    def sensors(self): ...
    def actuators(self): ...
    def ground_truth(self): ...
    clock = None

class Failing(Mine):
    def __init__(self):
        raise ZeroDivisionError("a bug in a driver")

class Leaving(Mine):
    def __init__(self):
        raise SystemExit(4)

class Hardware:
    def start(self): ...
    def stop(self): ...
    def sensors(self): ...
    def actuators(self): ...
    clock = None

class NoCapabilities(NeedsPort):
    def __init__(self): ...

number = 7
"""


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an importable module with drivers, good and bad."""
    name = f"driver_{tmp_path.name.lower()}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(GOOD)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


class NoPybullet:
    """Finds no pybullet, as on a machine without it."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "pybullet":
            raise ModuleNotFoundError("No module named 'pybullet'", name="pybullet")


@pytest.fixture
def without_pybullet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the optional package away, whether it is installed or not."""
    monkeypatch.delitem(sys.modules, "pybullet", raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoPybullet(), *sys.meta_path])


def test_the_table_names_each_backend_once_and_says_what_brings_it() -> None:
    names = [entry.name for entry in BACKENDS]
    assert names == ["embedded", "pybullet", "gazebo", "replay"]
    for entry in BACKENDS:
        assert entry.path.startswith(f"ghost.backends.{entry.name}:")
        assert entry.description
        assert all(need.module and need.install for need in entry.requires)


def test_a_name_makes_a_backend() -> None:
    backend = make_backend("embedded")
    assert type(backend).__name__ == "EmbeddedBackend"
    backend.shutdown()


@pytest.mark.parametrize("attribute", ["Mine", "make"])
def test_a_path_makes_a_backend_of_ones_own(driver: str, attribute: str) -> None:
    backend = make_backend(f"{driver}:{attribute}")
    assert type(backend).__name__ == "Mine"
    backend.shutdown()


def test_an_unknown_name_lists_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        make_backend("embeded")
    assert str(caught.value) == (
        "unknown backend 'embeded'; did you mean 'embedded'? (known: embedded, gazebo, pybullet, "
        "replay)"
    )


@pytest.mark.parametrize("name", [None, 3])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=r"the backend's name must be a str .* got (None|3)"):
        make_backend(name)


def test_a_constructor_that_ends_the_program(driver: str) -> None:
    with pytest.raises(ContractViolation, match=r"constructor ended the program: SystemExit\(4\)"):
        make_backend(f"{driver}:Leaving")


@pytest.mark.usefixtures("without_pybullet")
def test_a_missing_library_says_what_brings_it() -> None:
    with pytest.raises(MissingDependency) as caught:
        make_backend("pybullet")
    assert str(caught.value) == (
        "the backend 'pybullet' needs pybullet, which is not installed; "
        'install it with: pip install "ghost-hal[pybullet]"'
    )


def test_a_library_missing_at_import_time_is_told_alike(
    driver: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / f"{driver}_bare.py").write_text("import a_module_nobody_has.part\n")
    need = factories.Requirement("a_module_nobody_has", "pip install it")
    entry = factories.BackendEntry("bare", f"{driver}_bare:X", "", (need,))
    monkeypatch.setattr(factories, "BACKENDS", (entry,))
    with pytest.raises(
        MissingDependency, match=r"'bare' needs a_module_nobody_has.*pip install it"
    ):
        make_backend("bare")
    (state,) = backend_table()
    assert (state.available, state.fix) == (False, "pip install it")


def test_another_import_error_of_a_listed_backend_is_not_taken_for_a_missing_library(
    driver: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / f"{driver}_broken.py").write_text("import a_module_nobody_has\n")
    entry = factories.BackendEntry(
        "broken", f"{driver}_broken:X", "", (factories.Requirement("mujoco", "pip install mujoco"),)
    )
    monkeypatch.setattr(factories, "BACKENDS", (entry,))
    with pytest.raises(ModuleNotFoundError, match="a_module_nobody_has"):
        make_backend("broken")
    (state,) = backend_table()
    assert not state.available
    assert "a_module_nobody_has" in state.detail


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("{}:Mein", "module {} has no class Mein; did you mean Mine?"),
        ("{}:number", "is a int, not a class or a function"),
        ("{}:Hardware", "it is a RuntimeBackend, whose world moves by itself"),
        ("{}:NeedsPort", "cannot be made without arguments"),
        ("{}:NoCapabilities", "has no 'capabilities'"),
        ("{}:Mine.inner", "is not of the form package.module:Class"),
        ("{}:", "is not of the form package.module:Class"),
        (":Mine", "is not of the form package.module:Class"),
        ("no_such_module_here:X", "there is no module 'no_such_module_here'"),
        ("{}.deeper:X", "there is no module '{}.deeper'"),
        ("json:JSONDecoder", "is no SimulationBackend: it lacks reset, step, shutdown"),
    ],
)
def test_a_path_that_leads_to_no_backend_says_why(driver: str, path: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_backend(path.format(driver))
    assert says.format(driver) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_an_import_raises_is_named_and_chained(driver: str, tmp_path: Path) -> None:
    (tmp_path / f"{driver}_half.py").write_text("import a_module_nobody_has\n")
    with pytest.raises(ConfigError, match="raised ModuleNotFoundError: No module named") as caught:
        make_backend(f"{driver}_half:X")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)
    (tmp_path / f"{driver}_typo.py").write_text("def f(:\n")
    with pytest.raises(ConfigError, match="raised SyntaxError") as caught:
        make_backend(f"{driver}_typo:X")
    assert isinstance(caught.value.__cause__, SyntaxError)


def test_an_error_inside_a_driver_passes_through(driver: str) -> None:
    with pytest.raises(ZeroDivisionError, match="a bug in a driver"):
        make_backend(f"{driver}:Failing")


def test_paths_of_names() -> None:
    assert backend_path("embedded") == "ghost.backends.embedded:EmbeddedBackend"
    assert backend_path("my.driver:Backend") == "my.driver:Backend"
    with pytest.raises(UnknownName):
        backend_path("nothing")


@pytest.mark.usefixtures("without_pybullet")
def test_the_table_of_states_tells_what_works_here() -> None:
    states = {state.name: state for state in backend_table()}
    embedded = states["embedded"]
    assert embedded.available
    assert embedded.deterministic
    assert embedded.ground_truth
    assert set(embedded.levels) >= {"MOTOR", "POSITION", "VELOCITY"}
    (rgb,) = embedded.features
    assert rgb.name == "rgb"
    assert rgb.detail
    assert bool(rgb.fix) != rgb.available
    pybullet = states["pybullet"]
    assert not pybullet.available
    assert pybullet.detail == "pybullet is not installed"
    assert pybullet.fix == 'pip install "ghost-hal[pybullet]"'


def test_settings_of_a_backend_are_parted_from_the_scenarios() -> None:
    told = ("seed=3", "gz.attach=field", "world.gravity_mps2=3.7", " gz.topic.imu0 = /a=b ")
    scenario, settings = split_settings(told)
    assert scenario == ("seed=3", "world.gravity_mps2=3.7")
    assert settings == {"gz.attach": "field", "gz.topic.imu0": "/a=b"}


@pytest.mark.parametrize("name", ["embedded", "ghost.backends.embedded:EmbeddedBackend"])
def test_a_setting_of_another_backend_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="no setting of the backend") as caught:
        make_backend(name, {"gz.attach": "field"})
    assert caught.value.key == "gz.attach"


@pytest.mark.parametrize(
    ("seed", "kind", "expected"),
    [
        (-1, ValueError, r"seed must be in 0…2\*\*64-1, got -1"),
        (1.5, TypeError, r"seed must be an integer, got float 1\.5"),
    ],
)
def test_a_seed_is_no_time(seed: int, kind: type[Exception], expected: str) -> None:
    backend = make_backend("embedded")
    try:
        with pytest.raises(kind, match=expected):
            backend.reset(load_scenario("hover"), seed)
    finally:
        backend.shutdown()
