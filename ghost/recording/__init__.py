"""Recordings: the bus into an MCAP file, and back, equal to the last bit (D11, D24, D25)."""

from ghost.recording.errors import RecordingError
from ghost.recording.foxglove import StaticTransform
from ghost.recording.images import ImageEncoding
from ghost.recording.reader import LogInfo, LogMessage, LogReader, TopicInfo
from ghost.recording.recorder import Recorder, RecorderLimits, RecorderStats

__all__ = [
    "ImageEncoding",
    "LogInfo",
    "LogMessage",
    "LogReader",
    "Recorder",
    "RecorderLimits",
    "RecorderStats",
    "RecordingError",
    "StaticTransform",
    "TopicInfo",
]
