"""Is anything lost, repeated or out of order, how late is it, and what does a call cost?

    python benchmarks/bench_transport.py [--seconds 60] [--implementation wire|bindings] [--json]

Another process publishes 5,000 small messages and 30 images of 1280×720 a second for a minute;
this one receives both on one node and checks every number. Then ping-pong: a message there and
back, and a service call, each between two processes. Exit code 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import socket
import statistics
import struct
import sys
import time
from typing import Any

from ghost.gz.msgs import Bytes, StringMsg
from ghost.gz.transport import TransportOptions, open_node
from ghost.gz.transport.identity import new_uuid

RATE_HZ = 5000
IMAGE_HZ = 30
IMAGE_BYTES = 1280 * 720 * 3
ROUNDS = 3000
WAIT_S = 30.0
STRING = "gz.msgs.StringMsg"
_HEAD = struct.Struct("<QQ")  # number, monotonic ns


def network() -> TransportOptions:
    """A network of our own on the loopback."""
    ports = []
    for _ in range(2):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            ports.append(int(probe.getsockname()[1]))
    return TransportOptions(
        partition=f"bench{new_uuid()[:8]}", msg_port=ports[0], srv_port=ports[1]
    )


def publish(options: TransportOptions, seconds: float) -> None:
    """The other process: pace both topics, then answer pings and calls until killed."""
    with open_node(options) as node:
        small, image = node.advertise("/small", "gz.msgs.Bytes"), node.advertise("/image", "x")
        pong = node.advertise("/pong", STRING)
        node.subscribe("/ping")
        node.offer("/echo", STRING, STRING, lambda request: request)
        if not (small.wait_for_subscriber(WAIT_S) and image.wait_for_subscriber(WAIT_S)):
            raise SystemExit("nobody subscribed")
        pixels = bytes(range(256)) * (IMAGE_BYTES // 256)
        pixels = pixels[: IMAGE_BYTES - _HEAD.size]
        start_ns = time.monotonic_ns()
        images = 0
        for number in range(int(RATE_HZ * seconds)):
            due_ns = start_ns + number * 1_000_000_000 // RATE_HZ
            while (left_ns := due_ns - time.monotonic_ns()) > 0:
                time.sleep(left_ns / 1e9)
            small.publish(Bytes(data=_HEAD.pack(number, time.monotonic_ns())).SerializeToString())
            if number * IMAGE_HZ >= images * RATE_HZ:
                image.publish(_HEAD.pack(images, time.monotonic_ns()) + pixels)
                images += 1
        while (incoming := node.receive(WAIT_S)) is not None:
            pong.publish(incoming.data)


def percentiles(values: list[float]) -> dict[str, float]:
    """Median, 99 % and largest, in microseconds."""
    values = sorted(values)
    return {
        "median_us": round(statistics.median(values), 1),
        "p99_us": round(values[int(len(values) * 0.99)], 1),
        "max_us": round(values[-1], 1),
    }


def stream(node: Any, seconds: float) -> dict[str, Any]:
    """Receive both topics to their end and check the numbers."""
    expected = {"/small": int(RATE_HZ * seconds), "/image": int(IMAGE_HZ * seconds)}
    next_number = dict.fromkeys(expected, 0)
    late: dict[str, list[float]] = {topic: [] for topic in expected}
    wrong = 0
    cpu_start = time.process_time()
    while any(next_number[topic] < count for topic, count in expected.items()):
        incoming = node.receive(WAIT_S)
        now_ns = time.monotonic_ns()
        if incoming is None:
            break
        data = incoming.data
        if incoming.topic == "/small":
            data = Bytes.FromString(data).data
        number, sent_ns = _HEAD.unpack_from(data)
        wrong += number != next_number[incoming.topic]
        next_number[incoming.topic] = number + 1
        late[incoming.topic].append((now_ns - sent_ns) / 1e3)
    result: dict[str, Any] = {"seconds": seconds, "wrong_order_lost_or_repeated": wrong}
    for topic, count in expected.items():
        result[topic] = {"expected": count, "received": len(late[topic])}
        if late[topic]:
            result[topic].update(percentiles(late[topic]))
    result["receiver_cpu_share"] = round((time.process_time() - cpu_start) / seconds, 3)
    result["receiver_peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return result


def ping(node: Any) -> dict[str, float]:
    """A message to the other process and back."""
    publisher = node.advertise("/ping", STRING)
    pong = node.subscribe("/pong")
    publisher.wait_for_subscriber(WAIT_S)
    pong.wait_for_publisher(WAIT_S)
    data = StringMsg(data="x" * 40).SerializeToString()
    times = []
    for i in range(ROUNDS + 50):
        start = time.perf_counter()
        publisher.publish(data)
        while node.receive(0.5 if i < 50 else WAIT_S) is None:
            publisher.publish(data)  # the first ones may meet a subscription on its way
        times.append((time.perf_counter() - start) * 1e6)
    return percentiles(times[50:])


def call(node: Any) -> dict[str, float]:
    """A service call."""
    data = StringMsg(data="x" * 40).SerializeToString()
    times = []
    for _ in range(ROUNDS + 50):
        start = time.perf_counter()
        node.request("/echo", data, STRING, STRING, WAIT_S)
        times.append((time.perf_counter() - start) * 1e6)
    return percentiles(times[50:])


def main() -> int:
    """Run all and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--implementation", choices=("wire", "bindings"), default="wire")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    options = network()
    context = multiprocessing.get_context("spawn")
    other = context.Process(target=publish, args=(options, arguments.seconds), daemon=True)
    with open_node(options, arguments.implementation) as node:
        node.subscribe("/small")
        node.subscribe("/image")
        other.start()
        streamed = stream(node, arguments.seconds)
        result = {"implementation": arguments.implementation, "stream": streamed}
        result["ping_pong"] = ping(node)
        result["call"] = call(node)
        other.kill()
        other.join()
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        print(f"{arguments.implementation}, {arguments.seconds:g} s")
        for topic in ("/small", "/image"):
            print(f"  {topic:9} {streamed[topic]}")
        print(f"  wrong     {streamed['wrong_order_lost_or_repeated']}")
        print(f"  receiver  {streamed['receiver_cpu_share']} of a core")
        print(f"  ping-pong {result['ping_pong']}\n  call      {result['call']}")
    complete = all(
        streamed[topic]["received"] == streamed[topic]["expected"] for topic in ("/small", "/image")
    )
    return 0 if complete and not streamed["wrong_order_lost_or_repeated"] else 1


if __name__ == "__main__":
    sys.exit(main())
