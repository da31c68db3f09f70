"""Checks of what a backend says of itself: capabilities and specs (HAL spec §6)."""

from __future__ import annotations

from ghost.hal import (
    HAL_PROTOCOL_VERSION,
    PAYLOAD_TYPES,
    ActuatorLevel,
    Capabilities,
)
from ghost.testing.contract import Check, Subject, check, require

__all__ = ["CHECKS"]


@check(
    contract="C-HAL-2",
    spec="HAL spec §9",
    asks="capabilities.hal_version equals HAL_PROTOCOL_VERSION",
)
def hal_version_is_ours(subject: Subject) -> None:
    """Compare the version that the backend declares with the one of the library."""
    with subject.started() as bench:
        version = bench.backend.capabilities.hal_version
        require(
            version == HAL_PROTOCOL_VERSION,
            "read capabilities.hal_version",
            f"it is {version!r}, the library's is {HAL_PROTOCOL_VERSION}",
            "declare HAL_PROTOCOL_VERSION, and follow docs/contracts when it is raised",
        )


@check(
    contract="C-HAL-3",
    spec="HAL spec §7",
    asks="sensors() holds exactly the ids of capabilities.sensor_ids, the same objects for the "
    "whole run, each under its own id",
)
def capabilities_match_observed(subject: Subject) -> None:
    """Compare declared and observed sensors, at the start and after 50 steps."""
    with subject.started() as bench:
        declared = bench.backend.capabilities.sensor_ids
        first = dict(bench.backend.sensors())
        did = "compared capabilities.sensor_ids with sensors()"
        missing, extra = set(declared) - set(first), set(first) - set(declared)
        require(
            not missing and not extra and len(set(declared)) == len(declared),
            did,
            f"declared but absent: {sorted(missing)}; present but undeclared: {sorted(extra)}; "
            f"declared: {list(declared)}",
            "build capabilities.sensor_ids from the providers of the run",
        )
        for sid, provider in first.items():
            require(
                provider.spec.sensor_id == sid and provider.spec.payload_type in PAYLOAD_TYPES,
                did,
                f"the provider under {sid!r} says it is {provider.spec!r}",
                "give each provider the spec of its own sensor, its type one of PAYLOAD_TYPES",
            )
        for _ in range(50):
            bench.step()
        later = bench.backend.sensors()
        require(
            set(later) == set(first) and all(later[sid] is first[sid] for sid in first),
            "called sensors() again after 50 steps",
            "the providers are not the same objects",
            "make the providers in reset() and keep them for the run",
        )


@check(
    contract="C-HAL-71",
    spec="sensor spec §4",
    asks="rates, latencies and frames of the sensors come from the vehicle, not from code",
)
def specs_come_from_the_vehicle(subject: Subject) -> None:
    """Compare each provider's spec with the scenario's sensor of that id."""
    configs = {sensor.id: sensor for sensor in subject.scenario.vehicle.sensors}
    with subject.started() as bench:
        for sid, provider in bench.backend.sensors().items():
            spec = provider.spec
            did = f"compared the spec of {sid} with the vehicle's"
            fix = "build SensorSpec from the vehicle's SensorConfig"
            require(sid in configs, did, f"the vehicle has only {sorted(configs)}", fix)
            config = configs[sid]
            have = (spec.payload_type, spec.nominal_rate_hz, spec.frame_id, spec.latency_ns)
            want = (config.type, config.rate_hz, config.frame, config.latency_ns)
            require(have == want, did, f"it says {have}, the vehicle {want}", fix)


@check(
    contract="C-HAL-6",
    spec="HAL spec §3.8",
    asks="capabilities is a Capabilities that does not change while a run lasts",
)
def capabilities_do_not_change(subject: Subject) -> None:
    """Read the capabilities at the start and after 50 steps."""
    with subject.started() as bench:
        before = bench.backend.capabilities
        require(
            isinstance(before, Capabilities),
            "read capabilities",
            f"it is a {type(before).__name__}",
            "make it a ghost.hal.Capabilities",
        )
        for _ in range(50):
            bench.step()
        after = bench.backend.capabilities
        require(
            after == before,
            "read capabilities at the start and after 50 steps",
            f"it was {before!r} and became {after!r}",
            "compute it in reset() and leave it alone",
        )
        armable = bool(before.extensions.get("armable"))
        can_arm = all(callable(getattr(bench.backend, n, None)) for n in ("arm", "disarm"))
        can_arm = can_arm and isinstance(getattr(bench.backend, "armed", None), bool)
        require(
            can_arm or not armable,
            "read capabilities.extensions['armable']",
            "it is set, but the backend has no arm(), disarm() and armed",
            "implement Armable or do not declare it",
        )
        reports = bool(before.extensions.get("reports"))
        require(
            not reports or callable(getattr(bench.backend, "reports", None)),
            "read capabilities.extensions['reports']",
            "it is set, but the backend has no reports()",
            "implement Reporting or do not declare it",
        )


@check(
    contract="C-HAL-4",
    spec="D14",
    asks="the sink's spec.levels and capabilities.actuator_levels name the same levels",
)
def sink_and_capabilities_agree(subject: Subject) -> None:
    """Compare the two places that name the levels."""
    with subject.started() as bench:
        declared = bench.backend.capabilities.actuator_levels
        spec = bench.backend.actuators().spec
        require(
            set(declared) == set(spec.levels)
            and len(set(declared)) == len(declared)
            and all(isinstance(level, ActuatorLevel) for level in declared),
            "compared capabilities.actuator_levels with actuators().spec.levels",
            f"{list(declared)} and {list(spec.levels)}",
            "take both from one place",
        )
        if ActuatorLevel.MOTOR in declared:
            require(
                spec.motor_count == len(subject.scenario.vehicle.rotors),
                "read actuators().spec.motor_count",
                f"it is {spec.motor_count}, the vehicle has {len(subject.scenario.vehicle.rotors)}",
                "take it from the vehicle",
            )


CHECKS: tuple[Check, ...] = (
    hal_version_is_ours,
    capabilities_match_observed,
    specs_come_from_the_vehicle,
    capabilities_do_not_change,
    sink_and_capabilities_agree,
)
