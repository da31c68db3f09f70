"""The loop of the HAL: step, poll, send. Climbs at 1 m/s and counts what the sensors say."""

import numpy as np

from ghost.config import load_scenario
from ghost.hal import VelocityCommand
from ghost.runtime import make_backend

scenario = load_scenario("hover")
with make_backend("embedded") as backend:
    backend.reset(scenario, seed=42)
    clock, actuators = backend.clock, backend.actuators()
    climb = VelocityCommand(vel_enu_mps=np.array([0.0, 0.0, 1.0]))
    counts: dict[str, int] = dict.fromkeys(sorted(backend.sensors()), 0)
    while clock.now_ns() < 4_000_000_000:
        backend.step(scenario.step_ns)
        for sensor_id, provider in backend.sensors().items():
            counts[sensor_id] += len(provider.poll())
        ack = actuators.send(climb, clock.now_ns())
        if not ack.accepted:
            raise SystemExit(ack.detail)

    truth = backend.ground_truth()
    print(counts)
    if backend.capabilities.has_ground_truth and truth is not None:
        print(f"after {clock.now_ns() / 1e9:.0f} s: {truth.pos_enu_m[2]:.1f} m")
