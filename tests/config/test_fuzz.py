"""Whatever is done to a file, the loader returns a specification or raises `ConfigError`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost.config import (
    list_scenarios,
    list_vehicles,
    load_scenario,
    load_vehicle,
    problems_of,
    spec_from_dict,
    spec_to_dict,
    vehicle_from_dict,
)
from ghost.core import ConfigError, ScenarioSpec, VehicleSpec

SCENARIOS = [entry.path.read_bytes() for entry in list_scenarios()]
VEHICLES = [entry.path.read_bytes() for entry in list_vehicles()]
WHOLE = [spec_to_dict(load_scenario(entry.name)) for entry in list_scenarios()]

fuzzed = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63, 2**64, -(2**64), 10**30, 10**400])
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["4ms", "1e-6", "imu0", "placeholder", "nan", "x500", ".", "0"])
)
junk = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=6) | st.sampled_from(["id", "action"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def accept(load: Any, *arguments: Any) -> None:
    try:
        spec = load(*arguments)
    except ConfigError as error:
        lines = problems_of(error)
    else:
        assert isinstance(spec, ScenarioSpec | VehicleSpec)
        return
    assert lines
    for line in lines:
        assert line == " ".join(line.split())
        assert 0 < len(line) < 2000


@st.composite
def mutated_bytes(draw: st.DrawFn, originals: list[bytes]) -> bytes:
    data = bytearray(draw(st.sampled_from(originals)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["delete", "insert", "replace", "copy"]))
        length = draw(st.integers(1, 40))
        if kind == "delete":
            del data[at : at + length]
        elif kind == "copy":
            other = draw(st.integers(0, len(data)))
            data[at:at] = data[other : other + length]
        else:
            piece = draw(
                st.binary(min_size=1, max_size=8)
                | st.sampled_from(
                    [
                        b"[",
                        b"{",
                        b"}",
                        b"]",
                        b":",
                        b"\t",
                        b"&a ",
                        b"*a",
                        b"!!x ",
                        b"- ",
                        b"\n",
                        b'"',
                        b"---\n",
                    ]
                )
                | st.sampled_from(
                    [b"<<: ", b"? ", b"|\n", b">\n", b"%YAML 1.1\n", b"\\u", b"#", b"\x00"]
                )
            )
            data[at : at + (length if kind == "replace" else 0)] = piece
    return bytes(data)


@given(content=mutated_bytes(SCENARIOS))
@fuzzed
def test_bytes_of_scenarios(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "fuzzed.yaml"
    path.write_bytes(content)
    accept(load_scenario, path)


@given(content=mutated_bytes(VEHICLES))
@fuzzed
def test_bytes_of_vehicles(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "fuzzed.yaml"
    path.write_bytes(content)
    accept(load_vehicle, path)


@given(content=st.binary(max_size=200))
@fuzzed
def test_random_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "fuzzed.yaml"
    path.write_bytes(content)
    accept(load_scenario, path)


@st.composite
def mutated_data(draw: st.DrawFn) -> Any:
    """A whole valid scenario with a few values deleted, doubled, renamed or replaced by junk."""
    data = yaml.safe_load(yaml.safe_dump(draw(st.sampled_from(WHOLE))))
    for _ in range(draw(st.integers(1, 5))):
        node: Any = data
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(node[key], dict | list) and node[key] and draw(st.integers(0, 3)):
                node = node[key]
                continue
            kind = draw(st.sampled_from(["delete", "junk", "double"]))
            if kind == "delete":
                del node[key]
            elif kind == "junk":
                node[key] = draw(junk)
            elif isinstance(node, dict):
                node[draw(st.text(max_size=4)) + key] = node[key]
            else:
                node.append(node[key])
            break
    return data


@given(data=mutated_data())
@fuzzed
def test_structure(data: Any) -> None:
    accept(spec_from_dict, data)
    vehicle = data.get("vehicle")
    if isinstance(vehicle, dict):
        accept(vehicle_from_dict, vehicle)


@given(
    path=st.lists(
        st.sampled_from(
            ["vehicle", "sensors", "imu0", "0", "1", "body", "noise", "imu", "accel", "bias"]
        )
        | st.sampled_from(["plan", "items", "action", "world", "origin", "faults", "seed"])
        | st.sampled_from(["step_ns", "pos_enu_m", "initial"])
        | st.text(max_size=3),
        min_size=1,
        max_size=7,
    ),
    value=st.sampled_from(
        ["1", "-1", "1e-6", "x500", "[]", "{}", "[1, 2, 3]", "null", "land", "4ms"]
    )
    | st.text(max_size=6),
)
@fuzzed
def test_overrides(path: list[str], value: str) -> None:
    accept(load_scenario, "sensor_faults", [f"{'.'.join(path)}={value}"])


@pytest.mark.parametrize("name", [entry.name for entry in list_scenarios()])
def test_every_single_deletion(name: str) -> None:
    """Each key and item taken out in turn: accepted or refused, never a crash."""
    whole = spec_to_dict(load_scenario(name))

    def walk(node: Any) -> None:
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            kept = node[key]
            if isinstance(node, dict):
                del node[key]
                accept(spec_from_dict, whole)
            node[key] = "x"
            accept(spec_from_dict, whole)
            node[key] = kept
            if isinstance(kept, dict | list):
                walk(kept)

    for part in ("plan", "faults", "world", "autopilot"):
        walk(whole[part] or {})
    walk(whole["vehicle"]["outputs"])
