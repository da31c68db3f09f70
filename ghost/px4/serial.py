"""`SerialTransport`: a serial or USB device, for PX4 on real hardware (HITL).

A handful of calls of the operating system is all that a stream of bytes needs, so this stands on
`termios` and not on a package of its own. Linux and macOS.
"""

from __future__ import annotations

import os
import select
import termios

from ghost.core import ConfigError

__all__ = ["SerialTransport"]

_CHUNK = 65_536
_MOST_WAITING = 4_096
"""Bytes kept for a line that is slower than what is sent; beyond it, it is dropped."""
_NO_MODEM_CONTROL = termios.CLOCAL | termios.CREAD


class SerialTransport:
    """One device, raw, 8 data bits, no parity, no flow control.

    The device is the peer: it is there while it can be opened. One that was unplugged is opened
    again when it is back.
    """

    refused = 0

    def __init__(self, path: str, baud: int = 921_600) -> None:
        speed = getattr(termios, f"B{baud}", None) if isinstance(baud, int) else None
        if speed is None or baud <= 0:
            rates = sorted(int(n[1:]) for n in dir(termios) if n[0] == "B" and n[1:].isdigit())
            known = ", ".join(str(rate) for rate in rates if rate >= 9_600)
            raise ConfigError(f"baud must be one of {known}, got {baud!r}")
        self.path = path
        self.baud = baud
        self.connected = False
        self.connections = 0
        self.unsent = 0
        self._speed: int = speed
        self._device: int | None = None
        self._opened = False
        self._poll = select.poll()
        self._waiting = b""

    @property
    def name(self) -> str:
        """See `Transport`."""
        return f"serial {self.path} at {self.baud} baud"

    def open(self) -> None:
        """See `Transport`."""
        self.close()
        self.connections = self.unsent = 0
        try:
            self._connect()
        except (OSError, termios.error) as error:
            code, text = (*error.args, "")[:2]
            hint = ""
            if isinstance(error, PermissionError):
                hint = "; you may lack the rights: the group is often 'dialout'"
            elif isinstance(error, FileNotFoundError):
                hint = "; is it plugged in?"
            raise ConfigError(f"cannot open {self.name}: {text or code}{hint}") from error
        self._opened = True

    def _connect(self) -> None:
        device = os.open(self.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            settings = termios.tcgetattr(device)
            settings[0] = settings[1] = settings[3] = 0  # raw: no translation, echo or signals
            settings[2] = termios.CS8 | _NO_MODEM_CONTROL
            settings[4] = settings[5] = self._speed
            # With VMIN 0 "nothing yet" would read like "gone".
            settings[6][termios.VMIN], settings[6][termios.VTIME] = 1, 0
            termios.tcsetattr(device, termios.TCSANOW, settings)
            termios.tcflush(device, termios.TCIOFLUSH)
        except BaseException:
            os.close(device)
            raise
        self._device = device
        self._poll.register(device, select.POLLIN)
        self.connections += 1
        self.connected = True

    def send(self, data: bytes) -> None:
        """See `Transport`."""
        device = self._device
        if device is None:
            return
        if self._waiting:
            if len(self._waiting) + len(data) > _MOST_WAITING:
                self.unsent += 1
                data = b""
            data = self._waiting + data
        try:
            done = os.write(device, data)
        except (BlockingIOError, InterruptedError):
            done = 0
        except OSError:
            self._lose()
            return
        self._waiting = data[done:]

    def receive(self, timeout_s: float) -> bytes | None:
        """See `Transport`."""
        if self._device is None:
            self._look_for_device(timeout_s)
            return None
        data = self._read()
        if data is None and self._device is not None and timeout_s > 0.0:
            self._poll.poll(timeout_s * 1e3)
            data = self._read()
        return data

    def _read(self) -> bytes | None:
        assert self._device is not None
        try:
            data = os.read(self._device, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            data = b""
        if data:
            return data
        self._lose()
        return None

    def _look_for_device(self, timeout_s: float) -> None:
        if not self._opened:
            return
        try:
            self._connect()
        except (OSError, termios.error):
            # Not back yet: let the time pass in which another peer would have come.
            self._poll.poll(timeout_s * 1e3)

    def _lose(self) -> None:
        device, self._device = self._device, None
        self.connected = False
        self._waiting = b""
        if device is not None:
            self._poll.unregister(device)
            os.close(device)

    def close(self) -> None:
        """See `Transport`."""
        self._lose()
        self._opened = False
