"""Gazebo Sim, stepped in lockstep over its own transport; needs a server, or `gz` to start one."""

from ghost.backends.gazebo.backend import GazeboBackend
from ghost.backends.gazebo.models import find_world, models_folder
from ghost.backends.gazebo.options import GazeboOptions

__all__ = ["GazeboBackend", "GazeboOptions", "find_world", "models_folder"]
