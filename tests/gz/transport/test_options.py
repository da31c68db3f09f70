"""The network settings, given or from the environment."""

from __future__ import annotations

import socket

import pytest

from ghost.core import ConfigError
from ghost.gz.transport import NameInvalid, TransportOptions


def test_the_defaults_are_gazebos_ports_on_the_loopback() -> None:
    options = TransportOptions()
    assert (options.ip, options.multicast_ip) == ("127.0.0.1", "239.255.0.7")
    assert (options.msg_port, options.srv_port) == (10317, 10318)
    assert not options.authenticated


def test_the_environment_of_gazebo_is_understood() -> None:
    options = TransportOptions.from_environ(
        {
            "GZ_PARTITION": "lab",
            "GZ_IP": "127.0.0.2",
            "GZ_RELAY": "10.0.0.1:10.0.0.2",
            "GZ_DISCOVERY_MULTICAST_IP": "239.255.0.9",
            "GZ_DISCOVERY_MSG_PORT": "11000",
            "GZ_DISCOVERY_SRV_PORT": "11001",
            "GZ_TRANSPORT_USERNAME": "ann",
            "GZ_TRANSPORT_PASSWORD": "secret",
            "GZ_TRANSPORT_TOPIC_STATISTICS": "1",
        }
    )
    assert options == TransportOptions(
        partition="lab",
        ip="127.0.0.2",
        multicast_ip="239.255.0.9",
        msg_port=11000,
        srv_port=11001,
        relays=("10.0.0.1", "10.0.0.2"),
        username="ann",
        password="secret",
        topic_statistics=True,
    )
    assert "secret" not in repr(options)


def test_the_older_names_count_where_the_new_are_missing() -> None:
    environ = {"IGN_PARTITION": "old", "IGN_IP": "127.0.0.3", "GZ_IP": "127.0.0.4"}
    options = TransportOptions.from_environ(environ)
    assert (options.partition, options.ip) == ("old", "127.0.0.4")


def test_without_a_partition_it_is_host_and_user_as_gazebo_has_it() -> None:
    options = TransportOptions.from_environ({"USER": "ann"})
    assert options.partition == f"{socket.gethostname()}:ann"


def test_an_empty_partition_is_one() -> None:
    assert TransportOptions.from_environ({"GZ_PARTITION": ""}).partition_path == ""


def test_two_equal_ports_move_apart_as_gazebo_moves_them() -> None:
    environ = {"GZ_DISCOVERY_MSG_PORT": "65535", "GZ_DISCOVERY_SRV_PORT": "65535"}
    assert TransportOptions.from_environ(environ).srv_port == 65534
    assert TransportOptions.from_environ({"GZ_DISCOVERY_MSG_PORT": "10318"}).srv_port == 10319


def test_half_a_password_is_none() -> None:
    assert not TransportOptions.from_environ({"GZ_TRANSPORT_USERNAME": "ann"}).authenticated
    with pytest.raises(ConfigError, match="user name needs a password"):
        TransportOptions(username="ann")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GZ_IP", "localhost"),
        ("GZ_RELAY", "10.0.0.1:relay"),
        ("GZ_DISCOVERY_MULTICAST_IP", "::1"),
        ("GZ_DISCOVERY_MSG_PORT", "ten"),
        ("GZ_DISCOVERY_SRV_PORT", "70000"),
        ("GZ_PARTITION", "a b"),
        ("IGN_PARTITION", "a@b"),
    ],
)
def test_a_bad_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        TransportOptions.from_environ({name: value})
    if name != "IGN_PARTITION":
        assert caught.value.key == name
    assert isinstance(caught.value, NameInvalid) == ("PARTITION" in name)


def test_a_unicast_group_and_one_port_for_both_are_refused() -> None:
    with pytest.raises(ConfigError, match="no multicast address"):
        TransportOptions(multicast_ip="10.0.0.1")
    with pytest.raises(ConfigError, match="cannot share"):
        TransportOptions(msg_port=11000, srv_port=11000)
