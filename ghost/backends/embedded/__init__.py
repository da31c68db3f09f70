"""The embedded world (MuJoCo)."""

from ghost.backends.embedded.backend import EmbeddedBackend
from ghost.backends.embedded.rendering import rendering_status

__all__ = ["EmbeddedBackend", "rendering_status"]
