"""How fast the embedded world runs, beside rotorpy stepping the same quadrotor.

    python benchmarks/bench_embedded.py [--rounds N] [--seconds S] [--backend NAME] [--json]

Ours is the whole loop of `ghost run`, on one thread: 1 kHz physics, IMU 250 Hz, barometer,
magnetometer, GNSS and altimeter with their noise, VELOCITY commands at 250 Hz through the cascaded
controller, every message on the bus (with one subscriber to all sensors) and in the digest.

rotorpy's is its physics and its SE3 controller at 1 kHz with the same mass, inertia, rotors and
drag, and nothing else: no sensors, no log.

The two take turns within a round, so that a busy machine slows both, and the ratio is the median
over the rounds of the ratio within each. `rtf` is simulated time over wall time, `rtf_cpu` over
this process's processor time, which other programs on the machine do not lengthen.

At the end, what one frame of the ray-cast sensors costs (depth camera 320x240, LiDAR 360x16).
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ghost.config import load_vehicle
from ghost.core import (
    CameraSpec,
    FlightPlan,
    GoTo,
    Hold,
    InitialState,
    LidarSpec,
    MessageBus,
    ScenarioSpec,
    SensorConfig,
    VehicleSpec,
)
from ghost.physics import lump
from ghost.runtime import ScenarioRun, make_backend

try:
    from rotorpy.controllers.quadrotor_control import SE3Control
    from rotorpy.vehicles.multirotor import Multirotor
except ImportError:
    raise SystemExit('rotorpy is not installed: pip install -e ".[bench]"') from None

STEP_S = 1e-3
ROTORPY_PART = 0.05
"""Share of the simulated time that rotorpy gets: it is that much slower."""
GOAL_M = (2.0, 1.0, 3.0)


@dataclass(frozen=True)
class Round:
    """One turn each."""

    rtf: float
    rtf_cpu: float
    rotorpy_rtf: float
    ratio: float


@dataclass(frozen=True)
class Frame:
    """One frame of a ray-cast sensor."""

    sensor: str
    rays: int
    ms: float


def scenario(seconds: float) -> ScenarioSpec:
    """A short way and a long hover, commanded at VELOCITY level 250 times a second."""
    return ScenarioSpec(
        name="benchmark",
        vehicle=load_vehicle("x500"),
        duration_ns=round(seconds * 1e9),
        initial=InitialState(pos_enu_m=(0.0, 0.0, 3.0)),
        plan=FlightPlan(
            items=(GoTo(pos_enu_m=GOAL_M), Hold(for_ns=10**13)),
            level="VELOCITY",
            command_rate_hz=250.0,
        ),
    )


def run_ghost(backend: str, spec: ScenarioSpec) -> tuple[float, float]:
    """Wall and processor seconds of one run."""
    bus = MessageBus()
    heard = [0]

    def listen(_envelope: object) -> None:
        heard[0] += 1

    bus.subscribe("/sensors/*", listen)
    world = make_backend(backend)
    try:
        run = ScenarioRun(world, spec, backend_name=backend, bus=bus)
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        result = run.execute()
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
    finally:
        world.shutdown()
    if heard[0] != sum(result.samples.values()):
        raise RuntimeError(f"{heard[0]} messages heard of {sum(result.samples.values())}")
    if math.dist(result.final_pos_enu_m or (math.nan,) * 3, GOAL_M) > 0.2:
        raise RuntimeError(f"the vehicle ended at {result.final_pos_enu_m}, not at {GOAL_M}")
    return wall_s, cpu_s


def rotorpy_parameters(vehicle: VehicleSpec) -> dict[str, Any]:
    """The same quadrotor in rotorpy's terms."""
    whole = lump(vehicle)
    motor = vehicle.motor
    return {
        "mass": whole.mass_kg,
        **dict(zip(("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz"), whole.inertia_kgm2, strict=True)),
        "num_rotors": len(vehicle.rotors),
        "rotor_radius": 0.1,
        "rotor_pos": {
            f"r{i}": np.array(rotor.pos_m) - np.array(whole.com_m)
            for i, rotor in enumerate(vehicle.rotors, start=1)
        },
        # Its sign is that of the torque on the body, which is against the rotation.
        "rotor_directions": np.array([-rotor.sign for rotor in vehicle.rotors]),
        "rI": np.zeros(3),
        **dict.fromkeys(("c_Dx", "c_Dy", "c_Dz", "k_z", "k_h", "k_flap"), 0.0),
        "k_eta": motor.thrust_coeff,
        "k_m": motor.thrust_coeff * motor.moment_ratio,
        "k_d": motor.drag_coeff,
        "tau_m": motor.time_constant_up_s,
        "rotor_speed_min": 0.0,
        "rotor_speed_max": motor.max_rad_s,
        "motor_noise_std": 0.0,
    }


