"""A small valid vehicle and scenario to break, and one way to read what the loader says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ghost.config import ConfigProblems, load_scenario, problems_of
from ghost.core import ConfigError

VEHICLE = """\
name: small
body:
  mass_kg: 1
  inertia_kgm2: [0.01, 0.01, 0.02]
  size_m: [0.3, 0.3, 0.1]
rotors:
  - {pos_m: [0.1, -0.1, 0], direction: ccw}
  - {pos_m: [-0.1, 0.1, 0], direction: ccw}
  - {pos_m: [0.1, 0.1, 0], direction: cw}
  - {pos_m: [-0.1, -0.1, 0], direction: cw}
motor:
  thrust_coeff: 1e-5
  moment_ratio: 0.01
  max_rad_s: 1000
  time_constant_up_s: 0.02
  time_constant_down_s: 0.02
sensors:
  - id: imu0
    type: imu
    rate_hz: 200
  - id: baro0
    type: barometer
    rate_hz: 50
"""

SCENARIO = """\
name: short
vehicle: small.yaml
duration_ns: 5_000_000_000
step_ns: 4_000_000
faults:
  - at_ns: 1_000_000_000
    sensor: imu0
    kind: nan
plan:
  items:
    - action: takeoff
      altitude_m: 2
    - action: hold
      for_ns: 1_000_000_000
"""

Say = Callable[..., list[str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with `small.yaml` and `short.yaml` in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(VEHICLE)
    (tmp_path / "short.yaml").write_text(SCENARIO)
    return tmp_path


@pytest.fixture
def say(folder: Path) -> Say:
    """Break a file (`old` becomes `new`), load `short.yaml`, return the lines of the error."""

    def run(*edits: tuple[str, str], overrides: tuple[str, ...] = ()) -> list[str]:
        for old, new in edits:
            hits = [
                p for p in (folder / "small.yaml", folder / "short.yaml") if old in p.read_text()
            ]
            assert len(hits) == 1, f"{old!r} is in {hits}"
            hits[0].write_text(hits[0].read_text().replace(old, new, 1))
        with pytest.raises(ConfigError) as caught:
            load_scenario("short.yaml", overrides)
        lines = list(problems_of(caught.value))
        assert str(caught.value).startswith(lines[0])
        assert isinstance(caught.value, ConfigProblems)
        for line in lines:
            assert "\n" not in line
        return lines

    return run
