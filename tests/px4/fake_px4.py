"""A small PX4 on UDP for the tests of the session: it does what the test says, step by step."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import Any

from pymavlink.dialects.v20 import common as mavlink

from ghost.core import HostClock
from ghost.px4.codec import x25
from ghost.px4.reasons import event_id
from ghost.px4.session import Px4Session

__all__ = ["HOLD", "OFFBOARD", "STEP_NS", "FakePx4", "Flight", "free_port"]

STEP_NS = 4_000_000
HOLD = 4 << 16 | 3 << 24
OFFBOARD = 6 << 16
_EVENT = struct.Struct("<2IH3B40s")


def free_port() -> int:
    """A UDP port that nobody has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class FakePx4:
    """Sends to `port` what the test asks for, and answers commands as `results` says."""

    def __init__(self, port: int, system: int = 1) -> None:
        self.system = system
        self.armed = False
        self.custom_mode = HOLD
        self.state = 3
        self.prearm = True
        self.results: dict[int, int | None] = {}
        """MAV_RESULT by MAV_CMD; None: no answer. Others are accepted."""
        self.on_command: dict[int, Callable[[Any], None]] = {}
        """Called before the answer is sent."""
        self.after_command: dict[int, Callable[[], None]] = {}
        self.params: dict[str, float | int] = {}
        self.mute_params: set[str] = set()
        self.heard: list[Any] = []
        """All packets that came, decoded."""
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.remote = ("127.0.0.1", port)
        self.mav = mavlink.MAVLink(None, srcSystem=system, srcComponent=1)
        self._parser = mavlink.MAVLink(None)
        self._parser.robust_parsing = True

    # --- sending ------------------------------------------------------------------------------

    def raw(self, data: bytes) -> None:
        """One datagram."""
        self.socket.sendto(data, self.remote)

    def pack(self, message: Any) -> bytes:
        """A message of pymavlink's as bytes."""
        return bytes(message.pack(self.mav))

    def send(self, message: Any) -> None:
        self.raw(self.pack(message))

    def heartbeat(self) -> None:
        base = 29 | (128 if self.armed else 0)
        state = 4 if self.armed else self.state
        self.send(self.mav.heartbeat_encode(2, 12, base, self.custom_mode, state))

    def status(self) -> None:
        health = 0x10000000 if self.prearm else 0
        self.send(self.mav.sys_status_encode(0, 0, health, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    def position(self, boot_ms: int, *numbers: float) -> None:
        self.send(self.mav.local_position_ned_encode(boot_ms, *numbers))

    def attitude(self, boot_ms: int, w: float, x: float, y: float, z: float) -> None:
        self.send(self.mav.attitude_quaternion_encode(boot_ms, w, x, y, z, 0.0, 0.0, 0.0))

    def landed(self, state: int) -> None:
        self.send(self.mav.extended_sys_state_encode(0, state))

    def text(self, text: str, severity: int = 2, number: int = 1) -> None:
        """STATUSTEXT as PX4 sends it: in parts of 50, the last with a zero if it is shorter."""
        data = text.encode()
        for chunk in range((len(data) - 1) // 50 + 1):
            part = data[chunk * 50 : chunk * 50 + 50]
            self.send(self.mav.statustext_encode(severity, part, number, chunk))

    def ack(self, command: int, result: int, system: int = 245, component: int = 190) -> None:
        self.send(self.mav.command_ack_encode(command, result, 0, 0, system, component))

    def event(self, name: str, modes: int = 0, level: int = 3) -> None:
        """EVENT with a mode group, as the arming checks send it."""
        self._event(event_id(name), level, struct.pack("<IB", modes, 20))

    def summary(self, can_arm: int) -> None:
        """EVENT that begins a report of the arming checks."""
        arguments = struct.pack("<BQQII", 0, 0, 0, can_arm, 0)
        self._event(event_id("commander_arming_check_summary"), 8, arguments)

    def _event(self, number: int, level: int, arguments: bytes) -> None:
        payload = _EVENT.pack(number, 0, 0, 0, 0, level << 4 | level, arguments)
        self.raw(self.frame(410, 160, payload))

    def frame(self, msgid: int, extra: int, payload: bytes) -> bytes:
        """A MAVLink 2 packet of a message that pymavlink's dialect does not have."""
        payload = payload.rstrip(b"\0") or b"\0"
        sender = bytes((self.system, 1)) + msgid.to_bytes(3, "little")
        body = bytes((len(payload), 0, 0, 0)) + sender + payload
        return b"\xfd" + body + x25(body + bytes((extra,))).to_bytes(2, "little")

    # --- answering ----------------------------------------------------------------------------

    def serve(self) -> None:
        """Take what came and answer it."""
        while True:
            try:
                data = self.socket.recv(2048)
            except BlockingIOError:
                return
            for message in self._parser.parse_buffer(data) or []:
                self.heard.append(message)
                if message.get_type() == "COMMAND_LONG":
                    self._command(message)
                elif message.get_type() == "PARAM_REQUEST_READ":
                    self._param(message.param_id)

    def all(self, kind: str) -> list[Any]:
        """Packets of one kind that came."""
        return [message for message in self.heard if message.get_type() == kind]

    def commands(self, number: int) -> list[Any]:
        return [message for message in self.all("COMMAND_LONG") if message.command == number]

    def _command(self, message: Any) -> None:
        action = self.on_command.get(message.command)
        if action is not None:
            action(message)
        result = self.results.get(message.command, 0)
        if result is not None:
            self.ack(message.command, result)
        later = self.after_command.get(message.command)
        if later is not None:
            later()

    def _param(self, name: str) -> None:
        if name in self.mute_params:
            return
        if name not in self.params:
            payload = struct.pack("<hBB16sB", -1, 245, 190, name.encode(), 1)
            self.raw(self.frame(345, 209, payload))
            return
        value = self.params[name]
        kind = 6 if isinstance(value, int) else 9
        raw = struct.pack("<i" if kind == 6 else "<f", value)
        self.send(
            self.mav.param_value_encode(name.encode(), struct.unpack("<f", raw)[0], kind, 1, 0)
        )

    def close(self) -> None:
        self.socket.close()


class Flight:
    """A fake PX4, a session, and their common simulated time."""

    def __init__(self, system: int = 1, *, wanted: int | None = None) -> None:
        self.host = HostClock()
        self.port = free_port()
        self.px4 = FakePx4(self.port, system)
        self.session = Px4Session(local_port=self.port, host=self.host, system_id=wanted)
        self.session.open()
        self.now_ns = 1_000_000_000
        self.each_step: list[Callable[[int], None]] = []
        self.quiet = False
        """PX4 sends no telemetry of its own."""

    def step(self) -> int:
        """4 ms: PX4 answers and sends its telemetry, then the session is polled."""
        self.now_ns += STEP_NS
        self.px4.serve()
        if not self.quiet:
            if self.now_ns % 1_000_000_000 == 0:
                self.px4.heartbeat()
            if self.now_ns % 100_000_000 == 0:
                self.px4.status()
        self.session.poll(self.now_ns)
        for action in self.each_step:
            action(self.now_ns)
        return self.now_ns

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * 1e9 / STEP_NS)):
            self.step()

    def until(self, condition: Callable[[], bool], seconds: float = 10.0) -> bool:
        for _ in range(round(seconds * 1e9 / STEP_NS)):
            if condition():
                return True
            self.step()
        return condition()

    def connect(self) -> None:
        """Let the session hear PX4, and MAVSDK's thread (which runs by the host's time) too."""
        self.px4.heartbeat()
        self.px4.status()
        self.step()
        end_ns = self.host.now_ns() + 10_000_000_000
        while not self.px4.commands(511):
            assert self.host.now_ns() < end_ns, "MAVSDK has not found the autopilot"
            self.host.sleep_until_ns(self.host.now_ns() + 200_000)
            self.session.poll(self.now_ns)
            self.px4.serve()
        self.step()

    def messages(self) -> list[str]:
        """Texts of the events since the last call."""
        return [event.message for event in self.session.events()]

    def close(self) -> None:
        self.session.close()
        self.px4.close()
