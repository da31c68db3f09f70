"""`kill -9` in the middle of a flight in real time: the file opens and lacks 200 ms at most."""

from __future__ import annotations

import mmap
import signal
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ghost.core import HostClock, RandomStream
from ghost.recording import LogReader

MAX_LOSS_NS = 200_000_000
KILLS = 50
AT_ONCE = 3

# Publishes 500 messages a second, and writes the stamp of each into a shared page once it is out.
FLIGHT = """
import mmap, struct, sys
import numpy as np
from ghost.core import HostClock, MessageBus
from ghost.hal import GroundTruth, IMUPayload, SensorHealth, SensorMeta, SensorSample
from ghost.recording import Recorder

file, page = sys.argv[1:]
with open(page, "r+b") as stream:
    shared = mmap.mmap(stream.fileno(), 8)
bus, host, meta = MessageBus(), HostClock(), SensorMeta("imu")
Recorder(file, bus).start()
start, vector = host.now_ns(), np.ones(3)
for k in range(1, 5000):
    stamp = k * 4_000_000
    host.sleep_until_ns(start + stamp)
    payload = IMUPayload(vector, vector)
    sample = SensorSample("imu0", k, stamp, stamp, stamp, SensorHealth.OK, payload, meta)
    bus.publish("/sensors/imu0", sample)
    truth = GroundTruth(stamp, vector, np.ones(4), vector, vector, vector, vector)
    bus.publish("/ground_truth", truth)
    shared[:] = struct.pack("<q", stamp)
"""


def fly_and_kill(folder: Path, number: int, after_s: float) -> tuple[int, int]:
    """Return the last stamp that was published and the last that is in the file."""
    file, page = folder / f"{number}.mcap", folder / f"{number}.page"
    page.write_bytes(bytes(8))
    with page.open("r+b") as stream, mmap.mmap(stream.fileno(), 8) as shared:
        process = subprocess.Popen([sys.executable, "-c", FLIGHT, str(file), str(page)])
        try:
            host = HostClock()
            deadline_ns = host.now_ns() + 60_000_000_000
            while not any(shared[:]):  # the flight has begun
                assert host.now_ns() < deadline_ns
                assert process.poll() is None
                host.sleep_until_ns(host.now_ns() + 5_000_000)
            host.sleep_until_ns(host.now_ns() + round(after_s * 1e9))
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        (published,) = struct.unpack("<q", shared[:])
    with LogReader(str(file)) as reader:
        messages = list(reader.messages())
        assert not reader.info().finished
        assert any("no end" in note for note in reader.notes)
    stamps = [m.stamp_ns for m in messages if m.topic == "/sensors/imu0"]
    assert stamps == [k * 4_000_000 for k in range(1, len(stamps) + 1)], "no gap before the end"
    return published, stamps[-1] if stamps else 0


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_killed_flight_loses_200_ms_at_most(tmp_path: Path) -> None:
    chance = RandomStream(20)
    waits = [chance.uniform(0.15, 0.6) for _ in range(KILLS)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        ends = list(pool.map(lambda n: fly_and_kill(tmp_path, n, waits[n]), range(KILLS)))
    losses = [published - kept for published, kept in ends]
    assert all(published > 0 for published, _ in ends)
    assert max(losses) <= MAX_LOSS_NS, f"lost {[loss // 1_000_000 for loss in losses]} ms"
