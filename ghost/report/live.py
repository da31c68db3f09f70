"""A running world on a WebSocket, for Foxglove and Lichtblick (`ghost run --live`).

Topics and schemas are those of a recording, made by the same code, so one layout fits both. The
protocol is that of the Foxglove SDK (https://github.com/foxglove/ws-protocol).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from ghost.core import ConfigError, Envelope, MessageBus, ScenarioSpec, Subscription
from ghost.hal.frames import q_from_rpy
from ghost.recording import StaticTransform
from ghost.recording.errors import CannotRecord
from ghost.recording.foxglove import BODY, static_transform
from ghost.recording.tracks import Role, Tracks
from ghost.report.needs import need

if TYPE_CHECKING:
    from ghost.recording.chunks import ChunkBuilder, Definitions

__all__ = ["DEFAULT_PORT", "LiveServer", "sensor_transforms"]

DEFAULT_PORT = 8765
"""Where Foxglove looks first."""

_STOP_S = 5.0
_STATIC_NS = 1_000_000_000
"""Fixed transforms are said again so often, for those who come later."""
_TRANSFORM = "foxglove.FrameTransform"


class _HasScenario(Protocol):
    @property
    def scenario(self) -> ScenarioSpec: ...


class LiveServer:
    """A `RunObserver` that publishes the whole bus to whoever connects.

    The server listens as soon as `start` returns, and `attach` starts it if nobody did. It never
    holds up a step: each client has a queue of its own, whose oldest messages are dropped when it
    does not keep up, and what nobody subscribed to is not even encoded.

    Args:
        port: 0 takes a free one; see `port` after `start`.
        host: the address to listen on. The default lets in this machine alone; there is no
            password, so another address lets in whoever reaches it.
    """

    def __init__(self, port: int = DEFAULT_PORT, host: str = "127.0.0.1") -> None:
        self._wanted_port = port
        self.host = host
        self._server: Any = None
        self._channels: _Channels | None = None
        self._tracks: Tracks | None = None
        self._subscription: Subscription | None = None
        self._statics: tuple[StaticTransform, ...] = ()
        self._static_ns: int | None = None
        self._left_out: set[str] = set()

    @property
    def port(self) -> int:
        """Where it listens, once started."""
        return self._wanted_port if self._server is None else int(self._server.port)

    @property
    def url(self) -> str:
        """What to give to Foxglove: open connection, Foxglove WebSocket."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ws://{host}:{self.port}"

    @property
    def left_out(self) -> tuple[str, ...]:
        """Topics whose messages have no schema."""
        return tuple(sorted(self._left_out))

    def start(self) -> None:
        """Listen. Idempotent.

        Raises `MissingDependency` without the SDK, and `ConfigError` if the address or the port
        cannot be had.
        """
        if self._server is not None:
            return
        foxglove = need("foxglove", extra="live", needed_for="--live")
        websocket = need("foxglove.websocket", extra="live", needed_for="--live")
        context = foxglove.Context()
        try:
            self._server = foxglove.start_server(
                name="Ghost",
                host=self.host,
                port=self._wanted_port,
                context=context,
                capabilities=[websocket.Capability.Time],
            )
        except (RuntimeError, OverflowError) as error:
            reason = str(error).removeprefix("FoxgloveError: ")
            raise ConfigError(
                f"cannot listen on {self.host}:{self._wanted_port}: {reason}; "
                "give another port, as in --live 8766",
                key="--live",
            ) from error
        channels = self._channels = _Channels(foxglove, context)
        self._tracks = Tracks(
            # Where schemas and channels go, and where messages go: `_Channels` has the methods of
            # both (`add_schema`, `add_channel`, `add`, `size`).
            cast("Definitions", channels),
            cast("ChunkBuilder", channels),
            encodings={},
            transforms=(),
        )

    def attach(self, bus: MessageBus, info: _HasScenario) -> None:
        """Listen to the bus of a run."""
        self.start()
        self._statics = sensor_transforms(info.scenario)
        self._subscription = bus.subscribe("/*", self._take)

    def tick(self, status: object) -> None:
        """Nothing to do: messages go out when they come."""

    def close(self, result: object) -> None:
        """Stop listening, to the bus and to the network. Idempotent; waits 5 s at most."""
        del result
        if self._subscription is not None:
            self._subscription.unsubscribe()
            self._subscription = None
        server, self._server, self._tracks = self._server, None, None
        if server is not None:
            self._wanted_port = int(server.port)
            stopping = threading.Thread(target=server.stop, name="ghost-live-stop", daemon=True)
            stopping.start()
            stopping.join(_STOP_S)

    def __enter__(self) -> LiveServer:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close(None)

    def _take(self, envelope: Envelope) -> None:
        tracks, channels = self._tracks, self._channels
        if tracks is None or channels is None or not channels.wants(envelope.topic):
            return
        stamp_ns = envelope.stamp_sim_ns
        channels.begin(envelope.topic)
        try:
            tracks.write(envelope)
        except CannotRecord:
            self._left_out.add(envelope.topic)
            return
        if envelope.topic == "/step":
            self._server.broadcast_time(stamp_ns)
            self._say_statics(channels, stamp_ns)

    def _say_statics(self, channels: _Channels, stamp_ns: int) -> None:
        last_ns = self._static_ns
        if last_ns is not None and last_ns <= stamp_ns < last_ns + _STATIC_NS:
            return
        self._static_ns = stamp_ns
        for transform in self._statics:
            parts = static_transform(stamp_ns, transform)
            channels.add(channels.transforms(), stamp_ns, 0, parts)


