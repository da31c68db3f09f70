"""One server with one vehicle: found or started, stepped, reset, lost, and given back."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ghost.backends.gazebo.actuators import MotorLink, ack_topic
from ghost.backends.gazebo.options import GazeboOptions
from ghost.backends.gazebo.outside import (
    MotorEars,
    bridge_environ,
    channels_of,
    driven_from_outside,
    echo_topic,
)
from ghost.backends.gazebo.process import Launch, ServerProcess
from ghost.backends.gazebo.sdf_bridge import bridge_topics
from ghost.backends.gazebo.sdf_model import LINK, model_name
from ghost.backends.gazebo.sdf_world import world_name, world_sdf
from ghost.backends.gazebo.sensors import Mailbox, make_mailboxes
from ghost.backends.gazebo.truth import TruthTracker
from ghost.core import (
    BackendLost,
    ConfigError,
    EventSink,
    GhostError,
    HostClock,
    ScenarioSpec,
    UnknownName,
)
from ghost.gz.transport import Node, TransportError, TransportOptions, open_node
from ghost.gz.transport.identity import new_uuid
from ghost.gz.world import SensorTopic, WorldControl
from ghost.physics.world import start_of

__all__ = ["Session", "pose_topic"]

_START_S = 60.0
"""A server may have to read its libraries from a slow disk."""
_LOOK_S = 2.0
_TOPICS_S = 10.0
_ECHO_S = 2.0
_NO_RENDERER = (
    ", since its renderer does not work: install OGRE 2 and EGL for it, or fly a vehicle without "
    "cameras and LiDAR"
)


def pose_topic(model: str) -> str:
    """Where our models publish their pose at every step."""
    return f"/model/{model}/pose"


class Session:
    """A server that serves one scenario's world and vehicle. Made for one of them, then reused.

    `open` begins, `reset` puts the world back to its start, `close` gives everything back. A
    failure leaves the session closed.
    """

    def __init__(
        self,
        options: GazeboOptions,
        launch: Launch,
        host: HostClock,
        on_event: EventSink,
        scenario: ScenarioSpec,
    ) -> None:
        self._options = options
        self._launch = launch
        self._host = host
        self._on_event = on_event
        self.scenario = scenario
        self.sdf = "" if options.attach is not None else world_sdf(scenario)
        self.world_name = options.attach or world_name(scenario.world)
        self.model = options.model or model_name(scenario.vehicle)
        self.truth = TruthTracker()
        self.mailboxes: Mapping[str, Mailbox] = {}
        self.proven = False
        self.ears: MotorEars | None = None
        """Where an autopilot outside drives the motors, what hears it; None elsewhere."""
        self._server: ServerProcess | None = None
        self._nodes: list[Node] = []
        self._world: WorldControl | None = None
        self._motors: MotorLink | None = None
        self._network = options.network

    @property
    def world(self) -> WorldControl:
        """The world, while it is open."""
        if self._world is None:
            raise BackendLost("there is no Gazebo server; reset() starts anew")
        return self._world

    @property
    def step_ns(self) -> int:
        """The world's own step."""
        return self.world.step_ns

    @property
    def log_tail(self) -> str:
        """The last lines of our server's log."""
        return "" if self._server is None else self._server.log_tail()

    def serves(self, scenario: ScenarioSpec) -> bool:
        """Whether a world reset is all that `scenario` needs."""
        if self._world is None or (self._server is not None and not self._server.alive):
            return False
        mine = self.scenario
        if (scenario.step_ns, _topics_of(scenario)) != (mine.step_ns, _topics_of(mine)):
            return False
        if _bridge_of(scenario) != _bridge_of(mine):
            return False
        if self._options.attach is not None:
            return scenario.vehicle == mine.vehicle
        return self._options.reset == "world" and world_sdf(scenario) == self.sdf

    def open(self, seed: int) -> None:
        """Find or start the server. Raises `BackendLost`, `ConfigError`, `MissingDependency`."""
        try:
            self._open(seed)
        except TransportError as error:
            self.close()
            raise BackendLost(f"cannot talk to Gazebo: {error}") from error
        except BaseException:
            self.close()
            raise

    def reset(self, scenario: ScenarioSpec) -> None:
        """Put the world and the vehicle at the start of `scenario`, motors stopped."""
        try:
            self.world.reset(timeout_s=self._options.deadline_s)
            self._begin(scenario)
        except TransportError as error:
            self.close()
            raise BackendLost(f"Gazebo could not be reset: {error}") from error
        except GhostError:
            self.close()
            raise

    def step(self, steps: int) -> None:
        """Make steps of the world; when it returns, all that they measured is in.

        Raises `BackendLost` for whatever the world does instead.
        """
        world = self.world
        try:
            now_ns = world.step(steps).now_ns
        except (TransportError, ConfigError) as error:
            # A second server, another step: wrong settings at the start, a loss amid a run.
            raise BackendLost(f"{error}; reset() starts anew") from error
        except BackendLost as error:
            raise self._explained(error) from error
        if self.truth.stamp_ns != now_ns:
            raise BackendLost(
                f"no pose of {self.model!r} came on {pose_topic(self.model)} for "
                f"{now_ns} ns (the last is of {self.truth.stamp_ns} ns): was the model "
                "removed? reset() starts anew"
            )

    def command(self, speeds_rad_s: Sequence[float]) -> None:
        """See `MotorLink.command`."""
        assert self._motors is not None
        try:
            self._motors.command(speeds_rad_s)
        except TransportError as error:
            raise BackendLost(f"{error}; reset() starts anew") from error
        except BackendLost as error:
            raise self._explained(error) from error

    def close(self) -> None:
        """Give everything back. Idempotent; never raises."""
        world, self._world = self._world, None
        self._motors = self.ears = None
        if world is not None:
            with contextlib.suppress(GhostError, OSError):
                world.close()
        for node in self._nodes:
            with contextlib.suppress(GhostError, OSError):
                node.close()
        self._nodes.clear()
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    # -- inside -----------------------------------------------------------------------------

    def _open(self, seed: int) -> None:
        options = self._options
        network = options.network
        if options.attach is None:
            network = replace(network, partition=f"ghost_{new_uuid()}", relays=())
            self._server = ServerProcess(self.sdf, self.scenario, seed, self._launch)
            self._server.start(network.partition, network.ip)
        self._network = network
        node = self._node(network)
        step_ns = self.scenario.physics_step_ns if options.attach is None else None
        self.mailboxes = make_mailboxes(
            self.scenario.vehicle,
            self.world_name,
            self.model,
            step_ns or self.scenario.step_ns,
            options.topics,
        )
        pose = SensorTopic(pose_topic(self.model), "gz.msgs.Pose", self.truth.take, period_ns=0)
        world = WorldControl(
            node,
            self.world_name,
            step_ns=step_ns,
            sensors=[pose, *(box.topic_for_world() for box in self.mailboxes.values())],
            deadline_s=options.deadline_s,
            host=self._host,
            on_event=self._on_event,
        )
        self._world = world
        self._attach(world)
        if self.scenario.step_ns % world.step_ns:
            raise ConfigError(
                f"step_ns {self.scenario.step_ns} is no multiple of the step of world "
                f"{self.world_name!r}, {world.step_ns} ns",
                key="step_ns",
            )
        self._check_topics(node)
        if driven_from_outside(self.scenario):
            self.proven = self._has_echo(node, echo_topic(self.model))
            self.ears = self._listen(network)
        else:
            self.proven = self._has_echo(node, ack_topic(self.model))
            self._motors = self._drive(self._node(network), proven=self.proven)
        if options.attach is not None:
            world.reset()
        self._begin(self.scenario)

    def _node(self, network: TransportOptions) -> Node:
        node = open_node(network, self._options.transport)
        self._nodes.append(node)
        return node

    def _drive(self, node: Node, *, proven: bool) -> MotorLink:
        return MotorLink(
            node,
            self.model,
            self._host,
            deadline_s=self._options.deadline_s,
            proven=proven,
            alive=lambda: self._server is None or self._server.alive,
        )

    def _listen(self, network: TransportOptions) -> MotorEars:
        spec = self.scenario.autopilot
        assert spec is not None
        return MotorEars(
            self._node(network),
            self.world_name,
            self.model,
            bridge_environ(spec, network, self.world_name, self.model),
            self._host,
            channels=channels_of(self.scenario.vehicle),
            proven=self.proven,
        )

    def _attach(self, world: WorldControl) -> None:
        """Wait for the server; one of ours that ends meanwhile is told of at once."""
        server = self._server
        if server is None:
            world.attach()
            return
        end_ns = self._host.now_ns() + round(_START_S * 1e9)
        while True:
            try:
                world.attach(_LOOK_S)
            except (BackendLost, TransportError, UnknownName) as error:
                # UnknownName: half of its topics are there already.
                if not server.alive:
                    said = server.log_tail()
                    hint = _NO_RENDERER if "RenderEngine" in said else ""
                    raise BackendLost(
                        f"the Gazebo server ended with code {server.exit_code} before its world "
                        f"was there{hint}; it said: {said or 'nothing'}"
                    ) from error
                if self._host.now_ns() >= end_ns:
                    raise self._explained(error) from error
                continue
            return

    def _begin(self, scenario: ScenarioSpec) -> None:
        """The world is at its start; put the vehicle and what we know of it there, too."""
        self.scenario = scenario
        start = start_of(scenario)
        if self._options.attach is not None:
            self.world.set_pose(self.model, start[:3], start[3:7])
        self.truth.start(start)
        ears = self.ears
        if ears is None:
            assert self._motors is not None
            self._motors.start(len(scenario.vehicle.rotors))
            return
        # The motors are stopped, and seen to listen, by a hand that is withdrawn before the
        # autopilot is there.
        with open_node(self._network, self._options.transport) as node:
            motors = self._drive(node, proven=self._has_echo(node, ack_topic(self.model)))
            motors.start(max(channels_of(scenario.vehicle)) + 1)
            motors.close()
        ears.restart()

    def _check_topics(self, node: Node) -> None:
        """Every topic that the run needs must be advertised; say which are not, and what is."""
        wanted = {box.topic: f"sensor {box.sensor_id!r}" for box in self.mailboxes.values()}
        wanted[pose_topic(self.model)] = "ground truth"
        if driven_from_outside(self.scenario):
            wanted |= bridge_topics(self.world_name, self.model, LINK)
        end_ns = self._host.now_ns() + round(_TOPICS_S * 1e9)
        while True:
            known = {info.topic for info in node.topics()}
            missing = sorted(set(wanted) - known)
            if not missing:
                return
            if self._host.now_ns() >= end_ns:
                break
            try:
                node.wait_for_topic(missing[0], 0.25)
            except TransportError:
                continue
        models = {topic.split("/model/")[1].split("/")[0] for topic in known if "/model/" in topic}
        if self.model not in models:
            raise UnknownName(f"model in world {self.world_name!r}", self.model, models)
        near = sorted(t for t in known if f"/model/{self.model}/" in t)
        raise ConfigError(
            f"world {self.world_name!r} does not publish "
            + ", ".join(f"{topic} ({wanted[topic]})" for topic in missing)
            + f"; model {self.model!r} has: {', '.join(near) or 'no topics'}. Name the sensor in "
            f"the SDF like the one in the vehicle file, on the link {LINK}, or say "
            "--set gz.topic.<sensor>=TOPIC"
        )

    def _has_echo(self, node: Node, topic: str) -> bool:
        try:
            node.wait_for_topic(topic, _ECHO_S)
        except TransportError:
            return False
        return True

    def _explained(self, error: GhostError) -> BackendLost:
        """The loss with the last words of a server of ours that died."""
        server = self._server
        if server is None or server.alive or not server.log_tail():
            return BackendLost(str(error))
        return BackendLost(
            f"{error} (it ended with code {server.exit_code}; it said: {server.log_tail()})"
        )


def _topics_of(scenario: ScenarioSpec) -> tuple[str, ...]:
    return tuple(sorted(f"{s.id}:{s.type}:{s.rate_hz}" for s in scenario.vehicle.sensors))


def _bridge_of(scenario: ScenarioSpec) -> tuple[int, tuple[int, ...]] | None:
    """What an autopilot outside is told of the world at its start; None without one."""
    if not driven_from_outside(scenario):
        return None
    assert scenario.autopilot is not None
    return scenario.autopilot.airframe, channels_of(scenario.vehicle)
