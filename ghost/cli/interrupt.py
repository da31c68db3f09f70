"""Ctrl-C, politely: the first asks, the second insists."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["on_interrupt"]


@contextlib.contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """While it lasts, the first SIGINT calls `stop`; the next raises `KeyboardInterrupt`.

    A run so ends between two steps, with its messages whole, but a backend that hangs can still be
    left. Outside the main thread, where Python has no signal handlers, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def first(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()

    before = signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
