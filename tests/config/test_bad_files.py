"""Files that are no configuration: each gets one clear line with its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ghost.config import check_file, load_scenario, load_vehicle
from ghost.core import ConfigError, UnknownName


def says(path: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_scenario(path)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "bad.yaml: is empty, expected a scenario"),
        (b"# nothing but this\n", "bad.yaml: is empty, expected a scenario"),
        (
            b"- a\n- b\n",
            "bad.yaml:1: expected a mapping of keys to values at the top, got a list of 2",
        ),
        (
            b"hello\n",
            "bad.yaml:1: expected a mapping of keys to values at the top, got 'hello'",
        ),
        (b"name: a\nseed: [1\nx: 2\n", "bad.yaml:3: YAML syntax error: "),
        (b"name: a\n\tseed: 1\n", "bad.yaml:2: YAML syntax error: "),
        (b"name: a\nseed: b: c\n", "bad.yaml:2: YAML syntax error: mapping values are not allowed"),
        (b'name: "\\UFFFFFFFF"\n', "bad.yaml: YAML syntax error: "),
        (b'name: "\\uD800"\n', "bad.yaml:1: a lone surrogate"),
        (
            b"name: a\n# gr\xfcn\n",
            "bad.yaml:2: is not UTF-8 text: byte 0xfc at offset 12; save it as UTF-8",
        ),
        ("name: a\n".encode("utf-16"), "bad.yaml:1: is not UTF-8 text: byte 0xff at offset 0"),
        (b"name: a\nx: \x00\n", "bad.yaml:2: character U+0000 is not allowed in YAML"),
        (b"name: a\n---\nname: b\n", "bad.yaml:2: a second document ('---') begins here"),
        (b"x: &a [1]\ny: *a\n", "bad.yaml:1: anchors ('&name') are not supported"),
        (b"x: *a\n", "bad.yaml:1: the alias '*a' is not supported"),
        (
            b"name: a\nx: !!python/object:os.system echo\n",
            "bad.yaml:2: the tag 'tag:yaml.org,2002:python/object:os.system' is not supported",
        ),
        (b"[" * 100_000, "bad.yaml:1: nested more than 40 deep"),
        (b"x: " + b"9" * 5000, "bad.yaml:1: a number of 5000 digits is too long"),
        (b"x: [" + b"1," * 60_000 + b"]", "bad.yaml:1: more than 50000 values"),
        (b"#" * (50 * 1024 * 1024), "bad.yaml: is larger than 4 MiB: this is no scenario file"),
    ],
)
def test_content(folder: Path, content: bytes, expected: str) -> None:
    (folder / "bad.yaml").write_bytes(content)
    assert says("bad.yaml").startswith(expected)


def test_a_bomb_of_aliases_is_refused_at_its_first_anchor(folder: Path) -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    (folder / "bomb.yaml").write_text("\n".join(lines))
    assert says("bomb.yaml").startswith("bomb.yaml:1: anchors ('&name') are not supported")


def test_syntax_error_has_line_and_column(folder: Path) -> None:
    (folder / "bad.yaml").write_text("name: a\nseed: b: c\n")
    with pytest.raises(ConfigError) as caught:
        load_scenario("bad.yaml")
    assert caught.value.file == "bad.yaml"
    assert caught.value.line == 2
    assert "(column 8)" in str(caught.value)


@pytest.mark.usefixtures("folder")
def test_missing_file_suggests_its_neighbour() -> None:
    assert says("shrt.yaml") == "shrt.yaml: no such scenario file; did you mean 'short.yaml'?"
    assert says("other/a.yaml") == "other/a.yaml: no such scenario file: there is no folder 'other'"


def test_directory(folder: Path) -> None:
    (folder / "dir.yaml").mkdir()
    (folder / "plain").mkdir()
    assert says("dir.yaml") == "dir.yaml: is a directory, expected a scenario file (YAML)"
    assert says("plain") == "plain: is a directory, expected a scenario file or name"


def test_pipe_does_not_block(folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")
    assert says("pipe.yaml") == "pipe.yaml: is not a regular file, expected a scenario file"


@pytest.mark.parametrize("name", ["a\0b.yaml", "x" * 5000 + ".yaml", "a\0b", "x" * 5000])
@pytest.mark.usefixtures("folder")
def test_impossible_paths(name: str) -> None:
    text = says(name)
    assert "no such scenario file" in text or "unknown scenario" in text or "cannot read" in text


@pytest.mark.usefixtures("folder")
def test_unknown_scenario_lists_nearest_and_all() -> None:
    with pytest.raises(UnknownName) as caught:
        load_scenario("hoover")
    text = str(caught.value)
    assert text.startswith("unknown scenario 'hoover'; did you mean 'hover' or 'px4_hover'?")
    for name in ("all_sensors", "hover", "imu_only_1khz", "sensor_faults", "square"):
        assert name in text


@pytest.mark.usefixtures("folder")
def test_unknown_vehicle() -> None:
    with pytest.raises(UnknownName, match="unknown vehicle 'x5000'; did you mean 'x500'"):
        load_vehicle("x5000")


def test_names_and_paths(folder: Path) -> None:
    """A folder or an extension makes it a path; else an existing file, else a shipped name."""
    assert load_scenario("short.yaml").name == "short"
    assert load_scenario(folder / "short.yaml").vehicle.name == "small"
    assert load_scenario("hover").name == "hover"
    (folder / "mine").write_text((folder / "short.yaml").read_text())
    assert load_scenario("mine").name == "short"
    (folder / "hover").mkdir()
    assert load_scenario("hover").name == "hover"


def test_vehicle_path_is_relative_to_the_scenario_file(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "a.yaml").write_text(
        (folder / "short.yaml").read_text().replace("small.yaml", "../small.yaml")
    )
    assert load_scenario("sub/a.yaml").vehicle.name == "small"


def test_check_file_tells_the_kinds_apart(folder: Path) -> None:
    assert check_file("short.yaml").kind == "scenario"
    assert check_file("small.yaml").kind == "vehicle"
    (folder / "other.yaml").write_text("name: a\nfoo: 1\n")
    with pytest.raises(
        ConfigError, match=r"other.yaml: is neither a scenario .* its keys: foo, name"
    ):
        check_file("other.yaml")
    (folder / "other.yaml").write_text("[]")
    with pytest.raises(ConfigError, match=r"other.yaml:1: expected a mapping"):
        check_file("other.yaml")


def test_check_file_reports_all_problems_of_a_vehicle(folder: Path) -> None:
    text = (folder / "small.yaml").read_text()
    (folder / "small.yaml").write_text(
        text.replace("mass_kg: 1", "mass_g: 1000").replace("type: imu", "type: IMU")
    )
    with pytest.raises(ConfigError) as caught:
        check_file("small.yaml")
    assert str(caught.value) == (
        "small.yaml:3: body.mass_g: unknown key, did you mean 'mass_kg', in kilograms? "
        "(and 1 more problem)"
    )
