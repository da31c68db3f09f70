"""The parts of the backend, each for itself: truth, lateness, images, ground, compass, options."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.backends.gazebo import GazeboOptions
from ghost.backends.gazebo.air import AirColumn, height_m, pressure_pa
from ghost.backends.gazebo.ground import Ground
from ghost.backends.gazebo.lateness import Lateness
from ghost.backends.gazebo.magnetism import Magnetism
from ghost.backends.gazebo.sensors import Mailbox
from ghost.backends.gazebo.truth import RotorLag, TruthTracker
from ghost.backends.gazebo.wire_images import depth_view, packed_ranges, rgb_view, scan_ranges
from ghost.config import load_vehicle
from ghost.core import BoxObstacle, ConfigError, Event, EventType, UnknownName
from ghost.gz.msgs import Image, LaserScan, PixelFormatType, PointCloudPacked, Pose
from ghost.gz.transport import Incoming
from ghost.hal import SensorHealth, SensorSpec
from ghost.hal.frames import q_from_rotvec, q_from_rpy, q_multiply, q_rotate, q_rotate_inverse
from ghost.sensing import ChannelProvider

STEP_NS = 4_000_000
FIELD = (6.0e-6, 2.3e-5, -4.2e-5)


def _pose(place: Sequence[float], q: Sequence[float]) -> Incoming:
    message = Pose()
    message.position.x, message.position.y, message.position.z = place
    turn = message.orientation
    turn.w, turn.x, turn.y, turn.z = q
    return Incoming("/model/m/pose", "gz.msgs.Pose", message.SerializeToString(), "")


@settings(deadline=None, max_examples=50)
@given(
    st.tuples(*[st.floats(-20.0, 20.0)] * 3),
    st.tuples(*[st.floats(-8.0, 8.0)] * 3),
    st.tuples(*[st.floats(-3.0, 3.0)] * 3),
)
def test_truth_is_the_motion_between_poses(
    velocity: tuple[float, float, float],
    rate: tuple[float, float, float],
    angles: tuple[float, float, float],
) -> None:
    """Move by a velocity and turn by a rate for one step: both are told, whatever q's sign."""
    dt = STEP_NS * 1e-9
    start_q = q_from_rpy(*angles)
    tracker = TruthTracker()
    tracker.start((1.0, 2.0, 3.0, *start_q, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    q = q_multiply(start_q, q_from_rotvec([r * dt for r in rate]))
    place = [a + v * dt for a, v in zip((1.0, 2.0, 3.0), velocity, strict=True)]
    for sign in (1.0, -1.0):
        tracker.start((1.0, 2.0, 3.0, *start_q, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        tracker.take(_pose(place, [sign * value for value in q]), STEP_NS)
        assert tracker.stamp_ns == STEP_NS
        assert tracker.state[7:10] == pytest.approx(velocity, abs=1e-9)
        assert tracker.state[10:13] == pytest.approx(rate, abs=1e-9)
        assert tracker.acc_enu_mps2 == pytest.approx([v / dt for v in velocity], abs=1e-6)


def test_truth_ignores_the_past_and_rubbish() -> None:
    tracker = TruthTracker()
    tracker.take(_pose((1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)), STEP_NS)
    before = tracker.state
    tracker.take(_pose((9.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)), STEP_NS)
    tracker.take(Incoming("t", "gz.msgs.Pose", b"\xff\xff", ""), 2 * STEP_NS)
    assert tracker.state is before
    assert tracker.stamp_ns == STEP_NS


def test_rotors_lag_behind_their_command() -> None:
    motor = load_vehicle("x500").motor
    rotors = RotorLag(motor, 4, STEP_NS)
    rotors.command_thrusts([1.0, 0.25, 0.0, 0.25])
    rotors.advance(1)
    up = 1.0 - math.exp(-0.004 / 0.0125)
    assert rotors.speeds_rad_s == pytest.approx([1000.0 * up, 500.0 * up, 0.0, 500.0 * up])
    rotors.advance(200)
    rotors.command_thrusts([0.0] * 4)
    rotors.advance(1)
    down = math.exp(-0.004 / 0.025)
    assert rotors.speeds_rad_s == pytest.approx([1000.0 * down, 500.0 * down, 0.0, 500.0 * down])


def test_ground_and_boxes_below() -> None:
    ground = Ground(
        [
            BoxObstacle((5.0, 0.0, 1.0), (2.0, 1.0, 2.0)),
            BoxObstacle((0.0, 5.0, 1.0), (4.0, 1.0, 2.0), yaw_deg=90.0),
        ]
    )
    assert ground.height_above(0.0, 0.0, 3.0) == 3.0
    assert ground.height_above(5.9, 0.4, 3.0) == 1.0
    assert ground.height_above(5.9, 0.6, 3.0) == 3.0
    assert ground.height_above(5.0, 0.0, 1.5) == 1.5, "a box is not below its own inside"
    assert ground.height_above(0.0, 6.9, 3.0) == 1.0, "turned by 90 degrees it is long in y"
    assert math.isnan(ground.height_above(0.0, 0.0, -0.1))
    assert math.isnan(ground.height_above(0.0, 0.0, 1001.0))


@pytest.mark.parametrize("gauss", [False, True])
@pytest.mark.parametrize("ned", [False, True])
@pytest.mark.parametrize("lat_deg", [47.0, -33.0])
def test_the_compass_of_every_convention(gauss: bool, ned: bool, lat_deg: float) -> None:
    """Gazebo's own field, in each of its conventions, comes out as the scenario's, also tilted."""
    down = 4.0e-5 if lat_deg > 0.0 else -4.0e-5
    north, east = 2.1e-5, 1.0e-6
    world = (north, east, down) if ned else (east, north, -down)
    compass = Magnetism(FIELD, lat_deg)
    for angles in ((0.0, 0.0, 0.0), (0.3, -0.2, 1.0), (-1.0, 0.5, -2.5)):
        q = q_from_rpy(*angles)
        scale = 1e4 if gauss else 1.0
        x, y, z = (scale * value for value in q_rotate_inverse(q, world))
        assert compass.in_sensor((x, y, z), q) == pytest.approx(
            q_rotate_inverse(q, FIELD), abs=1e-12
        )
    # A magnet near the sensor shows, in its place.
    q = q_from_rpy(0.2, 0.1, 0.7)
    disturbed = [scale * value for value in q_rotate_inverse(q, world)]
    got = q_rotate(q, compass.in_sensor((disturbed[0] * 1.5, disturbed[1], disturbed[2]), q))
    assert max(abs(a - b) for a, b in zip(got, FIELD, strict=True)) > 1e-7


@pytest.mark.parametrize("left_out", [True, False])
def test_the_barometer_knows_how_high_its_world_lies(left_out: bool) -> None:
    """Gazebo Sim 8 leaves the origin's altitude out: then, and only then, it is put in."""
    air = AirColumn(488.0)
    for z in (0.227, 5.0, 120.0):
        got = air.at_origin(pressure_pa(z if left_out else z + 488.0), z)
        assert got == pytest.approx(pressure_pa(488.0 + z), abs=1e-6)
    # ISO 2533: 101325 Pa at sea level, 89874.6 Pa at 1000 m of geopotential height.
    assert pressure_pa(0.0) == 101325.0
    assert pressure_pa(1000.157) == pytest.approx(89874.6, abs=1.0)
    assert height_m(pressure_pa(3456.7)) == pytest.approx(3456.7, abs=1e-6)


def test_pictures_are_views_of_the_message() -> None:
    pixels = np.arange(4 * 6 * 3, dtype=np.uint8)
    message = Image(width=6, height=4, step=18, data=pixels.tobytes())
    message.pixel_format_type = PixelFormatType.RGB_INT8
    data = message.SerializeToString()
    image = rgb_view(data)
    assert image.shape == (4, 6, 3)
    assert not image.flags.owndata
    assert not image.flags.writeable
    assert (image.reshape(-1) == pixels).all()

    depth = np.linspace(0.5, 9.0, 24).astype(np.float32)
    message = Image(width=6, height=4, step=24, data=depth.tobytes())
    message.pixel_format_type = PixelFormatType.R_FLOAT32
    view = depth_view(message.SerializeToString())
    assert view.shape == (4, 6)
    assert (view.reshape(-1) == depth).all()
    assert not view.flags.owndata


def test_padded_rows_are_cut() -> None:
    rows = np.zeros((4, 32), np.uint8)
    rows[:, :18] = 7
    message = Image(width=6, height=4, step=32, data=rows.tobytes())
    message.pixel_format_type = PixelFormatType.RGB_INT8
    assert (rgb_view(message.SerializeToString()) == 7).all()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"pixel_format_type": PixelFormatType.BGR_INT8}, "pixel format"),
        ({"height": 5}, "bytes for 5 rows"),
        ({"step": 10}, "bytes for 4 rows"),
    ],
)
def test_pictures_that_cannot_be_are_refused(change: dict[str, int], says: str) -> None:
    message = Image(width=6, height=4, step=18, data=bytes(72))
    message.pixel_format_type = PixelFormatType.RGB_INT8
    for name, value in change.items():
        setattr(message, name, value)
    with pytest.raises(ValueError, match=says):
        rgb_view(message.SerializeToString())


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=80))
def test_no_bytes_break_the_readers(data: bytes) -> None:
    for reader in (rgb_view, depth_view, scan_ranges):
        try:
            result = reader(data)
        except ValueError:
            continue
        assert result.size >= 0


