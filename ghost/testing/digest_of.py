"""The digest of a short flight, here or in another process.

`python -m ghost.testing.digest_of` reads an `Order`, pickled, on standard input and writes the
digest on standard output. Only `two_processes_agree` starts it, with an order that it made itself.
"""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from ghost.core import ConfigError, ScenarioSpec
from ghost.hal import RunDigest, SimulationBackend
from ghost.testing.bench import Bench
from ghost.testing.flight import manoeuvre

__all__ = ["Order", "flight_digest", "load_maker"]


@dataclass(frozen=True, slots=True)
class Order:
    """What to fly."""

    import_path: str
    """`package.module:Class`."""
    scenario: ScenarioSpec
    seed: int
    seconds: float


def load_maker(import_path: str) -> Callable[[], SimulationBackend]:
    """Import what `package.module:Class` names. Raises `ConfigError` if the form is wrong."""
    module, colon, name = import_path.partition(":")
    if not colon or not module or not name:
        raise ConfigError(f"a backend is named package.module:Class, got {import_path!r}")
    found = getattr(importlib.import_module(module), name, None)
    if found is None:
        raise ConfigError(f"the module {module} has no {name}")
    return cast("Callable[[], SimulationBackend]", found)


def flight_digest(
    make: Callable[[], SimulationBackend], scenario: ScenarioSpec, seed: int, seconds: float
) -> str:
    """Fly a manoeuvre; return the digest of every sample, truth and ack in order."""
    backend = make()
    try:
        backend.reset(scenario=scenario, seed=seed)
        bench = Bench(backend, scenario)
        levels = backend.capabilities.actuator_levels
        trace = bench.trace(seconds, manoeuvre(bench) if levels else None)
    finally:
        backend.shutdown()
    run = RunDigest()
    for item in trace.items:
        run.update(item)
    return run.hexdigest()


def main() -> None:
    """Answer one order."""
    order = pickle.loads(sys.stdin.buffer.read())
    if not isinstance(order, Order):
        raise ConfigError(f"expected a pickled Order on standard input, got {type(order).__name__}")
    make = load_maker(order.import_path)
    sys.stdout.write(flight_digest(make, order.scenario, order.seed, order.seconds) + "\n")


if __name__ == "__main__":
    # Run as a module this file is __main__, while the order was pickled with its importable name:
    # take `main` from there, so that both mean the same class.
    from ghost.testing.digest_of import main as imported_main

    imported_main()
