"""Files that are broken, foreign or from the future: an error or a note, and what is sound."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcap.writer import CompressionType, IndexType, Writer

from ghost.hal import StepReport
from ghost.recording import LogReader, RecorderLimits, RecordingError
from ghost.recording.descriptor import file_descriptor_set
from ghost.recording.encode import MessageEncoder
from ghost.recording.source import MAX_CHUNK_BYTES

if TYPE_CHECKING:
    from tests.recording.conftest import Kit, Seen

MAGIC = b"\x89MCAP0\r\n"


def records(data: bytes) -> list[tuple[int, int, int]]:
    """Opcode, start and end of every record of a file."""
    found, at = [], len(MAGIC)
    while at < len(data) - len(MAGIC):
        opcode, length = struct.unpack_from("<BQ", data, at)
        found.append((opcode, at, at + 9 + length))
        at += 9 + length
    return found


def notes_of(path: Path) -> tuple[int, str]:
    with LogReader(str(path)) as reader:
        count = sum(1 for _ in reader.messages())
        return count, "\n".join(reader.info().notes)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"\x89MCAP", "not an MCAP"),
        (b"PK\x03\x04 a zip file, in truth", "not an MCAP"),
        (b"\x89MCAP1\r\n" + bytes(100), "not an MCAP"),
    ],
)
def test_what_is_no_recording_is_a_clear_error(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=why) as error:
        LogReader(str(path))
    assert str(path) in str(error.value)


def test_a_file_that_is_not_there_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="No such file"):
        LogReader(str(tmp_path / "none.mcap"))
    with pytest.raises(RecordingError, match="Is a directory"):
        LogReader(str(tmp_path))


def test_nothing_but_the_magic(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(MAGIC)
    count, notes = notes_of(path)
    assert count == 0
    assert "no end" in notes


def test_every_cut_is_read_up_to_the_last_whole_message(
    recorded: tuple[Path, Seen], kit: Kit, tmp_path: Path
) -> None:
    data, whole = recorded[0].read_bytes(), kit.read(recorded[0])
    path, last = tmp_path / "cut.mcap", 0
    places = {*range(9, len(data) - 1, len(data) // 60), *(end for _, _, end in records(data)[::9])}
    for place in sorted(places):
        path.write_bytes(data[:place])
        found = kit.read(path)
        assert found == whole[: len(found)], f"cut at {place}"
        assert len(found) >= last, f"cut at {place}"
        last = len(found)
        with LogReader(str(path)) as reader:
            assert not reader.info().finished or reader.info().notes
    assert last == len(whole), "a file without its footer has all messages"


def test_a_cut_chunk_gives_the_messages_before_the_cut(tmp_path: Path, kit: Kit) -> None:
    limits = RecorderLimits(flush_ns=60_000_000_000)
    kit.record(tmp_path / "a.mcap", 300, limits=limits)  # one large chunk, of many blocks
    data = (tmp_path / "a.mcap").read_bytes()
    (_, start, end), *_ = [r for r in records(data) if r[0] == 6]
    (tmp_path / "b.mcap").write_bytes(data[: start + (end - start) * 9 // 10])
    count, notes = notes_of(tmp_path / "b.mcap")
    assert 0 < count < len(kit.read(tmp_path / "a.mcap"))
    assert "no end" in notes


def test_a_wrong_crc_costs_one_chunk(recorded: tuple[Path, Seen], kit: Kit, tmp_path: Path) -> None:
    data = bytearray(recorded[0].read_bytes())
    chunks = [r for r in records(bytes(data)) if r[0] == 6]
    _, start, _ = chunks[len(chunks) // 2]
    data[start + 9 + 24] ^= 1  # the CRC itself
    (tmp_path / "a.mcap").write_bytes(data)
    whole, found = kit.read(recorded[0]), kit.read(tmp_path / "a.mcap")
    assert 0 < len(whole) - len(found) < len(whole) // 4
    assert set(found) < set(whole)
    _, notes = notes_of(tmp_path / "a.mcap")
    assert f"the chunk at byte {start} fails its CRC" in notes


def test_a_wrong_crc_of_the_summary_is_noted_and_nothing_is_lost(
    recorded: tuple[Path, Seen], kit: Kit, tmp_path: Path
) -> None:
    data = bytearray(recorded[0].read_bytes())
    data[-9] ^= 1
    (tmp_path / "a.mcap").write_bytes(data)
    assert kit.read(tmp_path / "a.mcap") == kit.read(recorded[0])
    assert "the summary fails its CRC" in notes_of(tmp_path / "a.mcap")[1]


@pytest.mark.parametrize("opcode", [0x03, 0x04, 0x05, 0x06, 0x09, 0x0C, 0x77])
@pytest.mark.parametrize("claim", [2**32, 2**63, 2**64 - 1])
def test_a_record_that_claims_4_gb_is_not_believed(
    recorded: tuple[Path, Seen], kit: Kit, tmp_path: Path, opcode: int, claim: int
) -> None:
    data = recorded[0].read_bytes()
    _, _, end = [r for r in records(data) if r[0] == 6][3]
    (tmp_path / "a.mcap").write_bytes(data[:end] + struct.pack("<BQ", opcode, claim) + bytes(100))
    found = kit.read(tmp_path / "a.mcap")
    assert len(found) > 0
    assert found == kit.read(recorded[0])[: len(found)]
    assert notes_of(tmp_path / "a.mcap")[1]


def test_a_chunk_that_claims_to_unpack_to_4_gb_is_left_out(
    recorded: tuple[Path, Seen], tmp_path: Path
) -> None:
    data = bytearray(recorded[0].read_bytes())
    _, start, _ = next(r for r in records(bytes(data)) if r[0] == 6)
    data[start + 9 + 16 : start + 9 + 24] = struct.pack("<Q", 2**32)
    (tmp_path / "a.mcap").write_bytes(data)
    count, notes = notes_of(tmp_path / "a.mcap")
    assert count > 0
    assert f"more than {MAX_CHUNK_BYTES} are not read" in notes


def test_a_newer_format_is_read_and_said(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghost.recording.versions.FORMAT_VERSION", 99)
    seen = kit.record(tmp_path / "a.mcap", 10)
    count, notes = notes_of(tmp_path / "a.mcap")
    assert count == len(seen)
    assert "format 99" in notes
    assert "newer Ghost" in notes


def write(path: Path, count: int = 100, encoding: str = "protobuf", **options: Any) -> None:
    """Write step reports with the library's writer, and messages of a schema nobody knows."""
    encode = MessageEncoder().plain[StepReport]
    with path.open("wb") as stream:
        writer = Writer(stream, **options)
        writer.start("ghost", "a test")
        schema = writer.register_schema("ghost.msg.StepReport", "protobuf", file_descriptor_set())
        other = writer.register_schema("acme.Thing", "ros2msg", b"int32 x")
        step = writer.register_channel("/step", encoding, schema)
        thing = writer.register_channel("/thing", "cdr", other)
        for k in range(count):
            writer.add_message(step, k, encode(StepReport(k, 1, {})), k, k)
            writer.add_message(thing, k, b"abc", k, k)
        writer.finish()  # type: ignore[no-untyped-call]  # mcap leaves it unannotated


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunk_size": 300},
        {"compression": CompressionType.NONE, "chunk_size": 300},
        {"use_chunking": False},
        {"index_types": IndexType.NONE},
        {"index_types": IndexType.NONE, "use_statistics": False, "use_summary_offsets": False},
        {"index_types": IndexType.CHUNK, "repeat_channels": False, "chunk_size": 300},
        {"enable_crcs": False, "enable_data_crcs": True},
    ],
)
def test_every_form_of_file_is_read(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "a.mcap"
    write(path, **options)
    with LogReader(str(path)) as reader:
        messages = list(reader.messages())
        info = reader.info()
    assert [m.stamp_ns for m in messages] == list(range(100))
    assert {t.topic: (t.count, t.first_ns, t.last_ns) for t in info.topics} == {
        "/step": (100, 0, 99),
        "/thing": (100, 0, 99),
    }
    with LogReader(str(path)) as reader:
        assert [m.stamp_ns for m in reader.messages(start_ns=40, end_ns=45)] == list(range(40, 45))


def test_an_unknown_schema_is_noted_with_its_count(tmp_path: Path) -> None:
    write(tmp_path / "a.mcap")
    count, notes = notes_of(tmp_path / "a.mcap")
    assert count == 100
    assert "/thing: the schema 'acme.Thing' (cdr) is unknown; its 100 messages" in notes


def test_ours_in_another_encoding_is_not_guessed_at(tmp_path: Path) -> None:
    write(tmp_path / "a.mcap", encoding="json")
    count, notes = notes_of(tmp_path / "a.mcap")
    assert count == 0
    assert "(json) is unknown" in notes


def test_lz4_is_read_or_says_what_to_install(tmp_path: Path) -> None:
    pytest.importorskip("lz4", reason="lz4 is not installed, so no such file can be made")
    write(tmp_path / "a.mcap", compression=CompressionType.LZ4)
    assert notes_of(tmp_path / "a.mcap")[0] == 100


def test_a_file_that_grows_while_it_is_read_is_read_as_it_was(
    recorded: tuple[Path, Seen], tmp_path: Path, kit: Kit
) -> None:
    data = recorded[0].read_bytes()
    path = tmp_path / "a.mcap"
    chunks = [r for r in records(data) if r[0] == 6]
    path.write_bytes(data[: chunks[5][2]])
    with LogReader(str(path)) as reader:
        before = sum(1 for _ in reader.messages())
        path.write_bytes(data)
        assert sum(1 for _ in reader.messages()) == before
    assert len(kit.read(path)) > before
