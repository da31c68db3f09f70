"""A node in a process of its own, for the tests: peer.py PARTITION MSG_PORT SRV_PORT TASK …

count TOPIC N        when somebody subscribes, publish N messages, the number as text, then wait
double SERVICE       offer a service that doubles its request; `none` refuses; wait
gather TOPIC N       print `ready`, then the first N messages of a topic, one a line
images TOPIC N SIZE  publish N messages of SIZE bytes that begin with their number

Waiting ends, in good order, when standard input ends.
"""

from __future__ import annotations

import sys

from ghost.gz.transport import TransportOptions
from ghost.gz.transport.wire import WireNode

PATIENCE_S = 30.0


def main() -> None:
    """Do one task."""
    partition, msg_port, srv_port, task, name, *rest = sys.argv[1:]
    options = TransportOptions(partition=partition, msg_port=int(msg_port), srv_port=int(srv_port))
    with WireNode(options) as node:
        if task == "count":
            count(node, name, int(rest[0]))
        elif task == "double":
            double(node, name)
        elif task == "gather":
            gather(node, name, int(rest[0]))
        elif task == "images":
            images(node, name, int(rest[0]), int(rest[1]))
        else:
            raise SystemExit(f"unknown task {task}")


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def count(node: WireNode, topic: str, number: int) -> None:
    """Publish numbers."""
    publisher = node.advertise(topic, "gz.msgs.StringMsg")
    say("ready")
    if not publisher.wait_for_subscriber(PATIENCE_S):
        raise SystemExit("nobody subscribed")
    for i in range(number):
        publisher.publish(b"%d" % i)
    say("sent")
    sys.stdin.read()


def images(node: WireNode, topic: str, number: int, size: int) -> None:
    """Publish large messages."""
    publisher = node.advertise(topic, "gz.msgs.Image")
    say("ready")
    if not publisher.wait_for_subscriber(PATIENCE_S):
        raise SystemExit("nobody subscribed")
    body = bytes(size - 8)
    for i in range(number):
        publisher.publish(i.to_bytes(8, "little") + body)
    say("sent")
    sys.stdin.read()


def double(node: WireNode, service: str) -> None:
    """Offer a service."""
    node.offer(
        service,
        "gz.msgs.StringMsg",
        "gz.msgs.StringMsg",
        lambda request: None if request == b"none" else request * 2,
    )
    say("ready")
    sys.stdin.read()


def gather(node: WireNode, topic: str, number: int) -> None:
    """Receive messages."""
    node.subscribe(topic)
    say("ready")
    for _ in range(number):
        incoming = node.receive(PATIENCE_S)
        if incoming is None:
            raise SystemExit("no message came")
        say(incoming.data.decode())


if __name__ == "__main__":
    main()
