"""`ghost gz` on a test server: what it prints, what it does, and how it fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ghost.gz.msgs import Boolean, gz_type
from ghost.gz.transport import Node, open_node
from tests.gz_world_server.launch import ServerProcess, random_partition

if TYPE_CHECKING:
    from tests.cli.conftest import Answer, Ghost

Gz = Callable[..., "Answer"]

LINK = "/world/w/model/ghost_x500/link/base_link/sensor"


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    """One server for all; a test that changes its time resets it."""
    with ServerProcess() as process:
        yield process


@pytest.fixture
def gz(ghost: Ghost, server: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> Gz:
    """Runs `ghost gz ARGS…` in the server's partition."""
    monkeypatch.setenv("GZ_PARTITION", server.partition)
    monkeypatch.delenv("GZ_IP", raising=False)
    return lambda *args: ghost("gz", *args)


@pytest.fixture
def node(server: ServerProcess) -> Iterator[Node]:
    """A peer in the server's partition."""
    with open_node(server.transport) as made:
        yield made


def test_topics_and_services_are_listed(gz: Gz) -> None:
    answer = gz("topics", "clock")
    assert answer.code == 0
    assert "/world/w/clock" in answer.out
    assert "gz.msgs.Clock" in answer.out
    assert "stats" not in answer.out
    rows = gz("topics", "--json").json["topics"]
    imu = [row for row in rows if row["topic"] == f"{LINK}/imu0/imu"]
    assert [row["type"] for row in imu] == ["gz.msgs.IMU"]
    assert imu[0]["address"].startswith("tcp://127.0.0.1:")
    assert "gz.msgs.WorldControl" in gz("services", "/world/w/control").out
    rows = gz("services", "--json").json["services"]
    assert {"/gazebo/worlds", "/world/w/control"} <= {row["service"] for row in rows}


def test_a_world_is_stepped_reset_played_and_paused(gz: Gz) -> None:
    gz("reset")
    answer = gz("step", "25", "--json")
    assert answer.code == 0
    assert answer.json["sim_time_s"] == 0.1
    assert answer.json["steps"] == 25
    assert gz("step").out == "w: 1 step of 4 ms, now at 0.104 s\n"
    assert gz("play", "--json").json["sim_time_s"] > 0.104
    first = gz("pause", "--json").json["sim_time_s"]
    assert gz("pause", "--json").json["sim_time_s"] == first
    assert gz("reset", "--world", "w").out == "w: reset and paused, now at 0 s\n"


def test_worlds_tell_their_pace(gz: Gz) -> None:
    gz("reset")
    (row,) = gz("worlds", "--json").json["worlds"]
    assert row["world"] == "w"
    assert (row["sim_time_s"], row["paused"], row["step_ns"]) == (0.0, True, 4_000_000)
    assert (row["real_time_factor"], row["note"]) == (0.0, "")
    assert "paused" in gz("worlds").out


def test_echo_shows_fields_by_name(gz: Gz) -> None:
    answer = gz("echo", "/world/w/clock", "-n", "2")
    assert answer.code == 0
    assert answer.out.count("# gz.msgs.Clock") == 2
    assert "system:\n  sec:" in answer.out
    lines = gz("echo", "/world/w/clock", "-n", "3", "--json").out.splitlines()
    objects: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert len(objects) == 3
    assert {value["type"] for value in objects} == {"gz.msgs.Clock"}
    assert "system" in objects[0]["message"]


def test_echo_shows_unknown_types_by_number(gz: Gz, node: Node) -> None:
    publisher = node.advertise("/strange", "lab.msgs.Strange")
    message = Boolean(data=True).SerializeToString()

    def publish() -> None:
        assert publisher.wait_for_subscriber(10.0)
        publisher.publish(message)

    thread = threading.Thread(target=publish)
    thread.start()
    answer = gz("echo", "/strange", "-n", "1", "--json")
    thread.join()
    assert json.loads(answer.out)["message"] == {"2": 1}


def test_echo_has_deadlines(gz: Gz) -> None:
    answer = gz("echo", "/nobody", "--timeout", "200ms")
    assert answer.code == 3
    assert answer.err.startswith("ghost: no topic /nobody")
    gz("reset")
    answer = gz("echo", f"{LINK}/imu0/imu", "--timeout", "300ms")
    assert answer.code == 3
    assert "ghost gz step 1" in answer.err
    answer = gz("echo", "/world/w/clock", "--duration", "100ms", "--json")
    assert answer.code == 0
    assert answer.out


