"""Talking to PX4, knowing nothing of simulators: lockstep, commands, parameters, its process."""

from ghost.px4.arming import Arming, ArmRequest
from ghost.px4.gz_bridge import BridgeWorld, GzBridgeLink
from ghost.px4.helpers import hold, land, return_home, take_off
from ghost.px4.instances import ClaimedInstance, Ports, choose_instance, stale_instances
from ghost.px4.launch import make_process, may_spin
from ghost.px4.link import Link, LinkCounters, Readings
from ghost.px4.offboard import PX4_LEVELS, OffboardSink
from ghost.px4.outputs import Answer, MotorMap
from ghost.px4.params import (
    ParamSet,
    list_params,
    load_params,
    scale_loss_timeouts,
    vehicle_params,
)
from ghost.px4.process import AutopilotProcess, Px4Process
from ghost.px4.program import (
    GAZEBO_IMAGE,
    SIMULATOR_IMAGE,
    Px4Program,
    check_version,
    find_px4,
    missing_px4_screen,
)
from ghost.px4.readback import ParamReadback, ParamReport
from ghost.px4.requests import Request
from ghost.px4.serial import SerialTransport
from ghost.px4.session import Px4Session
from ghost.px4.simulator_link import SimulatorLink
from ghost.px4.traffic import TrafficLog
from ghost.px4.transport import TcpServerTransport, Transport

__all__ = [
    # the lockstep
    "Answer",
    "BridgeWorld",
    "GzBridgeLink",
    "Link",
    "LinkCounters",
    "MotorMap",
    "Readings",
    "SerialTransport",
    "SimulatorLink",
    "TcpServerTransport",
    "TrafficLog",
    "Transport",
    # commands
    "PX4_LEVELS",
    "ArmRequest",
    "Arming",
    "OffboardSink",
    "Px4Session",
    "Request",
    "hold",
    "land",
    "return_home",
    "take_off",
    # parameters
    "ParamReadback",
    "ParamReport",
    "ParamSet",
    "list_params",
    "load_params",
    "scale_loss_timeouts",
    "vehicle_params",
    # its life
    "GAZEBO_IMAGE",
    "SIMULATOR_IMAGE",
    "AutopilotProcess",
    "ClaimedInstance",
    "Ports",
    "Px4Process",
    "Px4Program",
    "check_version",
    "choose_instance",
    "find_px4",
    "make_process",
    "may_spin",
    "missing_px4_screen",
    "stale_instances",
]
