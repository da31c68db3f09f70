"""Ghost: one loop for every drone world (embedded physics, Gazebo with PX4, a log, a Pixhawk)."""

__all__ = ["__version__"]

__version__ = "0.1.0"
