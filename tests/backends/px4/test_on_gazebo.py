"""The same flights in Gazebo: over the simulator link, and over PX4's own bridge."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from ghost.core import BackendLost, ConfigError, ScenarioSpec
from ghost.hal import LockstepState
from ghost.runtime import Outcome, ScenarioRun
from tests.backends.gazebo.on_test_server import make
from tests.backends.px4.conftest import SECOND, MakePx4, fly_up

Hover = Callable[..., ScenarioSpec]
MIRRORED_DEG = -math.degrees(math.atan2(1.294, 21.743))
"""PX4's bridge mirrors the east part of Gazebo's field; the double knows no table of the place."""


def test_take_off_and_land_over_the_simulator_link(make_px4: MakePx4, hover: Hover) -> None:
    backend = make_px4(world=make())
    result = ScenarioRun(backend, hover("duration_ns=30000000000")).execute()
    assert result.outcome is Outcome.COMPLETED
    assert not result.failed, result.trouble
    assert result.plan_done == 3
    assert result.lockstep is not None
    assert result.lockstep["missing"] == 0
    assert result.final_pos_enu_m is not None
    assert np.hypot(*result.final_pos_enu_m[:2]) < 0.5


def test_a_square_over_the_simulator_link(make_px4: MakePx4, hover: Hover) -> None:
    spec = hover("duration_ns=45000000000", name="px4_square")
    result = ScenarioRun(make_px4(world=make()), spec).execute()
    assert not result.failed, result.trouble
    assert result.plan_done == result.plan_items


def test_take_off_and_land_over_the_bridge(make_px4: MakePx4, hover: Hover) -> None:
    backend = make_px4(world=make(), declination_deg=MIRRORED_DEG)
    spec = hover("duration_ns=30000000000", name="px4_gazebo_hover")
    result = ScenarioRun(backend, spec).execute()
    assert result.outcome is Outcome.COMPLETED
    assert not result.failed, result.trouble
    assert result.plan_done == 3
    assert result.lockstep is not None
    assert result.lockstep["answered"] > 0.99 * result.steps
    assert backend.capabilities.extensions["autopilot"]["link"] == "gz_bridge"


def test_a_reset_over_the_bridge_is_a_new_px4(make_px4: MakePx4, hover: Hover) -> None:
    spec = hover(name="px4_gazebo_hover")
    backend = make_px4(world=make(), declination_deg=MIRRORED_DEG)
    backend.reset(spec, 1)
    fly_up(backend, spec, 3.0)
    backend.reset(spec, 1)
    truth = backend.ground_truth()
    assert truth is not None
    assert truth.pos_enu_m[2] < 0.3
    assert not backend.armed
    assert backend.step(spec.step_ns).lockstep is LockstepState.ANSWERED


def test_px4_dies_over_the_bridge(make_px4: MakePx4, hover: Hover) -> None:
    spec = hover("autopilot.answer_deadline_ns=100000000", name="px4_gazebo_hover")
    backend = make_px4(world=make(), declination_deg=MIRRORED_DEG, die_at_s=12, die_code=9)
    backend.reset(spec, 1)
    with pytest.raises(BackendLost, match="exit code 9"):
        backend.step(8 * SECOND)
    backend.reset(spec, 1)
    assert backend.step(spec.step_ns).lockstep is LockstepState.ANSWERED


def test_gazebo_alone_refuses_a_scenario_over_the_simulator_link(hover: Hover) -> None:
    with make() as world, pytest.raises(ConfigError, match="autopilot"):
        world.reset(hover(), 1)
