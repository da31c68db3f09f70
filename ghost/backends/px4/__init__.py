"""PX4 in the loop: a world that PX4 flies, whatever world it is."""

from ghost.backends.px4.backend import Px4Backend

__all__ = ["Px4Backend"]
