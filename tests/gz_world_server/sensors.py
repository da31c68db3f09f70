"""When the sensors of the test server fire, and how their messages leave."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, field, replace

from google.protobuf.message import Message

from ghost.core import HostClock, RandomStream, SensorConfig
from ghost.gz.msgs import Double, gz_type
from ghost.gz.transport import Node, Publisher

from .flight import Flight
from .options import BRIDGE_SENSORS, ServerOptions
from .readings import TOPIC_ENDS, Reading, fill_header, link_topic, make_reading

__all__ = ["Sensors", "sdf_rate_period_ns"]

_RENDERED = frozenset({"rgb", "depth", "lidar"})


def sdf_rate_period_ns(options: ServerOptions, rate_hz: float) -> int:
    """The period that Gazebo keeps, cut to whole milliseconds; 0 is every step.

    Ghost's own models ask for every step where the period is no whole number of milliseconds.
    """
    period_ms = 1000.0 / rate_hz
    if options.layout == "ghost" and abs(period_ms - round(period_ms)) > 1e-9:
        return 0
    return int(period_ms + 1e-9) * 1_000_000


@dataclass
class _Sensor:
    config: SensorConfig
    period_ns: int
    reading: Reading
    publisher: Publisher
    next_ns: int = 0
    seq: int = 0
    rendered: bool = field(default=False)


class Sensors:
    """The vehicle's sensors that Gazebo has; rendered ones leave from a thread of their own."""

    def __init__(self, options: ServerOptions, flight: Flight, node: Node) -> None:
        self._options = options
        self._host = HostClock()
        noise = RandomStream(options.seed) if options.noise else None
        self._double = options.faults.double
        self._sensors = [
            self._make(options, config, flight, node, noise)
            for config in options.scenario.vehicle.sensors
            if config.type in TOPIC_ENDS
        ]
        if options.bridge:
            # PX4's own, beside the others; always with noise.
            bridge = replace(options, layout="px4")
            shaken = RandomStream(options.seed, "/bridge")
            self._sensors += [
                self._make(bridge, config, flight, node, shaken) for config in BRIDGE_SENSORS
            ]
        self._jobs: queue.SimpleQueue[tuple[_Sensor, Message] | None] = queue.SimpleQueue()
        self._renderer = threading.Thread(target=self._render, name="renderer", daemon=True)
        self._renderer.start()

    def _make(
        self,
        options: ServerOptions,
        config: SensorConfig,
        flight: Flight,
        node: Node,
        noise: RandomStream | None,
    ) -> _Sensor:
        kind = TOPIC_ENDS[config.type][1]
        if config.id == options.faults.wrong_type:
            kind = gz_type(Double)
        rendered = config.type in _RENDERED
        period_ns = sdf_rate_period_ns(options, config.rate_hz)
        return _Sensor(
            config,
            period_ns,
            make_reading(options, config, flight, noise),
            node.advertise(link_topic(options, config), kind),
            next_ns=period_ns if rendered else 0,
            rendered=rendered,
        )

    def reset(self) -> None:
        """The world went back to its start; numbers and times begin anew, noise does not."""
        for sensor in self._sensors:
            sensor.next_ns = sensor.period_ns if sensor.rendered else 0
            sensor.seq = 0

    def fire(self, now_ns: int) -> None:
        """Publish what is due at the step that ends now."""
        faults = self._options.faults
        for sensor in self._sensors:
            if now_ns < sensor.next_ns:
                continue
            # Gazebo's rule: the next grid time that lies ahead.
            period_ns = sensor.period_ns
            if period_ns:
                sensor.next_ns += (now_ns - sensor.next_ns) // period_ns * period_ns + period_ns
            if sensor.config.id == faults.silent_sensor and now_ns >= faults.silent_at_ns:
                continue
            message: Message = sensor.reading()
            if sensor.config.id == faults.wrong_type:
                message = Double()
            frame = "base_link"
            fill_header(message.header, now_ns, frame, sensor.seq)  # type: ignore[attr-defined]  # every sensor message has one
            sensor.seq += 1
            if sensor.rendered:
                self._jobs.put((sensor, message))
            else:
                self._send(sensor, message)

    def _send(self, sensor: _Sensor, message: Message) -> None:
        data = message.SerializeToString()
        sensor.publisher.publish(data)
        if self._double:
            sensor.publisher.publish(data)

    def _render(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._host.sleep_until_ns(self._host.now_ns() + round(self._options.render_ms * 1e6))
            self._send(*job)

    def close(self) -> None:
        """Let the renderer end."""
        self._jobs.put(None)
        self._renderer.join()
