"""A multirotor as one rigid body: rotors, controller, sensors, and the backend around an engine."""

from ghost.physics.backend import PhysicsBackend
from ghost.physics.engine import Engine, Kinematics
from ghost.physics.lumped import LumpedBody, lump
from ghost.physics.world import rotation_of

__all__ = ["Engine", "Kinematics", "LumpedBody", "PhysicsBackend", "lump", "rotation_of"]
