"""`WorldControl`: a Gazebo world that moves only when told to, and says when it has moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from ghost.core import ContractViolation, EventSink, HostClock, HostTime, as_ns
from ghost.gz.msgs import Pose
from ghost.gz.transport.types import Node
from ghost.gz.world.attach import find_server
from ghost.gz.world.barriers import Barrier, DueSensors
from ghost.gz.world.delivery import SLICE_S, Delivery
from ghost.gz.world.entities import WorldEntities
from ghost.gz.world.errors import StepMismatch
from ghost.gz.world.sensors import SensorTopic
from ghost.gz.world.service import ControlService
from ghost.gz.world.stream import WorldStream
from ghost.gz.world.survey import LIMITER_FIX, Pacing, WorldServer, pacing_of
from ghost.gz.world.watch import ServerWatch

__all__ = ["StepResult", "WorldControl"]


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step came to.

    `missing` are topics that were due at `now_ns` and did not come (then the second clock proved
    that they will not). `resent` counts requests that were lost and sent again, `resumed` pauses by
    somebody else that were undone.
    """

    now_ns: int
    steps: int
    missing: tuple[str, ...] = ()
    resent: int = 0
    resumed: int = 0


class WorldControl:
    """Steps, resets and changes one world of a Gazebo server, in lockstep.

    A step is confirmed by the stamps of what the world publishes, never by the service's reply,
    which only means "queued". The same goes for a reset, a pause and play. Every wait ends at its
    deadline: with `BackendLost` if the server is silent or gone, sooner if the transport notices.

    Args:
        node: an open node of the server's partition. It is not closed here, and nobody else may
            read its `receive`.
        world: the world's name.
        step_ns: the world's own step; None asks the server (its SDF).
        sensors: the topics to hand on, and which of them to wait for.
        barrier: what proves that a step is complete; `DueSensors()` by default.
        deadline_s: how long the world may stand still during a step, a reset, and so on.
        host: the host's clock, for the deadlines.
        on_event: told of what was put right or looks wrong (`LOCKSTEP_FAULT`).
    """

    def __init__(
        self,
        node: Node,
        world: str,
        *,
        step_ns: int | None = None,
        sensors: Sequence[SensorTopic] = (),
        barrier: Barrier | None = None,
        deadline_s: float = 10.0,
        host: HostTime | None = None,
        on_event: EventSink | None = None,
    ) -> None:
        if not deadline_s > 0.0:
            raise ValueError(f"deadline_s must be more than zero, got {deadline_s!r}")
        self.world = world
        self.deadline_s = deadline_s
        self.pacing: Pacing | None = None
        """What the server's SDF says of time; known after `attach`, None if it does not tell."""
        self._node = node
        self._given_step_ns = None if step_ns is None else as_ns("step_ns", step_ns, minimum=1)
        self._step_ns = self._given_step_ns or 0
        self._sensors = tuple(sensors)
        self._barrier: Barrier = barrier or DueSensors()
        self._host: HostTime = host or HostClock()
        self._service = ControlService(node, world)
        self._watch = ServerWatch(node, world, on_event)
        self._stream = WorldStream(node, world, self._sensors, self._watch)
        self._delivery = Delivery(self._stream, self._service, self._host, self._watch)
        self._index = {sensor.topic: index for index, sensor in enumerate(self._sensors)}
        self._entities = WorldEntities(node, world, self._host, self._settle)
        self._doubt_until_ns = 0
        self._attached = False
        self._playing = False

    # -- coming and going -------------------------------------------------------------------

    def attach(self, timeout_s: float | None = None) -> int:
        """Find the server, subscribe, stop the world if it runs; return its time in ns.

        Raises `UnknownName` for a world that does not exist while others do, `TwoServers`,
        `StepMismatch`, and `BackendLost` if no server is heard within `timeout_s`. Calling it
        again starts anew, with whatever server there is then.
        """
        wait_s = self.deadline_s if timeout_s is None else timeout_s
        end_ns = self._host.now_ns() + round(wait_s * 1e9)
        self._attached = False
        stream = self._stream
        stream.open(self._given_step_ns or 1)
        self._watch.server = find_server(self._node, self.world, self._host, end_ns, stream)
        self._learn_step(end_ns)
        stream.restart(self._step_ns)
        if not self._stands_still(end_ns):
            self._pause(max((end_ns - self._host.now_ns()) / 1e9, SLICE_S))
        stream.settled = True
        stream.expect(stream.now_ns, stream.now_ns)
        self._doubt()
        self._attached = True
        return stream.now_ns

    def close(self) -> None:
        """Unsubscribe; the world is left as it is. Idempotent."""
        self._attached = False
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def server(self) -> WorldServer | None:
        """The process that was attached to."""
        return self._watch.server

    @property
    def now_ns(self) -> int:
        """The world's time as last heard, ns."""
        return self._stream.now_ns

    @property
    def step_ns(self) -> int:
        """The world's own step, ns."""
        return self._step_ns

    @property
    def ignored(self) -> int:
        """Messages that could not be used: no stamp, wrong type, from before a reset."""
        return self._stream.ignored

    # -- time -------------------------------------------------------------------------------

    def step(self, steps: int = 1, *, timeout_s: float | None = None) -> StepResult:
        """Make `steps` iterations; return when everything of them that does not render is in.

        Raises `BackendLost` if the world does not move on within the deadline, `LockstepLost` if
        somebody else moves it, `StepMismatch` if its step is not `step_ns`.
        """
        steps = as_ns("steps", steps, minimum=1)
        stream = self._ready()
        if self._playing:
            raise ContractViolation(f"world {self.world!r} plays by itself; call pause() first")
        # Set again at the end: whatever is raised on the way leaves a world that is out of step.
        self._attached = False
        stream.drain()
        start_ns = stream.now_ns
        target_ns = start_ns + steps * self._step_ns
        barrier = self._barrier
        stream.moved_grid = False
        stream.expect(start_ns, target_ns)
        barrier.start(target_ns, stream.due, target_ns <= self._doubt_until_ns)
        stream.barrier = barrier
        try:
            resent, resumed = self._delivery.carry_out(
                f"step from {start_ns / 1e9:.9g} s to {target_ns / 1e9:.9g} s",
                lambda left_s: self._service.multi_step(
                    max((target_ns - stream.now_ns) // self._step_ns, 1), left_s
                ),
                start_ns,
                self.deadline_s if timeout_s is None else timeout_s,
                target_ns=target_ns,
                step_ns=self._step_ns,
            )
        finally:
            stream.barrier = None
        stream.expect(target_ns, target_ns)
        self._attached = True
        if stream.moved_grid:
            self._doubt()
        missing = tuple(self._sensors[index].topic for index in barrier.missing)
        return StepResult(target_ns, steps, missing, resent, resumed)

    def reset(self, *, timeout_s: float | None = None) -> int:
        """Put the world back to its start; return its time, 0, when nothing older is on its way.

        After a lost server or lockstep it attaches anew first. Raises what `attach` raises, and
        `BackendLost` if the clock does not go back within the deadline.
        """
        wait_s = self.deadline_s if timeout_s is None else timeout_s
        if not self._attached or not self._watch.alive():
            self.attach(wait_s)
        stream = self._stream
        stream.expect(None, None)
        self._attached = False
        stream.drain()
        start_ns = stream.now_ns
        self._delivery.carry_out(
            "reset",
            self._service.reset,
            start_ns,
            wait_s,
            done=lambda proven: (
                stream.now_ns == 0 and stream.repeats >= 2 and (start_ns > 0 or proven)
            ),
        )
        stream.restart(self._step_ns)
        stream.expect(0, 0)
        self._playing = False
        self._doubt()
        self._attached = True
        return 0

    def play(self, *, timeout_s: float | None = None) -> int:
        """Let the world run by itself; return a time by which it has moved.

        No step can be made before `pause` has stopped it.
        """
        stream = self._ready()
        self._attached = False
        stream.expect(None, None)
        stream.drain()
        start_ns = stream.now_ns
        self._delivery.carry_out(
            "play",
            lambda left_s: self._service.pause(False, left_s),
            start_ns,
            self.deadline_s if timeout_s is None else timeout_s,
            done=lambda _: stream.now_ns > start_ns,
        )
        self._attached = self._playing = True
        return stream.now_ns

    def pause(self, *, timeout_s: float | None = None) -> int:
        """Stop the world; return the time at which it stands."""
        stream = self._ready()
        self._attached = False
        self._pause(self.deadline_s if timeout_s is None else timeout_s)
        stream.expect(stream.now_ns, stream.now_ns)
        self._doubt()
        self._attached = True
        return stream.now_ns

    def await_stamp(self, topic: str, stamp_ns: int, timeout_s: float) -> bool:
        """Wait until a sensor has delivered this stamp or a later one; False if it did not.

        For rendered sensors, which come up to a period later than the step that they belong to.
        Raises `KeyError` for a topic that is not among `sensors`.
        """
        index = self._index[topic]
        stamps = self._stream.last_stamp_ns
        return self.wait_until(lambda: stamps[index] >= stamp_ns, timeout_s, f"wait for {topic}")

    def wait_until(
        self, done: Callable[[], bool], timeout_s: float, what: str = "wait for a message"
    ) -> bool:
        """Hand on messages until `done()`; False if that takes more than `timeout_s`.

        The world stands still meanwhile. Raises `BackendLost` if the server goes away.
        """
        stream = self._ready()
        end_ns = self._host.now_ns() + round(timeout_s * 1e9)
        stream.drain()
        while not done():
            left_ns = end_ns - self._host.now_ns()
            if left_ns <= 0:
                return False
            if stream.pump(min(left_ns / 1e9, SLICE_S)) is None and not self._watch.alive():
                raise self._watch.lost(what)
        return True

    # -- things in the world ----------------------------------------------------------------

    def spawn(
        self,
        *,
        sdf: str | None = None,
        sdf_filename: str | None = None,
        name: str,
        pose: Pose | None = None,
        timeout_s: float | None = None,
    ) -> None:
        """Create a model from SDF text or from a file or URI that the server can read.

        Returns when the server's scene has it. Raises `EntityRefused` if it never does.
        """
        self._ready()
        self._entities.spawn(sdf, sdf_filename, name, pose, timeout_s or self.deadline_s)
        self._doubt()

    def remove(self, name: str, *, timeout_s: float | None = None) -> None:
        """Remove a model; returns when it is gone. Raises `EntityRefused` if it stays."""
        self._ready()
        self._entities.remove(name, timeout_s or self.deadline_s)

    def set_pose(
        self,
        name: str,
        pos_m: Sequence[float],
        q_wxyz: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
        *,
        timeout_s: float | None = None,
    ) -> None:
        """Move a model's frame, world ENU; returns when the server shows it there."""
        self._ready()
        self._entities.set_pose(
            name, pos_m, q_wxyz, timeout_s or self.deadline_s, self._stream.listen
        )

    def models(self) -> tuple[str, ...]:
        """The names of the models in the world now."""
        self._ready()
        return self._entities.models(self.deadline_s)

    # -- inside -----------------------------------------------------------------------------

    def _pause(self, wait_s: float) -> None:
        stream = self._stream
        stream.expect(None, None)
        self._delivery.carry_out(
            "pause",
            lambda left_s: self._service.pause(True, left_s),
            stream.now_ns,
            wait_s,
            done=lambda proven: proven and stream.repeats >= 2,
        )
        self._playing = False

    def _stands_still(self, end_ns: int) -> bool:
        """Whether the world is paused: the clock repeats itself rather than moving on."""
        stream = self._stream
        stream.drain()
        turns, now_ns = stream.turns, stream.now_ns
        while stream.turns - turns < 2:
            if stream.pump(SLICE_S) is None and self._host.now_ns() > end_ns:
                raise self._watch.lost("wait for a second clock")
        return stream.now_ns == now_ns

    def _learn_step(self, end_ns: int) -> None:
        left_s = max((end_ns - self._host.now_ns()) / 1e9, SLICE_S)
        pacing = self.pacing = pacing_of(self._node, self.world, min(left_s, 2.0))
        if pacing is not None and pacing.limited:
            factor = pacing.real_time_factor
            self._watch.tell(
                f"world {self.world!r} has its limiter on (real_time_factor "
                f"{1.0 if factor is None else factor:g}), which slows every step: set "
                f"{LIMITER_FIX} in its <physics>; it cannot be set on a running server"
            )
        told_ns = None if pacing is None else pacing.step_ns
        given_ns = self._given_step_ns
        if given_ns is None and told_ns is None:
            raise StepMismatch(
                f"the server does not tell the step of world {self.world!r}; give step_ns"
            )
        if given_ns is not None and told_ns is not None and given_ns != told_ns:
            raise StepMismatch(
                f"world {self.world!r} steps by {told_ns} ns, not by step_ns {given_ns}; set "
                f"<max_step_size>{given_ns / 1e9:g}</max_step_size> in its <physics>, or step_ns "
                "to the world's own"
            )
        self._step_ns = given_ns or told_ns or 0

    def _doubt(self) -> None:
        """What is due next is not sure; until every sensor has come once, ask for full proof."""
        longest = max((times.period_ns for times in self._stream.due if times), default=0)
        self._doubt_until_ns = self._stream.now_ns + longest + self._step_ns

    def _ready(self) -> WorldStream:
        if not self._attached:
            raise ContractViolation(
                f"world {self.world!r} is not attached, or lockstep with it was lost; "
                "call attach() or reset()"
            )
        return self._stream

    def _settle(self) -> bool:
        """Let the world turn once, or a moment pass; False if its server is gone."""
        return self._stream.pump(SLICE_S) is not None or self._watch.alive()
