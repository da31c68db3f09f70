"""Values that are wrong: file, line, key path, what was found and what was expected."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from ghost.config import ConfigProblems, load_scenario, load_vehicle
from ghost.core import ConfigError

Say = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # times
        (
            "step_ns: 4_000_000",
            "step_ns: 0.004",
            "short.yaml:4: step_ns: expected a whole number of nanoseconds, got 0.004: nanoseconds "
            "are whole numbers; if these are seconds, write 4_000_000",
        ),
        (
            "step_ns: 4_000_000",
            "step_ns: 4.0e6",
            "short.yaml:4: step_ns: expected a whole number of nanoseconds, got 4000000.0: "
            "nanoseconds are whole numbers, write 4_000_000",
        ),
        (
            "step_ns: 4_000_000",
            "step_ns: 4ms",
            "short.yaml:4: step_ns: expected a whole number of nanoseconds, got '4ms': write an "
            "integer of nanoseconds, e.g. 4_000_000",
        ),
        (
            "step_ns: 4_000_000",
            "step_ns: soon",
            "short.yaml:4: step_ns: expected a whole number of nanoseconds, got 'soon', "
            "e.g. 4_000_000 for 4 ms",
        ),
        (
            "step_ns: 4_000_000",
            "step_ns: '4000000'",
            "short.yaml:4: step_ns: expected a whole number of nanoseconds, got '4000000': take "
            "the quotes away",
        ),
        (
            "step_ns: 4_000_000",
            "step_ns: true",
            "short.yaml:4: step_ns: expected a whole number of nanoseconds, got true",
        ),
        (
            "step_ns: 4_000_000",
            "step_ns: -4_000_000",
            "short.yaml:4: step_ns: must be at least 10000 ns, got -4000000",
        ),
        (
            "step_ns: 4_000_000",
            "step_ns: 4_000_001",
            "short.yaml:4: step_ns: 4000001 must be a multiple of physics_step_ns 1000000",
        ),
        (
            "step_ns: 4_000_000",
            "step_ns: 10_000_000_000_000_000_000",
            "short.yaml:4: step_ns: must be at most 9223372036854775807 ns (292 years), "
            "got 10000000000000000000",
        ),
        (
            "step_ns: 4_000_000",
            "step_ms: 4",
            "short.yaml:4: step_ms: unknown key, did you mean 'step_ns', in nanoseconds?",
        ),
        # keys
        (
            "duration_ns",
            "duraton_ns",
            "short.yaml:3: duraton_ns: unknown key, did you mean 'duration_ns', in nanoseconds?",
        ),
        (
            "mass_kg: 1",
            "mass_g: 1000",
            "small.yaml:3: body.mass_g: unknown key, did you mean 'mass_kg', in kilograms?",
        ),
        (
            "    rate_hz: 200",
            "    rate: 200",
            "small.yaml:20: sensors.imu0.rate: unknown key, did you mean 'rate_hz', in hertz?",
        ),
        (
            "faults:",
            "zzz: 1\nfaults:",
            "short.yaml:5: zzz: unknown key, expected one of name, vehicle, duration_ns, step_ns, "
            "physics_step_ns, seed, description, world, initial, faults, plan",
        ),
        (
            "step_ns: 4_000_000",
            "step_ns: 4_000_000\nstep_ns: 2_000_000",
            "short.yaml:5: step_ns: the key is given twice (first on line 4): remove one",
        ),
        ("step_ns: 4", "? [a, b]\n: 4\nstep_ns: 4", "short.yaml:4: a key must be a name, not a"),
        ("name: short\n", "", "short.yaml:1: name: is missing, expected text"),
        ("  mass_kg: 1\n", "", "small.yaml:2: body.mass_kg: is missing, expected a number"),
        ("name: short", "name: ''", "short.yaml:1: name: must not be empty"),
        # numbers
        (
            "mass_kg: 1",
            "mass_kg: '1'",
            "small.yaml:3: body.mass_kg: expected a number, got '1': take the quotes away",
        ),
        (
            "mass_kg: 1",
            "mass_kg: 1 kg",
            "small.yaml:3: body.mass_kg: expected a number, got '1 kg': write the number alone, "
            "in the unit that the key names",
        ),
        ("mass_kg: 1", "mass_kg: true", "small.yaml:3: body.mass_kg: expected a number, got true"),
        (
            "mass_kg: 1",
            "mass_kg:",
            "small.yaml:3: body.mass_kg: expected a number, got nothing (null)",
        ),
        ("mass_kg: 1", "mass_kg: .nan", "small.yaml:3: body.mass_kg: must be finite, got nan"),
        ("mass_kg: 1", "mass_kg: 1e999", "small.yaml:3: body.mass_kg: must be finite, got inf"),
        ("mass_kg: 1", "mass_kg: 0", "small.yaml:3: body.mass_kg: must be at least 1e-09, got 0.0"),
        (
            "[0.3, 0.3, 0.1]",
            "[0.3, 0.3]",
            "small.yaml:5: body.size_m: expected a list of 3 numbers, got 2",
        ),
        (
            "[0.3, 0.3, 0.1]",
            "[0.3, 0.3, 0.1, 4]",
            "small.yaml:5: body.size_m: expected a list of 3 numbers, got 4",
        ),
        (
            "[0.3, 0.3, 0.1]",
            "[0.3, x, 0.1]",
            "small.yaml:5: body.size_m.1: expected a number, got 'x'",
        ),
        (
            "[0.01, 0.01, 0.02]",
            "[0.01, 0.01, 0.03]",
            "small.yaml:4: body.inertia_kgm2: (0.01, 0.01, 0.03) is no body's",
        ),
        (
            "duration_ns: 5_000_000_000",
            "duration_ns: 5_000_000_000\nseed: -1",
            "short.yaml:4: seed: must be within 0..2**64-1, got -1",
        ),
        (
            "duration_ns: 5_000_000_000",
            "duration_ns: 5_000_000_000\nseed: 3.0",
            "short.yaml:4: seed: expected a whole number, got 3.0: write 3",
        ),
        (
            "    rate_hz: 200",
            "    rate_hz: 200\n    queue_size: 0",
            "small.yaml:21: sensors.imu0.queue_size: must be at least 1, got 0",
        ),
        # words and structures
        (
            "direction: ccw}\n  - {pos_m: [-0.1, 0.1",
            "direction: CCW}\n  - {pos_m: [-0.1, 0.1",
            "small.yaml:7: rotors.0.direction: expected one of ccw, cw, got 'CCW'; did you mean "
            "'ccw'?",
        ),
        (
            "type: imu",
            "type: gyro",
            "small.yaml:19: sensors.imu0.type: expected one of imu, rgb, depth, gps, altimeter, "
            "lidar, magnetometer, barometer, optical_flow, event_camera, got 'gyro'",
        ),
        ("name: short", "name: 5", "short.yaml:1: name: expected text, got 5: put it in quotes"),
        (
            "sensors:\n",
            "body_drag: []\nsensors:\n",
            "small.yaml:17: body_drag: expected a mapping of keys to values, got an empty list",
        ),
        (
            "plan:\n  items:",
            "plan:\n  level: velocity\n  items:",
            "short.yaml:10: plan.level: expected one of POSITION, VELOCITY, got 'velocity'; did "
            "you mean 'VELOCITY'?",
        ),
        # the plan: only the chosen action speaks
        (
            "altitude_m: 2",
            "altitude: 2",
            "short.yaml:12: plan.items.0.altitude: unknown key, did you mean 'altitude_m', in "
            "metres?",
        ),
        (
            "action: takeoff",
            "action: take_off",
            "short.yaml:11: plan.items.0.action: expected one of takeoff, goto, hold, velocity, "
            "land, got 'take_off'; did you mean 'takeoff'?",
        ),
        (
            "action: hold\n      for_ns",
            "for_ns",
            "short.yaml:13: plan.items.1.action: is missing, expected one of takeoff, goto, hold, "
            "velocity, land",
        ),
        (
            "    - action: hold\n      for_ns: 1_000_000_000",
            "    - hold",
            "short.yaml:13: plan.items.1: expected a mapping of keys to values, got 'hold'",
        ),
        (
            "altitude_m: 2",
            "altitude_m: 0",
            "short.yaml:12: plan.items.0.altitude_m: must be at least 0.1, got 0.0",
        ),
        # one part against another
        (
            "sensor: imu0",
            "sensor: imu1",
            "short.yaml:7: faults.0.sensor: 'imu1' is not among vehicle.sensors: baro0, imu0",
        ),
        (
            "kind: nan",
            "kind: bias",
            "short.yaml:6: faults.0.value: is missing: a fault of kind bias needs it",
        ),
        (
            "kind: nan",
            "kind: nan\n    value: 3",
            "short.yaml:9: faults.0.value: means nothing for a fault of kind nan: take it out",
        ),
        (
            "kind: nan",
            "kind: drop\n    value: 3",
            "short.yaml:9: faults.0.value: of kind drop is a fraction 0..1, got 3.0",
        ),
        (
            "kind: nan",
            "kind: delay\n    value: 0.5",
            "short.yaml:9: faults.0.value: of kind delay is a whole number of nanoseconds >= 0",
        ),
        (
            "    rate_hz: 200",
            "    rate_hz: 1000",
            "small.yaml:20: sensors.imu0.rate_hz: 1000 is more than a step_ns of 4000000 can give, "
            "250 Hz: make step_ns smaller",
        ),
        (
            "sensors:\n",
            "control: {rate_hz: 2000}\nsensors:\n",
            "small.yaml:17: control.rate_hz: 2000 is above the physics rate 1000 Hz",
        ),
        (
            "plan:\n  items:",
            "plan:\n  command_rate_hz: 500\n  items:",
            "short.yaml:10: plan.command_rate_hz: 500 is more than a step_ns of 4000000 can give",
        ),
        (
            "id: baro0",
            "id: imu0",
            "small.yaml:17: sensors: must have different ids: id 'imu0' is given 2 times",
        ),
        (
            "id: baro0",
            "id: Baro 0",
            "small.yaml:21: sensors.Baro 0.id: must be of a-z, 0-9 and _ with a letter in it",
        ),
        (
            "{pos_m: [-0.1, -0.1, 0], direction: cw}",
            "{pos_m: [-0.1, -0.1, 0], direction: ccw}",
            "small.yaml:6: rotors: must be two ccw and two cw (direction)",
        ),
        (
            "  - {pos_m: [-0.1, -0.1, 0], direction: cw}\n",
            "",
            "small.yaml:6: rotors: must be four (a quadrotor), got 3",
        ),
        (
            "type: imu",
            "type: rgb",
            "small.yaml:18: sensors.imu0.camera: is missing: a sensor of type rgb needs it",
        ),
        (
            "    rate_hz: 200",
            "    rate_hz: 200\n    lidar: {columns: 4, rows: 4}",
            "small.yaml:21: sensors.imu0.lidar: goes with type lidar, and imu0 is of type imu",
        ),
        (
            "    rate_hz: 200",
            "    rate_hz: 200\n    noise:\n      barometer: {}",
            "small.yaml:22: sensors.imu0.noise.barometer: does not fit a sensor of type imu, which "
            "takes noise.imu",
        ),
        (
            "vehicle: small.yaml",
            "vehicle: smal.yaml",
            "short.yaml:2: vehicle: smal.yaml: no such vehicle file; did you mean",
        ),
        (
            "vehicle: small.yaml",
            "vehicle: x50",
            "short.yaml:2: vehicle: unknown vehicle 'x50'; did you mean 'x500'",
        ),
        (
            "vehicle: small.yaml",
            "vehicle: 3",
            "short.yaml:2: vehicle: expected the name of a vehicle, the path of a vehicle file, or "
            "a mapping, got 3",
        ),
        ("vehicle: small.yaml\n", "", "short.yaml:1: vehicle: is missing, expected the name of a"),
        ("name: small\n", "name: [\n", "small.yaml:3: YAML syntax error: "),
    ],
)
def test_one_line_says_it(say: Say, old: str, new: str, expected: str) -> None:
    lines = say((old, new))
    assert len(lines) == 1, lines
    assert lines[0].startswith(expected)


def test_all_problems_of_both_files_are_reported(say: Say) -> None:
    """Range errors behind type errors, items of lists, and conflicts, in one go."""
    assert say(
        ("name: short", "name: 5"),
        ("step_ns: 4_000_000", "step_ms: 4"),
        ("altitude_m: 2", "altitude_m: -2"),
        ("sensor: imu0", "sensor: imu9"),
        ("mass_kg: 1", "mass_kg: heavy"),
        ("size_m: [0.3, 0.3, 0.1]", "size_m: [0.3, 0.3, -0.1]"),
        ("max_rad_s: 1000", "max_rad_s: 0"),
    ) == [
        "short.yaml:1: name: expected text, got 5: put it in quotes",
        "short.yaml:4: step_ms: unknown key, did you mean 'step_ns', in nanoseconds?",
        "short.yaml:7: faults.0.sensor: 'imu9' is not among vehicle.sensors: baro0, imu0",
        "short.yaml:12: plan.items.0.altitude_m: must be at least 0.1, got -2.0",
        "small.yaml:3: body.mass_kg: expected a number, got 'heavy'",
        "small.yaml:5: body.size_m: must be at least 1e-09, got -0.1",
        "small.yaml:14: motor.max_rad_s: must be at least 1e-12, got 0.0",
    ]


def test_a_check_about_a_patched_key_is_not_believed(say: Say) -> None:
    """With `max_range_m` broken, its default must not be held against `min_range_m`."""
    lines = say(
        ("type: barometer\n    rate_hz: 50", "type: depth\n    rate_hz: 10\n    camera: {CAM}"),
        ("CAM", "width: 4, height: 4, hfov_deg: 60, min_range_m: 30, max_range_m: far"),
    )
    assert lines == [
        "small.yaml:24: sensors.baro0.camera.max_range_m: expected a number, got 'far'"
    ]


def test_the_error_carries_the_first_place(folder: Path) -> None:
    text = (folder / "short.yaml").read_text()
    (folder / "short.yaml").write_text(text.replace("4_000_000", "4ms").replace("nan", "nope"))
    with pytest.raises(ConfigProblems) as caught:
        load_scenario("short.yaml")
    error = caught.value
    assert (error.file, error.line, error.key) == ("short.yaml", 4, "step_ns")
    assert len(error.problems) == len(error.errors) == 2
    assert str(error) == f"{error.problems[0]} (and 1 more problem)"
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems


def test_yaml_1_2_words(folder: Path) -> None:
    """What YAML 1.1 would misread: exponents without a dot, leading zeros, sexagesimals, `no`."""
    text = (folder / "small.yaml").read_text()
    text = text.replace("name: small", "name: no\ndescription: 1:30")
    (folder / "small.yaml").write_text(text.replace("rate_hz: 50", "rate_hz: 050"))
    vehicle = load_vehicle("small.yaml")
    assert vehicle.name == "no"
    assert vehicle.description == "1:30"
    assert vehicle.sensors[1].rate_hz == 50.0
    assert vehicle.motor.thrust_coeff == 1e-5


def test_long_values_are_shortened(say: Say) -> None:
    (line,) = say(("mass_kg: 1", f"mass_kg: {'x' * 1000}"))
    assert len(line) < 200
    assert "(1000 characters)" in line


def test_every_error_is_a_config_error() -> None:
    assert issubclass(ConfigProblems, ConfigError)
