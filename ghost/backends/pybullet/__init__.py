"""The PyBullet world: the same vehicle, sensors and controller as the embedded one (an extra)."""

from ghost.backends.pybullet.backend import PyBulletBackend

__all__ = ["PyBulletBackend"]
