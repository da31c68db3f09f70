"""Mutated real files: no unforeseen exception, no unbounded memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost.core import MessageBus
from ghost.recording import LogReader, Recorder, RecorderLimits, RecordingError

if TYPE_CHECKING:
    from tests.recording.conftest import Kit

MEMORY_BYTES = 400 * 1024 * 1024
"""Above what is in use when the reading starts: one chunk packed and unpacked is allowed."""


@pytest.fixture(scope="module")
def originals(kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Real files: small chunks, PNG images, and one that has no end."""
    folder = tmp_path_factory.mktemp("originals")
    kit.record(folder / "a.mcap", 80, limits=RecorderLimits(chunk_bytes=3000))
    kit.record(folder / "b.mcap", 40, encodings={"cam0": "png"}, metadata={"a": [1, {"b": None}]})
    bus = MessageBus()
    with Recorder(str(folder / "c.mcap"), bus, limits=RecorderLimits(chunk_bytes=3000)):
        for topic, message in kit.flight(60):
            bus.publish(topic, message)
    files = [(folder / f"{name}.mcap").read_bytes() for name in "abc"]
    files[2] = files[2][: len(files[2]) * 2 // 3]
    return files


def read_all(path: Path) -> int:
    """Read a file in every way; the number of messages, or -1 if it was refused."""
    try:
        reader = LogReader(str(path))
    except RecordingError:
        return -1
    with reader:
        info = reader.info()
        count = sum(1 for _ in reader.messages())
        assert sum(1 for _ in reader.messages(["/sensors/*"], end_ns=30_000_000)) <= count
        for name in info.attachments:
            try:
                reader.attachment(name)
            except RecordingError:
                continue
        assert all(isinstance(note, str) for note in reader.info().notes)
    return count


@given(data=st.data())
@settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_mutated_files_are_read_or_refused(
    originals: list[bytes], tmp_path: Path, data: st.DataObject
) -> None:
    original = bytearray(data.draw(st.sampled_from(originals)))
    places = st.integers(0, len(original) - 1)
    for _ in range(data.draw(st.integers(1, 4))):
        kind = data.draw(st.sampled_from(("flip", "junk", "cut", "splice", "drop", "number")))
        at = data.draw(places) % max(1, len(original))
        if kind == "flip":
            original[at] ^= 1 << data.draw(st.integers(0, 7))
        elif kind == "junk":
            original[at : at + 8] = data.draw(st.binary(min_size=8, max_size=8))
        elif kind == "cut":
            del original[at:]
        elif kind == "splice":
            start = data.draw(places)
            original[at:at] = original[start : start + data.draw(st.integers(0, 4000))]
        elif kind == "drop":
            del original[at : at + data.draw(st.integers(1, 4000))]
        else:
            number = data.draw(st.sampled_from((0, 2**32 - 1, 2**32, 2**63 - 1, 2**64 - 1)))
            original[at : at + 8] = number.to_bytes(8, "little")
        if not original:
            break
    path = tmp_path / "mutated.mcap"
    path.write_bytes(original)
    read_all(path)


BOUNDED = """
import random, resource, sys
from pathlib import Path
from ghost.recording import LogReader, RecordingError
import ghost.recording.images

original = Path(sys.argv[1]).read_bytes()
path, chance = Path(sys.argv[2]), random.Random(int(sys.argv[3]))
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit = used + int(sys.argv[4])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
read = 0
for _ in range(400):
    data = bytearray(original)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data))
        huge = chance.choice((2**31, 2**32 - 1, 2**40, 2**62, 2**64 - 1, 10**9))
        width = chance.choice((4, 8))
        data[at : at + width] = (huge & (1 << 8 * width) - 1).to_bytes(width, "little")
    path.write_bytes(data)
    try:
        with LogReader(str(path)) as reader:
            reader.info()
            read += sum(1 for _ in reader.messages())
    except RecordingError:
        pass
print(read)
"""


@pytest.mark.parametrize("number", [0, 1, 2])
def test_large_claims_do_not_fill_the_memory(
    originals: list[bytes], tmp_path: Path, number: int
) -> None:
    original, mutated = tmp_path / "original", tmp_path / "mutated"
    original.write_bytes(originals[number])
    arguments = [str(original), str(mutated), str(number), str(MEMORY_BYTES)]
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 0
