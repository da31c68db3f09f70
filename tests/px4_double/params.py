"""The autopilot's parameters: PX4's names, types and defaults, preset from the environment."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["INT32", "Params", "REAL32"]

INT32, REAL32 = 6, 9
_PREFIX = "PX4_PARAM_"

# What the start script sets for every airframe the double knows. NAV_DLL_ACT is 2 there for 4001
# only; the double asks everybody for a ground station, which is the stricter manner.
_AIRFRAME: dict[str, float] = {
    "NAV_DLL_ACT": 2,
    "CA_ROTOR_COUNT": 4,
}


class Params:
    """Values by name. Integers stay within 32 bits, floats have single precision."""

    def __init__(
        self,
        environ: Mapping[str, str],
        instance: int,
        complain: Callable[[str], None],
        *,
        hover: float,
    ) -> None:
        self._types: dict[str, int] = {}
        self._values: dict[str, float] = {}
        for line in (Path(__file__).parent / "parameters.txt").read_text().splitlines():
            if line.startswith("#"):
                continue
            name, kind, default = line.split()
            self._types[name] = INT32 if kind == "i" else REAL32
            self._values[name] = int(default) if kind == "i" else float(default)
        self.names = list(self._types)
        self._index = {name: index for index, name in enumerate(self.names)}
        preset = {
            **_AIRFRAME,
            "MPC_THR_HOVER": hover,
            "MAV_SYS_ID": instance + 1,
            "SYS_AUTOSTART": float(environ.get("PX4_SYS_AUTOSTART", "0")),
        }
        for name, value in preset.items():
            self.set(name, value)
        for key, text in environ.items():
            if not key.startswith(_PREFIX):
                continue
            name = key.removeprefix(_PREFIX)
            try:
                number = float(text)
            except ValueError:
                complain(f"ERROR [param] failed to set {name}: {text!r} is no number")
                continue
            if not self.set(name, number):
                complain(f"ERROR [param] Parameter {name} not found.")

    def set(self, name: str, value: float) -> bool:
        """Set a parameter; False if PX4 has none of this name."""
        kind = self._types.get(name)
        if kind is None:
            return False
        if kind == INT32:
            self._values[name] = int(value)
        else:
            (self._values[name],) = struct.unpack("<f", struct.pack("<f", value))
        return True

    def set_bytes(self, name: str, kind: int, data: bytes) -> bool:
        """Set a parameter from PARAM_SET's four bytes; False if name or type do not fit."""
        if self._types.get(name) != kind:
            return False
        (value,) = struct.unpack("<i" if kind == INT32 else "<f", data)
        return self.set(name, value)

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def entry(self, name: str) -> tuple[bytes, int, int, bytes, int] | None:
        """The fields of PARAM_VALUE, or None for an unknown name. Integers go byte by byte."""
        kind = self._types.get(name)
        if kind is None:
            return None
        value = self._values[name]
        data = struct.pack("<i", int(value)) if kind == INT32 else struct.pack("<f", value)
        return data, len(self.names), self._index[name], name.encode(), kind
