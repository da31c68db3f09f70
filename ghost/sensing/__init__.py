"""The one pipeline that every simulated sensor goes through: truth in, `SensorSample` out."""

from ghost.sensing.channel import NAN_ERROR, Reader
from ghost.sensing.channel_set import ChannelSet
from ghost.sensing.faults import SPIKE_EVERY
from ghost.sensing.geometry import beam_directions, beam_rings, camera_intrinsics, pixel_rays
from ghost.sensing.models import SensorModel, ToGeodetic, make_model
from ghost.sensing.provider import ChannelProvider
from ghost.sensing.truth import (
    AltimeterTruth,
    BaroTruth,
    DepthTruth,
    FlowTruth,
    GnssTruth,
    ImuTruth,
    LidarTruth,
    MagTruth,
    RgbTruth,
    Truth,
)

__all__ = [
    # the pipeline
    "ChannelProvider",
    "ChannelSet",
    "Reader",
    "ToGeodetic",
    # what a backend delivers
    "AltimeterTruth",
    "BaroTruth",
    "DepthTruth",
    "FlowTruth",
    "GnssTruth",
    "ImuTruth",
    "LidarTruth",
    "MagTruth",
    "RgbTruth",
    "Truth",
    # where sensors look
    "beam_directions",
    "beam_rings",
    "camera_intrinsics",
    "pixel_rays",
    # models without a channel
    "NAN_ERROR",
    "SPIKE_EVERY",
    "SensorModel",
    "make_model",
]
