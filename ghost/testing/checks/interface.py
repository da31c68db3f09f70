"""Checks of the shape: signatures, capabilities, specs, frozen messages (HAL spec §2, §6)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any, cast, get_origin, get_type_hints

from ghost.hal import (
    ActuatorSink,
    CommandAck,
    SensorProvider,
    SimulationBackend,
)
from ghost.testing.contract import SEED, Check, ConformanceFailure, Subject, check, require
from ghost.testing.flight import best_level, valid_command

__all__ = ["CHECKS"]


def _compare(owner: object, protocol: type, name: str) -> None:
    cls = type(owner)
    did = f"compared {cls.__name__}.{name} with {protocol.__name__}.{name}"
    mine = inspect.getattr_static(cls, name, None)
    theirs = inspect.getattr_static(protocol, name)
    if isinstance(theirs, property):
        require(
            hasattr(owner, name) and not callable(getattr(cls, name, None)),
            did,
            "it is not a property" if mine is not None else "it is missing",
            f"make {name} a property",
        )
        return
    if mine is None or not callable(getattr(owner, name, None)):
        raise ConformanceFailure(did, "it is missing or no method", f"add the method {name}")
    got = list(inspect.signature(getattr(owner, name)).parameters.values())
    wanted = list(inspect.signature(theirs).parameters.values())[1:]
    text = f"({', '.join(map(str, got))}) instead of ({', '.join(map(str, wanted))})"
    fix = f"declare {name} exactly as {protocol.__name__} does"
    require(
        [(p.name, p.kind, p.default) for p in got] == [(p.name, p.kind, p.default) for p in wanted],
        did,
        f"the parameters are {text}",
        fix,
    )
    mine_hints, their_hints = _hints(getattr(owner, name)), _hints(theirs)
    for parameter in wanted:
        have = mine_hints.get(parameter.name, Any)
        require(
            have in (Any, object) or have == their_hints.get(parameter.name),
            did,
            f"the parameter {parameter.name} is annotated {have}",
            fix,
        )


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations of a function, generics reduced to their origin; {} if they cannot be resolved.

    An annotation that exists for type checkers only is theirs to judge.
    """
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError):
        return {}
    return {name: get_origin(hint) or hint for name, hint in hints.items()}


@check(
    contract="C-HAL-1",
    spec="HAL spec §2",
    asks="a simulated world has the members of SimulationBackend, parameters and order included",
)
def signatures_match_the_protocols(subject: Subject) -> None:
    """Compare the backend, its sink and each provider with the protocols."""
    with subject.started() as bench:
        backend = bench.backend
        for name in ("reset", "step", "shutdown", "clock", "sensors", "actuators", "ground_truth"):
            _compare(backend, SimulationBackend, name)
        _compare(backend.actuators(), ActuatorSink, "send")
        for provider in backend.sensors().values():
            for name in ("poll", "subscribe", "health"):
                _compare(provider, SensorProvider, name)


@check(
    contract="C-HAL-1",
    spec="HAL spec §2",
    asks="every call works by keyword, with the parameter names of the specification",
)
def every_call_works_by_keyword(subject: Subject) -> None:
    """Call reset, step, send, subscribe, schedule and schedule_periodic by keyword."""
    with subject.started() as bench:
        backend = bench.backend
        did = "called every method with its arguments by keyword"
        try:
            backend.reset(seed=SEED, scenario=subject.scenario)
            for provider in backend.sensors().values():
                provider.subscribe(cb=lambda _sample: None).unsubscribe()
            backend.clock.schedule(at_ns=0, cb=lambda: None).cancel()
            backend.clock.schedule_periodic(
                period_ns=subject.scenario.step_ns, cb=lambda: None, phase_ns=0
            ).cancel()
            backend.step(dt_ns=subject.scenario.step_ns)
            levels = backend.capabilities.actuator_levels
            if levels:
                command = valid_command(best_level(levels), subject.scenario)
                ack = backend.actuators().send(stamp_ns=bench.now_ns, cmd=command)
                require(
                    isinstance(ack, CommandAck),
                    did,
                    f"send() returned {ack!r}",
                    "return a CommandAck from send()",
                )
        except TypeError as error:
            raise ConformanceFailure(
                did, f"TypeError: {error}", "name the parameters as the protocol does"
            ) from error


@check(
    contract="C-HAL-10",
    spec="HAL spec §3.4, D11",
    asks="every message is a frozen dataclass; a field cannot be set or added after construction",
)
def messages_are_frozen(subject: Subject) -> None:
    """Try to set and to add a field on one of each kind of message."""
    with subject.started() as bench:
        report = bench.step()
        gathered = bench.run(0.25)
        messages: list[object] = [
            report,
            bench.backend.capabilities,
            bench.backend.actuators().spec,
        ]
        messages += [samples[0] for samples in gathered.values() if samples]
        messages += [samples[0].payload for samples in gathered.values() if samples]
        messages += [samples[0].meta for samples in gathered.values() if samples]
        truth = bench.backend.ground_truth()
        messages += [] if truth is None else [truth]
        levels = bench.backend.capabilities.actuator_levels
        if levels:
            messages.append(bench.send(valid_command(best_level(levels), subject.scenario)))
        for message in messages:
            _must_be_frozen(message)


def _must_be_frozen(message: object) -> None:
    name = type(message).__name__
    fix = "make it a @dataclass(frozen=True, slots=True)"
    require(is_dataclass(message), f"looked at a {name}", "it is no dataclass", fix)
    field = fields(cast("Any", message))[0].name
    for key in (field, "added_by_the_check"):
        try:
            setattr(message, key, None)
        except (FrozenInstanceError, AttributeError, TypeError):
            continue
        raise ConformanceFailure(f"set {name}.{key}", "it was accepted", fix)
    for item in fields(cast("Any", message)):
        value = getattr(message, item.name)
        if isinstance(value, Mapping):
            require(
                not hasattr(value, "__setitem__"),
                f"looked at {name}.{item.name}",
                f"it is a {type(value).__name__}, which can be changed",
                "make it a MappingProxyType",
            )


CHECKS: tuple[Check, ...] = (
    signatures_match_the_protocols,
    every_call_works_by_keyword,
    messages_are_frozen,
)
