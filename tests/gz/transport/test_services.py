"""Services between nodes, in one process and in two."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ghost.core import ClosedError, HostClock
from ghost.gz.transport import ServiceRefused, TransportError, TransportTimeout
from tests.gz.transport.conftest import NewNode, StartPeer

WAIT_S = 10.0
STRING = "gz.msgs.StringMsg"


def test_a_request_is_answered(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    server.offer("/double", STRING, STRING, lambda request: request * 2)
    assert client.request("/double", b"ab", STRING, STRING, WAIT_S) == b"abab"
    assert client.request("double", b"", STRING, STRING, WAIT_S) == b""
    (info,) = client.services()
    assert (info.service, info.request_type, info.reply_type) == ("/double", STRING, STRING)
    assert info.process_uuid == server.process_uuid


def test_a_node_calls_itself(new_node: NewNode) -> None:
    node = new_node()
    node.offer("/double", STRING, STRING, lambda request: request * 2)
    assert node.request("/double", b"ab", STRING, STRING, WAIT_S) == b"abab"


def test_the_older_type_prefix_is_the_same_type(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    server.offer("/s", "ignition.msgs.StringMsg", "ignition.msgs.Boolean", lambda request: request)
    assert client.request("/s", b"x", STRING, "gz.msgs.Boolean", WAIT_S) == b"x"


def test_none_and_an_exception_refuse(new_node: NewNode) -> None:
    server, client = new_node(), new_node()

    def broken(request: bytes) -> bytes:
        raise RuntimeError(request.decode())

    server.offer("/none", STRING, STRING, lambda _: None)
    server.offer("/broken", STRING, STRING, broken)
    for service in ("/none", "/broken"):
        with pytest.raises(ServiceRefused, match=service):
            client.request(service, b"x", STRING, STRING, WAIT_S)
    assert server.statistics()["handler_failed"] == 1


def test_another_process_offers(new_node: NewNode, start_peer: StartPeer) -> None:
    client = new_node()
    start_peer("double", "/double")
    for i in range(100):
        text = b"%d" % i
        assert client.request("/double", text, STRING, STRING, WAIT_S) == text * 2
    with pytest.raises(ServiceRefused):
        client.request("/double", b"none", STRING, STRING, WAIT_S)


def test_many_threads_may_call_at_once(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    server.offer("/double", STRING, STRING, lambda request: request * 2)

    def call(i: int) -> bytes:
        return client.request("/double", b"%d." % i, STRING, STRING, WAIT_S)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(call, range(200)))
    assert answers == [b"%d.%d." % (i, i) for i in range(200)]


def test_a_handler_may_call_another_service(new_node: NewNode) -> None:
    outer, inner, client = new_node(), new_node(), new_node()
    inner.offer("/inner", STRING, STRING, lambda request: request + b"!")
    outer.offer(
        "/outer",
        STRING,
        STRING,
        lambda request: outer.request("/inner", request, STRING, STRING, WAIT_S),
    )
    assert client.request("/outer", b"hi", STRING, STRING, WAIT_S) == b"hi!"


def test_a_missing_service_times_out_and_says_what_is_there(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    server.offer("/world/w/control", STRING, STRING, lambda request: request)
    client.wait_for_service("/world/w/control", WAIT_S)
    with pytest.raises(TransportTimeout, match=r"nearest services.*/world/w/control"):
        client.request("/world/x/control", b"", STRING, STRING, 0.1)


def test_a_slow_handler_meets_the_deadline_of_its_caller(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    go_on = threading.Event()

    def slow(request: bytes) -> bytes:
        go_on.wait(WAIT_S)
        return request

    server.offer("/slow", STRING, STRING, slow)
    client.wait_for_service("/slow", WAIT_S)
    host = HostClock()
    start_ns = host.now_ns()
    with pytest.raises(TransportTimeout, match="request was delivered"):
        client.request("/slow", b"1", STRING, STRING, 0.3)
    assert 0.25e9 < host.now_ns() - start_ns < 5e9
    go_on.set()
    # The late reply to the first request is not taken for that to the second.
    assert client.request("/slow", b"2", STRING, STRING, WAIT_S) == b"2"
    assert client.statistics()["reply_not_expected"] == 1


def test_other_types_are_named(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    server.offer("/s", STRING, STRING, lambda request: request)
    with pytest.raises(TransportError, match=r"gz\.msgs\.StringMsg → gz\.msgs\.StringMsg"):
        client.request("/s", b"", "gz.msgs.Empty", STRING, WAIT_S)


def test_one_service_of_two_types(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    server.offer("/s", "gz.msgs.Empty", STRING, lambda _: b"empty")
    server.offer("/s", STRING, STRING, lambda _: b"string")
    client.wait_for_service("/s", WAIT_S)
    for kind, reply in ((STRING, b"string"), ("gz.msgs.Empty", b"empty")):
        host = HostClock()
        end_ns = host.now_ns() + int(WAIT_S * 1e9)
        # The second announcement may be a moment behind the first.
        while len(client.services()) < 2 and host.now_ns() < end_ns:
            client.wait_for_service("/s", WAIT_S)
        assert client.request("/s", b"", kind, STRING, WAIT_S) == reply


def test_a_one_way_call_returns_at_once(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    got: list[bytes] = []
    came = threading.Event()

    def handler(request: bytes) -> bytes:
        got.append(request)
        came.set()
        return b""

    server.offer("/tell", STRING, "gz.msgs.Empty", handler)
    assert client.request("/tell", b"news", STRING, "gz.msgs.Empty", WAIT_S) == b""
    assert came.wait(WAIT_S)
    assert got == [b"news"]


def test_a_withdrawn_service_is_gone(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    offer = server.offer("/s", STRING, STRING, lambda request: request)
    assert client.request("/s", b"1", STRING, STRING, WAIT_S) == b"1"
    offer.close()
    offer.close()
    with pytest.raises(TransportTimeout):
        client.request("/s", b"1", STRING, STRING, 0.2)
    assert server.services() == []


def test_a_killed_provider_fails_the_call_before_its_deadline(
    new_node: NewNode, start_peer: StartPeer
) -> None:
    client = new_node()
    peer = start_peer("double", "/double")
    assert client.request("/double", b"1", STRING, STRING, WAIT_S) == b"11"
    peer.send_signal(signal.SIGSTOP)  # alive, and mute
    assert os.WIFSTOPPED(os.waitpid(peer.pid, os.WUNTRACED)[1])
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.request, "/double", b"2", STRING, STRING, 60.0)
        host = HostClock()
        end_ns = host.now_ns() + int(WAIT_S * 1e9)
        while client._caller.pending == 0 and host.now_ns() < end_ns:
            host.sleep_until_ns(host.now_ns() + 1_000_000)
        peer.kill()
        with pytest.raises(TransportError, match="closed the connection"):
            answer.result(WAIT_S)
    assert client.services() == []


def test_closing_ends_a_call_that_waits(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    go_on, entered = threading.Event(), threading.Event()

    def slow(request: bytes) -> bytes:
        entered.set()
        go_on.wait(WAIT_S)
        return request

    server.offer("/slow", STRING, STRING, slow)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.request, "/slow", b"", STRING, STRING, 60.0)
        assert entered.wait(WAIT_S)
        client.close()
        with pytest.raises(ClosedError):
            answer.result(WAIT_S)
    go_on.set()
