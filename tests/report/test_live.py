"""The live server, seen by a WebSocket client of another hand. Every wait has a deadline."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
import threading
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from ghost.config import load_scenario
from ghost.core import ConfigError, MessageBus, MissingDependency, ScenarioSpec
from ghost.recording import LogReader
from ghost.report import LiveServer
from ghost.report.live import sensor_transforms
from ghost.report.survey import Row
from ghost.runtime import run_scenario

pytest.importorskip("foxglove")
websockets = pytest.importorskip("websockets")

DEADLINE_S = 20.0
BINARY_MESSAGE, BINARY_TIME = 1, 2


class Viewer:
    """Speaks the protocol as Foxglove does: JSON for channels, binary for messages."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self.server: dict[str, Any] = {}
        self.channels: dict[str, dict[str, Any]] = {}
        self.times: list[int] = []
        self.messages: dict[str, list[tuple[int, bytes]]] = {}

    async def until(self, done: Callable[[Viewer], bool]) -> None:
        """Read until `done`."""
        while not done(self):
            self._take(await self._socket.recv())

    def _take(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            if frame[0] == BINARY_TIME:
                self.times.append(struct.unpack_from("<Q", frame, 1)[0])
            else:
                assert frame[0] == BINARY_MESSAGE
                subscription, stamp_ns = struct.unpack_from("<IQ", frame, 1)
                topic = next(t for t, c in self.channels.items() if c["id"] == subscription)
                self.messages.setdefault(topic, []).append((stamp_ns, frame[13:]))
            return
        message = json.loads(frame)
        if message["op"] == "serverInfo":
            self.server = message
        elif message["op"] == "advertise":
            self.channels.update({c["topic"]: c for c in message["channels"]})

    async def subscribe(self, *topics: str) -> None:
        """Ask for topics; the subscription has the number of the channel."""
        ids = [self.channels[topic]["id"] for topic in topics]
        asked = [{"id": n, "channelId": n} for n in ids]
        await self._socket.send(json.dumps({"op": "subscribe", "subscriptions": asked}))


def decode(channel: dict[str, Any], data: bytes) -> Any:
    """Decode with the schema that the server sent, and nothing else."""
    import base64

    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(base64.b64decode(channel["schema"])).file:
        pool.Add(file)
    cls = GetMessageClass(pool.FindMessageTypeByName(channel["schemaName"]))
    return cls.FromString(data)


def watch(server: LiveServer, story: Callable[[Viewer], Awaitable[None]]) -> None:
    """Connect and run `story`, all within the deadline."""

    async def go() -> None:
        async with asyncio.timeout(DEADLINE_S):
            connection = websockets.connect(
                # An unread message must not hold up the end.
                server.url,
                subprotocols=["foxglove.sdk.v1"],
                max_queue=None,
                close_timeout=1.0,
            )
            async with connection as socket:
                await story(Viewer(socket))

    asyncio.run(go())


@pytest.fixture
def spec() -> ScenarioSpec:
    return load_scenario("hover")


def publish(bus: MessageBus, rows: list[Row]) -> None:
    for topic, stamp_ns, _, message in rows:
        bus.publish(topic, message, stamp_ns)


def attached(spec: ScenarioSpec) -> tuple[LiveServer, MessageBus]:
    server, bus = LiveServer(port=0), MessageBus()
    server.attach(bus, SimpleNamespace(scenario=spec))
    return server, bus


def test_a_client_gets_channels_and_decodes_messages(
    rows_of_all: list[Row], spec: ScenarioSpec
) -> None:
    server, bus = attached(spec)
    wanted = (
        "/ground_truth", "/ground_truth/pose", "/sensors/cam0/image", "/sensors/lidar0/points",
        "/sensors/imu0", "/events/log", "/actuators/command", "/tf",
    )  # fmt: skip

    def moves(viewer: Viewer) -> bool:
        got = viewer.messages.get("/tf", [])
        # Where the name of a frame stands in the bytes does not matter here.
        return any(b"base_link" in data and b"world" in data for _, data in got)

    async def story(viewer: Viewer) -> None:
        publish(bus, rows_of_all)
        await viewer.until(lambda v: set(wanted) <= v.channels.keys())
        assert viewer.server["name"] == "Ghost"
        assert "time" in viewer.server["capabilities"]
        await viewer.subscribe(*wanted)
        # The server hears of a subscription in its own time: publish until it did.
        for _ in range(200):
            publish(bus, rows_of_all)
            try:
                async with asyncio.timeout(0.05):
                    await viewer.until(lambda v: set(wanted) <= v.messages.keys() and moves(v))
            except TimeoutError:
                continue
            break
        else:
            pytest.fail(f"only {sorted(viewer.messages)} came")
        channels, got = viewer.channels, viewer.messages
        truth_ns, data = got["/ground_truth"][0]
        truth = decode(channels["/ground_truth"], data)
        assert truth.stamp_sim_ns == truth_ns
        assert list(truth.pos_enu_m) == pytest.approx([truth_ns / 1e9, 0.0, 1.0])
        image = decode(channels["/sensors/cam0/image"], got["/sensors/cam0/image"][0][1])
        assert (image.width, image.height, image.encoding) == (6, 4, "rgb8")
        assert len(image.data) == 72
        points = decode(channels["/sensors/lidar0/points"], got["/sensors/lidar0/points"][0][1])
        assert [f.name for f in points.fields] == ["x", "y", "z", "ring"]
        log = decode(channels["/events/log"], got["/events/log"][0][1])
        assert "run_started" in log.message
        assert moves(viewer)
        assert viewer.times
        assert max(viewer.times) == 800_000_000

    try:
        watch(server, story)
    finally:
        server.close(None)


def test_the_schemas_are_those_of_a_recording(
    rows_of_all: list[Row], spec: ScenarioSpec, recorded: Callable[..., Any]
) -> None:
    with LogReader(str(recorded(rows_of_all))) as reader:
        on_file = {topic.topic: topic.schema for topic in reader.info().topics}
    server, bus = attached(spec)

    async def story(viewer: Viewer) -> None:
        publish(bus, rows_of_all)
        await viewer.until(lambda v: on_file.keys() <= v.channels.keys())
        live = {topic: channel["schemaName"] for topic, channel in viewer.channels.items()}
        assert live == on_file
        assert {channel["encoding"] for channel in viewer.channels.values()} == {"protobuf"}

    try:
        watch(server, story)
    finally:
        server.close(None)


def test_a_run_is_not_changed_by_those_who_look_on(spec: ScenarioSpec) -> None:
    from dataclasses import replace

    short = replace(spec, duration_ns=400_000_000)
    alone = run_scenario(short)
    looked_at = run_scenario(short, observers=[LiveServer(port=0)])
    assert looked_at.digest == alone.digest
    assert looked_at.events == alone.events


def test_nothing_is_encoded_for_nobody(rows_of_all: list[Row], spec: ScenarioSpec) -> None:
    server, bus = attached(spec)
    try:
        publish(bus, rows_of_all)
        channels = server._channels
        assert channels is not None
        assert not channels.wants("/sensors/cam0")
        assert not channels.wants("/ground_truth")
        assert channels.wants("/never/seen")
    finally:
        server.close(None)


def test_a_message_without_a_schema_is_named(spec: ScenarioSpec) -> None:
    server, bus = attached(spec)
    try:
        bus.publish("/mine", object(), 5)
        assert server.left_out == ("/mine",)
    finally:
        server.close(None)


def test_a_port_in_use_is_a_clear_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"127\.0\.0\.1:{port}.*in use.*another port"):
            LiveServer(port).start()


def test_it_listens_to_this_machine_alone_and_stops() -> None:
    with LiveServer(port=0) as server:
        assert server.url == f"ws://127.0.0.1:{server.port}"
        port = server.port
        with socket.create_connection(("127.0.0.1", port), timeout=5.0):
            pass
    server.close(None)
    # The SDK closes its listener on a thread of its own, a moment after stop() has returned.
    deadline = threading.Event()
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5.0).close()
        except ConnectionRefusedError:
            return
        deadline.wait(0.01)
    pytest.fail("the server still answers five seconds after it was closed")


def test_the_sdk_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "foxglove", None)
    with pytest.raises(MissingDependency, match=r'pip install "ghost-hal\[live\]"'):
        LiveServer(port=0).start()


def test_fixed_frames_are_those_of_the_vehicle() -> None:
    spec = load_scenario("all_sensors")
    frames = {t.child: t for t in sensor_transforms(spec)}
    assert frames.keys() == {sensor.frame for sensor in spec.vehicle.sensors}
    assert frames["cam_front"].pos_m == (0.19, 0.0, 0.02)
    assert {t.parent for t in frames.values()} == {"base_link"}
