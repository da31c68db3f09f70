"""Ghost: one loop for every drone world (embedded physics, PyBullet, Gazebo, recordings)."""

__all__ = ["__version__"]

__version__ = "0.1.0"
