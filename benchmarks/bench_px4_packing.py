"""What MAVLink costs in a step of the simulator link, beside pymavlink doing the same work.

    python benchmarks/bench_px4_packing.py [--rounds N] [--json]

- `pack`: `HIL_SENSOR` from numbers to bytes.
- `unpack`: bytes to the armed flag and the controls of `HIL_ACTUATOR_CONTROLS`.
- `telemetry`: a stream with `HIGHRES_IMU`, `ATTITUDE_QUATERNION` and more cut into packets;
  pymavlink decodes each, the splitter leaves that to whoever wants one.
- `step`: `feed` and `await_answer` of a `SimulatorLink` over TCP on the loopback, one IMU sample
  each, with a peer in the same process whose answer lies ready: what the link adds to a step,
  without PX4's computing. Of it, `system calls` is a bare `send` and `recv` of the same sizes.

The rivals take turns within a round, so that a busy machine slows both, and `ratio` is the median
over the rounds of pymavlink's time over ours.
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

from pymavlink.dialects.v20 import common

from ghost.config import load_vehicle
from ghost.core import HostClock, RandomStream
from ghost.hal import IMUPayload, SensorHealth, SensorMeta, SensorSample
from ghost.px4.codec import HIL_SENSOR, Framer, MessageId, Splitter
from ghost.px4.link import Readings
from ghost.px4.outputs import MotorMap, unpack_answer
from ghost.px4.simulator_link import SimulatorLink
from ghost.px4.transport import TcpServerTransport

Pair = tuple[Callable[[], object], Callable[[], object]]

CALLS = 2_000
STEP_NS = 4_000_000
BUDGET_US = 24.0
"""Pack, send, receive and decode: what the link may add to a step of 160 µs."""
NUMBERS = (0.1, 0.2, -9.8, 0.01, 0.02, 0.03, 0.21, 0.0, 0.43, 956.0, 0.0, 490.0, 25.0)


def sender() -> Any:
    return common.MAVLink(None, srcSystem=1, srcComponent=1)


def answer(time_us: int) -> bytes:
    controls = [0.55, 0.56, 0.57, 0.58, *[0.0] * 12]
    return bytes(
        common.MAVLink_hil_actuator_controls_message(time_us, controls, 129, 1).pack(sender())
    )


def telemetry() -> bytes:
    """A few packets as they come in one step."""
    mav, three = sender(), (0.1, 0.2, 0.3)
    return b"".join(
        bytes(message.pack(mav))
        for message in (
            common.MAVLink_highres_imu_message(
                5, *three, *three, *three, 956.0, 0.0, 490.0, 25.0, 63
            ),
            common.MAVLink_attitude_quaternion_message(5, 1.0, *three, *three),
            common.MAVLink_local_position_ned_message(5, *three, *three),
        )
    )


def pack_pair() -> Pair:
    framer, mav = Framer(1, 1), sender()
    msgid, pack, frame = MessageId.HIL_SENSOR, HIL_SENSOR.pack, framer.frame
    return (
        lambda: frame(msgid, pack(4_000, *NUMBERS, 63, 0)),
        lambda: common.MAVLink_hil_sensor_message(4_000, *NUMBERS, 63, 0).pack(mav),
    )


def unpack_pair() -> Pair:
    raw, splitter, parser = answer(4_000), Splitter(), sender()

    def ours() -> tuple[float, ...]:
        (packet,) = splitter.feed(raw)
        return unpack_answer(packet.payload).controls

    def theirs() -> object:
        (message,) = parser.parse_buffer(raw)
        return message.controls

    return ours, theirs


def telemetry_pair() -> Pair:
    raw, splitter, parser = telemetry(), Splitter(), sender()
    return lambda: splitter.feed(raw), lambda: parser.parse_buffer(raw)


def time_us(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - start) / CALLS * 1e6


def compare(pair: Pair, rounds: int) -> dict[str, float]:
    """Median times and the median of the ratios within a round."""
    ours, theirs = pair
    ours(), theirs()
    times = [(time_us(ours), time_us(theirs)) for _ in range(rounds)]
    return {
        "ghost_us": round(statistics.median(o for o, _ in times), 2),
        "pymavlink_us": round(statistics.median(t for _, t in times), 2),
        "ratio": round(statistics.median(t / o for o, t in times), 1),
    }


def samples() -> list[SensorSample[IMUPayload]]:
    meta, generator = SensorMeta("imu"), RandomStream(1)
    return [
        SensorSample(
            "imu",
            i,
            0,
            0,
            0,
            SensorHealth.OK,
            IMUPayload(*generator.normal(0.0, 1.0, size=(2, 3))),
            meta,
        )
        for i in range(64)
    ]


def steps(rounds: int) -> dict[str, float]:
    """The link's two calls, the peer's own work kept out of the time."""
    server = TcpServerTransport(port=0)
    link = SimulatorLink(server, MotorMap(load_vehicle("x500")), host=HostClock())
    link.open()
    feeds, awaits, bare = [], [], []
    template = bytearray(answer(1))
    now_ns, readings = 0, [Readings(imu=sample) for sample in samples()]
    clock = time.perf_counter
    with socket.create_connection((server.host, server.port), timeout=10.0) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while not link.connected:
            link.await_answer()
        for _ in range(rounds):
            fed = awaited = 0.0
            for i in range(CALLS):
                now_ns += STEP_NS
                start = clock()
                link.feed(now_ns, readings[i & 63])
                fed += clock() - start
                peer.recv(4096)
                peer.sendall(_stamped(template, now_ns // 1_000))
                start = clock()
                link.await_answer()
                awaited += clock() - start
            feeds.append(fed / CALLS * 1e6)
            awaits.append(awaited / CALLS * 1e6)
            bare.append(_bare(peer, server))
        link.traffic.take(now_ns)
    answered = link.counters.answered
    link.close()
    if answered != rounds * CALLS:
        raise SystemExit(f"only {answered} of {rounds * CALLS} samples were answered")
    feed_us, await_us = statistics.median(feeds), statistics.median(awaits)
    calls_us = statistics.median(bare)
    return {
        "feed_us": round(feed_us, 2),
        "await_us": round(await_us, 2),
        "total_us": round(feed_us + await_us, 2),
        "system_calls_us": round(calls_us, 2),
        "without_system_calls_us": round(feed_us + await_us - calls_us, 2),
    }


def _stamped(template: bytearray, stamp_us: int) -> bytes:
    """The answer with another time, and the checksum that goes with it."""
    struct.pack_into("<Q", template, 10, stamp_us)
    body = bytes(template[1:-2]) + b"\x2f"
    template[-2:] = common.x25crc(body).crc.to_bytes(2, "little")
    return bytes(template)


def _bare(peer: socket.socket, server: TcpServerTransport) -> float:
    """A send and a receive of a step's sizes by the transport alone, µs."""
    there, back = bytes(73), bytes(93)
    spent, clock = 0.0, time.perf_counter
    for _ in range(CALLS):
        start = clock()
        server.send(there)
        spent += clock() - start
        peer.recv(4096)
        peer.sendall(back)
        start = clock()
        server.receive(1.0)
        spent += clock() - start
    return spent / CALLS * 1e6


def main() -> int:
    """Run all and print a table or JSON. Exit code 1 if the link is over its budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    pairs = {"pack": pack_pair(), "unpack": unpack_pair(), "telemetry": telemetry_pair()}
    result: dict[str, Any] = {n: compare(pair, arguments.rounds) for n, pair in pairs.items()}
    result["step"] = steps(arguments.rounds)
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        for name in pairs:
            row = result[name]
            print(
                f"{name:10} {row['ghost_us']:7.2f} µs   pymavlink {row['pymavlink_us']:7.2f} µs   "
                f"{row['ratio']:5.1f} times as fast"
            )
        print("step       " + ", ".join(f"{k} {v}" for k, v in result["step"].items()))
    missed = result["step"]["total_us"] > BUDGET_US
    if missed:
        print(
            f"missed: {result['step']['total_us']} µs a step, asked were {BUDGET_US}",
            file=sys.stderr,
        )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
