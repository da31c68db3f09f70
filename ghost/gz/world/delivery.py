"""A request, seen through until its effect shows: sent, sent again if lost, never done twice."""

from __future__ import annotations

from collections.abc import Callable

from ghost.core import HostTime
from ghost.gz.world.errors import StepMismatch
from ghost.gz.world.service import ControlService
from ghost.gz.world.stream import WorldStream
from ghost.gz.world.watch import ServerWatch

__all__ = ["SLICE_S", "Delivery"]

SLICE_S = 0.02
"""How long to listen before looking whether the server still lives."""
_REPLY_S = 0.5
"""A reply comes in well under a millisecond; after this long the request is looked into."""
_PROOF_TURNS = 4
"""Clocks after which a queued request has been worked off: one may have been on its way when it was
queued, one turn may have passed the queue already, the next works it off, one more shows it."""
_STUCK_TURNS = 50
"""Clocks without progress after which a step that was queued is taken to be held up by a pause."""


class Delivery:
    """Carries out requests on the stream of one world."""

    def __init__(
        self, stream: WorldStream, service: ControlService, host: HostTime, watch: ServerWatch
    ) -> None:
        self._stream = stream
        self._service = service
        self._host = host
        self._watch = watch

    def carry_out(
        self,
        what: str,
        send: Callable[[float], bool],
        start_ns: int,
        wait_s: float,
        *,
        target_ns: int | None = None,
        step_ns: int = 1,
        done: Callable[[bool], bool] | None = None,
    ) -> tuple[int, int]:
        """Send a request and listen until its effect is seen; return how often it was resent and
        resumed. Without `done`, the stream's barrier decides.

        A request without a reply is sent again only if the server has since answered another one
        and the clock has then turned often enough to show that nothing was queued.
        """
        stream, host = self._stream, self._host
        limit_ns = host.now_ns() + round(wait_s * 1e9)
        acknowledged = send(min(_REPLY_S, wait_s))
        resent = resumed = 0
        # None: not asked yet, or not answered.
        probed: int | None = None
        last_ns = stream.now_ns
        mark = stream.turns if done is None else self._turns_now()
        # On a busy host many turns may have queued up here before the reply was read: they are no
        # sign that the world is stuck. Turns count from when that backlog is worked off.
        backlog = done is None
        while True:
            if done is not None and done(acknowledged and stream.turns - mark >= _PROOF_TURNS):
                return resent, resumed
            complete = stream.pump(0.0 if backlog else SLICE_S)
            if complete:
                return resent, resumed
            if backlog:
                if complete is None:
                    backlog = False
                mark = stream.turns
                continue
            if complete is None and not self._watch.alive():
                raise self._watch.lost(what)
            if stream.now_ns != last_ns:
                last_ns = stream.now_ns
                mark = stream.turns
                if target_ns is not None:
                    self._check_step(start_ns, step_ns)
                    acknowledged = True
                    limit_ns = host.now_ns() + round(wait_s * 1e9)
            left_s = (limit_ns - host.now_ns()) / 1e9
            if left_s <= 0.0:
                raise self._watch.lost(what, wait_s)
            if not acknowledged:
                if probed is None:
                    if self._service.probe(min(_REPLY_S, left_s)):
                        probed = self._turns_now()
                elif stream.turns - probed >= _PROOF_TURNS:
                    resent += 1
                    self._watch.tell(f"the request to {what} was lost and is sent again")
                    acknowledged = send(min(_REPLY_S, left_s))
                    probed = None
                    mark = self._turns_now()
            elif target_ns is not None and stream.turns - mark >= _STUCK_TURNS:
                resumed += 1
                self._watch.tell(f"somebody paused the world during the {what}; it goes on")
                self._service.run_to(target_ns, min(_REPLY_S, left_s))
                mark = self._turns_now()

    def _turns_now(self) -> int:
        """The number of clocks heard, after taking all that has arrived."""
        self._stream.drain()
        return self._stream.turns

    def _check_step(self, start_ns: int, step_ns: int) -> None:
        moved_ns = self._stream.now_ns - start_ns
        if moved_ns % step_ns:
            raise StepMismatch(
                f"the world moves by {moved_ns} ns where step_ns {step_ns} was expected; set "
                f"<max_step_size>{step_ns / 1e9:g}</max_step_size> in its <physics>, or step_ns "
                "to the world's own"
            )