def test_scans_and_clouds_agree() -> None:
    ranges = np.array([1.0, math.inf, 3.0, 2.5, 4.0, 0.7])
    scan = LaserScan(count=3, vertical_count=2, ranges=ranges.tolist())
    assert (scan_ranges(scan.SerializeToString()) == ranges.astype(np.float32)).all()
    cloud = PointCloudPacked(height=2, width=3, point_step=16)
    for name, offset in (("x", 0), ("y", 4), ("z", 8)):
        cloud.field.add(name=name, offset=offset, count=1)
    points = np.zeros((6, 4), np.float32)
    points[:, 0] = ranges * 0.6
    points[:, 1] = ranges * 0.8
    cloud.data = points.tobytes()
    assert packed_ranges(cloud.SerializeToString()) == pytest.approx(ranges, rel=1e-6)
    scan.count = 4
    with pytest.raises(ValueError, match="6 ranges"):
        scan_ranges(scan.SerializeToString())
    del cloud.field[2]
    with pytest.raises(ValueError, match="x, y and z"):
        packed_ranges(cloud.SerializeToString())


class _World:
    """Delivers a frame when it is waited for, until told not to."""

    def __init__(self) -> None:
        self.box: Mailbox | None = None
        self.dead = False
        self.waits: list[float] = []

    def await_stamp(self, topic: str, stamp_ns: int, timeout_s: float) -> bool:
        self.waits.append(timeout_s)
        assert self.box is not None
        assert topic == self.box.topic
        if not self.dead:
            self.box.stamp_ns = stamp_ns
        return not self.dead


