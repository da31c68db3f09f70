"""`SimulatorLink`: PX4's simulator-MAVLink protocol, in true two-way lockstep.

PX4's clock is the time of `HIL_SENSOR` number 0, and PX4 answers each with one
`HIL_ACTUATOR_CONTROLS` of the same time. Until its modules run it answers nothing, so the world
steps on with short waits (boot freewheel); from the first answer on, each is waited for.
"""

from __future__ import annotations

import math
from collections import deque

from ghost.core import BackendLost, Event, HostTime
from ghost.hal import LockstepState
from ghost.hal.frames import ns_to_us
from ghost.px4.codec import MessageId, Packet, Splitter
from ghost.px4.encoder import HilEncoder
from ghost.px4.link import LinkCounters, Readings
from ghost.px4.link_events import LinkEvents
from ghost.px4.outputs import Answer, MotorMap, unpack_answer
from ghost.px4.pace import AnswerPace
from ghost.px4.traffic import TrafficLog
from ghost.px4.transport import Transport

__all__ = ["SimulatorLink"]

_CONTROLS = MessageId.HIL_ACTUATOR_CONTROLS
_REMEMBERED = 1024
"""Unanswered samples whose answer is still told late from unasked."""
_READS = 64
"""Reads in a step that waits for nothing: a peer that never stops sending must not hold it up."""


