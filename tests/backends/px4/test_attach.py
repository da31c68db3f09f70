"""A PX4 that somebody else started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghost.backends.embedded import EmbeddedBackend
from ghost.backends.px4 import Px4Backend
from ghost.core import BackendLost, ScenarioSpec
from ghost.hal import LockstepState
from ghost.px4 import choose_instance
from tests.backends.px4.conftest import fly_up
from tests.px4_double.launch import DoubleProcess

Hover = Callable[..., ScenarioSpec]


@pytest.fixture
def instance() -> Iterator[int]:
    """A number that is free, and claimed so that no other test takes it."""
    claim = choose_instance()
    yield claim.number
    claim.release()


def test_it_is_waited_for_and_flown(hover: Hover, instance: int, tmp_path: Path) -> None:
    scenario = hover("autopilot.attach=true", f"autopilot.instance={instance}")
    # It dials until somebody listens, as PX4 does.
    with (
        DoubleProcess(tmp_path, instance, dial_after_s=0.3),
        Px4Backend(EmbeddedBackend(), {}) as backend,
    ):
        backend.reset(scenario, 1)
        told = backend.capabilities.extensions["autopilot"]
        assert told["program"] == "somebody else's"
        assert told["instance"] == instance
        # Nobody set its parameters, and that is said.
        assert any(
            "NAV_DLL_ACT is 2, not 0" in note for note in backend.capabilities.extensions["notes"]
        )
        reports = fly_up(backend, scenario, 6.0)
        assert {report.lockstep for report in reports} == {LockstepState.ANSWERED}
        truth = backend.ground_truth()
        assert truth is not None
        assert truth.pos_enu_m[2] == pytest.approx(2.0, abs=0.4)


def test_nobody_dials_in(hover: Hover, instance: int) -> None:
    scenario = hover(
        "autopilot.attach=true",
        f"autopilot.instance={instance}",
        "autopilot.start_timeout_ns=300000000",
    )
    with (
        Px4Backend(EmbeddedBackend(), {}) as backend,
        pytest.raises(BackendLost, match=f"TCP port {4560 + instance}"),
    ):
        backend.reset(scenario, 1)
