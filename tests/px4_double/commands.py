"""COMMAND_LONG and COMMAND_INT: what is done, and the acknowledgements PX4 gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import formats as f
from .commander import ACCEPTED, DENIED, REJECTED, UNSUPPORTED
from .modes import Mode
from .wire import Packet, Wire

if TYPE_CHECKING:
    from .autopilot import Autopilot

__all__ = ["Commands"]

_FAILED = 4
_UNSUPPORTED_FRAME = 7
_LOITER, _LAND, _RTL = Mode.LOITER, Mode.LAND, Mode.RTL


class Commands:
    """Answers what comes over the offboard link. `send` takes packets."""

    def __init__(self, pilot: Autopilot, wire: Wire, send: Callable[[bytes], None]) -> None:
        self._pilot = pilot
        self._wire = wire
        self._send = send
        self._system = wire.system  # stays what it is when a switch sends another
        self._listing = -1
        self.reboot = False
        self._table: dict[int, Callable[[tuple[float, ...]], int]] = {
            20: self._return_home,
            21: self._land,
            22: self._take_off,
            176: self._set_mode,
            192: self._reposition,
            246: self._reboot,
            400: self._arm,
            511: self._set_interval,
            512: lambda p: self._request(int(p[0] + 0.5)),
            520: lambda _: self._request(f.AUTOPILOT_VERSION.msgid),
            410: lambda _: self._request(f.HOME_POSITION.msgid),
        }

    def handle(self, packet: Packet) -> None:
        """One packet from a ground station or a companion."""
        form = packet.form
        if form is f.COMMAND_LONG:
            *params, command, system, component, _ = packet.values
            if self._for_me(system, component):
                self._command(command, tuple(params), packet)
        elif form is f.COMMAND_INT:
            self._command_int(packet)
        elif form is f.PARAM_REQUEST_READ:
            self._param_read(packet.values)
        elif form is f.PARAM_REQUEST_LIST:
            self._listing = 0 if packet.values[0] == self._system else self._listing
        elif form is f.PARAM_SET:
            self._param_set(packet.values)
        elif form is f.TIMESYNC:
            tc1, ts1 = packet.values
            if tc1 == 0:
                self._send(self._wire.pack(f.TIMESYNC, self._pilot.est.now_us * 1000, ts1))
        elif form is f.PING:
            time_us, seq, system, _ = packet.values
            if system == 0:
                self._send(self._wire.pack(f.PING, time_us, seq, packet.system, packet.component))
        elif form is f.SET_MODE:
            custom, _, base = packet.values
            self._set_mode((base, custom >> 16 & 255, custom >> 24, 0.0, 0.0, 0.0, 0.0))

    def _for_me(self, system: int, component: int) -> bool:
        return system in (0, self._system) and component in (0, 1)

    def _command_int(self, packet: Packet) -> None:
        a, b, c, d, x, y, z, command, system, component, frame, _, _ = packet.values
        if not self._for_me(system, component):
            return
        if frame not in (0, 5):
            self._ack(command, _UNSUPPORTED_FRAME, packet)
            return
        unset = x == 0x7FFFFFFF and y == 0x7FFFFFFF
        place = (math.nan, math.nan) if unset else (x / 1e7, y / 1e7)
        self._command(command, (a, b, c, d, *place, z), packet)

    def _command(self, command: int, params: tuple[float, ...], packet: Packet) -> None:
        if command == 176:
            # PX4's receiver acknowledges a mode by itself, before the commander does.
            self._ack(command, ACCEPTED, packet)
        action = self._table.get(command)
        self._ack(command, UNSUPPORTED if action is None else action(params), packet)
        self._pilot.flush_texts()

    def _ack(self, command: int, result: int, packet: Packet) -> None:
        self._send(
            self._wire.pack(f.COMMAND_ACK, command, result, 0, 0, packet.system, packet.component)
        )

    def _arm(self, params: tuple[float, ...]) -> int:
        commander = self._pilot.commander
        what, forced = params[0], params[1] == 21196.0
        if what == 1.0:
            return commander.arm(forced)
        if what == 0.0:
            return commander.disarm(forced)
        self._pilot.say(2, f"Unsupported ARM_DISARM param: {what:.3f}\t")
        return UNSUPPORTED

    def _set_mode(self, params: tuple[float, ...]) -> int:
        base, main, sub = (int(value) for value in params[:3])
        mode = Mode.of(main, sub) if base & 1 else None
        if mode is None:
            kind = "auto" if main == 4 else "main"
            self._pilot.say(2, f"Unsupported {kind if base & 1 else 'base'} mode\t")
            return REJECTED
        if mode is Mode.TAKEOFF:
            self._pilot.commander.navigator.take_off(self._pilot.est, math.nan)
        done = self._pilot.commander.change(mode, force=mode is _LAND)
        return ACCEPTED if done else REJECTED

    def _take_off(self, params: tuple[float, ...]) -> int:
        commander = self._pilot.commander
        commander.navigator.take_off(self._pilot.est, params[6])
        return ACCEPTED if commander.change(Mode.TAKEOFF) else REJECTED

    def _land(self, _: tuple[float, ...]) -> int:
        self._pilot.commander.change(_LAND, force=True)
        self._pilot.say(6, "Landing at current position\t")
        return ACCEPTED

    def _return_home(self, _: tuple[float, ...]) -> int:
        self._pilot.say(6, "Returning to launch\t")
        return ACCEPTED if self._pilot.commander.change(_RTL) else REJECTED

    def _reposition(self, params: tuple[float, ...]) -> int:
        est = self._pilot.est
        _, flags, _, yaw, lat, lon, alt = params
        if int(flags) != 1 or est.origin is None:
            return UNSUPPORTED
        if not self._pilot.commander.change(_LOITER):
            return REJECTED
        n, e = est.local(lat, lon) if lat == lat and lon == lon else est.pos[:2]
        d = est.origin[2] - alt if alt == alt else est.pos[2]
        self._pilot.commander.navigator.go(est, (n, e, d), yaw)
        return ACCEPTED

    def _reboot(self, params: tuple[float, ...]) -> int:
        if self._pilot.commander.armed or params[0] not in (1.0, 2.0):
            return DENIED
        self.reboot = True
        return ACCEPTED

    def _set_interval(self, params: tuple[float, ...]) -> int:
        msgid, interval_us = int(params[0] + 0.5), params[1]
        telemetry = self._pilot.telemetry
        done = telemetry.set_interval(msgid, interval_us, self._pilot.est.now_us)
        return ACCEPTED if done else _FAILED

    def _request(self, msgid: int) -> int:
        return ACCEPTED if self._pilot.telemetry.once(msgid, self._pilot.est.now_us) else DENIED

    def _param_read(self, values: tuple[Any, ...]) -> None:
        index, system, _, name = values
        if system != self._system:
            return
        names = self._pilot.params.names
        if index >= 0:
            self._param_send(names[index] if index < len(names) else "")
        else:
            self._param_send(name.rstrip(b"\0").decode(errors="replace"))

    def _param_set(self, values: tuple[Any, ...]) -> None:
        data, system, _, name, kind = values
        if system != self._system:
            return
        text = name.rstrip(b"\0").decode(errors="replace")
        if self._pilot.params.set_bytes(text, kind, data):
            self._param_send(text)
        else:
            self._pilot.log(f"ERROR [mavlink] unknown param: {text}")

    def _param_send(self, name: str) -> None:
        entry = self._pilot.params.entry(name)
        if entry is None:
            # PX4 is silent about a name it does not know, but for a line in its log.
            self._pilot.log(f"ERROR [mavlink] Unknown param name: {name}")
            return
        self._send(self._wire.pack(f.PARAM_VALUE, *entry))

    def trickle(self) -> None:
        """Send the next parameters of a list that was asked for: 20 at a time, as PX4 does."""
        if self._listing < 0:
            return
        names = self._pilot.params.names[self._listing : self._listing + 20]
        for name in names:
            self._param_send(name)
        self._listing = self._listing + 20 if names else -1
