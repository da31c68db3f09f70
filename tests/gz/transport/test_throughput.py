"""Nothing is lost, repeated or out of order, at rates far above Gazebo's.

A shortened run; `benchmarks/bench_transport.py` does it for a minute.
"""

from __future__ import annotations

from tests.gz.transport.conftest import NewNode, StartPeer

WAIT_S = 30.0
MESSAGES = 20_000  # four seconds of 5,000 a second, sent as fast as it goes
IMAGES = 60  # two seconds of 30 a second
IMAGE_BYTES = 1280 * 720 * 3


def test_many_small_messages_and_a_reader_that_starts_late(
    new_node: NewNode, start_peer: StartPeer
) -> None:
    client = new_node()
    client.subscribe("/numbers")
    peer = start_peer("count", "/numbers", str(MESSAGES))
    assert peer.stdout is not None
    assert [peer.stdout.readline(), peer.stdout.readline()] == ["ready\n", "sent\n"]
    # All were published before the first is read: no queue on the way has a limit.
    for i in range(MESSAGES):
        incoming = client.receive(WAIT_S)
        assert incoming is not None
        assert int(incoming.data) == i
    assert client.receive(0.0) is None


def test_large_images(new_node: NewNode, start_peer: StartPeer) -> None:
    client = new_node()
    client.subscribe("/image")
    start_peer("images", "/image", str(IMAGES), str(IMAGE_BYTES))
    for i in range(IMAGES):
        incoming = client.receive(WAIT_S)
        assert incoming is not None
        assert len(incoming.data) == IMAGE_BYTES
        assert int.from_bytes(incoming.data[:8], "little") == i


def test_a_publisher_that_leaves_at_once_loses_nothing(
    new_node: NewNode, start_peer: StartPeer
) -> None:
    client = new_node()
    client.subscribe("/numbers")
    peer = start_peer("count", "/numbers", "5000")
    assert peer.stdout is not None
    assert [peer.stdout.readline(), peer.stdout.readline()] == ["ready\n", "sent\n"]
    peer.communicate(timeout=WAIT_S)  # ends its input: it says bye and goes
    for i in range(5000):
        incoming = client.receive(WAIT_S)
        assert incoming is not None
        assert int(incoming.data) == i
