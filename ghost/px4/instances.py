"""Which PX4 instances this machine runs, who holds their ports, and which number is free.

Instance `i` of PX4 has a lock file `/tmp/px4_lock-i`, a socket `/tmp/px4-sock-i` and ports that
count from `i` (PX4 v1.17: `main.cpp`, `px4-rc.mavlink`, `px4-rc.mavlinksim`). Whoever holds one of
them is found through `/proc`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ghost.core import ConfigError

__all__ = [
    "ClaimedInstance",
    "Holder",
    "Ports",
    "RunningInstance",
    "choose_instance",
    "instance_holders",
    "instance_locked",
    "remove_leftovers",
    "stale_instances",
]

_OWN_PORTS = 10
"""Instances with an offboard port of their own; those above all send to the last one's."""
_LAST = 249
_PROC = Path("/proc")
_TMP = Path("/tmp")
_LISTENING = "0A"
_CLAIM = "ghost.px4.instance.{}"
_COMMAND_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of one instance. `simulator` is TCP, the others are UDP."""

    instance: int

    @property
    def simulator(self) -> int:
        """Where PX4 dials: ours to listen on."""
        return 4560 + self.instance

    @property
    def offboard(self) -> int:
        """Where PX4 sends telemetry: ours to bind."""
        return 14540 + min(self.instance, _OWN_PORTS - 1)

    @property
    def offboard_px4(self) -> int:
        """Where PX4 takes commands."""
        return 14580 + self.instance

    @property
    def ground_station(self) -> int:
        """PX4's end of the link to a ground station."""
        return 18570 + self.instance


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds something of an instance; `pid` is None if that cannot be told."""

    pid: int | None
    held: tuple[str, ...]
    command: str = ""
    age_s: float | None = None
    orphan: bool = False
    """Whether its parent is gone: nobody looks after it."""

    def describe(self) -> str:
        """What it holds and what it is, on one line."""
        held = ", ".join(self.held)
        if self.pid is None:
            return f"{held}: held by a process that is not ours to see"
        if self.pid == os.getpid():
            return f"{held}: held by this process itself"
        known = [f"`{self.command}`"] if self.command else []
        if self.age_s is not None:
            known.append(f"running for {_duration(self.age_s)}")
        if self.orphan:
            known.append("whose parent is gone")
        return f"{held}: held by process {self.pid} ({', '.join(known)})"


@dataclass(frozen=True, slots=True)
class RunningInstance:
    """An instance number that somebody uses."""

    number: int
    holders: tuple[Holder, ...]

    def describe(self) -> str:
        """Who uses it, and what to do about that."""
        text = "; ".join(holder.describe() for holder in self.holders)
        pids = [str(holder.pid) for holder in self.holders if holder.pid not in (None, os.getpid())]
        text = f"PX4 instance {self.number} is in use: {text}"
        if pids:
            what = " ".join(dict.fromkeys(pids))
            text += f"; if nobody needs it, end it with: kill {what} (kill -9 if it stays)"
        return text


class ClaimedInstance:
    """An instance number that no other Ghost of this machine gets until `release` or our death."""

    def __init__(self, number: int, claim: socket.socket) -> None:
        self.number = number
        self.ports = Ports(number)
        self._claim = claim

    def release(self) -> None:
        """Give it back. Idempotent."""
        self._claim.close()


def choose_instance(
    wanted: int = -1, *, key: str = "autopilot.instance", proc: Path = _PROC, tmp: Path = _TMP
) -> ClaimedInstance:
    """Claim instance `wanted`, or with -1 the first of 0..9 that nobody uses.

    Raises `ConfigError` naming who uses the one wanted, or all ten.
    """
    if not -1 <= wanted <= _LAST:
        raise ConfigError(f"must be -1 (the first free one) or 0..{_LAST}, got {wanted}", key=key)
    # Once more for a number that was freed while it was looked at.
    for number in range(_OWN_PORTS) if wanted < 0 else (wanted, wanted):
        claim = _claim(number)
        if claim is None:
            continue
        if not _held(number, _Sockets(proc), tmp):
            return ClaimedInstance(number, claim)
        claim.close()
    if wanted >= 0:
        holders = instance_holders(wanted, proc=proc, tmp=tmp)
        text = RunningInstance(wanted, holders).describe()
        raise ConfigError(f"{text}; or fly another: --set {key}=-1", key=key)
    running = [
        RunningInstance(number, instance_holders(number, proc=proc, tmp=tmp)).describe()
        for number in range(_OWN_PORTS)
    ]
    raise ConfigError(f"no free PX4 instance: {'. '.join(running)}", key=key)


def stale_instances(*, proc: Path = _PROC, tmp: Path = _TMP) -> tuple[RunningInstance, ...]:
    """Every instance that somebody uses: 0..9, and those above that have a lock file or a socket.

    Whether it is stale, a person must say; `Holder.orphan` and the age are hints.
    """
    numbers = set(range(_OWN_PORTS))
    for path in tmp.glob("px4*"):
        if match := re.fullmatch(r"px4(?:_lock|-sock)-(\d{1,4})", path.name):
            numbers.add(int(match[1]))
    sockets = _Sockets(proc)
    return tuple(
        RunningInstance(number, holders)
        for number in sorted(numbers)
        if _held(number, sockets, tmp)
        and (holders := instance_holders(number, proc=proc, tmp=tmp, claims=False))
    )


def instance_holders(
    number: int, *, proc: Path = _PROC, tmp: Path = _TMP, claims: bool = True
) -> tuple[Holder, ...]:
    """Who holds something of an instance, another Ghost's claim included, a process each."""
    sockets = _Sockets(proc)
    held = _held(number, sockets, tmp)
    claim = sockets.unix.get("@" + _CLAIM.format(number)) if claims else None
    if claim is not None:
        held.append((f"Ghost's claim on instance {number}", None, claim))
    owners = _socket_owners(proc, {inode for _, _, inode in held if inode is not None})
    by_pid: dict[int | None, list[str]] = {}
    for what, pid, inode in held:
        owner = pid if inode is None else owners.get(inode)
        by_pid.setdefault(owner, []).append(what)
    return tuple(_holder(proc, pid, what) for pid, what in by_pid.items())


