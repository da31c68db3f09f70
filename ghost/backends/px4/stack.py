"""One PX4 and everything that talks to it: process, link for sensors and motors, session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableSequence
from typing import Any, Protocol, runtime_checkable

from ghost.core import AutopilotSpec, BackendLost, ConfigError, Event, HostClock, ScenarioSpec
from ghost.hal import LockstepState, SimulationBackend
from ghost.hal.message import Message
from ghost.px4 import (
    Arming,
    AutopilotProcess,
    BridgeWorld,
    GzBridgeLink,
    Link,
    MotorMap,
    OffboardSink,
    ParamReadback,
    ParamReport,
    ParamSet,
    Ports,
    Px4Session,
    SimulatorLink,
    TcpServerTransport,
    choose_instance,
    find_px4,
    load_params,
    make_process,
    may_spin,
    vehicle_params,
)

__all__ = ["Px4Stack"]

_PARAMS = {"simulator": "sitl_lockstep", "gz_bridge": "sitl_gz_bridge"}
_SPINS = 300
_FLUSH_NS = 20_000_000
"""MAVLink is reported in pieces of so long: a message for each step would cost too much."""
_TRUTH_NS = 100_000_000
_SILENT_NS = 2_000_000_000
"""PX4 is lost when it has not answered for so long in simulated time: by then a vehicle has
fallen 20 m, and nothing that comes later can be called a flight."""
_ABSENT_NS = 10_000_000_000
"""A PX4 that hung up may come back within so long: it is perhaps being restarted."""


@runtime_checkable
class _Bridged(Protocol):
    """A world whose motors somebody outside drives (`GazeboBackend`)."""

    def bridge(self) -> BridgeWorld:
        """What the bridge needs to know of it. Call it after `reset`."""


class Px4Stack:
    """From `start` to `close`, one PX4 that boots, flies and ends."""

    link: Link
    session: Px4Session
    sink: OffboardSink
    arming: Arming
    params: ParamSet
    """What PX4 was started with."""
    flush_ns = _FLUSH_NS

    def __init__(self, scenario: ScenarioSpec, environ: Mapping[str, str], host: HostClock) -> None:
        spec = scenario.autopilot
        assert spec is not None
        self._spec: AutopilotSpec = spec
        self._scenario = scenario
        self._environ = environ
        self.params = _params_of(scenario)
        self._host = host
        self._process: AutopilotProcess | None = None
        self._ports = Ports(0)
        self._open: list[Callable[[], None]] = []
        self._deadline_ns = 0
        self._truth_due_ns = 0
        self._estimate: Message | None = None
        self._readback: ParamReadback | None = None
        self._asked = False
        self.answered_ns = 0
        """When PX4 last answered, on the world's clock."""

    def find(self, world: SimulationBackend) -> None:
        """See that there is a PX4 and that it fits the world, before anything is started.

        Raises `MissingDependency` and `ConfigError`.
        """
        if self._spec.link == "gz_bridge" and not isinstance(world, _Bridged):
            raise ConfigError(
                "PX4's own bridge reads Gazebo: fly it with --backend gazebo, or set "
                "autopilot.link to simulator",
                key="autopilot.link",
            )
        if not self._spec.image and not self._spec.attach:
            find_px4(self._spec.binary, self._environ)

    def start(self, world: SimulationBackend) -> None:
        """Start PX4 for a world that was reset. Raises `ConfigError`, `BackendLost`."""
        spec = self._spec
        if spec.attach:
            ports = Ports(max(spec.instance, 0))  # held by that PX4, so not to be claimed
        else:
            instance = choose_instance(spec.instance)
            self._open.append(instance.release)
            ports = instance.ports
        self._ports = ports
        settings = self.params.environment()
        deadline_s = spec.answer_deadline_ns / 1e9
        if spec.link == "gz_bridge":
            assert isinstance(world, _Bridged)  # `find` has seen to it
            bridge = world.bridge()
            settings.update(bridge.environ)
            self.link = GzBridgeLink(bridge, answer_deadline_s=deadline_s)
        else:
            self.link = SimulatorLink(
                TcpServerTransport(port=ports.simulator, spins=_SPINS if may_spin() else 0),
                MotorMap(self._scenario.vehicle),
                host=self._host,
                answer_deadline_s=deadline_s,
                truth_rate_hz=1e9 / _TRUTH_NS,
            )
        self._open.append(self.link.close)
        self.link.open()
        self.session = Px4Session(local_port=ports.offboard, host=self._host)
        self._open.append(self.session.close)
        self.session.open()
        clock = world.clock
        self.sink = OffboardSink(self.session, self._scenario.vehicle, clock.now_ns)
        self._open.append(self.sink.close)
        self.arming = Arming(self.session)
        if not spec.attach:
            process = self._process = make_process(
                spec, ports.instance, environ=self._environ, settings=settings
            )
            self._open.append(process.stop)
            process.start()
        self._deadline_ns = self._host.now_ns() + spec.start_timeout_ns
        self._wait_for_dial()

    def _wait_for_dial(self) -> None:
        """Let no simulated time pass before PX4 is there to live through it."""
        if self._spec.link == "gz_bridge":
            return  # it waits for Gazebo's clock to move
        while not self.link.connected:
            self.check_start()
            self.link.await_answer()

    def wants_truth(self, now_ns: int) -> bool:
        """Whether the true state is due, which PX4 keeps in its log beside its estimate."""
        if now_ns < self._truth_due_ns:
            return False
        self._truth_due_ns = now_ns + _TRUTH_NS
        return True

    def check_start(self) -> None:
        """Raise `BackendLost` if PX4 ended, or takes too long, before its first answer."""
        self._check_process()
        if not self.link.booted and self._host.now_ns() > self._deadline_ns:
            what = "answered" if self.link.connected else "connected"
            raise BackendLost(
                f"PX4 has not {what} within {self._spec.start_timeout_ns / 1e9:g} s "
                f"(autopilot.start_timeout_ns){self._attached()}{self.log_line()}"
            )

    def _attached(self) -> str:
        """What somebody who attaches has to look at."""
        if not self._spec.attach:
            return ""
        port = self._ports.simulator
        return (
            f"; it must run for a simulator at TCP port {port} (PX4_SYS_AUTOSTART=10016, instance "
            f"{self._ports.instance}) and be started anew for each reset"
        )

    def check(self, now_ns: int, state: LockstepState) -> None:
        """Raise `BackendLost` if PX4 is gone for good. For steps that were not answered."""
        link = self.link
        if state is not LockstepState.MISSING and link.booted and link.connected:
            return  # there was no IMU sample to answer
        self._check_process()
        silent_ns = now_ns - self.answered_ns
        if link.connected and link.booted:
            if silent_ns > _SILENT_NS:
                raise BackendLost(
                    f"PX4 runs but has not answered for {silent_ns / 1e9:g} s of simulated time"
                    f"{self.log_line()}"
                )
        elif silent_ns > _ABSENT_NS:
            what = "has not booted again" if link.connected else "hung up and has not come back"
            raise BackendLost(
                f"PX4 {what} within {silent_ns / 1e9:g} s of simulated time{self.log_line()}"
            )

    def _check_process(self) -> None:
        process = self._process
        if process is not None and not process.alive:
            raise BackendLost(process.describe())

    def collect(self, events: MutableSequence[Event]) -> None:
        """Add what link and session have to tell."""
        events.extend(self.link.events())
        events.extend(self.session.events())

    def report(self, now_ns: int, reports: MutableSequence[tuple[str, Message]]) -> None:
        """Add what PX4 believes, and what went over the links."""
        estimate = self.session.estimate(now_ns)
        if estimate is not None and estimate is not self._estimate:
            self._estimate = estimate
            reports.append(("/estimate", estimate))
        for log in (self.link.traffic, self.session.traffic):
            traffic = log.take(now_ns)
            if traffic is not None:
                reports.append((log.topic, traffic))

    def describe(self) -> dict[str, Any]:
        """For `capabilities.extensions["autopilot"]`: plain data."""
        process = self._process
        return {
            "kind": self._spec.kind,
            "link": self._spec.link,
            "version": self.session.version or "",
            "program": "somebody else's" if process is None else process.describe(),
            "instance": self._ports.instance,
            "parameters": {"set": self.params.name, **self._report().to_json()},
        }

    def ready(self) -> bool:
        """Whether PX4 would arm, and has told its version and its parameters.

        Parameters are read back when the rest is done: while PX4 boots it has no time to answer.
        """
        session = self.session
        if not session.ready_to_arm or session.version is None:
            return False
        readback = self._readback
        if readback is None or (readback.done and readback.report.unanswered and not self._asked):
            # Once more for all: PX4 answers nothing until the last of its start script, which runs
            # by the host's clock, and one before v1.17 is silent about what it does not have.
            self._asked = readback is not None
            readback = self._readback = ParamReadback(session, self.params.values)
        return readback.done

    def notes(self) -> tuple[str, ...]:
        """What people should know of this flight, a line each."""
        return tuple(f"parameter {line}" for line in self._report().lines())

    def _report(self) -> ParamReport:
        return ParamReport() if self._readback is None else self._readback.report

    def log_line(self) -> str:
        """The last lines of PX4's log, to end an error with."""
        tail = "" if self._process is None else self._process.log_tail()
        return f"; its last lines: {tail}" if tail else ""

    def close(self) -> None:
        """End PX4 and hang up. Idempotent; never raises."""
        while self._open:
            self._open.pop()()


def _params_of(scenario: ScenarioSpec) -> ParamSet:
    """The parameters of the scenario's choice, and what PX4 must know of the vehicle."""
    spec = scenario.autopilot
    assert spec is not None
    try:
        params = load_params(spec.params or _PARAMS[spec.link])
    except ConfigError as error:
        error.key = error.key or "autopilot.params"
        raise
    if spec.link == "gz_bridge":
        return params  # that airframe knows its vehicle
    # What somebody says in a file of their own has the last word.
    return ParamSet(params.name, {**vehicle_params(scenario.vehicle), **params.values})