def test_hz_knows_wall_and_simulated_time(gz: Gz) -> None:
    gz("reset")
    gz("play")
    figures = gz("hz", f"{LINK}/imu0/imu", "--duration", "300ms", "--json").json
    gz("pause")
    assert figures["messages"] > 10
    assert figures["sim_hz"] == pytest.approx(250.0, rel=0.01)
    assert figures["wall_hz"] > 0.0
    text = gz("hz", "/world/w/clock", "--duration", "100ms").out
    assert "Hz of wall time" in text
    assert "gaps" in text


def test_pub_reaches_a_subscriber(gz: Gz, node: Node) -> None:
    node.subscribe("/flag")
    answer = gz("pub", "/flag", "gz.msgs.Boolean", '{"data": true}', "-n", "2", "--rate", "100")
    assert answer.code == 0, answer.err
    for _ in range(2):
        message = node.receive(5.0)
        assert message is not None
        assert message.type == gz_type(Boolean)
        assert Boolean.FromString(message.data).data


def test_pub_waits_for_somebody(gz: Gz) -> None:
    answer = gz("pub", "/nobody", "gz.msgs.Boolean", "{}", "--timeout", "100ms")
    assert answer.code == 3
    assert "nobody subscribes to /nobody" in answer.err


def test_call_takes_types_from_the_network(gz: Gz) -> None:
    answer = gz("call", "/gazebo/worlds")
    assert answer.code == 0
    assert answer.out == "# gz.msgs.StringMsg_V, 3 bytes\ndata: [w]\n"
    gz("reset")
    request = '{"pause": true, "multi_step": 3}'
    reply = gz("call", "/world/w/control", request, "--json").json
    assert reply["message"] == {"data": True}
    # The call itself confirms nothing; a step does, from wherever the world is by then.
    assert gz("step", "--json").json["sim_time_s"] == 0.016


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("call", "/world/w/control", '{"pawse": true}'), "its fields: header, pause, step"),
        (("call", "/world/w/control", "{"), "is no gz.msgs.WorldControl in JSON"),
        (("pub", "/t", "gz.msgs.Bolean", "{1}"), "did you mean 'gz.msgs.Boolean'"),
        (("step", "0"), "0 is not in the range"),
        (("step", "--world", "v", "--timeout", "3s"), "unknown world 'v'"),
        (("topics", "--partition", "a b"), "partition"),
        (("topics", "--ip", "here"), "no IPv4 address"),
    ],
)
def test_bad_input_is_one_line_and_code_2(gz: Gz, arguments: tuple[str, ...], wanted: str) -> None:
    answer = gz(*arguments)
    assert answer.code == 2
    assert wanted in answer.err
    assert len(answer.err.splitlines()) == 1
    assert answer.out == ""


def test_nobody_there(ghost: Ghost) -> None:
    nowhere = ("--partition", random_partition())
    answer = ghost("gz", "step", "--timeout", "300ms", *nowhere)
    assert answer.code == 3
    assert "ghost doctor" in answer.err
    answer = ghost("gz", "topics", "--wait", "50ms", *nowhere)
    assert answer.code == 0
    assert "no topic was heard of" in answer.err
    assert ghost("gz", "worlds", "--wait", "50ms", "--json", *nowhere).json == {"worlds": []}
    answer = ghost("gz", "call", "/x", "--timeout", "100ms", *nowhere)
    assert answer.code == 3


def test_two_worlds_must_be_told_apart(ghost: Ghost) -> None:
    with (
        ServerProcess("--world", "one") as first,
        ServerProcess("--world", "two", partition=first.partition),
    ):
        answer = ghost("gz", "step", "--partition", first.partition)
        assert answer.code == 2
        assert "there are 2 worlds, one, two; choose one with --world" in answer.err
        answer = ghost("gz", "step", "--partition", first.partition, "--world", "two")
        assert answer.out == "two: 1 step of 4 ms, now at 0.004 s\n"


def test_two_servers_of_one_world_and_a_limiter_are_noted(ghost: Ghost) -> None:
    with (
        ServerProcess("--real-time-factor", "1") as first,
        ServerProcess(partition=first.partition),
    ):
        (row,) = ghost("gz", "worlds", "--json", "--partition", first.partition).json["worlds"]
        assert len(row["servers"]) == 2
        assert "two servers of one name" in row["note"]
        answer = ghost("gz", "step", "--partition", first.partition, "--world", "w")
        assert answer.code == 2
        assert all(address in answer.err for address in row["servers"])
