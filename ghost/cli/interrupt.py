"""Ctrl-C and SIGTERM, politely: the first asks, the second insists."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["on_interrupt"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""SIGTERM is how `docker stop`, systemd and CI runners ask."""


@contextlib.contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """While it lasts, the first SIGINT or SIGTERM calls `stop`; the next `KeyboardInterrupt`.

    A run so ends between two steps, with its messages whole, but a backend that hangs can still be
    left. Outside the main thread, where Python has no signal handlers, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def first(_number: int, _frame: FrameType | None) -> None:
        for number in _SIGNALS:
            signal.signal(number, signal.default_int_handler)
        stop()

    before = [(number, signal.signal(number, first)) for number in _SIGNALS]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