class SimulatorLink:
    """The `Link` over a `Transport`: a TCP server for SITL, a serial device for HITL.

    A PX4 without lockstep (real hardware) says so in its answers; each of those is then taken as
    it comes, none is missed, and no step waits longer than `boot_wait_s`.

    Args:
        transport: opened by `open`, closed by `close`.
        motor_map: which channel drives which rotor.
        host: for the deadlines, which are of the host's time.
        answer_deadline_s: how long an answer is waited for. After one that is missing, only
            `boot_wait_s` until PX4 answers again: a world must not crawl beside a dead autopilot.
        boot_wait_s: how long a step waits for a PX4 that has not answered yet, or not connected.
        system_id: the one system whose packets are taken; None: the first that is heard.
        truth_rate_hz: how often the truth is sent along for PX4's log; 0: never.

    Raises `ValueError` for a time that is not above 0 or a system that cannot be.
    """

    def __init__(
        self,
        transport: Transport,
        motor_map: MotorMap,
        *,
        host: HostTime,
        answer_deadline_s: float = 1.0,
        boot_wait_s: float = 0.002,
        system_id: int | None = None,
        truth_rate_hz: float = 0.0,
    ) -> None:
        for name, value in (("answer_deadline_s", answer_deadline_s), ("boot_wait_s", boot_wait_s)):
            if not 0.0 < value < math.inf:
                raise ValueError(f"{name} must be a finite time above 0, got {value!r}")
        if system_id is not None and not 1 <= system_id <= 255:
            raise ValueError(f"system_id must be within 1..255, got {system_id!r}")
        self._transport = transport
        self._map = motor_map
        self._host = host
        self._deadline_s = answer_deadline_s
        self._boot_wait_s = boot_wait_s
        self._wanted_system = system_id
        self._truth_rate_hz = truth_rate_hz
        self._traffic = TrafficLog("/mavlink/simulator")
        self._start_over()

    def _start_over(self) -> None:
        self._counters = LinkCounters()
        self._splitter = Splitter()
        self._encoder = HilEncoder(self._truth_rate_hz)
        self._events = LinkEvents("px4/simulator", self._transport.name)
        self._connections = self._transport.connections
        self._now_ns = -1
        self._new_peer()

    def _new_peer(self) -> None:
        """Forget what was between us and the PX4 before."""
        self._splitter.clear()
        self._system = self._wanted_system
        self._awaited_us = -1
        self._newest_us = -1
        self._answered_us = -1
        self._answered_ns = 0
        self._pace = AnswerPace()
        self._answer: Answer | None = None
        self._thrusts = self._map.zeros
        self._unanswered: deque[int] = deque(maxlen=_REMEMBERED)
        self._wait_s = self._boot_wait_s
        self._booted = False
        self._gone = False

    # -- Link -------------------------------------------------------------------------------

    @property
    def counters(self) -> LinkCounters:
        """See `Link`."""
        counters, splitter, transport = self._counters, self._splitter, self._transport
        counters.bad_crc = splitter.bad_crc
        counters.unknown = splitter.unknown
        counters.garbage_bytes = splitter.garbage_bytes
        counters.refused, counters.unsent = transport.refused, transport.unsent
        counters.unfit = self._encoder.unfit
        return counters

    @property
    def traffic(self) -> TrafficLog:
        """See `Link`."""
        return self._traffic

    @property
    def connected(self) -> bool:
        """See `Link`."""
        return self._transport.connected

    @property
    def booted(self) -> bool:
        """See `Link`."""
        return self._booted

    @property
    def armed(self) -> bool:
        """See `Link`; False while no PX4 is connected."""
        return self._answer is not None and self._answer.armed

    @property
    def silent_ns(self) -> int:
        """See `Link`; it goes on growing after PX4 has hung up."""
        return self._now_ns - self._answered_ns if self._booted else 0

    @property
    def answer(self) -> Answer | None:
        """The newest answer; None before the first, and when PX4 has hung up."""
        return self._answer

    def open(self) -> None:
        """See `Link`. Opening again starts over, counters and time included."""
        self._transport.open()
        self._start_over()

    def close(self) -> None:
        """See `Link`."""
        self._transport.close()

    def motors(self) -> tuple[float, ...]:
        """See `Link`; zeros as well while no PX4 is connected."""
        return self._thrusts

    def events(self) -> list[Event]:
        """See `Link`."""
        splitter = self._splitter
        broken = splitter.garbage_bytes + splitter.bad_crc
        return self._events.take(self._now_ns, broken, self._transport.refused)

    def await_answer(self) -> LockstepState:
        """See `Link`."""
        awaited, self._awaited_us = self._awaited_us, -1
        if awaited < 0:
            self._listen()
            return LockstepState.NONE
        booted, peer, wait_s = self._booted, self._connections, self._wait_s
        late = self._counters.late
        if self._wait_for(awaited):
            if self._events.ailing:
                self._events.answers_again()
            return LockstepState.ANSWERED
        if not booted:
            self._counters.booting += 1
            return LockstepState.NONE
        answer = self._answer
        if answer is not None and not answer.lockstep:
            return LockstepState.NONE
        self._counters.missing += 1
        if self._gone or self._connections != peer:
            return LockstepState.MISSING  # whoever should have answered is gone
        self._pace.skipped += 1
        self._unanswered.append(awaited)
        if self._counters.late != late:
            self._events.late(awaited)
            return LockstepState.LATE
        self._wait_s = self._boot_wait_s
        self._events.missing(awaited, wait_s)
        return LockstepState.MISSING

    def feed(self, now_ns: int, readings: Readings) -> None:
        """See `Link`."""
        if now_ns < self._now_ns and self._newest_us >= 0:
            raise BackendLost(
                f"time went back from {self._now_ns / 1e9:g} s to {now_ns / 1e9:g} s, and PX4's "
                "clock cannot; PX4 must be restarted (reset the run)"
            )
        self._now_ns = now_ns
        time_us = ns_to_us(now_ns)
        transport = self._transport
        if not transport.connected or time_us <= self._newest_us:
            return
        self._newest_us = time_us
        data, answerable = self._encoder.encode(now_ns, readings)
        dropped = transport.unsent
        transport.send(data)
        if not self.connected:
            self._hung_up()
        elif transport.unsent == dropped:
            self._traffic.sent(data)
            pace_us = self._pace.interval_us
            if answerable and not (pace_us and time_us < self._answered_us + pace_us):
                self._awaited_us = time_us

    # -- in ---------------------------------------------------------------------------------

    def _wait_for(self, awaited: int) -> bool:
        """Whether the answer came in time. The first look costs no system call for waiting."""
        transport, host = self._transport, self._host
        begin_ns = host.now_ns()
        left_s = self._wait_s
        while True:
            data = transport.receive(left_s)
            if transport.connections != self._connections:
                self._welcome()
                return False
            if data is not None:
                if self._take(data, awaited):
                    return True
            elif not transport.connected:
                self._hung_up()
                return False
            # The wait grows with the first answer, though it be to an earlier sample.
            left_s = self._wait_s - (host.now_ns() - begin_ns) / 1e9
            if left_s <= 0.0:
                return False

    def _listen(self) -> None:
        """Nothing is awaited: see what has come, and wait a little for a PX4 to connect."""
        transport = self._transport
        wait_s = 0.0 if transport.connected else self._boot_wait_s
        for _ in range(_READS):
            data = transport.receive(wait_s)
            if transport.connections != self._connections:
                self._welcome()
            if data is None:
                break
            self._take(data, -1)
            wait_s = 0.0
        if not transport.connected and self._newest_us >= 0:
            self._hung_up()

    def _take(self, data: bytes, awaited: int) -> bool:
        """Read what came; whether the answer that is awaited was among it."""
        found = False
        for packet in self._splitter.feed(data):
            self._traffic.received(packet.raw)
            if packet.system != self._system and not self._is_ours(packet):
                continue
            if packet.msgid == _CONTROLS and self._accept(unpack_answer(packet.payload), awaited):
                found = True
        return found

    def _is_ours(self, packet: Packet) -> bool:
        if self._system is None:
            self._system = packet.system
            return True
        self._counters.foreign += 1
        self._events.foreign(packet.system, self._system)
        return False

    def _accept(self, answer: Answer, awaited: int) -> bool:
        """Take an answer unless its time is wrong; whether it is the one awaited."""
        counters, time_us = self._counters, answer.time_us
        if time_us <= self._answered_us:
            counters.replayed += 1
            return False
        if answer.lockstep and time_us > self._newest_us:
            counters.ahead += 1
            return False
        pace = self._pace
        if pace.skipped or pace.interval_us:
            gap_us = time_us - self._answered_us
            if time_us != awaited:
                pace.irregular(gap_us)
            elif each := pace.answered(gap_us):
                self._events.paced(each, pace.interval_us)
        self._answered_us, self._answered_ns = time_us, self._now_ns
        self._answer = answer
        self._thrusts = self._map.thrusts(answer.controls) if answer.armed else self._map.zeros
        self._booted = True
        self._wait_s = self._deadline_s if answer.lockstep else self._boot_wait_s
        if time_us == awaited or not answer.lockstep:
            counters.answered += 1
            return True
        if time_us in self._unanswered:
            self._unanswered.remove(time_us)
            counters.missing -= 1
            counters.late += 1
        else:
            counters.unasked += 1
        return False

    def _hung_up(self) -> None:
        """PX4 is gone: no answer will come, and its motors stop."""
        if self._gone:
            return
        self._gone = True
        self._awaited_us = -1
        self._answer = None
        self._thrusts = self._map.zeros
        self._wait_s = self._boot_wait_s
        self._events.closed()

    def _welcome(self) -> None:
        """Somebody has connected."""
        again = self._connections > 0
        self._connections = self._transport.connections
        if again:
            self._hung_up()
            self._counters.reconnects += 1
            self._events.reconnected()
        self._new_peer()
