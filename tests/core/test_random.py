from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost.core import RandomSource, RandomStream

PARTS = st.text("abcxyz019_", min_size=1, max_size=6)
LABELS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
SEEDS = st.integers(0, 2**64 - 1)

# (seed, path): two raw 64-bit words, one normal(0, 1), one uniform(0, 1), integers(0, 1000, size=4)
GOLDEN = {
    (0, "/"): (
        (13238955106939740929, 1332790292181413557),
        -0.15959789581196568,
        0.7176851944191065,
        [853, 717, 584, 72],
    ),
    (42, "/sensors/imu0/noise"): (
        (13032603237188452581, 5202115148776510296),
        1.6144267254398015,
        0.7064988371450669,
        [200, 706, 451, 282],
    ),
    (2**64 - 1, "/physics/wind"): (
        (18210681965639940773, 17241633147036459939),
        1.6150844022276396,
        0.987203047479471,
        [435, 987, 268, 934],
    ),
}


def first_words(seed: int, path: str) -> list[int]:
    """Philox4x64-10 after Salmon et al. (SC11), from the paper and not from numpy."""
    digest = hashlib.sha256(b"ghost-rng-v1" + seed.to_bytes(8, "little") + path.encode()).digest()
    mask = 2**64 - 1
    key = [int.from_bytes(digest[i : i + 8], "little") for i in (0, 8)]
    block = [1, 0, 0, 0]  # numpy counts before it draws
    for _ in range(10):
        wide0 = 0xD2E7470EE14C6C93 * block[0]
        wide1 = 0xCA5A826395121157 * block[2]
        block = [
            (wide1 >> 64) ^ block[1] ^ key[0],
            wide1 & mask,
            (wide0 >> 64) ^ block[3] ^ key[1],
            wide0 & mask,
        ]
        key = [(key[0] + 0x9E3779B97F4A7C15) & mask, (key[1] + 0xBB67AE8584CAA73B) & mask]
    return block


def raw(stream: RandomStream, count: int = 4) -> list[int]:
    return [int(stream.numpy_rng().bit_generator.random_raw()) for _ in range(count)]


@pytest.mark.parametrize(("seed", "path"), list(GOLDEN))
def test_golden_values(seed: int, path: str) -> None:
    words, normal, uniform, integers = GOLDEN[seed, path]
    assert raw(RandomStream(seed, path), 2) == list(words)
    assert RandomStream(seed, path).normal(0.0, 1.0) == normal
    assert RandomStream(seed, path).uniform(0.0, 1.0) == uniform
    assert RandomStream(seed, path).integers(0, 1000, size=4).tolist() == integers


@given(SEEDS, LABELS)
def test_the_stream_is_philox_keyed_by_the_hash(seed: int, label: str) -> None:
    assert raw(RandomStream(seed, label)) == first_words(seed, "/" + label)


@given(SEEDS, st.lists(LABELS, min_size=1, max_size=6, unique=True), st.data())
def test_same_path_same_stream_whatever_the_siblings_do(
    seed: int, labels: list[str], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(labels))
    root = RandomStream(seed)
    expected = {label: raw(root.child(label)) for label in labels}
    other = RandomStream(seed)
    for label in order:
        other.normal(0.0, 1.0)  # the parent's draws do not matter either
        assert raw(other.child(label)) == expected[label]
    assert len({tuple(words) for words in expected.values()}) == len(labels)


@given(SEEDS, LABELS, LABELS)
def test_a_path_is_the_same_in_one_step_and_in_many(seed: int, first: str, second: str) -> None:
    root = RandomStream(seed)
    ways = [
        root.child(first).child(second),
        root.child("/" + first).child("/" + second),
        root.child(f"{first}/{second}"),
        RandomStream(seed, f"/{first}/{second}"),
    ]
    assert {way.label for way in ways} == {f"/{first}/{second}"}
    assert len({tuple(raw(way)) for way in ways}) == 1


def test_another_seed_is_another_stream() -> None:
    assert raw(RandomStream(1, "a")) != raw(RandomStream(2, "a"))


@given(SEEDS, st.integers(1, 20))
def test_size_draws_the_numbers_of_single_draws(seed: int, count: int) -> None:
    one, many = RandomStream(seed, "a"), RandomStream(seed, "a")
    assert [one.normal(1.0, 2.0) for _ in range(count)] == many.normal(1.0, 2.0, count).tolist()
    assert [one.uniform(-1.0, 3.0) for _ in range(count)] == many.uniform(-1, 3, count).tolist()


def test_kinds_and_shapes() -> None:
    stream = RandomStream(3, "a")
    assert type(stream.normal(0.0, 1.0)) is float
    assert type(stream.uniform(0.0, 1.0)) is float
    assert type(stream.integers(0, 5)) is int
    assert stream.normal(0.0, 0.05, size=3).shape == (3,)
    assert stream.uniform(0.0, 1.0, size=(2, 3)).dtype == np.float64
    assert stream.integers(0, 5, size=(2,)).dtype == np.int64


def test_numpy_rng_is_the_stream_itself() -> None:
    one, other = RandomStream(3, "a"), RandomStream(3, "a")
    expected = [one.normal(0.0, 1.0), one.normal(0.0, 1.0)]
    assert [other.numpy_rng().standard_normal(), other.normal(0.0, 1.0)] == expected


def test_distributions() -> None:
    stream = RandomStream(11, "/stats")
    normal = stream.normal(2.0, 0.5, size=100_000)
    # Five standard errors of the mean and of the deviation for 1e5 draws.
    assert abs(normal.mean() - 2.0) < 5 * 0.5 / np.sqrt(1e5)
    assert abs(normal.std() - 0.5) < 5 * 0.5 / np.sqrt(2e5)
    uniform = stream.uniform(-2.0, 6.0, size=100_000)
    assert uniform.min() >= -2.0
    assert uniform.max() < 6.0
    assert abs(uniform.mean() - 2.0) < 5 * (8 / np.sqrt(12)) / np.sqrt(1e5)
    integers = stream.integers(-1, 2, size=1000)
    assert set(integers.tolist()) == {-1, 0, 1}


def test_it_is_a_random_source() -> None:
    def label_of(source: RandomSource) -> str:
        return source.child("b").label

    assert label_of(RandomStream(1, "/a")) == "/a/b"
    assert RandomStream(1, "/a").seed == 1
    assert repr(RandomStream(1, "a")) == "RandomStream(seed=1, label='/a')"
    assert RandomStream(1).label == "/"


@pytest.mark.parametrize(
    "label", ["", "/", "a/", "//a", "a//b", "A", "imu 0", "imu-0", "ñ", "a\n", "é", "a.b"]
)
def test_malformed_labels(label: str) -> None:
    with pytest.raises(ValueError, match="label"):
        RandomStream(0).child(label)


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="label must be a str"):
        RandomStream(0).child(3)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(TypeError, match="seed must be an integer"):
        RandomStream(1.5)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(TypeError, match="seed must be an integer"):
        RandomStream(True)
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match="seed must be in"):
            RandomStream(seed)
    stream = RandomStream(0)
    with pytest.raises(ValueError, match="sigma must not be negative"):
        stream.normal(0.0, -1.0)
    with pytest.raises(ValueError, match="uniform needs a <= b"):
        stream.uniform(1.0, 0.0)
    with pytest.raises(ValueError, match="low >= high"):
        stream.integers(3, 3)
