"""`OutputSpec`: what one output channel of an autopilot drives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ghost.core.checks import check_choice, check_int, check_text

__all__ = ["OutputSpec"]

_STRICT: dict[str, Any] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class OutputSpec:
    """One of the 16 channels of MAVLink's `HIL_ACTUATOR_CONTROLS`: a rotor, or a servo."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    channel: int
    """Number of the channel, 0..15."""
    rotor: int | None = None
    """Index in the vehicle's `rotors` of the one it drives, from 0; not given with `servo`."""
    servo: str = ""
    """Name of the servo it drives, instead of a rotor. No world of today moves one."""
    reversed: bool = False
    """The channel runs the other way: u becomes 1 − u for a rotor, −u for a servo."""
    curve: Literal["thrust", "speed"] = "thrust"
    """What a rotor's u in 0..1 says: `thrust`, the ratio of its highest thrust; `speed`, the ratio
    of its highest speed, so that the thrust is u²."""

    def __post_init__(self) -> None:
        check_int(self, "channel", minimum=0, maximum=15)
        check_int(self, "rotor", minimum=0, maximum=255)
        check_text(self, "servo")
        if not isinstance(self.reversed, bool):
            raise TypeError(f"reversed must be true or false, got {self.reversed!r}")
        check_choice(self, "curve", ("thrust", "speed"))
        if self.rotor is None and not self.servo:
            raise ValueError("rotor is missing: a channel drives a rotor, or a servo")
        if self.rotor is not None and self.servo:
            raise ValueError(
                f"rotor {self.rotor} and servo {self.servo!r} exclude each other: a channel "
                "drives one thing"
            )


def output_conflicts(outputs: Sequence[OutputSpec], rotor_count: int) -> Iterator[str]:
    """What is wrong between the outputs of one vehicle, a line each."""
    channels = [output.channel for output in outputs]
    for channel in sorted(set(channels)):
        if channels.count(channel) > 1:
            yield f"outputs must have different channels: {channel} is given twice or more"
    rotors = [output.rotor for output in outputs if output.rotor is not None]
    for index, output in enumerate(outputs):
        if output.rotor is not None and output.rotor >= rotor_count:
            yield (
                f"outputs.{index}.rotor {output.rotor} is none of the {rotor_count} rotors, "
                f"which count from 0 to {rotor_count - 1}"
            )
    for rotor in range(rotor_count) if outputs else ():
        if rotors.count(rotor) != 1:
            yield (
                f"outputs must drive each of the rotors once: rotor {rotor} is driven "
                f"{rotors.count(rotor)} times"
            )
    servos = [output.servo for output in outputs if output.servo]
    for servo in sorted(set(servos)):
        if servos.count(servo) > 1:
            yield f"outputs must have different servos: {servo!r} is given twice or more"
