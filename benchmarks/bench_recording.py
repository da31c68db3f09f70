"""How fast recordings are written and read, beside the bare `mcap` library.

    python benchmarks/bench_recording.py [--seconds 20] [--cameras] [--runs square,all_sensors]

Makes the messages of a flight (IMU at 1 kHz, truth and step reports at 1 kHz, commands at 200 Hz,
slow sensors; with --cameras two cameras and a LiDAR), then measures

* write: `Recorder`'s encoder and file against `mcap.writer.Writer` given the finished bytes;
* read: `LogReader.messages` (decoded) against `mcap.reader.make_reader(...).iter_messages`
  (undecoded);
* bus: what a publish costs the flight's own thread while a recorder runs;
* runs: what recording costs whole runs of scenarios (the goal is 10 % without cameras, 15 % with
  them), in the processor time of the thread that flies, that of all threads, and on the wall.
  Runs with and without a recorder take turns, and the best and the median of the pairs are given,
  as a busy machine slows both down. `all_sensors-` is `all_sensors` without cameras and LiDAR.

The bare writer gets its bytes for nothing, so a ratio of 1 means that encoding costs nothing more.
The goal is 0.7 for both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from mcap.reader import make_reader
from mcap.writer import Writer

from ghost.backends.embedded import EmbeddedBackend
from ghost.config import load_scenario
from ghost.core import Envelope, HostClock, MessageBus, RandomStream, ScenarioSpec
from ghost.hal import (
    AckReason,
    CameraIntrinsics,
    CommandAck,
    CommandRecord,
    GpsFix,
    GpsPayload,
    GroundTruth,
    IMUPayload,
    MagnetometerPayload,
    PointCloudPayload,
    RGBImagePayload,
    SensorHealth,
    SensorMeta,
    SensorSample,
    StepReport,
    VelocityCommand,
)
from ghost.recording import LogReader, Recorder, RecorderLimits
from ghost.recording.sink import FileSink
from ghost.runtime import RecordObserver, ScenarioRun

LARGE = ("rgb", "depth", "lidar", "event_camera")
FloatArray = npt.NDArray[np.float64]


def flight(seconds: int, cameras: bool) -> Iterator[tuple[str, object]]:
    """Yield topic and message of a made-up flight."""
    rng = RandomStream(7).numpy_rng()
    metas = {name: SensorMeta(name) for name in ("imu0", "mag0", "gps0", "cam0", "cam1", "lidar0")}

    def vector(size: int) -> FloatArray:
        array = rng.normal(size=size)
        array.setflags(write=False)
        return array

    def sample(name: str, seq: int, stamp: int, payload: object) -> tuple[str, object]:
        message = SensorSample(
            name, seq, stamp, stamp, stamp, SensorHealth.OK, payload, metas[name]
        )
        return f"/sensors/{name}", message

    camera = CameraIntrinsics(320, 240, 277.0, 277.0, 160.0, 120.0, "none", np.empty(0))
    ramp = np.add.outer(np.arange(240), np.arange(320))[:, :, None] * np.array([1, 2, 3])
    for k in range(1, seconds * 1000 + 1):
        stamp = k * 1_000_000
        yield "/step", StepReport(stamp, 1, {"imu0": 1})
        yield sample("imu0", k, stamp, IMUPayload(vector(3), vector(3)))
        yield (
            "/ground_truth",
            GroundTruth(stamp, vector(3), vector(4), vector(3), vector(3), vector(3), vector(4)),
        )
        if k % 5 == 0:
            command = VelocityCommand(vector(3), 0.1)
            yield "/actuators/command", CommandRecord(stamp, command)
            yield "/actuators/ack", CommandAck(True, AckReason.OK, stamp, command)
        if k % 20 == 0:
            yield sample("mag0", k, stamp, MagnetometerPayload(vector(3)))
        if k % 100 == 0:
            fix = GpsPayload(47.0, 8.0, 400.0, vector(3), GpsFix.FIX_3D, 1.0, 2.0)
            yield sample("gps0", k, stamp, fix)
        if cameras and k % 50 == 0:
            noise = rng.integers(0, 4, (240, 320, 3))
            image = ((ramp + noise + k) % 256).astype(np.uint8)
            image.setflags(write=False)
            for name in ("cam0", "cam1"):
                yield sample(name, k, stamp, RGBImagePayload(image, camera, 0))
            points = rng.normal(size=(2000, 3)).astype(np.float32)
            cloud = PointCloudPayload(points, np.zeros(2000, np.uint16), 0.1, 30.0)
            yield sample("lidar0", k, stamp, cloud)


def timed(work: Callable[[], int]) -> tuple[int, float]:
    """Run and return what it returned, and the seconds it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def write_ours(path: str, envelopes: list[Envelope]) -> int:
    """Write through the recorder's file, in this thread."""
    sink = FileSink(
        path,
        header={},
        attachments={},
        encodings={},
        transforms=(),
        limits=RecorderLimits(),
        host=HostClock(),
        tell=print,
    )
    sink.open()
    for envelope in envelopes:
        sink.pending.append(envelope)
        if len(sink.pending) >= sink.batch:
            sink.drain()
            if sink.waiting_bytes:
                sink.pump()
    sink.finish({})
    return len(envelopes)