def run_rotorpy(vehicle: VehicleSpec, seconds: float) -> float:
    """Wall seconds of `seconds` simulated, from a hover to a set-point 10 cm away."""
    parameters = rotorpy_parameters(vehicle)
    hover = math.sqrt(vehicle.mass_kg * 9.81 / (4.0 * vehicle.motor.thrust_coeff))
    state = {
        "x": np.zeros(3),
        "v": np.zeros(3),
        "q": np.array([0.0, 0.0, 0.0, 1.0]),
        "w": np.zeros(3),
        "wind": np.zeros(3),
        "rotor_speeds": np.full(4, hover),
    }
    world = Multirotor(parameters, state)
    controller = SE3Control(parameters)
    flat = {
        "x": np.array([0.1, 0.0, 0.0]),
        **{name: np.zeros(3) for name in ("x_dot", "x_ddot", "x_dddot", "x_ddddot")},
        "yaw": 0.0,
        "yaw_dot": 0.0,
    }
    steps = round(seconds / STEP_S)
    begin = time.perf_counter()
    for i in range(steps):
        state = world.step(state, controller.update(i * STEP_S, state, flat), STEP_S)
    wall_s = time.perf_counter() - begin
    if not np.linalg.norm(state["x"] - flat["x"]) < 0.15:
        raise RuntimeError(f"rotorpy's vehicle is at {state['x']}: its parameters are wrong")
    return wall_s


def compare(backend: str, rounds: int, seconds: float) -> list[Round]:
    """Both in turns, after one short turn each to warm up."""
    spec = scenario(seconds)
    run_ghost(backend, scenario(5.0))
    run_rotorpy(spec.vehicle, 0.05)
    done = []
    for _ in range(rounds):
        wall_s, cpu_s = run_ghost(backend, spec)
        theirs = ROTORPY_PART * seconds / run_rotorpy(spec.vehicle, ROTORPY_PART * seconds)
        done.append(Round(seconds / wall_s, seconds / cpu_s, theirs, seconds / wall_s / theirs))
    return done


def frames(backend: str) -> list[Frame]:
    """What one frame costs: the time of a step with it due, less that of a step without."""
    depth = SensorConfig(id="depth0", type="depth", rate_hz=10.0, camera=CameraSpec(320, 240, 80.0))
    lidar = SensorConfig(id="lidar0", type="lidar", rate_hz=10.0, lidar=LidarSpec(360, 16))
    spec = scenario(10.0)
    bare = _steps(backend, replace(spec, vehicle=replace(spec.vehicle, sensors=())))
    found = []
    for name, sensor, rays in (("depth 320x240", depth, 76_800), ("lidar 360x16", lidar, 5_760)):
        vehicle = replace(spec.vehicle, sensors=(sensor,))
        found.append(
            Frame(name, rays, 1e3 * (_steps(backend, replace(spec, vehicle=vehicle)) - bare))
        )
    return found


def _steps(backend: str, spec: ScenarioSpec) -> float:
    """Median seconds of 0.1 s simulated."""
    world = make_backend(backend)
    world.reset(spec, 0)
    times = []
    for _ in range(12):
        begin = time.perf_counter()
        world.step(100_000_000)
        times.append(time.perf_counter() - begin)
    world.shutdown()
    return statistics.median(times)


def summary(rounds: Sequence[Round]) -> dict[str, float]:
    """Medians over the rounds, and the best round of ours."""
    middle: Callable[[str], float] = lambda name: statistics.median(  # noqa: E731 - a short name
        getattr(entry, name) for entry in rounds
    )
    return {
        "rtf": middle("rtf"),
        "rtf_best": max(entry.rtf for entry in rounds),
        "rtf_cpu": middle("rtf_cpu"),
        "rotorpy_rtf": middle("rotorpy_rtf"),
        "ratio": middle("ratio"),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=20.0, help="simulated seconds a round")
    parser.add_argument("--backend", default="embedded")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rounds = compare(arguments.backend, arguments.rounds, arguments.seconds)
    figures = summary(rounds)
    sights = frames(arguments.backend)
    if arguments.json:
        print(
            json.dumps(
                {
                    "backend": arguments.backend,
                    "seconds": arguments.seconds,
                    **figures,
                    "rounds": [asdict(entry) for entry in rounds],
                    "frames": [asdict(entry) for entry in sights],
                },
                indent=2,
            )
        )
        return
    print(f"{arguments.backend}, {arguments.seconds:g} s simulated a round, {len(rounds)} rounds")
    print(f"  real-time factor         {figures['rtf']:7.1f}   best {figures['rtf_best']:.1f}")
    print(f"  ... of processor time    {figures['rtf_cpu']:7.1f}")
    print(f"  rotorpy                  {figures['rotorpy_rtf']:7.2f}")
    print(f"  ratio                    {figures['ratio']:7.1f}")
    for sight in sights:
        print(f"  one frame of {sight.sensor:14s} {sight.ms:7.1f} ms ({sight.rays} rays)")


if __name__ == "__main__":
    main()
