"""What the test server is told on its command line."""

from __future__ import annotations

import argparse
import pickle
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ghost.config import load_scenario, load_vehicle
from ghost.core import InitialState, ScenarioSpec, SensorConfig, WorldSpec
from ghost.gz.transport import TransportOptions

__all__ = ["BRIDGE_SENSORS", "Faults", "ServerOptions", "parse"]

BRIDGE_SENSORS = (
    SensorConfig("imu_sensor", "imu", 250.0),
    SensorConfig("magnetometer_sensor", "magnetometer", 100.0),
    SensorConfig("air_pressure_sensor", "barometer", 50.0),
    SensorConfig("navsat_sensor", "gps", 30.0),
)
"""What PX4's bridge reads, where the scenario's autopilot flies by it."""


@dataclass(frozen=True)
class Faults:
    """Switches that make the server misbehave. Times are simulated, ns; -1 is never."""

    slow_ms: float = 0.0
    """Every step takes this much longer."""
    mute_at_ns: int = -1
    """From then on nothing is published, though services answer and heartbeats go on."""
    crash_at_ns: int = -1
    """Then the process kills itself, without a bye."""
    crash_on_reset: bool = False
    """The process kills itself when it is asked to reset."""
    double: bool = False
    """Every message is published twice."""
    jump_at_ns: int = -1
    """Then the clock jumps, once, by `jump_ns`."""
    jump_ns: int = 1_000_000_000
    lose_requests: tuple[int, ...] = ()
    """Control requests (counted from 1) that vanish: not done, not answered."""
    lose_replies: tuple[int, ...] = ()
    """Control requests (counted from 1) that are done but not answered."""
    silent_sensor: str = ""
    """The sensor of this id stops at `silent_at_ns`."""
    silent_at_ns: int = 0
    wrong_type: str = ""
    """The sensor of this id publishes `gz.msgs.Double` instead."""


@dataclass(frozen=True)
class ServerOptions:
    """The world, the vehicle in it, and the manners of the server."""

    scenario: ScenarioSpec
    world: str
    model: str
    step_ns: int
    transport: TransportOptions
    layout: str = "ghost"
    """`ghost`: sensors named by id, magnetometer in tesla and ENU, as Ghost's own models have it.
    `px4`: the names of PX4's x500, the magnetometer in gauss and left-handed, and 30 Hz cut to
    33 ms."""
    real_time_factor: float = 0.0
    running: bool = False
    noise: bool = False
    seed: int = 0
    base_link_z_m: float = 0.0
    render_ms: float = 3.0
    faults: Faults = field(default_factory=Faults)

    @property
    def bridge(self) -> bool:
        """Whether PX4's own bridge flies the vehicle."""
        autopilot = self.scenario.autopilot
        return autopilot is not None and autopilot.link == "gz_bridge"


def parse(arguments: list[str] | None = None) -> ServerOptions:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.gz_world_server",
        description="Test equipment: a world that answers like a Gazebo server, moved by Ghost's "
        "embedded physics. Prints 'ready WORLD' when it can be stepped. Not for users.",
    )
    add = parser.add_argument
    add("--scenario", help="a shipped name, a YAML file, or a pickled ScenarioSpec (*.pickle)")
    add("--vehicle", default="x500", help="without --scenario: a shipped name or a YAML file")
    add("--world", help="default: the scenario's world.name, else 'w'")
    add("--model", help="default: ghost_<vehicle>; x500_0 with --layout px4")
    add("--start", type=float, nargs=3, metavar=("E", "N", "U"), help="start position, m")
    add("--step-ns", type=int, help="the world's step; default: the scenario's step_ns")
    add("--layout", choices=("ghost", "px4"), default="ghost")
    add("--partition", required=True)
    add("--ip", default="127.0.0.1")
    add("--real-time-factor", type=float, default=0.0, help="the limiter; 0 is none")
    add("--running", action="store_true", help="start unpaused")
    add("--noise", action="store_true", help="noise that a reset does not seed again")
    add("--seed", type=int, default=0)
    add("--base-link-z", type=float, default=0.0, help="height of base_link in the model, m")
    add("--render-ms", type=float, default=3.0, help="how long the renderer takes for a frame")
    for item in fields(Faults):
        flag = "--" + item.name.replace("_", "-")
        default = item.default
        if isinstance(default, bool):
            add(flag, action="store_true")
        elif isinstance(default, tuple):
            add(flag, type=int, nargs="+", default=())
        else:
            add(flag, type=type(default), default=default)
    told = parser.parse_args(arguments)
    scenario = _scenario(told)
    world = told.world or (scenario.world.name if told.scenario else "w")
    model = told.model or ("x500_0" if told.layout == "px4" else f"ghost_{scenario.vehicle.name}")
    step_ns = told.step_ns or scenario.step_ns
    switches: dict[str, Any] = {item.name: getattr(told, item.name) for item in fields(Faults)}
    for name in ("lose_requests", "lose_replies"):
        switches[name] = tuple(switches[name])
    return ServerOptions(
        # One engine step for each step of the world, as in Gazebo.
        scenario=replace(scenario, step_ns=step_ns, physics_step_ns=step_ns),
        world=world,
        model=model,
        step_ns=step_ns,
        transport=TransportOptions(partition=told.partition, ip=told.ip),
        layout=told.layout,
        real_time_factor=told.real_time_factor,
        running=told.running,
        noise=told.noise,
        seed=told.seed,
        base_link_z_m=told.base_link_z,
        render_ms=told.render_ms,
        faults=Faults(**switches),
    )


def _scenario(told: argparse.Namespace) -> ScenarioSpec:
    if told.scenario and told.scenario.endswith(".pickle"):
        scenario = pickle.loads(Path(told.scenario).read_bytes())
        if not isinstance(scenario, ScenarioSpec):
            raise SystemExit(f"{told.scenario} holds no ScenarioSpec")
    elif told.scenario:
        scenario = load_scenario(told.scenario)
    else:
        scenario = ScenarioSpec(
            "test", load_vehicle(told.vehicle), duration_ns=1, world=WorldSpec(name="w")
        )
    if told.start is not None:
        x, y, z = told.start
        scenario = replace(scenario, initial=InitialState(pos_enu_m=(x, y, z)))
    return scenario