def write_bare(path: str, source: str) -> tuple[int, float]:
    """Write the records of `source` again with the bare writer; the reading is not timed."""
    with open(source, "rb") as stream:
        found = list(make_reader(stream).iter_messages())
    with open(path, "wb") as out:
        writer = Writer(out)
        writer.start()
        ids: dict[int, int] = {}
        for schema, channel, _ in found:
            if channel.id not in ids:
                assert schema is not None
                schema_id = writer.register_schema(schema.name, schema.encoding, schema.data)
                ids[channel.id] = writer.register_channel(channel.topic, "protobuf", schema_id)

        def work() -> int:
            for _, channel, message in found:
                writer.add_message(
                    ids[channel.id],
                    message.log_time,
                    message.data,
                    message.publish_time,
                    message.sequence,
                )
            writer.finish()  # type: ignore[no-untyped-call]  # mcap leaves it unannotated
            return len(found)

        return timed(work)


def read_bare(path: str) -> int:
    """Read all messages with the bare reader."""
    with open(path, "rb") as stream:
        return sum(1 for _ in make_reader(stream).iter_messages())


def read_ours(path: str) -> int:
    """Read and decode all messages."""
    with LogReader(path) as reader:
        return sum(1 for _ in reader.messages())


def bus_cost(path: str, messages: list[tuple[str, object]]) -> tuple[float, float, float]:
    """Seconds to publish everything without and with a recorder, and the processor's seconds."""

    def publish(bus: MessageBus) -> int:
        for topic, message in messages:
            bus.publish(topic, message)
        return len(messages)

    plain_bus = MessageBus()
    plain_bus.subscribe("/*", lambda _: None)
    _, plain = timed(lambda: publish(plain_bus))
    bus = MessageBus()
    used = time.process_time()
    recorder = Recorder(path, bus)
    with recorder:
        _, recorded = timed(lambda: publish(bus))
    used = time.process_time() - used
    print("recorder:", recorder.stats())
    return plain, recorded, used


def fly(scenario: ScenarioSpec, path: str | None) -> tuple[tuple[float, float, float], int]:
    """Run a scenario; return seconds (flying thread, all threads, wall) and messages recorded."""
    recorders = [] if path is None else [RecordObserver(path)]
    with EmbeddedBackend() as world:
        run = ScenarioRun(world, scenario, backend_name="embedded", observers=recorders)
        starts = (time.thread_time(), time.process_time(), time.perf_counter())
        run.execute()
        ends = (time.thread_time(), time.process_time(), time.perf_counter())
    thread_s, process_s, wall_s = (end - start for end, start in zip(ends, starts, strict=True))
    received = [recorder.stats.received for recorder in recorders if recorder.stats]
    return (thread_s, process_s, wall_s), sum(received)


def run_cost(name: str, seconds: int, rounds: int, folder: str) -> None:
    """Print what recording costs a run of a scenario."""
    scenario = load_scenario(name.removesuffix("-"))
    if name.endswith("-"):
        sensors = tuple(s for s in scenario.vehicle.sensors if s.type not in LARGE)
        scenario = replace(scenario, vehicle=replace(scenario.vehicle, sensors=sensors))
    scenario = replace(scenario, duration_ns=seconds * 10**9)
    path = os.path.join(folder, "run.mcap")
    fly(scenario, path)
    pairs = [(fly(scenario, None)[0], fly(scenario, path)) for _ in range(rounds)]
    count = pairs[0][1][1]
    print(f"{name} for {seconds} s, {count} messages:")
    for place, what in enumerate(("flying thread", "all threads", "wall")):
        plain = min(pair[0][place] for pair in pairs)
        extra = min(pair[1][0][place] for pair in pairs) - plain
        ratios = [recorded[place] / bare[place] - 1 for bare, (recorded, _) in pairs]
        print(
            f"  {what:13} {plain:.2f} s without; recording costs {extra / plain:6.1%} (best), ",
            end="",
        )
        print(f"{statistics.median(ratios):6.1%} (median), {extra / count * 1e6:.2f} us/message")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=20, help="length of the flight")
    parser.add_argument("--cameras", action="store_true", help="two cameras and a LiDAR")
    parser.add_argument("--runs", default="", help="scenarios to run, separated by commas")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs")
    options = parser.parse_args()
    if options.runs:
        with tempfile.TemporaryDirectory() as folder:
            for name in options.runs.split(","):
                run_cost(name, options.seconds, options.rounds, folder)
        return
    messages = list(flight(options.seconds, options.cameras))
    envelopes = [
        Envelope(topic, message.stamp_sim_ns, number, message)  # type: ignore[attr-defined]  # all have one
        for number, (topic, message) in enumerate(messages)
    ]
    with tempfile.TemporaryDirectory() as folder:
        ours, bare = os.path.join(folder, "ours.mcap"), os.path.join(folder, "bare.mcap")
        count, ours_s = timed(lambda: write_ours(ours, envelopes))
        records, bare_s = write_bare(bare, ours)
        megabytes = os.path.getsize(ours) / 1e6
        print(f"{count} messages, {records} records, {megabytes:.1f} MB")
        print(f"write: ours {ours_s / count * 1e6:.2f} us/message, {ours_s:.2f} s; ", end="")
        print(f"bare {bare_s:.2f} s; ratio {bare_s / ours_s:.2f}")
        decoded, ours_s = timed(lambda: read_ours(ours))
        _, bare_s = timed(lambda: read_bare(ours))
        print(f"read: ours {ours_s / decoded * 1e6:.2f} us/message, {ours_s:.2f} s; ", end="")
        print(f"bare {bare_s:.2f} s; ratio {bare_s / ours_s:.2f}")
        print(f"replay of these topics: {options.seconds / ours_s:.0f} times real time")
        plain, recorded, used = bus_cost(os.path.join(folder, "bus.mcap"), messages)
        print(f"bus: {plain:.2f} s without, {recorded:.2f} s with a recorder; ", end="")
        print(f"{used / count * 1e6:.2f} us of processor time per message in all")


if __name__ == "__main__":
    main()
