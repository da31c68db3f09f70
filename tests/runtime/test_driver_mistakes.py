"""A driver that gives something else than the contract asks is told so by its own name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ghost.core import ContractViolation, TakeOff
from ghost.runtime import Outcome, ScenarioRun

Maker = Callable[..., Any]


@pytest.mark.parametrize(
    ("method", "value", "expected"),
    [
        ("step", None, "step() returned None, expected a StepReport"),
        ("step", 4_000_000, "step() returned int 4000000, expected a StepReport"),
        ("ground_truth", (0.0, 0.0), "ground_truth() returned tuple (0.0, 0.0), expected a Ground"),
        ("sensors", None, "sensors() returned None, expected a mapping"),
        ("sensors", ["imu0"], "sensors() returned list ['imu0'], expected a mapping"),
        ("actuators", None, "actuators() returned None, expected an ActuatorSink"),
    ],
)
def test_what_a_method_returns(
    method: str,
    value: object,
    expected: str,
    make_world: Maker,
    make_scenario: Maker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = make_world()
    monkeypatch.setattr(world, method, lambda *_: value)
    run = ScenarioRun(world, make_scenario(TakeOff(1.0)), backend_name="drv:Mine")
    with pytest.raises(ContractViolation) as caught:
        run.execute()
    text = str(caught.value)
    assert text.startswith("drv:Mine: " + expected)
    assert text.endswith("; `ghost conformance --backend drv:Mine` shows more")


@pytest.mark.parametrize(("polled", "what"), [(None, "None"), ([3], "int 3")])
def test_what_a_provider_polls(
    polled: object,
    what: str,
    make_world: Maker,
    make_scenario: Maker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = make_world()
    scenario = make_scenario()
    world.reset(scenario, 0)
    monkeypatch.setattr(type(world.sensors()["alt0"]), "poll", lambda _: polled)
    with pytest.raises(ContractViolation, match=f"poll.. of alt0 .*{what}, expected .*Sensor"):
        ScenarioRun(world, scenario).execute()


def test_what_a_sink_answers(
    make_world: Maker, make_scenario: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world()
    monkeypatch.setattr(type(world.actuators()), "send", lambda *_: True)
    with pytest.raises(ContractViolation, match=r"send\(\) returned bool True, expected a Comm"):
        ScenarioRun(world, make_scenario(TakeOff(1.0))).execute()


def test_a_late_mistake_is_found_too(make_world: Maker, make_scenario: Maker) -> None:
    world = make_world()
    step, made = world.step, []

    def forgets(dt_ns: int) -> Any:
        made.append(dt_ns)
        report = step(dt_ns)
        return report if len(made) < 20 else None

    world.step = forgets
    with pytest.raises(ContractViolation, match=r"step\(\) returned None"):
        ScenarioRun(world, make_scenario()).execute()
    assert len(made) == 20


def test_a_run_whose_every_command_was_refused_is_not_completed(
    make_world: Maker, make_scenario: Maker
) -> None:
    result = ScenarioRun(make_world(refuse=True), make_scenario(TakeOff(1.0))).execute()
    assert result.outcome is Outcome.REFUSED
    assert result.failed
    assert result.ran_through
    idle = ScenarioRun(make_world(refuse=True), make_scenario()).execute()
    assert idle.outcome is Outcome.COMPLETED
    assert not idle.failed
