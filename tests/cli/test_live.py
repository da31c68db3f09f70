"""`ghost run --live` on the command line; the protocol is tested in tests/report."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("foxglove")

Ghost = Callable[..., Any]


def test_it_says_where_it_listens_and_holds_real_time(ghost: Ghost, scenario: Path) -> None:
    answer = ghost("run", scenario, "--duration", "400ms", "--json", "--live", 0)
    assert answer.code == 0
    assert re.search(r"^ghost: live on ws://127\.0\.0\.1:\d+: ", answer.err)
    assert answer.json["real_time_factor"] < 1.1
    free = ghost("run", scenario, "--duration", "400ms", "--json")
    assert answer.json["digest"] == free.json["digest"]


def test_rtf_and_host(ghost: Ghost, scenario: Path) -> None:
    options = ("--live", 0, "--live-host", "localhost", "--rtf", 4, "--json")
    answer = ghost("run", scenario, "--duration", "400ms", *options)
    assert answer.code == 0
    assert "ws://localhost:" in answer.err


def test_a_port_in_use(ghost: Ghost, scenario: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answer = ghost("run", scenario, "--live", taken.getsockname()[1])
    assert answer.code == 2
    (line,) = answer.err.splitlines()
    assert "in use" in line
    assert "another port" in line


@pytest.mark.parametrize("port", ["65536", "hover", "1.5"])
def test_what_is_no_port(ghost: Ghost, scenario: Path, port: str) -> None:
    answer = ghost("run", scenario, "--live", port)
    assert answer.code == 2
    assert "--live" in answer.err


def test_a_host_alone_means_nothing(ghost: Ghost, scenario: Path) -> None:
    answer = ghost("run", scenario, "--live-host", "0.0.0.0")
    assert answer.code == 2
    assert "--live only" in answer.err


def test_without_the_sdk(ghost: Ghost, scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "foxglove", None)
    answer = ghost("run", scenario, "--live")
    assert answer.code == 2
    assert 'pip install "ghost-hal[live]"' in answer.err
