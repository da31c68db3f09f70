"""A stand-in for the Docker engine: the few calls that Ghost makes, over a Unix socket."""

from __future__ import annotations

import json
import re
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_API = "1.44"


@dataclass
class Container:
    """One container, as much of it as is asked for."""

    id: str
    name: str
    config: dict[str, Any]
    running: bool = False
    status: str = "created"
    exit_code: int = 0
    log: bytes = b""
    attached: bool = False
    connected: threading.Event = field(default_factory=threading.Event)
    """Set while the connection to its input is open."""

    def end(self, exit_code: int, log: bytes = b"") -> None:
        """Let its first process end."""
        self.running, self.status, self.exit_code = False, "exited", exit_code
        self.log += log

    def state(self) -> dict[str, Any]:
        """What `docker inspect` says of its state."""
        return {
            "Status": self.status,
            "Running": self.running,
            "ExitCode": self.exit_code,
            "StartedAt": "2026-01-02T03:04:05.678Z",
        }


class FakeDocker:
    """The engine: its `images` with their entry points; paths with `failing` in them answer 500."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.images: dict[str, list[str] | None] = {}
        self.containers: dict[str, Container] = {}
        self.calls: list[str] = []
        self.failing = ""
        self.on_start = b""
        """What a container prints when it is started."""
        self._server = _Server(str(path), _Handler)
        self._server.docker = self
        self._thread = threading.Thread(
            target=lambda: self._server.serve_forever(poll_interval=0.02), daemon=True
        )
        self._thread.start()

    @property
    def environ(self) -> dict[str, str]:
        """What makes the SDK use this engine."""
        return {"DOCKER_HOST": f"unix://{self.path}"}

    def close(self) -> None:
        """Stop serving. Idempotent."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def find(self, name: str) -> Container | None:
        """A container by its number or its name."""
        every = self.containers.values()
        return next((each for each in every if name in (each.id, each.name)), None)


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    docker: FakeDocker


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def address_string(self) -> str:
        return "unix"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def _serve(self, method: str) -> None:
        docker = self.server.docker
        parts = urlsplit(self.path)
        path = re.sub(r"^/v[\d.]+", "", unquote(parts.path))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        docker.calls.append(f"{method} {path}")
        if docker.failing and docker.failing in path:
            self._answer(500, {"message": "the disk is full"})
        elif path == "/version":
            self._answer(200, {"ApiVersion": _API, "MinAPIVersion": "1.24"})
        elif match := re.fullmatch(r"/images/(.+)/json", path):
            self._image(match[1])
        elif path == "/containers/create":
            self._create(parse_qs(parts.query)["name"][0], json.loads(body))
        elif match := re.fullmatch(r"/containers/([^/]+)(?:/(\w+))?", path):
            container = docker.find(match[1])
            if container is None:
                self._answer(404, {"message": f"No such container: {match[1]}"})
            else:
                self._container(method, container, match[2])
        else:
            self._answer(404, {"message": f"page not found: {path}"})

    def _image(self, name: str) -> None:
        docker = self.server.docker
        if name in docker.images:
            self._answer(200, {"Id": "sha256:1", "Config": {"Entrypoint": docker.images[name]}})
        else:
            self._answer(404, {"message": f"No such image: {name}"})

    def _create(self, name: str, config: dict[str, Any]) -> None:
        docker = self.server.docker
        if docker.find(name) is not None:
            self._answer(409, {"message": f'The container name "/{name}" is already in use'})
            return
        container = Container(f"{len(docker.calls):064x}", name, config)
        docker.containers[container.id] = container
        self._answer(201, {"Id": container.id, "Warnings": []})

    def _container(self, method: str, container: Container, what: str | None) -> None:
        if method == "DELETE":
            del self.server.docker.containers[container.id]
            self._answer(204, None)
        elif what == "json":
            config = {**container.config, "Tty": False}
            self._answer(200, {"Id": container.id, "State": container.state(), "Config": config})
        elif what == "logs":
            self._logs(container.log)
        elif what == "attach":
            self._attach(container)
        elif what == "start":
            container.running, container.status = True, "running"
            container.log += self.server.docker.on_start
            self._answer(204, None)
        elif what == "stop":
            if container.running:
                container.end(143)
            self._answer(204, None)
        else:
            self._answer(404, {"message": f"page not found: {what}"})

    def _attach(self, container: Container) -> None:
        """Become a plain stream, as asked for, until the other end closes it."""
        self.send_response(101, "UPGRADED")
        self.send_header("Connection", "Upgrade")
        self.send_header("Upgrade", "tcp")
        self.end_headers()
        container.attached = True
        container.connected.set()
        self.rfile.read(1)
        container.connected.clear()
        # Its input ends, and with it what reads it.
        if container.running:
            container.end(143)
        self.close_connection = True

    def _logs(self, text: bytes) -> None:
        """In frames, as the engine sends the output of a container without a terminal."""
        frames = b"".join(
            struct.pack(">BxxxL", 1, len(line)) + line for line in text.splitlines(keepends=True)
        )
        self._answer(200, None, frames)

    def _answer(self, status: int, value: object, raw: bytes | None = None) -> None:
        body = b"" if value is None else json.dumps(value).encode()
        body = body if raw is None else raw
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
