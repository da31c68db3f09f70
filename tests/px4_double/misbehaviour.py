"""What the switches do to single answers of the simulator link."""

from __future__ import annotations

import os

from ghost.core import HostClock

from .options import Faults

__all__ = ["HangUp", "Misbehaviour", "Restart"]

# Noise, then the whole of a packet whose checksum is wrong. A start byte with a length beyond the
# noise would swallow the answer after it in any reader; that is not what this switch is for.
_GARBAGE = b"\x00\x55\xaa\x11" * 5 + bytes((0xFD, 1, 0, 0, 7, 1, 1, 0, 0, 0, 0xAA, 0xBB, 0xCC))


class Restart(Exception):
    """The autopilot begins a new life: it hangs up and dials in again."""


class HangUp(Exception):
    """The autopilot closes the connection and stays away."""


class Misbehaviour:
    """Applies the switches in simulated time; times of one life, `restart` happens once."""

    def __init__(self, faults: Faults, *, lives: int) -> None:
        self._faults = faults
        self._lives = lives
        self._host = HostClock()
        self._last = b""

    def before(self, now_us: int) -> None:
        """When a sample has come: die, hang, hang up, restart."""
        faults = self._faults
        now_s = now_us * 1e-6
        if 0.0 <= faults.die_at_s <= now_s:
            if faults.die_code < 0:
                os.kill(os.getpid(), -faults.die_code)
            os._exit(faults.die_code)
        if 0.0 <= faults.hang_at_s <= now_s:
            self._hang()
        if 0.0 <= faults.hang_up_at_s <= now_s:
            raise HangUp
        if 0.0 <= faults.restart_at_s <= now_s and self._lives == 0:
            raise Restart

    def pause(self) -> None:
        """Between two pieces of an answer: long enough to be read apart."""
        self._host.sleep_until_ns(self._host.now_ns() + 2_000_000)

    def _hang(self) -> None:
        """Do nothing more, not even end at a SIGTERM; only without a parent."""
        parent = os.getppid()
        while os.getppid() == parent:
            self._host.sleep_until_ns(self._host.now_ns() + 20_000_000)
        os._exit(1)

    def answers(self, now_us: int, answer: bytes) -> list[bytes]:
        """What is sent in place of an answer."""
        faults = self._faults
        last, self._last = self._last, answer
        if faults.silent.open(now_us):
            return []
        if faults.late.open(now_us):
            self._host.sleep_until_ns(self._host.now_ns() + round(faults.late_ms * 1e6))
        if faults.replay.open(now_us) and last:
            answer, self._last = last, last
        if faults.bad_crc.open(now_us):
            answer = answer[:-1] + bytes([answer[-1] ^ 0xFF])
        if faults.garbage.open(now_us):
            return [_GARBAGE, answer]
        if faults.torn.open(now_us):
            return [answer[:17], answer[17:]]
        if faults.twice.open(now_us):
            return [answer, answer]
        return [answer]
