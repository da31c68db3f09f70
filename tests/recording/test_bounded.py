"""What a damaged file claims is told in a bounded text."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from mcap.records import Schema

from ghost.recording import LogReader
from ghost.recording.notes import Notes
from ghost.recording.source import Damaged, read_record


def test_a_record_that_makes_no_sense_is_told_in_a_few_words() -> None:
    name = b"\xff" * 1_000_000
    body = struct.pack("<HI", 1, len(name)) + name
    with pytest.raises(Damaged) as caught:
        read_record(Schema, body)
    text = str(caught.value)
    assert text.startswith("a Schema record makes no sense: ")
    assert len(text) < 300
    assert "UnicodeDecodeError(" not in text


def test_a_note_is_bounded_and_of_printable_text() -> None:
    notes = Notes()
    notes.add("k", "x" * 1_000_000 + "\x1b[2J")
    notes.add("l", "a\x00b\x1b[2Jc\nd")
    long, short = notes.texts()
    assert len(long) < 1100
    assert short.isprintable()


def test_a_name_of_megabytes_is_not_printed_whole(tmp_path: Path) -> None:
    from mcap.writer import Writer

    path = tmp_path / "long.mcap"
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        schema = writer.register_schema("s" * 2_000_000, "nothing", b"")
        channel = writer.register_channel("/t", "nothing", schema)
        writer.add_message(channel, 1, b"x", 1)
        writer.finish()  # type: ignore[no-untyped-call]  # mcap has no hints there
    with LogReader(str(path)) as reader:
        assert list(reader.messages()) == []
        notes = reader.notes
    assert notes
    assert sum(map(len, notes)) < 5000