def instance_locked(number: int, *, tmp: Path = _TMP) -> bool:
    """Whether a PX4 of this instance has taken its lock file, or another user's is in the way."""
    return _lock_holder(tmp / f"px4_lock-{number}")[0]


def remove_leftovers(number: int, *, proc: Path = _PROC, tmp: Path = _TMP) -> None:
    """Remove an instance's lock file and socket if nobody holds them: PX4 leaves them when killed.

    Files of another user are left alone.
    """
    lock, sock = tmp / f"px4_lock-{number}", tmp / f"px4-sock-{number}"
    if instance_locked(number, tmp=tmp) or str(sock) in _Sockets(proc).unix:
        return
    for path in (lock, sock):
        with contextlib.suppress(OSError):
            path.unlink()


class _Sockets:
    """The sockets of this network namespace that listen or are bound, by inode."""

    def __init__(self, proc: Path) -> None:
        self.tcp: dict[int, int] = {}
        self.udp: dict[int, int] = {}
        self.unix: dict[str, int] = {}
        for name in ("tcp", "tcp6"):
            self._read(proc / "net" / name, self.tcp, listening=True)
        for name in ("udp", "udp6"):
            self._read(proc / "net" / name, self.udp, listening=False)
        for line in _lines(proc / "net" / "unix"):
            words = line.split()
            # A listener has its path; so has every connection that it accepted, later in the list.
            if len(words) >= 8:
                self.unix.setdefault(words[7], int(words[6]))

    @staticmethod
    def _read(path: Path, into: dict[int, int], *, listening: bool) -> None:
        for line in _lines(path):
            words = line.split()
            if len(words) > 9 and (not listening or words[3] == _LISTENING):
                into[int(words[1].rpartition(":")[2], 16)] = int(words[9])


def _held(number: int, sockets: _Sockets, tmp: Path) -> list[tuple[str, int | None, int | None]]:
    """What of an instance is held: what, the process if it is known, else the socket's inode."""
    ports = Ports(number)
    held: list[tuple[str, int | None, int | None]] = []
    for kind, table, numbers in (
        ("TCP", sockets.tcp, (ports.simulator,)),
        ("UDP", sockets.udp, (ports.offboard, ports.offboard_px4, ports.ground_station)),
    ):
        held += [(f"{kind} port {port}", None, table[port]) for port in numbers if port in table]
    lock, sock = tmp / f"px4_lock-{number}", tmp / f"px4-sock-{number}"
    if str(sock) in sockets.unix:
        held.append((str(sock), None, sockets.unix[str(sock)]))
    locked, pid = _lock_holder(lock)
    if locked:
        held.append((str(lock), pid, None))
    return held


def _lock_holder(path: Path) -> tuple[bool, int | None]:
    """Whether PX4 would find its lock taken or not be allowed to take it, and who has it."""
    try:
        # With O_CREAT, as PX4 does: in /tmp Linux may refuse just that for a file of another user.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT) if path.exists() else None
    except OSError:
        return True, None
    if descriptor is None:
        return False, None
    try:
        asked = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack("hhqqi", fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    finally:
        os.close(descriptor)
    # The number of a process in another PID namespace is 0.
    return kind != fcntl.F_UNLCK, pid or None


def _claim(number: int) -> socket.socket | None:
    """A name in Linux's abstract namespace: it has no file, and goes when its holder does."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind("\0" + _CLAIM.format(number))
    except OSError:
        claim.close()
        return None
    return claim


def _socket_owners(proc: Path, inodes: Iterable[int]) -> dict[int, int]:
    """Which process has which socket, of those we are allowed to see."""
    wanted = {f"socket:[{inode}]": inode for inode in inodes}
    owners: dict[int, int] = {}
    if not wanted:
        return owners
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder / "fd"):
                with contextlib.suppress(OSError):
                    inode = wanted.get(os.readlink(entry.path))
                    if inode is not None:
                        owners.setdefault(inode, int(folder.name))
    return owners


def _holder(proc: Path, pid: int | None, held: list[str]) -> Holder:
    if pid is None:
        return Holder(None, tuple(held))
    command, age_s, orphan = "", None, False
    with contextlib.suppress(OSError, ValueError, IndexError):
        raw = (proc / str(pid) / "cmdline").read_bytes()
        command = " ".join(raw.decode("utf-8", errors="replace").replace("\0", " ").split())
        # The name in brackets may hold anything; what follows it are numbers (man 5 proc).
        stat = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        fields = stat.rpartition(")")[2].split()
        orphan = fields[1] == "1"
        up_s = float((proc / "uptime").read_text(encoding="ascii").split()[0])
        age_s = max(0.0, up_s - int(fields[19]) / os.sysconf("SC_CLK_TCK"))
    if len(command) > _COMMAND_LENGTH:
        command = command[:_COMMAND_LENGTH] + " …"
    return Holder(pid, tuple(held), command, age_s, orphan)


def _lines(path: Path) -> list[str]:
    """A table of the kernel without its heading; nothing where there is no such table."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()[1:]
    except OSError:
        return []


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    if minutes < 2880:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // 1440} days"
