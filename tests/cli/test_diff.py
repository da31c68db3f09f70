"""`ghost diff`: 0 for equal recordings, 1 for different ones, 2 for none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Ghost = Callable[..., Any]
Fly = Callable[..., Path]


@pytest.fixture
def fly(ghost: Ghost, scenario: Path, tmp_path: Path) -> Fly:
    """Records a run: `fly("name", "--seed", 3)`."""

    def run(name: str, *options: object) -> Path:
        path = tmp_path / f"{name}.mcap"
        options = ("--duration", "300ms", "--quiet", "--record", path, *options)
        assert ghost("run", scenario, *options).code == 0
        return path

    return run


def test_two_runs_of_one_seed_are_equal(ghost: Ghost, fly: Fly) -> None:
    answer = ghost("diff", fly("a"), fly("b"))
    assert answer.code == 0
    assert "The recordings are equal" in answer.out
    assert answer.err == ""


def test_another_seed_is_another_recording(ghost: Ghost, fly: Fly) -> None:
    a, b = fly("a"), fly("b", "--seed", 6)
    answer = ghost("diff", a, b, "--topics", "/sensors/*")
    assert answer.code == 1
    assert "First difference" in answer.out
    assert "/sensors/imu0, message 0, at 0.004000000 s" in answer.out
    assert "payload.accel_mps2[0]" in answer.out
    found = ghost("diff", a, b, "--json")
    assert found.code == 1
    assert found.json["same"] is False
    assert found.json["made"]["seed"] == {"a": 5, "b": 6}
    topics = found.json["topics"]
    assert topics["/ground_truth"]["differing"] == 0
    imu = topics["/sensors/imu0"]
    assert imu["count_a"] == imu["count_b"] == imu["matched"] == imu["differing"] == 75
    assert 0.0 < imu["fields"]["payload.gyro_rps"]["rms"] < 0.01


def test_one_that_ends_early(ghost: Ghost, fly: Fly) -> None:
    a, b = fly("a"), fly("b", "--duration", "200ms")
    answer = ghost("diff", a, b, "--topics", "/sensors/imu0")
    assert answer.code == 1
    assert "(no message)" in answer.out
    assert "25 alone" in answer.out


def test_a_truncated_one_is_compared_as_far_as_it_goes(
    ghost: Ghost, fly: Fly, tmp_path: Path
) -> None:
    a = fly("a")
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(a.read_bytes()[:-2000])
    answer = ghost("diff", a, cut, "--json")
    assert answer.code in (0, 1)
    assert any("cut.mcap" in note for note in answer.json["notes"])


def test_one_side_is_no_recording(ghost: Ghost, fly: Fly, tmp_path: Path) -> None:
    bad = tmp_path / "bad.mcap"
    bad.write_bytes(b"")
    for pair in ((fly("a"), bad), (bad, fly("b"))):
        answer = ghost("diff", *pair)
        assert answer.code == 2
        assert "bad.mcap" in answer.err
