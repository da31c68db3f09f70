"""Wakes a thread that waits in `poll`."""

from __future__ import annotations

import socket

__all__ = ["Waker"]


class Waker:
    """A pair of sockets: `wake` makes `fileno` readable until `clear`."""

    __slots__ = ("_in", "_out")

    def __init__(self) -> None:
        self._in, self._out = socket.socketpair()
        self._in.setblocking(False)
        self._out.setblocking(False)

    def fileno(self) -> int:
        """Return what to poll for reading."""
        return self._in.fileno()

    def wake(self) -> None:
        """Make `fileno` readable. Any thread may call it, also after `close`."""
        try:
            self._out.send(b"\0")
        except BlockingIOError:
            return  # full of wake-ups that nobody has read yet: awake enough
        except OSError:
            return  # closed: nobody waits any more

    def clear(self) -> None:
        """Take all wake-ups, so that `fileno` is quiet again."""
        try:
            while len(self._in.recv(4096)) == 4096:
                pass
        except BlockingIOError:
            return
        except OSError:
            return  # closed while somebody still waited

    def close(self) -> None:
        """Close both ends. Idempotent."""
        self._in.close()
        self._out.close()
