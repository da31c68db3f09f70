"""A flight through the recorder and back through the reader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ghost.core import ContractViolation, MessageBus, RandomStream
from ghost.hal import (
    CameraIntrinsics,
    GroundTruth,
    RGBImagePayload,
    SensorHealth,
    SensorMeta,
    SensorSample,
    StepReport,
    digest,
)
from ghost.recording import LogReader, Recorder, RecorderLimits, RecordingError

if TYPE_CHECKING:
    from tests.recording.conftest import Kit, Seen


def in_order(seen: Seen) -> Seen:
    return sorted(seen, key=lambda entry: entry[1:3])


def test_a_recording_holds_every_message_in_order(recorded: tuple[Path, Seen], kit: Kit) -> None:
    path, seen = recorded
    assert len({entry[0] for entry in seen}) == 17
    assert kit.read(path) == in_order(seen)


def test_png_keeps_every_pixel(tmp_path: Path, kit: Kit) -> None:
    seen = kit.record(tmp_path / "run.mcap", encodings={"cam0": "png"})
    assert kit.read(tmp_path / "run.mcap") == in_order(seen)


def test_jpeg_comes_near_and_says_that_it_is_not_exact(tmp_path: Path) -> None:
    ramp = np.add.outer(np.arange(24), np.arange(32))[:, :, None].repeat(3, axis=2)
    image = (ramp * 4).astype(np.uint8)
    camera = CameraIntrinsics(32, 24, 20.0, 20.0, 16.0, 12.0, "none", np.empty(0))
    payload, meta = RGBImagePayload(image, camera, 1), SensorMeta("cam")
    bus = MessageBus()
    with Recorder(str(tmp_path / "a.mcap"), bus, encodings={"cam0": "jpeg"}):
        sample = SensorSample("cam0", 0, 1, 1, 1, SensorHealth.OK, payload, meta)
        bus.publish("/sensors/cam0", sample)
    with LogReader(str(tmp_path / "a.mcap")) as reader:
        (message,) = list(reader.messages())
        back = message.message.payload.image
        assert np.abs(back.astype(int) - image.astype(int)).max() < 24
        assert any("JPEG" in note for note in reader.notes)


def test_an_unknown_encoding_is_refused() -> None:
    wrong: Any = {"cam0": "gif"}
    with pytest.raises(ValueError, match=r"encodings\['cam0'\] must be raw, png or jpeg"):
        Recorder("x.mcap", MessageBus(), encodings=wrong)


def test_the_file_explains_itself(recorded: tuple[Path, Seen]) -> None:
    path, seen = recorded
    with LogReader(str(path)) as reader:
        info = reader.info()
        assert reader.attachment("scenario.yaml") == b"name: made_up\n"
        with pytest.raises(RecordingError, match=r"no attachment 'x'.*scenario\.yaml"):
            reader.attachment("x")
    assert info.finished
    assert info.notes == ()
    assert info.header["scenario"] == {"name": "made_up", "seed": 7}
    assert info.header["format"] == 1
    assert {"ghost", "hal", "python", "packages"} <= info.header.keys()
    assert info.result == {"received": len(seen), "dropped": 0, "left_out": 0, "stalls": 0}
    assert info.attachments == ("scenario.yaml",)
    records = {t.topic: t for t in info.topics if t.role == "record"}
    assert records.keys() == {entry[0] for entry in seen}
    for topic, found in records.items():
        stamps = [stamp for name, stamp, _, _ in seen if name == topic]
        assert (found.count, found.first_ns, found.last_ns) == (
            len(stamps),
            min(stamps),
            max(stamps),
        )
    assert (info.first_ns, info.last_ns) == (1_000_000, 400_000_000)


def test_results_are_added_at_the_end(tmp_path: Path) -> None:
    path = str(tmp_path / "a.mcap")
    recorder = Recorder(path, MessageBus(), metadata={"health": SensorHealth.OK, "at": np.ones(2)})
    with recorder:
        recorder.annotate(digest="d" * 64, outcome="done")
    recorder.close()
    with LogReader(path) as reader:
        info = reader.info()
    assert info.result["digest"] == "d" * 64
    assert info.header["health"] == 0
    assert info.header["at"] == [1.0, 1.0]
    assert (info.message_count, info.first_ns) == (0, None)


def test_metadata_that_is_no_data_is_refused() -> None:
    with pytest.raises(TypeError, match=r"metadata\['x'\]: a object is no plain data"):
        Recorder("x.mcap", MessageBus(), metadata={"x": object()})


def test_a_recorder_starts_once(tmp_path: Path) -> None:
    recorder = Recorder(str(tmp_path / "a.mcap"), MessageBus())
    with recorder, pytest.raises(ContractViolation, match="started once"):
        recorder.start()
    with pytest.raises(ContractViolation):
        recorder.start()


def test_only_the_patterns_are_recorded(tmp_path: Path, kit: Kit) -> None:
    path = tmp_path / "a.mcap"
    seen = kit.record(path, patterns=("/sensors/*", "/events"))
    topics = {entry[0] for entry in kit.read(path)}
    assert topics == {t for t, *_ in seen if t.startswith("/sensors/") or t == "/events"}


def test_nothing_is_recorded_after_close(tmp_path: Path, kit: Kit) -> None:
    bus, path = MessageBus(), tmp_path / "a.mcap"
    with Recorder(str(path), bus) as recorder:
        bus.publish("/step", StepReport(1, 1, {}))
    bus.publish("/step", StepReport(2, 1, {}))
    assert [entry[1] for entry in kit.read(path)] == [1]
    assert recorder.stats().received == recorder.stats().written == 1


@pytest.mark.parametrize(
    ("start_ns", "end_ns"),
    [(None, 50_000_000), (350_000_000, None), (100_000_000, 100_000_001), (7, 7), (10**12, None)],
)
def test_a_window_holds_what_lies_in_it(
    recorded: tuple[Path, Seen], kit: Kit, start_ns: int | None, end_ns: int | None
) -> None:
    path, seen = recorded
    low, high = start_ns or 0, end_ns if end_ns is not None else 2**63
    wanted = [entry for entry in in_order(seen) if low <= entry[1] < high]
    assert kit.read(path, start_ns=start_ns, end_ns=end_ns) == wanted


@pytest.mark.parametrize(
    "topics", [["/sensors/imu0"], ["/sensors/cam0", "/events"], ["/sensors/*"], ["/nothing"], []]
)
def test_topics_are_names_or_prefixes(
    recorded: tuple[Path, Seen], kit: Kit, topics: list[str]
) -> None:
    path, seen = recorded
    wanted = [
        e
        for e in in_order(seen)
        if e[0] in topics or ("/sensors/*" in topics and e[0].startswith("/sensors/"))
    ]
    assert kit.read(path, topics=topics) == wanted


def test_two_iterators_do_not_disturb_each_other(recorded: tuple[Path, Seen]) -> None:
    with LogReader(str(recorded[0])) as reader:
        first, second = reader.messages(), reader.messages(["/sensors/imu0"])
        pairs = [(next(first), next(second)) for _ in range(50)]
    assert [b.message.seq for _, b in pairs] == list(range(1, 51))
    assert [a.sequence for a, _ in pairs] == list(range(50))


def test_messages_out_of_order_are_sorted_across_chunks(tmp_path: Path, kit: Kit) -> None:
    bus, path = MessageBus(), tmp_path / "a.mcap"
    seen = kit.listen(bus)
    stamps = RandomStream(3).numpy_rng().permutation(3000).tolist()
    with Recorder(str(path), bus, limits=RecorderLimits(chunk_bytes=1000)):
        for stamp in stamps:
            bus.publish("/step", StepReport(int(stamp) // 3, 1, {"a": int(stamp)}))
    found = kit.read(path)
    assert found == in_order(seen)


def test_the_display_poses_are_thinned_and_the_truth_is_not(recorded: tuple[Path, Seen]) -> None:
    with LogReader(str(recorded[0])) as reader:
        counts = {t.topic: t.count for t in reader.info().topics}
    assert counts["/ground_truth"] == 400
    assert counts["/ground_truth/pose"] == 10


def test_the_bytes_of_the_messages_do_not_depend_on_when_chunks_end(
    tmp_path: Path, kit: Kit
) -> None:
    seen = [
        kit.record(tmp_path / f"{size}.mcap", 100, limits=RecorderLimits(chunk_bytes=size))
        for size in (500, 10**6)
    ]
    assert seen[0] == seen[1]
    assert kit.read(tmp_path / "500.mcap") == kit.read(tmp_path / "1000000.mcap")


def test_a_truth_that_was_recorded_is_the_same_object_value(tmp_path: Path) -> None:
    truth = GroundTruth(5, *[np.full(n, -0.0) for n in (3, 4, 3, 3, 3, 4)])
    bus, path = MessageBus(), tmp_path / "a.mcap"
    with Recorder(str(path), bus):
        bus.publish("/ground_truth", truth)
    with LogReader(str(path)) as reader:
        (found,) = list(reader.messages())
    assert found.message == truth
    assert digest(found.message) == digest(truth)
    assert not found.message.pos_enu_m.flags.writeable
