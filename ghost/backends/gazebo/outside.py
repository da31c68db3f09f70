"""A vehicle whose motors somebody outside drives: PX4, through its own bridge to Gazebo.

PX4 reads its sensors from Gazebo and publishes motor speeds to the model, one message for each IMU
sample (measured on PX4 1.18 development). Here those messages are listened to, for two ends: to
know what the rotors are told, and to know that the server has it before the next step is asked for.

PX4's messages carry no stamp and no number, so they are counted. Between a step that is complete
and the request for the next one nothing is under way, so counting begins anew with each step
(`MotorEars.begin`): what is heard before it belongs to an earlier step. The model echoes every
command (`echo_topic`), and the proof that a message has reached the server is an echo for each of
the messages of the step; see `ghost.backends.gazebo.actuators` for why an echo is a proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from google.protobuf.message import DecodeError

from ghost.backends.gazebo.actuators import UNPROVEN_PAUSE_NS, command_topic
from ghost.core import AutopilotSpec, ConfigError, HostClock, ScenarioSpec, VehicleSpec
from ghost.gz.msgs import Actuators
from ghost.gz.transport import Node, TransportOptions

__all__ = [
    "BRIDGE_STEP_NS",
    "MotorEars",
    "bridge_environ",
    "channels_of",
    "check_bridge",
    "driven_from_outside",
    "echo_topic",
]

BRIDGE_STEP_NS = 4_000_000
"""PX4's bridge is made for an IMU of 250 Hz, and answers each of its samples."""
_AIRFRAME = 4001
"""PX4's own for Gazebo's x500."""


def driven_from_outside(scenario: ScenarioSpec) -> bool:
    """Whether the scenario leaves the motors to an autopilot that is connected to Gazebo itself."""
    return scenario.autopilot is not None and scenario.autopilot.link == "gz_bridge"


def echo_topic(model: str) -> str:
    """Where a model that is driven from outside echoes every command, whoever sent it."""
    return f"/{model}/command/heard"


def channels_of(vehicle: VehicleSpec) -> tuple[int, ...]:
    """For each rotor, its place in the autopilot's message."""
    if not vehicle.outputs:
        return tuple(range(len(vehicle.rotors)))
    return tuple(
        next(output.channel for output in vehicle.outputs if output.rotor == rotor)
        for rotor in range(len(vehicle.rotors))
    )


def check_bridge(scenario: ScenarioSpec) -> None:
    """Raise `ConfigError` for a scenario that PX4's bridge cannot fly as its file says."""
    if scenario.step_ns != BRIDGE_STEP_NS:
        raise ConfigError(
            f"autopilot.link gz_bridge needs a step_ns of {BRIDGE_STEP_NS}, one sample of the "
            f"250 Hz IMU that PX4's bridge reads, got {scenario.step_ns}",
            key="step_ns",
        )
    for index, output in enumerate(scenario.vehicle.outputs):
        if output.reversed:
            raise ConfigError(
                "autopilot.link gz_bridge has no reversed outputs: PX4 sends rotor speeds; take "
                "reversed out, and reverse the channel in PX4's parameters (SIM_GZ_EC_REV)",
                key=f"vehicle.outputs.{index}.reversed",
            )


def bridge_environ(
    spec: AutopilotSpec, network: TransportOptions, world: str, model: str
) -> Mapping[str, str]:
    """The environment in which a PX4 finds this model and attaches to it."""
    variables = {
        "PX4_GZ_STANDALONE": "1",
        "PX4_GZ_WORLD": world,
        "PX4_GZ_MODEL_NAME": model,
        "PX4_SIM_MODEL": "gz_x500",
        "PX4_SYS_AUTOSTART": str(spec.airframe or _AIRFRAME),
        "GZ_PARTITION": network.partition,
        "GZ_IP": network.ip,
        "GZ_DISCOVERY_MULTICAST_IP": network.multicast_ip,
        "GZ_DISCOVERY_MSG_PORT": str(network.msg_port),
        "GZ_DISCOVERY_SRV_PORT": str(network.srv_port),
    }
    if network.relays:
        variables["GZ_RELAY"] = ":".join(network.relays)
    if network.username is not None and network.password is not None:
        variables["GZ_TRANSPORT_USERNAME"] = network.username
        variables["GZ_TRANSPORT_PASSWORD"] = network.password
    if network.topic_statistics:
        variables["GZ_TRANSPORT_TOPIC_STATISTICS"] = "1"
    return MappingProxyType(variables)


class MotorEars:
    """Hears what the autopilot tells the motors of one model; never tells them anything itself.

    `node` is used by nobody else. `world`, `model` and `environ` are for whoever starts the
    autopilot.
    """

    def __init__(
        self,
        node: Node,
        world: str,
        model: str,
        environ: Mapping[str, str],
        host: HostClock,
        *,
        channels: Sequence[int],
        proven: bool,
    ) -> None:
        self.world = world
        self.model = model
        self.environ = environ
        self.proven = proven
        self.passed_over = 0
        """Messages of a step that came when the next one was already asked for."""
        self.unusable = 0
        """Messages that were no command for this vehicle."""
        self._node = node
        self._host = host
        self._channels = tuple(channels)
        self._size = max(self._channels) + 1
        self._command_topic = command_topic(model)
        self._message = Actuators()
        self._window: list[tuple[float, ...]] = []
        self._taken = 0
        self._echoes = 0
        self._subscription = node.subscribe(self._command_topic)
        if proven:
            node.subscribe(echo_topic(model))
        self._speeds = (0.0,) * len(self._channels)

    @property
    def speeds_rad_s(self) -> tuple[float, ...]:
        """What the rotors, in the vehicle's order, were last told."""
        return self._speeds

    @property
    def connected(self) -> bool:
        """Whether somebody who drives the motors is there."""
        return any(info.topic == self._command_topic for info in self._node.topics())

    def restart(self) -> None:
        """The world is at its start, its motors stopped; forget what was heard."""
        self.begin()
        self.passed_over = self.unusable = 0
        self._speeds = (0.0,) * len(self._channels)

    def begin(self) -> None:
        """A step is about to be asked for: what is heard from now on is its answer."""
        receive = self._node.receive
        while (message := receive(0.0)) is not None:
            self._take(message.topic, message.data)
        self.passed_over += len(self._window) - self._taken
        self._window.clear()
        self._taken = self._echoes = 0

    def receive_motors(self, timeout_s: float) -> tuple[float, ...] | None:
        """The next message of this step, rad/s in the autopilot's order; None if none is in time.

        When it returns one, the server has it, and the next step uses it (see `proven`).
        """
        end_ns = self._host.now_ns() + round(timeout_s * 1e9)
        node, window = self._node, self._window
        while True:
            if len(window) > self._taken and (self._echoes > self._taken or not self.proven):
                if not self.proven:
                    self._host.sleep_until_ns(self._host.now_ns() + UNPROVEN_PAUSE_NS)
                self._taken += 1
                return window[self._taken - 1]
            left_ns = end_ns - self._host.now_ns()
            message = node.receive(max(left_ns, 0) / 1e9)
            if message is None:
                if left_ns <= 0:
                    return None
                continue
            self._take(message.topic, message.data)

    def _take(self, topic: str, data: bytes) -> None:
        if topic != self._command_topic:
            self._echoes += 1
            return
        message = self._message
        try:
            message.ParseFromString(data)
        except DecodeError:
            self.unusable += 1
            return
        speeds = tuple(message.velocity)
        if len(speeds) < self._size:
            self.unusable += 1
            return
        self._speeds = tuple(speeds[channel] for channel in self._channels)
        self._window.append(speeds)
