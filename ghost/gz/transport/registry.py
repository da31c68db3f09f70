"""Who offers what: the publishers or the services that discovery heard of, and our own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

__all__ = ["Entry", "Registry"]

# Far above any real network; a flood of forged announcements ends here instead of in memory.
_MAX_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One publisher of a topic or provider of a service. `name` is the full one of the wire."""

    name: str
    address: str
    process_uuid: str
    node_uuid: str
    types: tuple[str, ...]
    socket_id: str = ""


class Registry:
    """Entries by name, and when each process was last heard. Any thread may use it."""

    def __init__(self, silence_ns: int) -> None:
        self._silence_ns = silence_ns
        self._changed = threading.Condition()
        self._entries: dict[str, dict[tuple[str, str], Entry]] = {}
        self._by_process: dict[str, set[tuple[str, str, str]]] = {}
        self._heard_ns: dict[str, int] = {}

    def heard(self, process_uuid: str, now_ns: int) -> bool:
        """Note a sign of life. False if there are too many processes to follow another one."""
        with self._changed:
            if process_uuid not in self._heard_ns and len(self._heard_ns) >= _MAX_ENTRIES:
                return False
            self._heard_ns[process_uuid] = now_ns
            return True

    def add(self, entry: Entry) -> bool | None:
        """Add or replace an entry. True if it is news, False if known, None if all is full."""
        with self._changed:
            of_name = self._entries.get(entry.name, {})
            key = (entry.process_uuid, entry.node_uuid)
            if of_name.get(key) == entry:
                return False
            of_process = self._by_process.get(entry.process_uuid, set())
            if len(of_process) >= _MAX_ENTRIES or len(self._entries) >= _MAX_ENTRIES:
                return None
            self._entries.setdefault(entry.name, of_name)[key] = entry
            self._by_process.setdefault(entry.process_uuid, of_process).add((entry.name, *key))
            self._changed.notify_all()
            return True

    def remove(self, name: str, process_uuid: str, node_uuid: str) -> Entry | None:
        """Take one entry out and return it."""
        with self._changed:
            return self._remove((name, process_uuid, node_uuid))

    def remove_process(self, process_uuid: str) -> list[Entry]:
        """Take everything of a process out and return it."""
        with self._changed:
            self._heard_ns.pop(process_uuid, None)
            keys = sorted(self._by_process.get(process_uuid, ()))
            return [entry for key in keys if (entry := self._remove(key))]

    def silent(self, now_ns: int) -> list[str]:
        """Return the processes that were not heard for longer than the silence interval."""
        with self._changed:
            limit_ns = now_ns - self._silence_ns
            return [uuid for uuid, at_ns in self._heard_ns.items() if at_ns < limit_ns]

    def of(self, name: str) -> list[Entry]:
        """Return the entries of a full name, sorted by address."""
        with self._changed:
            return self._of(name)

    def all(self) -> list[Entry]:
        """Return all entries of all partitions, sorted by name and address."""
        with self._changed:
            found = [entry for of_name in self._entries.values() for entry in of_name.values()]
        return sorted(found, key=lambda entry: (entry.name, entry.address, entry.node_uuid))

    def processes_at(self, address: str) -> set[str]:
        """Return the processes that advertise anything at an address."""
        return {entry.process_uuid for entry in self.all() if entry.address == address}

    def processes(self) -> list[str]:
        """Return the identifiers of all processes heard lately, sorted."""
        with self._changed:
            return sorted(self._heard_ns)

    def wait_for(
        self, name: str, timeout_s: float, accept: Callable[[Entry], bool] | None = None
    ) -> Entry | None:
        """Return the first acceptable entry of a name, waiting for it; None on timeout."""

        def found() -> Entry | None:
            entries: Iterable[Entry] = self._of(name)
            return next((entry for entry in entries if accept is None or accept(entry)), None)

        with self._changed:
            return self._changed.wait_for(found, max(timeout_s, 0.0))

    def _of(self, name: str) -> list[Entry]:
        entries = self._entries.get(name, {}).values()
        return sorted(entries, key=lambda entry: (entry.address, entry.node_uuid))

    def _remove(self, key: tuple[str, str, str]) -> Entry | None:
        name, process_uuid, node_uuid = key
        of_name = self._entries.get(name, {})
        entry = of_name.pop((process_uuid, node_uuid), None)
        if entry is None:
            return None
        if not of_name:
            del self._entries[name]
        of_process = self._by_process[process_uuid]
        of_process.discard(key)
        if not of_process:
            del self._by_process[process_uuid]
        self._changed.notify_all()
        return entry
