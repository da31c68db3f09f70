"""One model for each kind of sensor: truth in, payload out."""

from __future__ import annotations

from ghost.core import ConfigError, RandomSource, SensorConfig
from ghost.sensing.models.altimeter import AltimeterModel
from ghost.sensing.models.barometer import BarometerModel
from ghost.sensing.models.base import Reading, SensorModel, ToGeodetic
from ghost.sensing.models.depth import DepthModel
from ghost.sensing.models.gnss import GnssModel
from ghost.sensing.models.imu import ImuModel
from ghost.sensing.models.lidar import LidarModel
from ghost.sensing.models.magnetometer import MagnetometerModel
from ghost.sensing.models.optical_flow import OpticalFlowModel
from ghost.sensing.models.rgb import RgbModel

__all__ = ["Reading", "SensorModel", "ToGeodetic", "make_model"]


def make_model(config: SensorConfig, source: RandomSource, to_geodetic: ToGeodetic) -> SensorModel:
    """Return the model of a sensor that draws from `source`.

    Raises `ConfigError` for a type that no simulated world can measure (`event_camera`).
    """
    match config.type:
        case "imu":
            return ImuModel(config, source)
        case "magnetometer":
            return MagnetometerModel(config, source)
        case "barometer":
            return BarometerModel(config, source)
        case "gps":
            return GnssModel(config, source, to_geodetic)
        case "altimeter":
            return AltimeterModel(config, source)
        case "rgb":
            return RgbModel(config, source)
        case "depth":
            return DepthModel(config, source)
        case "lidar":
            return LidarModel(config, source)
        case "optical_flow":
            return OpticalFlowModel(config, source)
        case _:
            raise ConfigError(
                f"a sensor of type {config.type} cannot be simulated; remove it from the vehicle",
                key=f"sensors.{config.id}.type",
            )