def _lateness(box: Mailbox) -> tuple[_World, Lateness, ChannelProvider, list[Event]]:
    events: list[Event] = []
    world = _World()
    world.box = box
    spec = SensorSpec(box.sensor_id, "rgb", 10.0, box.sensor_id)
    provider = ChannelProvider(spec, 10, events.append)
    lateness = Lateness(world, STEP_NS, {box.sensor_id: provider}, events.append, 2.0)
    return world, lateness, provider, events


def test_a_late_image_is_waited_for() -> None:
    box = Mailbox("cam", "/cam", "gz.msgs.Image", 40_000_000, rendered=True)
    world, lateness, _, events = _lateness(box)
    ready = lateness.waiter(box)
    assert ready(40_000_000)
    assert ready(80_000_000)
    assert world.waits == [10.0, 2.0], "the renderer may take its time to start"
    assert box.stamp_ns == 80_000_000
    assert not events


def test_an_image_that_never_comes_degrades_and_then_ends_the_sensor() -> None:
    box = Mailbox("cam", "/cam", "gz.msgs.Image", 40_000_000, rendered=True)
    world, lateness, provider, events = _lateness(box)
    ready = lateness.waiter(box)
    assert ready(40_000_000)
    world.dead = True
    health = []
    for k in range(2, 8):
        assert not ready(k * 40_000_000)
        health.append(provider.health)
    assert health[0] is SensorHealth.DEGRADED
    assert health[2:] == [SensorHealth.OFFLINE] * 4
    assert len(world.waits) == 4, "an offline camera is not waited for"
    assert [event.type for event in events] == [EventType.SENSOR_FAULT] * 2
    # It comes back: something new arrives, and from then on it is waited for again.
    world.dead = False
    box.stamp_ns = 281_000_000
    assert ready(320_000_000)
    assert provider.health is SensorHealth.OK
    assert events[-1].type is EventType.SENSOR_RECOVERED


def test_a_silent_sensor_is_told_of_once() -> None:
    box = Mailbox("imu0", "/imu", "gz.msgs.IMU", 0, rendered=False)
    _, lateness, provider, events = _lateness(box)
    ready = lateness.waiter(box)
    box.stamp_ns = STEP_NS
    assert ready(STEP_NS)
    for k in range(2, 6):
        assert not ready(k * STEP_NS)
    health = [provider.health]
    assert [event.type for event in events] == [EventType.SENSOR_FAULT]
    assert "/imu" in events[0].message
    box.stamp_ns = 6 * STEP_NS
    assert ready(6 * STEP_NS)
    health.append(provider.health)
    assert health == [SensorHealth.OFFLINE, SensorHealth.OK]
    assert [event.type for event in events][1:] == [EventType.SENSOR_RECOVERED]


def test_settings_are_read() -> None:
    told = {"attach": "field", "deadline_s": "3.5", "topic.imu0": "/a/imu", "transport": "bindings"}
    options = GazeboOptions.parse(told, {"GZ_PARTITION": "p", "GZ_IP": "127.0.0.1"})
    assert options.attach == "field"
    assert options.deadline_s == 3.5
    assert options.topics == {"imu0": "/a/imu"}
    assert options.transport == "bindings"
    assert options.network.partition == "p"


@pytest.mark.parametrize(
    ("told", "key"),
    [
        ({"transport": "carrier pigeon"}, "gz.transport"),
        ({"deadline_s": "soon"}, "gz.deadline_s"),
        ({"deadline_s": "-1"}, "gz.deadline_s"),
        ({"image_deadline_s": "inf"}, "gz.image_deadline_s"),
        ({"reset": "never"}, "gz.reset"),
        ({"reset": "restart", "attach": "w"}, "gz.reset"),
    ],
)
def test_bad_settings_are_refused(told: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        GazeboOptions.parse(told, {"GZ_PARTITION": "p"})
    assert caught.value.key == key


def test_an_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        GazeboOptions.parse({"atach": "w"}, {"GZ_PARTITION": "p"})
    assert caught.value.nearest[0] == "gz.attach"


def test_a_partition_with_a_bad_character_is_refused() -> None:
    with pytest.raises(ConfigError, match="GZ_PARTITION"):
        GazeboOptions.parse({}, {"GZ_PARTITION": "a@b"})
