"""Names and partitions, by the rules of gz-transport."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost.core import ConfigError
from ghost.gz.transport import NameInvalid, TransportOptions
from ghost.gz.transport.names import check_partition, full_name, split_name


@pytest.mark.parametrize(
    ("partition", "topic", "full"),
    [
        ("", "/clock", "@@/clock"),
        ("p", "clock", "@/p@/clock"),
        ("/p/", "/world/w/clock/", "@/p@/world/w/clock"),
        ("host:user", "/a", "@/host:user@/a"),
    ],
)
def test_a_full_name_is_partition_and_topic(partition: str, topic: str, full: str) -> None:
    assert full_name(check_partition(partition), topic) == full
    assert split_name(full) == (check_partition(partition), "/" + topic.strip("/"))


@pytest.mark.parametrize("bad", ["a b", "a~b", "a@b", "a//b", "a:=b", "/", "\ud800"])
def test_a_bad_character_in_a_partition_is_named(bad: str) -> None:
    with pytest.raises(NameInvalid, match="partition") as caught:
        TransportOptions(partition=bad)
    assert repr(bad) in str(caught.value)
    assert isinstance(caught.value, ConfigError)


@pytest.mark.parametrize("bad", ["", "a b", "a~b", "a@b", "a//b", "a:=b", "/", "x" * 70_000])
def test_a_bad_topic_is_refused(bad: str) -> None:
    with pytest.raises(NameInvalid, match="service name"):
        full_name("/p", bad, kind="service")


@pytest.mark.parametrize("text", ["", "a", "@", "@a", "@p@", "clock@p@", "p@/clock"])
def test_what_is_no_full_name_is_not_split(text: str) -> None:
    assert split_name(text) is None


@given(st.text(max_size=40), st.text(max_size=40))
def test_what_is_accepted_comes_back(partition: str, topic: str) -> None:
    try:
        path = check_partition(partition)
        full = full_name(path, topic)
    except NameInvalid:
        return
    split = split_name(full)
    assert split is not None
    assert split[0] == path
    assert split[1].strip("/") == topic.strip("/")
