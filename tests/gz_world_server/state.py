"""The server's time: paused or not, what is still to do, what was asked. No physics, no sockets."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

from ghost.gz.msgs import WorldControl
from ghost.gz.world.stamps import time_ns

__all__ = ["Turn", "WorldTime"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One iteration: what the clock shows, and whether anything moves in it."""

    sim_ns: int
    iterations: int
    paused: bool
    stepping: bool
    reset: bool


class WorldTime:
    """Pause, steps and resets with the manners measured on Gazebo Sim 8.14.

    A request is queued by a service thread and worked off at the end of an iteration. Steps add up;
    a pause amid them keeps those that are left; the last request of a turn decides on a reset.
    """

    def __init__(self, step_ns: int, *, paused: bool) -> None:
        self._step_ns = step_ns
        self._requests: deque[WorldControl] = deque()
        self._lock = threading.Lock()
        self._reset_wanted = False
        self._run_to_ns: int | None = None
        self._pending = 0
        self._stepping = False
        self.paused = paused
        self.sim_ns = 0
        self.iterations = 0

    def ask(self, request: WorldControl) -> None:
        """Queue a request. Any thread may call it."""
        with self._lock:
            self._requests.append(request)

    def begin(self) -> Turn:
        """Start an iteration: the clock as it will be published."""
        reset = self._reset_wanted
        if reset:
            self._reset_wanted = False
            self.sim_ns = 0
            self.iterations = 0
        elif not self.paused:
            self.sim_ns += self._step_ns
            self.iterations += 1
        return Turn(self.sim_ns, self.iterations, self.paused, self._stepping, reset)

    def end(self) -> None:
        """End an iteration: count down the steps, then take up the requests."""
        if not self.paused and self._run_to_ns is not None and self.sim_ns >= self._run_to_ns:
            self.paused = True
            self._run_to_ns = None
        if not self.paused and self._pending > 0:
            self._pending -= 1
            if self._pending == 0:
                self.paused = True
        self._stepping = False
        with self._lock:
            requests = list(self._requests)
            self._requests.clear()
        for request in requests:
            self.paused = request.pause
            steps = request.multi_step or (1 if request.step else 0)
            if self.paused and steps:
                self._pending += steps
                self.paused = False
                self._stepping = True
            self._reset_wanted = request.reset.all or request.reset.time_only
            self._run_to_ns = None
            if request.HasField("run_to_sim_time"):
                run_to_ns = time_ns(request.run_to_sim_time)
                if run_to_ns > self.sim_ns:
                    self._run_to_ns = run_to_ns
