"""Fly the motor commands of a recorded Gazebo flight in our worlds and report the differences.

python tools/parity_report.py            print the report
python tools/parity_report.py --write    write it to docs/backends/parity.md

Gazebo itself is among the worlds where `gz` is on the PATH; elsewhere its part of the report stays
as it was written last.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ghost.config import load_vehicle
from ghost.core import GhostError, InitialState, ScenarioSpec, SensorConfig
from ghost.hal import MotorCommand, SimulationBackend
from ghost.hal.frames import q_conjugate, q_multiply, q_rotate
from ghost.runtime import make_backend

ROOT = Path(__file__).resolve().parents[1]
CAPTURE = ROOT / "tests" / "data" / "gz_open_loop.jsonl.gz"
REPORT = ROOT / "docs" / "backends" / "parity.md"
BACKENDS = ("embedded", "pybullet")
GAZEBO = "gazebo"
STEP_NS = 4_000_000
"""Step of the recorded world."""
MODEL_ORIGIN_M = (0.0, 0.0, -0.24)
"""The recorded odometry is that of the model frame, here in the body frame."""
RELEASE_M = 20.0
"""Height of the model frame at the start."""
TABLE_S = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 6.812)


class Row(NamedTuple):
    """One recorded step."""

    t_ns: int
    cmd_rad_s: tuple[float, ...]
    accel_mps2: tuple[float, float, float]
    gyro_rps: tuple[float, float, float]
    pos_enu_m: tuple[float, float, float] | None
    q_enu_flu: tuple[float, float, float, float] | None


class Apart(NamedTuple):
    """The largest differences from the release to `t_s`."""

    t_s: float
    position_m: float
    attitude_deg: float
    accel_mps2: float
    """Of any one axis of the accelerometer."""
    gyro_rps: float


def read_capture(path: Path = CAPTURE) -> list[Row]:
    """The recorded steps, in order."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [
        Row(
            record["t_ns"],
            tuple(record["cmd_rad_s"]),
            tuple(record["accel_mps2"]),
            tuple(record["gyro_rps"]),
            None if record["pos_enu_m"] is None else tuple(record["pos_enu_m"]),
            None if record["q_enu_flu"] is None else tuple(record["q_enu_flu"]),
        )
        for record in records
    ]


def parity_scenario(duration_ns: int) -> ScenarioSpec:
    """The recorded world: the x500, in the air, an ideal IMU, one physics step a step."""
    vehicle = replace(
        load_vehicle("x500"), sensors=(SensorConfig(id="imu0", type="imu", rate_hz=250.0),)
    )
    return ScenarioSpec(
        name="parity",
        vehicle=vehicle,
        duration_ns=duration_ns,
        step_ns=STEP_NS,
        physics_step_ns=STEP_NS,
        initial=InitialState(pos_enu_m=(0.0, 0.0, RELEASE_M - MODEL_ORIGIN_M[2])),
    )


def fly(backend: SimulationBackend, rows: Sequence[Row]) -> list[Apart]:
    """Fly the recorded commands at MOTOR level; one entry per step."""
    scenario = parity_scenario(rows[-1].t_ns)
    backend.reset(scenario, seed=0)
    top = scenario.vehicle.motor.max_rad_s
    worst = Apart(0.0, 0.0, 0.0, 0.0, 0.0)
    curve = []
    for row in rows:
        thrust = np.array([(speed / top) ** 2 for speed in row.cmd_rad_s])
        ack = backend.actuators().send(MotorCommand(thrust), backend.clock.now_ns())
        if not ack.accepted:
            raise RuntimeError(f"command refused at {row.t_ns} ns: {ack.detail}")
        backend.step(STEP_NS)
        (sample,) = backend.sensors()["imu0"].poll()
        if sample.stamp_sim_ns != row.t_ns:
            raise RuntimeError(f"sample of {sample.stamp_sim_ns} ns where {row.t_ns} ns is due")
        imu = sample.payload
        position, attitude = _pose_errors(backend, row)
        worst = Apart(
            row.t_ns * 1e-9,
            max(worst.position_m, position),
            max(worst.attitude_deg, attitude),
            max(worst.accel_mps2, _largest(imu.accel_mps2.tolist(), row.accel_mps2)),
            max(worst.gyro_rps, _largest(imu.gyro_rps.tolist(), row.gyro_rps)),
        )
        curve.append(worst)
    return curve


def _largest(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True))


