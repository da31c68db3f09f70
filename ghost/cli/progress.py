"""The progress bar of a run: simulated time, real-time factor, altitude, what the plan does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn

if TYPE_CHECKING:
    from ghost.core import MessageBus
    from ghost.runtime import RunInfo, RunObserver, RunResult, RunStatus

__all__ = ["ProgressBar", "progress_observers"]


class ProgressBar:
    """A `RunObserver` that draws on a terminal. It is fed between steps and draws by itself."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[sim]}"),
            TextColumn("[cyan]{task.fields[rtf]}"),
            TextColumn("[green]{task.fields[altitude]}"),
            TextColumn("[dim]{task.fields[phase]}"),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None

    def attach(self, bus: MessageBus, info: RunInfo) -> None:  # noqa: ARG002 - RunObserver
        """Show the bar."""
        self._task = self._progress.add_task(
            escape(info.scenario.name),
            total=info.scenario.duration_ns,
            sim="",
            rtf="",
            altitude="",
            phase="",
        )
        self._progress.start()

    def tick(self, status: RunStatus) -> None:
        """Take the new figures."""
        if self._task is None:
            return
        altitude = "" if status.altitude_m is None else f"alt {status.altitude_m:6.2f} m"
        self._progress.update(
            self._task,
            completed=status.sim_ns - status.start_ns,
            total=status.end_ns - status.start_ns,
            sim=f"{status.sim_ns / 1e9:6.1f} / {status.end_ns / 1e9:.1f} s",
            rtf=f"{status.real_time_factor:5.1f}× real time",
            altitude=altitude,
            phase=status.phase,
        )

    def close(self, result: RunResult | None) -> None:  # noqa: ARG002 - RunObserver
        """Take the bar away."""
        self._progress.stop()


def progress_observers() -> tuple[RunObserver, ...]:
    """A progress bar on stderr if that is a terminal, else nothing."""
    if not sys.stderr.isatty():
        return ()
    return (ProgressBar(Console(stderr=True)),)
