"""Specifications as plain data and back, so that they can travel in a recording or in `--json`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ghost.config.problems import Mark
from ghost.config.tree import MAX_DEPTH, Node
from ghost.config.validate import validate
from ghost.core import ConfigError, ScenarioSpec, VehicleSpec

__all__ = ["spec_from_dict", "spec_to_dict", "vehicle_from_dict"]


def spec_to_dict(spec: ScenarioSpec | VehicleSpec) -> dict[str, Any]:
    """Every key with its value, defaults included: dicts, lists, text, numbers, booleans, None."""
    data: dict[str, Any] = _listed(dataclasses.asdict(spec))
    return data


def spec_from_dict(data: Mapping[str, Any]) -> ScenarioSpec:
    """The scenario that `spec_to_dict` was given. Raises `ConfigError` as `load_scenario` does."""
    return validate(ScenarioSpec, _tree(data))


def vehicle_from_dict(data: Mapping[str, Any]) -> VehicleSpec:
    """The vehicle that `spec_to_dict` was given. Raises `ConfigError` as `load_vehicle` does."""
    return validate(VehicleSpec, _tree(data))


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_listed(item) for item in value]
    return value


def _tree(value: Any, depth: int = 0) -> Node:
    """Plain data as a tree without places; what JSON could not hold is refused."""
    if depth > MAX_DEPTH:
        raise ConfigError(f"nested more than {MAX_DEPTH} deep: this is no specification")
    if isinstance(value, Mapping):
        return Node(
            {_text(str(key)): _tree(item, depth + 1) for key, item in value.items()}, Mark()
        )
    if isinstance(value, tuple | list):
        return Node([_tree(item, depth + 1) for item in value], Mark())
    if value is not None and not isinstance(value, str | int | float | bool):
        raise ConfigError(f"a specification holds plain data, got {type(value).__name__}")
    if isinstance(value, int) and abs(value) >= 2**128:
        raise ConfigError(f"a number of {value.bit_length()} bits is too long")
    return Node(_text(value) if isinstance(value, str) else value, Mark())


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ConfigError("a lone surrogate (\\uD800-\\uDFFF) is no character") from None
    return value
