"""What is particular to a terminal: the progress bar and Ctrl-C."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from rich.console import Console

from ghost.cli.interrupt import on_interrupt
from ghost.cli.progress import ProgressBar, progress_observers
from ghost.config import load_scenario
from ghost.core import ScenarioSpec
from ghost.runtime import run_scenario


def shown_while_running(scenario: ScenarioSpec, width: int) -> tuple[str, str]:
    """Fly with a progress bar on a terminal of that width; what it drew, and what it had said."""
    drawn = io.StringIO()
    terminal = Console(file=drawn, force_terminal=True, width=width, color_system=None)
    bar = ProgressBar(terminal)
    run_scenario(scenario, observers=[bar])
    plain = io.StringIO()
    Console(file=plain, width=width).print(bar._progress.get_renderable())
    return drawn.getvalue(), plain.getvalue()


def test_the_bar_shows_simulated_time_speed_altitude_and_what_the_plan_does(
    scenario: Path,
) -> None:
    drawn, last = shown_while_running(load_scenario(scenario), 120)
    assert last.startswith("short ")
    assert "1.0 / 1.0 s" in last
    assert "× real time" in last
    assert "alt " in last
    assert "takeoff to 1 m" in last
    assert "short" in drawn
    # Transient: at the end the line is cleared and the cursor is back where it was.
    assert drawn.rstrip("\n").endswith("\x1b[2K")


def test_the_bar_stays_on_one_line_of_a_narrow_terminal(scenario: Path) -> None:
    _, last = shown_while_running(load_scenario(scenario), 80)
    assert last.count("\n") == 1


def test_there_is_no_bar_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert progress_observers() == ()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_the_second_insists(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    asked: list[int] = []
    with on_interrupt(lambda: asked.append(1)):
        os.kill(os.getpid(), number)
        assert asked == [1]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        assert asked == [1]
    assert signal.getsignal(number) is before


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    inside: list[object] = []

    def body() -> None:
        with on_interrupt(lambda: None):
            inside.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert inside == [before]
