"""All checks, by subject, in the order in which they are run and reported."""

from __future__ import annotations

from ghost.testing.checks import (
    actuators,
    capabilities,
    delivery,
    determinism,
    faults,
    interface,
    lifecycle,
    physics,
    ranging,
    rates,
    refusals,
    sensors,
    stepping,
    time,
    truth,
)
from ghost.testing.contract import Check

__all__ = ["ALL_CHECKS"]

ALL_CHECKS: tuple[Check, ...] = (
    *interface.CHECKS,
    *capabilities.CHECKS,
    *lifecycle.CHECKS,
    *time.CHECKS,
    *stepping.CHECKS,
    *determinism.CHECKS,
    *sensors.CHECKS,
    *delivery.CHECKS,
    *rates.CHECKS,
    *faults.CHECKS,
    *actuators.CHECKS,
    *refusals.CHECKS,
    *truth.CHECKS,
    *physics.CHECKS,
    *ranging.CHECKS,
)
