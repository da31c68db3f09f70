"""The test server says the same things in the same order as the Gazebo that was recorded."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ghost.gz.msgs import IMU, Clock, WorldStatistics
from ghost.gz.msgs import WorldControl as ControlMessage
from ghost.gz.world import header_stamp_ns
from ghost.gz.world.stamps import time_ns

if TYPE_CHECKING:
    from tests.gz.server.conftest import Listener

RECORDING = Path(__file__).resolve().parents[2] / "data" / "gz_frames.jsonl.gz"
LINK = "/world/w/model/x500_0/link/base_link/sensor"
SENSORS = (
    f"{LINK}/imu_sensor/imu",
    f"{LINK}/magnetometer_sensor/magnetometer",
    f"{LINK}/air_pressure_sensor/air_pressure",
    f"{LINK}/navsat_sensor/navsat",
)
TIME = ("/stats", "/world/w/clock", "/clock")
CALLS, STEPS, STEP_NS = 60, 5, 4_000_000

Said = tuple[str, bytes]


@pytest.fixture(scope="module")
def recorded() -> list[Said]:
    """`(topic, data)` of the recording, requests as the topic `ask`."""
    said: list[Said] = []
    with gzip.open(RECORDING, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            if row.get("service") == "/world/w/control":
                said.append(("ask", base64.b64decode(row["req"])))
            elif "topic" in row:
                said.append((row["topic"], base64.b64decode(row["data"])))
    return said


def _beats(said: Iterable[Said]) -> Iterator[tuple[str, int]]:
    """`(topic, simulated time)` of what both have, the paused turns between the calls left out."""
    seen: set[tuple[str, int]] = set()
    for topic, data in said:
        if topic == "ask":
            yield "ask", ControlMessage.FromString(data).multi_step
            continue
        if topic == "/stats":
            at_ns = time_ns(WorldStatistics.FromString(data).sim_time)
        elif topic.endswith("clock"):
            at_ns = time_ns(Clock.FromString(data).sim)
        elif topic in SENSORS:
            at_ns = header_stamp_ns(data) or 0
        else:
            continue
        if at_ns and (topic, at_ns) not in seen:
            seen.add((topic, at_ns))
            yield topic, at_ns


def _script(said: Iterable[Said]) -> list[str]:
    """One line for each step. Sensors within one are in any order: Gazebo runs them in threads."""
    lines: list[list[str]] = [[]]
    for topic, at in _beats(said):
        if topic in ("ask", "/stats"):
            lines.append([f"{topic} {at}"])
        else:
            lines[-1].append(f"{topic} {at}")
    order = {topic: index for index, topic in enumerate(TIME)}

    def place(part: str) -> tuple[int, str]:
        return order.get(part.split()[0], len(order)), part

    return [" ".join(line[:1] + sorted(line[1:], key=place)) for line in lines if line]


def _clock_comes_first(said: Iterable[Said]) -> bool:
    """Whether each sample followed the clock of its time, with no other clock between."""
    now_ns = 0
    for topic, data in said:
        if topic == "/world/w/clock":
            now_ns = time_ns(Clock.FromString(data).sim)
        elif topic in SENSORS and header_stamp_ns(data) != now_ns:
            return False
    return True


def test_the_order_of_the_recording(recorded: list[Said], listen: Callable[..., Listener]) -> None:
    listener = listen("--layout", "px4", topics=("/stats", "/clock", *SENSORS))
    said: list[Said] = []
    for call in range(1, CALLS + 1):
        request = ControlMessage(pause=True, multi_step=STEPS)
        said.append(("ask", request.SerializeToString()))
        listener.ask(request)
        listener.await_clocks(2, call * STEPS * STEP_NS)
        said += [(message.topic, message.data) for message in listener.log]
        listener.log.clear()
    script = _script(said)
    assert len(script) == CALLS * (1 + STEPS)
    assert script == _script(recorded)
    assert _clock_comes_first(said)
    assert _clock_comes_first(recorded)


def test_the_headers_of_the_recording(
    recorded: list[Said], listen: Callable[..., Listener]
) -> None:
    listener = listen("--layout", "px4", topics=SENSORS)
    listener.ask(ControlMessage(pause=True, multi_step=2))
    listener.await_clocks(2, 2 * STEP_NS)
    theirs = [IMU.FromString(data) for topic, data in recorded if topic == SENSORS[0]][:2]
    ours = [IMU.FromString(data) for data in listener.of(SENSORS[0])]
    assert [message.header for message in ours] == [message.header for message in theirs]
    assert [message.entity_name for message in ours] == [m.entity_name for m in theirs]
