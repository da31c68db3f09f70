"""The progress bar over several runs: which one, and how it goes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:
    from ghost.core import MessageBus
    from ghost.runtime import RunInfo, RunResult, RunStatus

__all__ = ["SeriesBar", "series_bar"]


class SeriesBar:
    """A `RunObserver` of every run of a series, on one bar. Use it as a context manager."""

    def __init__(self, console: Console, name: str, runs: int) -> None:
        self._progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[which]}"),
            TextColumn("[cyan]{task.fields[rtf]}"),
            TextColumn("[dim]{task.fields[phase]}"),
            console=console,
            transient=True,
        )
        self._runs = runs
        self._done = 0
        self._duration_ns = 1
        self._task = self._progress.add_task(
            escape(name), total=float(runs), which="", rtf="", phase=""
        )

    def __enter__(self) -> SeriesBar:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def begin(self, number: int) -> None:
        """Say that a run is about to begin; resetting its world may take a while."""
        self._done = number - 1
        self._progress.update(
            self._task,
            completed=float(self._done),
            which=f"run {number} of {self._runs}",
            rtf="",
            phase="starting",
        )

    def attach(self, bus: MessageBus, info: RunInfo) -> None:  # noqa: ARG002 - RunObserver
        """Note how long the run will be."""
        self._duration_ns = max(1, info.scenario.duration_ns)

    def tick(self, status: RunStatus) -> None:
        """Take the new figures. The clock of a run need not begin at 0."""
        left = min(1.0, max(0.0, (status.end_ns - status.sim_ns) / self._duration_ns))
        self._progress.update(
            self._task,
            completed=self._done + 1.0 - left,
            rtf=f"{status.real_time_factor:5.1f}× real time",
            phase=escape(status.phase),
        )

    def close(self, result: RunResult | None) -> None:
        """Nothing to do: the bar is there for all the runs."""


def series_bar(name: str, runs: int) -> SeriesBar | None:
    """A progress bar on stderr if that is a terminal, else None."""
    if not sys.stderr.isatty():
        return None
    return SeriesBar(Console(stderr=True), name, runs)
