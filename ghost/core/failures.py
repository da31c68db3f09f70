"""What becomes of an exception that Ghost isolates: an event, or a log line, never silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from ghost.core.events import Event, EventSeverity, EventType

if TYPE_CHECKING:
    from logging import Logger

__all__ = ["EventSink", "callback_failed", "callback_name", "emit", "log_event", "traceback_text"]

EventSink: TypeAlias = Callable[[Event], None]


def callback_name(callback: object) -> str:
    """Return `module.qualname` of a function or method, or the repr of another callable."""
    qualname = getattr(callback, "__qualname__", None)
    if not isinstance(qualname, str):
        return repr(callback)
    module = getattr(callback, "__module__", None)
    return f"{module}.{qualname}" if module else qualname


def traceback_text(error: BaseException) -> str:
    """Return the traceback as Python prints it."""
    # Imported here because nothing but a failure needs it.
    import traceback

    return "".join(traceback.format_exception(error))


def callback_failed(source: str, name: str, at_ns: int, error: Exception) -> Event:
    """Return the event for a callback that raised: its name, its time, the traceback (D4)."""
    return Event(
        type=EventType.SCHEDULER_CALLBACK_FAILED,
        stamp_sim_ns=at_ns,
        severity=EventSeverity.ERROR,
        source=source,
        message=f"callback {name} raised {type(error).__name__}: {error}",
        payload={"callback": name, "at_ns": at_ns, "traceback": traceback_text(error)},
    )


def emit(event: Event, sink: EventSink | None) -> None:
    """Hand `event` to `sink`; log it if there is none, and log both if the sink itself raises."""
    if sink is None:
        log_event(event)
        return
    try:
        sink(event)
    except Exception as error:  # noqa: BLE001 - a failing listener must not stop time
        log_event(event)
        _logger().error("the event listener %s failed:\n%s", sink, traceback_text(error))


def log_event(event: Event) -> None:
    """Write an event that nobody listens to into the log, at ERROR, with its traceback if any."""
    trace = event.payload.get("traceback", "")
    _logger().error("%s at %d ns: %s\n%s", event.source, event.stamp_sim_ns, event.message, trace)


def _logger() -> Logger:
    import logging

    return logging.getLogger("ghost.core")