class _Channels:
    """Stands in for the file of a recorder: schemas and channels become those of a server."""

    size = 0
    """Nothing is kept."""

    def __init__(self, foxglove: Any, context: Any) -> None:
        self._foxglove = foxglove
        self._context = context
        self._schemas: list[Any] = []
        self._all: list[Any] = []
        self._ids: dict[tuple[str, int], int] = {}
        self._of_topic: dict[str, list[Any]] = {}
        self._transforms: int | None = None
        self._seen: set[str] = set()
        self._writing = ""

    def wants(self, topic: str) -> bool:
        """Tell whether somebody subscribed to this topic or to what stands beside it."""
        # The first message makes the channels, so that they can be subscribed to at all; time and
        # fixed transforms go with the steps.
        if topic not in self._seen or topic == "/step":
            return True
        return any(channel.has_sinks() for channel in self._of_topic.get(topic, ()))

    def begin(self, topic: str) -> None:
        """A message of `topic` will be written now: what is added belongs to it."""
        self._seen.add(topic)
        self._writing = topic

    def add_schema(self, name: str, encoding: str, data: bytes) -> int:
        """Keep a schema and return its id."""
        self._schemas.append(self._foxglove.Schema(name=name, encoding=encoding, data=data))
        return len(self._schemas)

    def add_channel(self, topic: str, schema_id: int, metadata: Mapping[str, str]) -> int:
        """Advertise a channel and return its id."""
        known = self._ids.get((topic, schema_id))
        schema = self._schemas[schema_id - 1]
        if schema.name == _TRANSFORM and topic == "/tf" and self._transforms is not None:
            known = self._transforms
        if known is None:
            channel = self._foxglove.Channel(
                topic,
                schema=schema,
                message_encoding="protobuf",
                metadata=dict(metadata),
                context=self._context,
            )
            self._all.append(channel)
            known = self._ids[topic, schema_id] = len(self._all)
            if topic == "/tf":
                self._transforms = known
        owned = self._of_topic.setdefault(self._writing, [])
        # The pose moves the tree of frames; an image is not encoded for the frame it hangs in.
        if topic != "/tf" or self._writing == "/ground_truth":
            owned.append(self._all[known - 1])
        return known

    def transforms(self) -> int:
        """Return the channel of frames, made if nothing that moves was seen yet."""
        if self._transforms is None:
            from ghost.recording.foxglove import descriptor_set

            schema = self.add_schema(_TRANSFORM, "protobuf", descriptor_set(_TRANSFORM))
            self._writing = "/ground_truth"
            self.add_channel("/tf", schema, {"ghost.role": Role.DISPLAY})
        assert self._transforms is not None
        return self._transforms

    def add(
        self,
        channel_id: int,
        stamp_ns: int,
        sequence: int,
        parts: tuple[bytes | memoryview, ...],
    ) -> None:
        """Send a message, which comes in pieces, to those who subscribed."""
        del sequence
        channel = self._all[channel_id - 1]
        if channel.has_sinks():
            channel.log(b"".join(parts), log_time=stamp_ns)


def sensor_transforms(scenario: ScenarioSpec) -> tuple[StaticTransform, ...]:
    """Return where the frames of a vehicle's sensors sit on its body."""
    made = []
    for sensor in scenario.vehicle.sensors:
        roll, pitch, yaw = (math.radians(angle) for angle in sensor.mount.rpy_deg)
        q = q_from_rpy(roll, pitch, yaw)
        made.append(StaticTransform(BODY, sensor.frame, sensor.mount.pos_m, q))
    return tuple(made)
