"""The iterations of the test server: what is published when, as measured on Gazebo Sim 8.14.

One iteration: clock and statistics; then the systems (poses, sensors); then the requests. A paused
world turns about once a millisecond and repeats its clock. Statistics are held to 10 Hz of wall
time and poses to 60 Hz, so neither can be waited for; the vehicle's pose and odometry are not.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

from google.protobuf.message import Message

from ghost.core import HostClock
from ghost.gz.msgs import (
    Actuators,
    Boolean,
    Clock,
    Odometry,
    Pose,
    Pose_V,
    WorldControl,
    WorldStatistics,
    gz_type,
)
from ghost.gz.transport import Incoming, Publisher
from ghost.gz.world.stamps import fill_time
from ghost.physics import rotation_of

from .entities import Models
from .flight import Flight
from .lossy import LossyNode
from .options import BRIDGE_SENSORS, ServerOptions
from .sensors import Sensors
from .services import Services
from .state import Turn, WorldTime

__all__ = ["Runner"]

_TURN_NS = 1_000_000
_STATS_NS = 100_000_000
_POSES_NS = 16_666_667


class Runner:
    """The world: `run` returns when `stop` was called."""

    def __init__(self, options: ServerOptions) -> None:
        self._options = options
        self._host = HostClock()
        self._stop = False
        self._jumped = False
        self._muted = False
        self._speeds: Sequence[float] | None = None
        self._time = WorldTime(options.step_ns, paused=not options.running)
        self._flight = Flight(options.scenario, BRIDGE_SENSORS if options.bridge else ())
        self._models = Models(options.scenario, options.model)
        self._node = node = LossyNode(options.transport, options.faults)
        world, model = options.world, options.model
        self._stats = node.advertise(f"/world/{world}/stats", gz_type(WorldStatistics))
        self._clock = node.advertise(f"/world/{world}/clock", gz_type(Clock))
        self._poses = node.advertise(f"/world/{world}/pose/info", gz_type(Pose_V))
        self._moving = node.advertise(f"/world/{world}/dynamic_pose/info", gz_type(Pose_V))
        # The short names exist only where nobody else has them.
        heard = {info.topic for info in node.topics() if info.process_uuid != node.process_uuid}
        self._root_stats = self._root("/stats", gz_type(WorldStatistics), heard)
        self._root_clock = self._root("/clock", gz_type(Clock), heard)
        self._pose = node.advertise(f"/model/{model}/pose", gz_type(Pose))
        self._odometry = node.advertise(f"/model/{model}/odometry", gz_type(Odometry))
        self._ack = node.advertise(f"/{model}/command/ack", gz_type(Boolean))
        self._heard = (
            node.advertise(f"/{model}/command/heard", gz_type(Boolean)) if options.bridge else None
        )
        self._sensors = Sensors(options, self._flight, node)
        self._subscriptions = [
            node.subscribe(f"/{model}/command/motor_speed", self._on_motors),
        ]
        self._services = Services(node, options, self._models, self._on_control)
        self._real_ns = 0
        self._stats_at_ns = self._poses_at_ns = 0
        self._factor = 0.0
        factor = options.real_time_factor
        self._period_ns = round(options.step_ns / factor) if factor > 0.0 else 0

    def _root(self, topic: str, kind: str, heard: set[str]) -> Publisher | None:
        return None if topic in heard else self._node.advertise(topic, kind)

    def stop(self) -> None:
        """Let `run` end after the present turn."""
        self._stop = True

    def run(self) -> None:
        """Turn until stopped."""
        next_ns = self._host.now_ns() + self._period_ns
        while not self._stop:
            began_ns = self._host.now_ns()
            turn = self._time.begin()
            if turn.reset:
                self._real_ns = 0
            self._muted = 0 <= self._options.faults.mute_at_ns <= turn.sim_ns
            self._publish_time(turn, began_ns)
            self._systems(turn)
            self._misbehave(turn)
            self._time.end()
            if not turn.paused and not turn.reset:
                took_ns = self._host.now_ns() - began_ns
                self._real_ns += took_ns
                self._factor = self._options.step_ns / took_ns
            if self._time.paused:
                # The pause that the last step or request brought counts, not that of this turn.
                self._host.sleep_until_ns(self._host.now_ns() + _TURN_NS)
                next_ns = self._host.now_ns() + self._period_ns
            else:
                self._host.sleep_until_ns(next_ns)
                next_ns = max(next_ns + self._period_ns, self._host.now_ns())

    def close(self) -> None:
        """Withdraw everything and give the engine back."""
        self._sensors.close()
        self._node.close()
        self._flight.close()

    def _publish(self, publisher: Publisher | None, message: Message) -> None:
        if publisher is None or self._muted:
            return
        data = message.SerializeToString()
        publisher.publish(data)
        if self._options.faults.double:
            publisher.publish(data)

    def _publish_time(self, turn: Turn, began_ns: int) -> None:
        stats = WorldStatistics(
            paused=turn.paused,
            iterations=turn.iterations,
            real_time_factor=self._factor,
            stepping=turn.stepping,
        )
        if turn.stepping:
            stats.header.data.add(key="step")
        fill_time(stats.sim_time, turn.sim_ns)
        fill_time(stats.real_time, self._real_ns)
        fill_time(stats.step_size, 0 if turn.paused else self._options.step_ns)
        if began_ns - self._stats_at_ns >= _STATS_NS:
            self._stats_at_ns = began_ns
            self._publish(self._stats, stats)
        self._publish(self._root_stats, stats)
        clock = Clock()
        fill_time(clock.system, self._host.wall_ns())
        fill_time(clock.real, self._real_ns)
        fill_time(clock.sim, turn.sim_ns)
        self._publish(self._clock, clock)
        self._publish(self._root_clock, clock)

    def _systems(self, turn: Turn) -> None:
        if turn.reset:
            self._speeds = None
            self._flight.reset()
            self._models.reset()
            self._sensors.reset()
            return
        self._models.work_off()
        self._put_vehicle()
        if not turn.paused:
            speeds, self._speeds = self._speeds, None
            if speeds is not None:
                self._flight.command(speeds)
            self._flight.step()
        self._publish_poses(turn)
        if turn.paused:
            return
        # Ground truth is paced in simulated time, as the publishers in our models are.
        pose = self._vehicle_pose()
        fill_time(pose.header.stamp, turn.sim_ns)
        self._publish(self._pose, pose)
        self._publish(self._odometry, self._odometry_of(pose))
        if not self._muted:
            self._sensors.fire(turn.sim_ns)

    def _publish_poses(self, turn: Turn) -> None:
        now_ns = self._host.now_ns()
        if now_ns - self._poses_at_ns < _POSES_NS:
            return
        self._poses_at_ns = now_ns
        vehicle = self._vehicle_pose()
        link = Pose(name="base_link")
        link.position.z = self._options.base_link_z_m
        link.orientation.w = 1.0
        for publisher, poses in (
            (self._moving, [vehicle, link]),
            (self._poses, [*self._models.poses(), vehicle, link]),
        ):
            message = Pose_V(pose=poses)
            fill_time(message.header.stamp, turn.sim_ns)
            self._publish(publisher, message)

    def _vehicle_pose(self) -> Pose:
        """The model's frame; the body's link sits above it along the body's z."""
        x, y, z, w, qx, qy, qz = self._flight.state[:7]
        down = self._options.base_link_z_m
        r = rotation_of(w, qx, qy, qz)
        pose = Pose(name=self._options.model)
        place, turn = pose.position, pose.orientation
        place.x, place.y, place.z = x - r[2] * down, y - r[5] * down, z - r[8] * down
        turn.w, turn.x, turn.y, turn.z = w, qx, qy, qz
        return pose

    def _put_vehicle(self) -> None:
        moved, self._models.moved = self._models.moved, None
        if moved is None:
            return
        up = self._options.base_link_z_m
        q = moved.orientation
        quaternion = (q.w, q.x, q.y, q.z) if any((q.w, q.x, q.y, q.z)) else (1.0, 0.0, 0.0, 0.0)
        r = rotation_of(*quaternion)
        at = moved.position
        self._flight.place((at.x + r[2] * up, at.y + r[5] * up, at.z + r[8] * up), quaternion)

    def _odometry_of(self, pose: Pose) -> Odometry:
        message = Odometry()
        message.header.stamp.CopyFrom(pose.header.stamp)
        message.header.data.add(key="frame_id", value=[f"{self._options.model}/odom"])
        message.pose.position.CopyFrom(pose.position)
        message.pose.orientation.CopyFrom(pose.orientation)
        state = self._flight.state
        r = rotation_of(*state[3:7])
        vx, vy, vz = state[7:10]
        linear, angular = message.twist.linear, message.twist.angular
        linear.x = r[0] * vx + r[3] * vy + r[6] * vz
        linear.y = r[1] * vx + r[4] * vy + r[7] * vz
        linear.z = r[2] * vx + r[5] * vy + r[8] * vz
        angular.x, angular.y, angular.z = state[10:13]
        return message

    def _misbehave(self, turn: Turn) -> None:
        faults = self._options.faults
        if turn.reset and faults.crash_on_reset:
            os.kill(os.getpid(), signal.SIGKILL)
        if turn.paused or turn.reset:
            return
        if faults.slow_ms > 0.0:
            self._host.sleep_until_ns(self._host.now_ns() + round(faults.slow_ms * 1e6))
        if 0 <= faults.crash_at_ns <= turn.sim_ns:
            os.kill(os.getpid(), signal.SIGKILL)
        if 0 <= faults.jump_at_ns <= turn.sim_ns and not self._jumped:
            self._jumped = True
            self._time.sim_ns += faults.jump_ns

    def _on_control(self, data: bytes) -> bytes:
        self._time.ask(WorldControl.FromString(data))
        return Boolean(data=True).SerializeToString()

    def _on_motors(self, message: Incoming) -> None:
        command = Actuators.FromString(message.data)
        self._speeds = tuple(command.velocity)
        # The triggers of our models: one echo for each command, also while paused; `true` for a
        # command, `false` for a greeting (see ghost.backends.gazebo.actuators).
        kind = command.header.stamp.sec
        if kind in (1, 2):
            self._ack.publish(Boolean(data=kind == 1).SerializeToString())
        if self._heard is not None:
            self._heard.publish(Boolean(data=True).SerializeToString())
