"""The figure of `ghost repeat --plot`: what the account says, as `ghost.report` draws it."""

from __future__ import annotations

from ghost.cli.repeat_table import length
from ghost.report import Overlay, overlay_figure
from ghost.runtime import RepeatReport

__all__ = ["drawn"]

_SOURCES = {"truth": "ground truth", "estimate": "the autopilot's own estimate"}


def drawn(report: RepeatReport) -> bytes:
    """Return a PNG."""
    shown, compared = report.spread, report.compared
    peak, final = shown.position, report.final
    made = len(report.records)
    digests = report.digests
    parts = [f"by {_SOURCES[report.source]}"] if report.source else ["no trajectories"]
    parts.append("one backend, reset" if report.reused else "a new backend each")
    if sum(map(len, digests.values())) > 1:
        parts.append("digests equal" if len(digests) == 1 else f"{len(digests)} different digests")
    if final is not None:
        apart = length(final.max_distance_m) if final.max_distance_m else ""
        parts.append(f"final positions within {apart}" if apart else "final positions equal")
    if report.failed:
        parts.append(f"{len(report.failed)} failed")
    ends = ((at, record.final_pos_enu_m(report.source)) for at, record in enumerate(compared))
    overlay = Overlay(
        title=f"{report.scenario} on {report.backend}, {made} runs with seed {report.seed}",
        subtitle="; ".join(parts),
        runs=tuple(record.number for record in compared),
        t_s=shown.t_s,
        pos_enu_m=shown.pos_enu_m,
        distance_m=shown.distance_m,
        angle_deg=shown.angle_deg,
        apart=peak.pair if peak is not None and peak.greatest > 0.0 else (),
        failed=tuple(at for at, record in enumerate(compared) if record.failed),
        ends={at: end for at, end in ends if end is not None},
    )
    return overlay_figure(overlay).png()