def _pose_errors(backend: SimulationBackend, row: Row) -> tuple[float, float]:
    """Distance (m) and angle (deg) between the model frames; zero where none was recorded."""
    truth = backend.ground_truth()
    if truth is None or row.pos_enu_m is None or row.q_enu_flu is None:
        return 0.0, 0.0
    w, x, y, z = truth.q_enu_flu.tolist()
    offset = q_rotate((w, x, y, z), MODEL_ORIGIN_M)
    model = [a + b for a, b in zip(truth.pos_enu_m.tolist(), offset, strict=True)]
    error = q_multiply(q_conjugate(row.q_enu_flu), (w, x, y, z))
    angle = 2.0 * math.atan2(math.hypot(*error[1:]), abs(error[0]))
    return math.dist(model, row.pos_enu_m), math.degrees(angle)


def at(curve: Sequence[Apart], t_s: float) -> Apart:
    """The entry of a time."""
    return curve[round(t_s * 1e9 / STEP_NS) - 1]


def table(curve: Sequence[Apart]) -> list[str]:
    """The curve as a Markdown table."""
    lines = [
        "| up to (s) | position (mm) | attitude (deg) | accelerometer (m/s²) | gyroscope (rad/s) |",
        "|---:|---:|---:|---:|---:|",
    ]
    for t_s in TABLE_S:
        apart = at(curve, t_s)
        lines.append(
            f"| {t_s:g} | {apart.position_m * 1e3:.4f} | {apart.attitude_deg:.6f} | "
            f"{apart.accel_mps2:.2e} | {apart.gyro_rps:.2e} |"
        )
    return lines


def gazebo_version() -> str | None:
    """The version of Gazebo Sim on this machine, None if there is none."""
    gz = shutil.which("gz")
    if gz is None:
        return None
    done = subprocess.run(
        [gz, "sim", "--versions"], capture_output=True, text=True, timeout=60, check=False
    )
    lines = done.stdout.split()
    return lines[0] if done.returncode == 0 and lines else None


def section_of(page: str, name: str) -> list[str]:
    """The lines of a section as it stands in the page, without its title; empty if it is none."""
    part = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0].partition("\nWhat is left")[0]
    return part.strip().splitlines()


def report(curves: dict[str, list[Apart]], version: str | None, old: str) -> str:
    """The whole page. Without a Gazebo of this `version`, its part is taken from the `old` page."""
    lines = [
        "# How far our worlds are from Gazebo",
        "",
        "A noise-free x500 was released at 20 m in Gazebo Sim 8.14 and its motors were commanded",
        "open loop: hover, roll doublet, pitch doublet, yaw pulse (`tests/data/README.md`). Here",
        "the same motor speeds fly the shipped `x500` through the public face of each backend:",
        "MOTOR level, one 4 ms physics step a step, ideal IMU. Each line is the largest difference",
        "from the release up to that time; the flight ends just before the ground. Nothing",
        "corrects the flight on the way, so the figures grow.",
        "",
        "Written by `python tools/parity_report.py --write`; a test flies it again and compares.",
    ]
    for name, curve in curves.items():
        if name != GAZEBO:
            lines += ["", f"## {name}", "", *table(curve)]
    if GAZEBO in curves:
        gazebo = [
            f"Gazebo Sim {version} with our own model, stepped by the `gazebo` backend. The",
            "recording was made with PX4's model, of the same figures.",
            "",
            *table(curves[GAZEBO]),
        ]
    else:
        gazebo = section_of(old, GAZEBO)
    if gazebo:
        lines += ["", f"## {GAZEBO}", "", *gazebo]
    lines += [
        "",
        "What is left in the worlds of Ghost is the inertia of Gazebo's slowly turning two-blade",
        "propellers, which Ghost averages over a turn, so that it shows in roll and pitch and not",
        "in the hover before.",
    ]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {REPORT.relative_to(ROOT)}")
    parser.add_argument("--backend", action="append", help="only this one; may be repeated")
    arguments = parser.parse_args(argv)
    rows = read_capture()
    curves = {}
    version = gazebo_version()
    chosen = arguments.backend or [*BACKENDS, *([GAZEBO] if version else [])]
    for name in chosen:
        backend = make_backend(name)
        try:
            curves[name] = fly(backend, rows)
        finally:
            backend.shutdown()
    old = REPORT.read_text(encoding="utf-8") if REPORT.is_file() else ""
    text = report(curves, version, old)
    if arguments.write:
        REPORT.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except GhostError as error:
        sys.exit(str(error))
