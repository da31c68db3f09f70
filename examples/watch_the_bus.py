"""Run a shipped scenario and listen to it: events, and how far GNSS is from the truth at most."""

import numpy as np

from ghost.config import load_scenario
from ghost.core import Envelope, Event, MessageBus
from ghost.hal import GroundTruth, SensorSample
from ghost.runtime import run_scenario

bus = MessageBus()
latest: dict[str, np.ndarray] = {"gps": np.zeros(3)}
errors_m = [0.0]


def on_gps(envelope: Envelope) -> None:
    sample = envelope.payload
    assert isinstance(sample, SensorSample)
    latest["gps"] = sample.payload.enu_local_m


def on_truth(envelope: Envelope) -> None:
    truth = envelope.payload
    assert isinstance(truth, GroundTruth)
    if truth.stamp_sim_ns > 1_000_000_000:
        errors_m.append(float(np.linalg.norm(latest["gps"] - truth.pos_enu_m)))


def on_event(envelope: Envelope) -> None:
    event = envelope.payload
    assert isinstance(event, Event)
    print(f"{event.stamp_sim_ns / 1e9:6.2f} s  {event.type.value}: {event.message}")


bus.subscribe("/sensors/gps0", on_gps)
bus.subscribe("/ground_truth", on_truth)
bus.subscribe("/events", on_event)
result = run_scenario(load_scenario("hover"), seed=3, bus=bus)
print(f"{result.steps} steps, GNSS within {max(errors_m):.0f} m of the truth")
