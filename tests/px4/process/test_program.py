"""Where a `px4` is found, and what is said of one that is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ghost.core import ConfigError, MissingDependency
from ghost.px4.program import (
    GAZEBO_IMAGE,
    SIMULATOR_IMAGE,
    check_version,
    find_px4,
    missing_px4_screen,
)
from tests.px4.process.standins import write_px4


def test_the_path_given_comes_first_then_px4_bin_then_path(tmp_path: Path) -> None:
    given, named, on_path = (write_px4(tmp_path / name) for name in ("given", "named", "path"))
    environ = {"PX4_BIN": str(named), "PATH": f"/nowhere:{on_path.parent}"}
    found = find_px4(str(given), environ)
    assert (found.binary, found.found_by) == (given, "autopilot.binary")
    found = find_px4("", environ)
    assert (found.binary, found.found_by) == (named, "PX4_BIN")
    found = find_px4("", {"PATH": environ["PATH"], "PX4_BIN": ""})
    assert (found.binary, found.found_by) == (on_path, "PATH")
    assert found.etc == tmp_path / "path" / "etc"
    assert found.version == "v1.17.0"


def test_the_environment_of_this_process_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = write_px4(tmp_path / "build")
    monkeypatch.setenv("PX4_BIN", str(program))
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    for environ in ({}, {"PATH": ""}):
        with pytest.raises(MissingDependency, match=r"docker pull .*PX4_BIN.*autopilot\.binary"):
            find_px4("", environ)


def test_a_folder_means_the_program_in_it(tmp_path: Path) -> None:
    program = write_px4(tmp_path / "PX4" / "build" / "px4_sitl_default")
    for folder in (tmp_path / "PX4", program.parents[1], program.parent):
        assert find_px4(str(folder), {}).binary == program


@pytest.mark.parametrize(
    ("prefix", "etc"),
    [
        ("opt/px4", "opt/px4/etc"),
        ("usr", "usr/share/px4/etc"),
        ("opt/px4-gazebo", "opt/px4-gazebo/etc"),
    ],
)
def test_an_installed_px4_is_found_through_a_link(tmp_path: Path, prefix: str, etc: str) -> None:
    program = write_px4(tmp_path / prefix, version=None)
    if etc != f"{prefix}/etc":
        (tmp_path / etc).parent.mkdir(parents=True)
        (tmp_path / prefix / "etc").rename(tmp_path / etc)
    link = tmp_path / "bin" / "px4"
    link.parent.mkdir()
    link.symlink_to(program)
    found = find_px4("", {"PATH": str(link.parent)})
    assert found.binary == program
    assert found.etc == tmp_path / etc
    assert found.version is None


def test_the_version_is_found_in_the_program_itself(tmp_path: Path) -> None:
    program = write_px4(tmp_path / "build", version=None)
    others = b"v1.6.10-rc1\0v99.1.2\0"
    program.write_bytes(
        b"\x7fELF" + b"\0" * 5000 + others + b"\0v1.17.0-alpha1-12-gabc\0main\0Linux\0GNU GCC\0"
    )
    assert find_px4(str(program), {}).version == "v1.17.0-alpha1-12-gabc"


def test_models_are_those_of_the_airframes_it_has(tmp_path: Path) -> None:
    found = find_px4(str(write_px4(tmp_path / "build")), {})
    assert found.model_of(10016) == "none_iris"
    assert found.model_of(4001) == "gz_x500"
    with pytest.raises(ConfigError, match="no airframe 100:") as caught:
        found.model_of(100)
    assert caught.value.key == "autopilot.airframe"


def test_what_is_no_px4_is_refused_with_the_reason(tmp_path: Path) -> None:
    program = write_px4(tmp_path / "build")
    firmware = tmp_path / "px4_fmu-v6x.px4"
    firmware.write_text('{"board_id": 53}')
    firmware.chmod(0o755)
    (tmp_path / "empty").mkdir()
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    other = tmp_path / "bin" / "other"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    for path, reason in (
        (tmp_path / "none" / "px4", "does not exist"),
        (tmp_path / "empty", "is a folder without bin/px4 in it"),
        (plain, f"is not executable: chmod \\+x {plain}"),
        (firmware, "is not a program"),
        (other, "no init.d-posix/rcS in any of"),
    ):
        for key, given, environ in (
            ("autopilot.binary", str(path), {}),
            ("PX4_BIN", "", {"PX4_BIN": str(path)}),
        ):
            with pytest.raises(ConfigError, match=reason) as caught:
                find_px4(given, environ)
            assert caught.value.key == key
            assert str(path) in str(caught.value)
    assert find_px4(str(program), {})


@pytest.mark.parametrize("version", ["v1.13.3", "1.12.0-rc1", "v0.99.1"])
def test_a_px4_that_is_too_old_is_refused(tmp_path: Path, version: str) -> None:
    text = rf"this PX4 is {version}, but Ghost needs v1\.14 or newer"
    with pytest.raises(ConfigError, match=text):
        find_px4(str(write_px4(tmp_path / "build", version=version)), {})
    with pytest.raises(ConfigError, match=text) as caught:
        check_version(version, "autopilot.image")
    assert caught.value.key == "autopilot.image"


@pytest.mark.parametrize("version", ["v1.14.0", "1.14.3", "v1.18.0-beta2", "v2.0.0", "main", None])
def test_a_new_or_unknown_px4_passes(version: str | None) -> None:
    check_version(version)


@pytest.mark.parametrize(
    ("link", "image"), [("simulator", SIMULATOR_IMAGE), ("gz_bridge", GAZEBO_IMAGE)]
)
def test_the_screen_fits_and_names_every_way(link: str, image: str) -> None:
    screen = missing_px4_screen("px4_hover", link=link)
    lines = screen.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 100
    for part in (
        f"docker pull {image}",
        f"ghost run px4_hover --set autopilot.image={image}",
        "docs.px4.io",
        "export PX4_BIN=",
        "--set autopilot.binary=",
        "autopilot: {binary: /path/to/px4}",
    ):
        assert part in screen
    assert ":latest" not in screen
