"""Writes docs/config.md, the reference of scenario and vehicle files, from the dataclasses.

    python tools/make_config_reference.py           write it
    python tools/make_config_reference.py --check   exit 1 if it is not up to date

The text of a key is the docstring below its field; a field without one is an error.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ghost.config.schema import (  # noqa: E402  # after the path of the checkout is set
    default_of,
    describe,
    fields_of,
    is_mapping_type,
    item_type,
    literal_words,
    tagged_union,
    tuple_length,
    without_none,
)
from ghost.core import ScenarioSpec, VehicleSpec  # noqa: E402  # as above

OUTPUT = ROOT / "docs" / "config.md"

INTRO = """# Scenario and vehicle files

<!-- Written by tools/make_config_reference.py from the dataclasses in ghost/core. Edit those. -->

A scenario file describes one run, a vehicle file what flies in it; both are YAML. `ghost scenarios`
lists those that ship with Ghost, `ghost check FILE` checks one of yours. Wherever a scenario or
vehicle is asked for, `hover` is the name of a shipped one, while `hover.yaml` and `my/hover` are
paths. In a scenario file, `vehicle:` is a name, a path relative to that file, or the whole vehicle
as a mapping.

- **Time** is a whole number of nanoseconds, in every key that ends in `_ns`. `4_000_000` is 4 ms.
- **Units** are in the names: `_m`, `_kg`, `_deg`, `_mps` (metres per second), `_rps` (radians per
  second), `_t` (tesla), `_pa` (pascal). World axes are ENU (east, north, up), body axes FLU
  (forward, left, up).
- **Words** mean what YAML 1.2 says: `true` and `false` are booleans, `yes` and `on` are text,
  `1e-6` is a number. Anchors, aliases and tags are not accepted.
- **Mistakes** are reported all at once, one line each:
  `file:line: key.path: what is wrong, what was expected`. An unknown key is a mistake.

Single values are replaced with `--set key.path=value`, any number of times. The value is YAML;
items of a list are named by number, sensors also by their id:

```
ghost run square --set vehicle=racer --set plan.items.2.speed_mps=4
ghost run hover --set vehicle.sensors.imu0.rate_hz=125 --set 'world.wind_enu_mps=[3, 0, 0]'
```

"""


def field_texts(cls: type) -> dict[str, str]:
    """Docstring below each field of a dataclass."""
    body = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(body, ast.ClassDef)
    texts: dict[str, str] = {}
    for statement, following in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
            and isinstance(following.value.value, str)
        ):
            texts[statement.target.id] = " ".join(following.value.value.split())
    return texts


def link(cls: type) -> str:
    return f"[{cls.__name__}](#{cls.__name__.lower()})"


def type_text(hint: Any, key: str) -> str:
    """What a value looks like, for the table."""
    hint = without_none(hint)
    if literal_words(hint):
        return " or ".join(f"`{word}`" for word in literal_words(hint))
    if tagged_union(hint):
        return ", ".join(link(cls) for cls in tagged_union(hint).values())
    if is_mapping_type(hint):
        return link(hint)
    if item_type(hint) is not None and tuple_length(hint) is None:
        return f"list of {type_text(item_type(hint), key)}"
    text = describe(hint, key).removeprefix("a ")
    return "ns" if text == "whole number of nanoseconds" else text


def default_text(cls: type, name: str) -> str:
    """The default as one would write it."""
    value = default_of(cls, name)
    if value is None:
        return "none"
    if dataclasses.is_dataclass(value):
        return "its defaults"
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    if isinstance(value, tuple):
        return f"`[{', '.join(f'{item:g}' for item in value)}]`"
    if isinstance(value, int):
        return f"`{value:_}`"
    return f"`{value}`" if value != "" else "empty"


def below(cls: type) -> list[type]:
    """The dataclasses that the fields of one refer to, in order."""
    found: list[type] = []
    for field in fields_of(cls).values():
        hint = without_none(field.hint)
        hint = without_none(item_type(hint)) if item_type(hint) is not None else hint
        found += tagged_union(hint).values() or ([hint] if is_mapping_type(hint) else [])
    return found


def section(cls: type) -> str:
    texts = field_texts(cls)
    missing = [name for name in fields_of(cls) if name not in texts]
    if missing:
        raise SystemExit(f"{cls.__module__}.{cls.__name__}: no docstring below {missing}")
    lines = [f"## {cls.__name__}", "", inspect.cleandoc(cls.__doc__ or ""), ""]
    lines += ["| key | value | default | |", "|---|---|---|---|"]
    for name, field in fields_of(cls).items():
        default = "**required**" if field.required else default_text(cls, name)
        kind = type_text(field.hint, name)
        if name == "action":
            default = "**required**"
        if field.hint is VehicleSpec:
            kind = f"name, path or {kind}"
        cells = [f"`{name}`", kind, default, texts[name]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def render() -> str:
    """The whole page."""
    order: list[type] = []

    def visit(cls: type) -> None:
        if cls not in order:
            order.append(cls)
            for other in below(cls):
                visit(other)

    vehicle: list[type] = []
    visit(VehicleSpec)
    vehicle, order = order, []
    visit(ScenarioSpec)
    scenario = [cls for cls in order if cls not in vehicle]
    return INTRO + "\n".join(section(cls) for cls in [*scenario, *vehicle])


def main(arguments: list[str]) -> int:
    text = render()
    if arguments == ["--check"]:
        if OUTPUT.exists() and OUTPUT.read_text("utf-8") == text:
            return 0
        print(f"{OUTPUT.name} is not up to date: run python tools/{Path(__file__).name}")
        return 1
    if arguments:
        print(__doc__)
        return 2
    OUTPUT.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
