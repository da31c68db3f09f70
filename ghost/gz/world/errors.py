"""What can go wrong with a stepped world."""

from __future__ import annotations

from collections.abc import Iterable

from ghost.core import BackendLost, ConfigError, GhostError

__all__ = ["EntityRefused", "LockstepLost", "StepMismatch", "TwoServers"]


class LockstepLost(BackendLost):
    """The server lives, but its clock is not where our steps put it.

    Somebody else plays, steps, seeks or resets the world. `WorldControl.attach()` or `reset()`
    starts anew from wherever the clock is.
    """


class TwoServers(ConfigError):
    """Two server processes answer to the names of one world: one would be stepped, one heard."""

    def __init__(self, world: str, addresses: Iterable[str]) -> None:
        self.world = world
        self.addresses = tuple(sorted(addresses))
        super().__init__(
            f"{len(self.addresses)} servers run a world {world!r}, at "
            f"{' and '.join(self.addresses)}; stop all but one, or give each its own GZ_PARTITION"
        )


class StepMismatch(ConfigError):
    """The world's own step is not the one that the caller steps by."""


class EntityRefused(GhostError):
    """The server did not create, remove or move an entity, or never showed it."""
