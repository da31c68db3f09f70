"""`LinkEvents`: what happens on a link, each said once when it changes and not at every step."""

from __future__ import annotations

from ghost.core import Event, EventSeverity, EventType, JsonValue

__all__ = ["LinkEvents"]

_QUIET_NS = 1_000_000_000
"""Broken bytes are said again only after so long without any, in simulated time."""
_LONG_AGO = -(10**18)


class LinkEvents:
    """Collects `LOCKSTEP_FAULT` events; `take` stamps them with the present time.

    Args:
        source: the link's name in events, such as `px4/simulator`.
        peer: where PX4 is connected, for people.
    """

    __slots__ = (
        "_broken",
        "_broken_ns",
        "_foreign",
        "_peer",
        "_pending",
        "_refused",
        "_source",
        "_unanswered",
        "ailing",
    )

    def __init__(self, source: str, peer: str) -> None:
        self._source = source
        self._peer = peer
        self._pending: list[tuple[EventSeverity, str, dict[str, JsonValue]]] = []
        self.ailing = ""
        """What is wrong with the answers since the last good one: `missing`, `late` or nothing."""
        self._unanswered = 0
        self._broken = 0
        self._broken_ns = _LONG_AGO
        self._refused = 0
        self._foreign: set[int] = set()

    def missing(self, sample_us: int, waited_s: float) -> None:
        """An answer did not come."""
        self._unanswered += 1
        if self.ailing == "missing":
            return
        self.ailing = "missing"
        self._add(
            EventSeverity.ERROR,
            "missing",
            f"PX4 did not answer the sample of {sample_us / 1e6:g} s within {waited_s:g} s; the "
            "world goes on with its last motor commands",
            sample_us=sample_us,
        )

    def late(self, sample_us: int) -> None:
        """The answer to an earlier sample came while that to this one was awaited."""
        self._unanswered += 1
        if self.ailing:
            return
        self.ailing = "late"
        self._add(
            EventSeverity.WARN,
            "late",
            f"PX4 is behind: at the sample of {sample_us / 1e6:g} s it answers an earlier one",
            sample_us=sample_us,
        )

    def answers_again(self) -> None:
        """An answer came in time."""
        if not self.ailing:
            return
        self._add(
            EventSeverity.INFO,
            "recovered",
            f"PX4 answers in time again, after {self._unanswered} that it did not",
            unanswered=self._unanswered,
        )
        self.ailing = ""
        self._unanswered = 0

    def paced(self, samples: int, interval_us: int) -> None:
        """PX4 answers only some of the samples, regularly."""
        self._add(
            EventSeverity.WARN,
            "paced",
            f"PX4 answers one IMU sample in {samples}, every {interval_us / 1e3:g} ms: its rate "
            "loop (IMU_GYRO_RATEMAX) is slower than the IMU; only those answers are awaited",
            samples=samples,
            interval_us=interval_us,
        )

    def closed(self) -> None:
        """The other side hung up."""
        self._add(
            EventSeverity.ERROR, "closed", f"PX4 is no longer connected ({self._peer}); motors stop"
        )
        self.ailing = ""
        self._unanswered = 0

    def reconnected(self) -> None:
        """Another connection after the first."""
        self._add(
            EventSeverity.WARN,
            "reconnected",
            f"PX4 is connected again ({self._peer}) and boots; motors stand until it is armed",
        )

    def foreign(self, system: int, wanted: int) -> None:
        """A packet of another system."""
        if system in self._foreign:
            return
        self._foreign.add(system)
        self._add(
            EventSeverity.WARN,
            "foreign",
            f"system {system} speaks on PX4's link ({self._peer}), where system {wanted} is "
            "expected; its packets are ignored (PX4's parameter MAV_SYS_ID)",
            system=system,
            expected=wanted,
        )

    def take(self, now_ns: int, broken: int, refused: int) -> list[Event]:
        """All since the last call.

        `broken` counts bytes and packets that are no valid MAVLink, `refused` callers turned away,
        both since the link was opened.
        """
        if broken != self._broken:
            if now_ns - self._broken_ns > _QUIET_NS:
                self._add(
                    EventSeverity.WARN,
                    "garbage",
                    f"what PX4 sends ({self._peer}) is broken: bytes that are no MAVLink, or a "
                    "wrong checksum; it is skipped",
                )
            self._broken, self._broken_ns = broken, now_ns
        if refused != self._refused:
            self._refused = refused
            self._add(
                EventSeverity.WARN,
                "refused",
                f"somebody else dialled {self._peer} and was turned away: a link is for one PX4; "
                "a second one needs another instance",
                refused=refused,
            )
        if not self._pending:
            return []
        pending, self._pending = self._pending, []
        stamp_ns = max(0, now_ns)
        return [
            Event(EventType.LOCKSTEP_FAULT, stamp_ns, severity, self._source, message, payload)
            for severity, message, payload in pending
        ]

    def _add(
        self, severity: EventSeverity, change: str, message: str, **payload: JsonValue
    ) -> None:
        self._pending.append((severity, message, {"change": change, **payload}))
