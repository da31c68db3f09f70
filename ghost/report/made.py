"""How a recording was made, as far as the file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ghost.config import spec_from_dict
from ghost.core import ConfigError, ScenarioSpec
from ghost.recording import LogInfo

__all__ = ["Made"]


@dataclass(frozen=True, slots=True)
class Made:
    """Where a recording comes from. Texts are empty and numbers None where the file is silent."""

    path: str
    file_bytes: int
    finished: bool
    library: str
    scenario: str
    description: str
    vehicle: str
    backend: str
    autopilot: str
    seed: int | None
    digest: str
    outcome: str
    ghost: str
    python: str
    platform: str
    packages: Mapping[str, str]
    dropped: int
    """Messages that the recorder lost; an event tells of each time."""
    spec: ScenarioSpec | None
    """The scenario itself, if the file holds one that this Ghost understands."""
    result: Mapping[str, Any]
    """All that the recorder wrote at the end."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, info: LogInfo) -> Made:
        """Read it from the header and the end of a recording."""
        header, result, notes = info.header, info.result, list(info.notes)
        spec = None
        scenario = header.get("scenario")
        if isinstance(scenario, Mapping):
            try:
                spec = spec_from_dict(scenario)
            except ConfigError as error:
                notes.append(f"the scenario inside is not understood: {error}")
        fields = scenario if isinstance(scenario, Mapping) else {"name": scenario}
        vehicle = fields.get("vehicle", header.get("vehicle"))
        if isinstance(vehicle, Mapping):
            vehicle = vehicle.get("name")
        packages = {**_texts(header.get("engines")), **_texts(header.get("packages"))}
        dropped = result.get("dropped")
        return cls(
            path=info.path,
            file_bytes=info.file_bytes,
            finished=info.finished,
            library=info.library,
            scenario=_text(fields.get("name")),
            description=_text(fields.get("description")),
            vehicle=_text(vehicle),
            backend=_text(header.get("backend")),
            autopilot=_text(header.get("autopilot") or result.get("autopilot")),
            seed=_whole(header.get("seed", fields.get("seed"))),
            digest=_text(_of_result(result, "digest")),
            outcome=_text(_of_result(result, "outcome")),
            ghost=_text(header.get("ghost")),
            python=_text(header.get("python")),
            platform=_text(header.get("platform")),
            packages=packages,
            dropped=_whole(dropped) or 0,
            spec=spec,
            result=result,
            notes=tuple(dict.fromkeys(notes)),
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, without the scenario itself."""
        return {
            "scenario": self.scenario or None,
            "description": self.description or None,
            "vehicle": self.vehicle or None,
            "backend": self.backend or None,
            "seed": self.seed,
            "digest": self.digest or None,
            "outcome": self.outcome or None,
            "dropped": self.dropped,
            "ghost": self.ghost or None,
            "python": self.python or None,
            "platform": self.platform or None,
            "packages": dict(self.packages),
            "library": self.library or None,
        }


def _of_result(result: Mapping[str, Any], name: str) -> Any:
    """The value itself, or that of the whole account of the run stored under `run`."""
    inner = result.get("run")
    if name not in result and isinstance(inner, Mapping):
        return inner.get(name)
    return result.get(name)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {str(key): str(item) for key, item in value.items()}
