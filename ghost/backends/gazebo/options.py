"""How the backend finds its world: the settings behind `--set gz.…`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from ghost.core import ConfigError, UnknownName
from ghost.gz.transport import TransportOptions

__all__ = ["GazeboOptions"]

_KEYS = (
    "transport",
    "attach",
    "model",
    "deadline_s",
    "image_deadline_s",
    "reset",
    "topic.<sensor>",
)


@dataclass(frozen=True, slots=True)
class GazeboOptions:
    """Everything that is not of the scenario. All have defaults: a server of our own."""

    transport: str = "wire"
    """`wire` (ours) or `bindings` (the official Python ones)."""
    attach: str | None = None
    """A running world to attach to; None: start `gz sim -s` with the scenario's world."""
    model: str | None = None
    """The model to fly in an attached world; None: `ghost_<vehicle>`."""
    deadline_s: float = 10.0
    """How long the server may be silent within a step or a reset before it is lost."""
    image_deadline_s: float = 2.0
    """How long an image may be late before the sensor is DEGRADED."""
    reset: str = "world"
    """`world` (a reset of the running world, milliseconds) or `restart` (a fresh server)."""
    topics: Mapping[str, str] = field(default_factory=dict)
    """Sensor id to topic, where a world does not follow Gazebo's names."""
    network: TransportOptions = field(default_factory=TransportOptions)
    """Used to attach; a server of our own gets a partition of its own on the same address."""

    def __post_init__(self) -> None:
        if self.transport not in ("wire", "bindings"):
            raise ConfigError(
                f"expected wire or bindings, got {self.transport!r}", key="gz.transport"
            )
        if self.reset not in ("world", "restart"):
            raise ConfigError(f"expected world or restart, got {self.reset!r}", key="gz.reset")
        if self.reset == "restart" and self.attach is not None:
            raise ConfigError(
                "a server that is attached to is not ours to restart; leave out gz.reset or "
                "gz.attach",
                key="gz.reset",
            )
        for name in ("deadline_s", "image_deadline_s"):
            value = getattr(self, name)
            if not 0.0 < value < float("inf"):
                raise ConfigError(f"must be a finite time above 0, got {value!r}", key=f"gz.{name}")

    @classmethod
    def parse(cls, settings: Mapping[str, str], environ: Mapping[str, str]) -> Self:
        """From the texts of the command line (without their `gz.`) and the environment.

        Raises `UnknownName` for a key that does not exist and `ConfigError` for a bad value.
        """
        values: dict[str, Any] = {}
        topics: dict[str, str] = {}
        for key, value in settings.items():
            if key.startswith("topic."):
                topics[key.removeprefix("topic.")] = value
            elif key in ("deadline_s", "image_deadline_s"):
                values[key] = _seconds(key, value)
            elif key in ("transport", "attach", "model", "reset"):
                values[key] = value
            else:
                raise UnknownName("setting", f"gz.{key}", [f"gz.{known}" for known in _KEYS])
        return cls(topics=topics, network=TransportOptions.from_environ(environ), **values)


def _seconds(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ConfigError(f"expected seconds, got {value!r}", key=f"gz.{key}") from None
