from ghost.gz.msgs import base_pb2 as _base_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PixelFormatType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    UNKNOWN_PIXEL_FORMAT: _ClassVar[PixelFormatType]
    L_INT8: _ClassVar[PixelFormatType]
    L_INT16: _ClassVar[PixelFormatType]
    RGB_INT8: _ClassVar[PixelFormatType]
    RGBA_INT8: _ClassVar[PixelFormatType]
    BGRA_INT8: _ClassVar[PixelFormatType]
    RGB_INT16: _ClassVar[PixelFormatType]
    RGB_INT32: _ClassVar[PixelFormatType]
    BGR_INT8: _ClassVar[PixelFormatType]
    BGR_INT16: _ClassVar[PixelFormatType]
    BGR_INT32: _ClassVar[PixelFormatType]
    R_FLOAT16: _ClassVar[PixelFormatType]
    RGB_FLOAT16: _ClassVar[PixelFormatType]
    R_FLOAT32: _ClassVar[PixelFormatType]
    RGB_FLOAT32: _ClassVar[PixelFormatType]
    BAYER_RGGB8: _ClassVar[PixelFormatType]
    BAYER_BGGR8: _ClassVar[PixelFormatType]
    BAYER_GBRG8: _ClassVar[PixelFormatType]
    BAYER_GRBG8: _ClassVar[PixelFormatType]
UNKNOWN_PIXEL_FORMAT: PixelFormatType
L_INT8: PixelFormatType
L_INT16: PixelFormatType
RGB_INT8: PixelFormatType
RGBA_INT8: PixelFormatType
BGRA_INT8: PixelFormatType
RGB_INT16: PixelFormatType
RGB_INT32: PixelFormatType
BGR_INT8: PixelFormatType
BGR_INT16: PixelFormatType
BGR_INT32: PixelFormatType
R_FLOAT16: PixelFormatType
RGB_FLOAT16: PixelFormatType
R_FLOAT32: PixelFormatType
RGB_FLOAT32: PixelFormatType
BAYER_RGGB8: PixelFormatType
BAYER_BGGR8: PixelFormatType
BAYER_GBRG8: PixelFormatType
BAYER_GRBG8: PixelFormatType

class IMU(_message.Message):
    __slots__ = ("header", "entity_name", "orientation", "orientation_covariance", "angular_velocity", "angular_velocity_covariance", "linear_acceleration", "linear_acceleration_covariance")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    ENTITY_NAME_FIELD_NUMBER: _ClassVar[int]
    ORIENTATION_FIELD_NUMBER: _ClassVar[int]
    ORIENTATION_COVARIANCE_FIELD_NUMBER: _ClassVar[int]
    ANGULAR_VELOCITY_FIELD_NUMBER: _ClassVar[int]
    ANGULAR_VELOCITY_COVARIANCE_FIELD_NUMBER: _ClassVar[int]
    LINEAR_ACCELERATION_FIELD_NUMBER: _ClassVar[int]
    LINEAR_ACCELERATION_COVARIANCE_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    entity_name: str
    orientation: _base_pb2.Quaternion
    orientation_covariance: _base_pb2.Float_V
    angular_velocity: _base_pb2.Vector3d
    angular_velocity_covariance: _base_pb2.Float_V
    linear_acceleration: _base_pb2.Vector3d
    linear_acceleration_covariance: _base_pb2.Float_V
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., entity_name: _Optional[str] = ..., orientation: _Optional[_Union[_base_pb2.Quaternion, _Mapping[str, object]]] = ..., orientation_covariance: _Optional[_Union[_base_pb2.Float_V, _Mapping[str, object]]] = ..., angular_velocity: _Optional[_Union[_base_pb2.Vector3d, _Mapping[str, object]]] = ..., angular_velocity_covariance: _Optional[_Union[_base_pb2.Float_V, _Mapping[str, object]]] = ..., linear_acceleration: _Optional[_Union[_base_pb2.Vector3d, _Mapping[str, object]]] = ..., linear_acceleration_covariance: _Optional[_Union[_base_pb2.Float_V, _Mapping[str, object]]] = ...) -> None: ...

class Magnetometer(_message.Message):
    __slots__ = ("header", "field_tesla")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    FIELD_TESLA_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    field_tesla: _base_pb2.Vector3d
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., field_tesla: _Optional[_Union[_base_pb2.Vector3d, _Mapping[str, object]]] = ...) -> None: ...

class FluidPressure(_message.Message):
    __slots__ = ("header", "pressure", "variance")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    PRESSURE_FIELD_NUMBER: _ClassVar[int]
    VARIANCE_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    pressure: float
    variance: float
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., pressure: _Optional[float] = ..., variance: _Optional[float] = ...) -> None: ...

class AirSpeed(_message.Message):
    __slots__ = ("header", "diff_pressure", "temperature")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DIFF_PRESSURE_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    diff_pressure: float
    temperature: float
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., diff_pressure: _Optional[float] = ..., temperature: _Optional[float] = ...) -> None: ...

class NavSat(_message.Message):
    __slots__ = ("header", "latitude_deg", "longitude_deg", "altitude", "velocity_east", "velocity_north", "velocity_up", "frame_id")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    LATITUDE_DEG_FIELD_NUMBER: _ClassVar[int]
    LONGITUDE_DEG_FIELD_NUMBER: _ClassVar[int]
    ALTITUDE_FIELD_NUMBER: _ClassVar[int]
    VELOCITY_EAST_FIELD_NUMBER: _ClassVar[int]
    VELOCITY_NORTH_FIELD_NUMBER: _ClassVar[int]
    VELOCITY_UP_FIELD_NUMBER: _ClassVar[int]
    FRAME_ID_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    latitude_deg: float
    longitude_deg: float
    altitude: float
    velocity_east: float
    velocity_north: float
    velocity_up: float
    frame_id: str
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., latitude_deg: _Optional[float] = ..., longitude_deg: _Optional[float] = ..., altitude: _Optional[float] = ..., velocity_east: _Optional[float] = ..., velocity_north: _Optional[float] = ..., velocity_up: _Optional[float] = ..., frame_id: _Optional[str] = ...) -> None: ...

class Altimeter(_message.Message):
    __slots__ = ("header", "vertical_position", "vertical_velocity", "vertical_reference")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    VERTICAL_POSITION_FIELD_NUMBER: _ClassVar[int]
    VERTICAL_VELOCITY_FIELD_NUMBER: _ClassVar[int]
    VERTICAL_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    vertical_position: float
    vertical_velocity: float
    vertical_reference: float
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., vertical_position: _Optional[float] = ..., vertical_velocity: _Optional[float] = ..., vertical_reference: _Optional[float] = ...) -> None: ...

class Image(_message.Message):
    __slots__ = ("header", "width", "height", "step", "data", "pixel_format_type")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    PIXEL_FORMAT_TYPE_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    width: int
    height: int
    step: int
    data: bytes
    pixel_format_type: PixelFormatType
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., step: _Optional[int] = ..., data: _Optional[bytes] = ..., pixel_format_type: _Optional[_Union[PixelFormatType, str]] = ...) -> None: ...

class CameraInfo(_message.Message):
    __slots__ = ("header", "width", "height", "distortion", "intrinsics", "projection", "rectification_matrix")
    class Distortion(_message.Message):
        __slots__ = ("model", "k")
        class DistortionModelType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            PLUMB_BOB: _ClassVar[CameraInfo.Distortion.DistortionModelType]
            RATIONAL_POLYNOMIAL: _ClassVar[CameraInfo.Distortion.DistortionModelType]
            EQUIDISTANT: _ClassVar[CameraInfo.Distortion.DistortionModelType]
        PLUMB_BOB: CameraInfo.Distortion.DistortionModelType
        RATIONAL_POLYNOMIAL: CameraInfo.Distortion.DistortionModelType
        EQUIDISTANT: CameraInfo.Distortion.DistortionModelType
        MODEL_FIELD_NUMBER: _ClassVar[int]
        K_FIELD_NUMBER: _ClassVar[int]
        model: CameraInfo.Distortion.DistortionModelType
        k: _containers.RepeatedScalarFieldContainer[float]
        def __init__(self, model: _Optional[_Union[CameraInfo.Distortion.DistortionModelType, str]] = ..., k: _Optional[_Iterable[float]] = ...) -> None: ...
    class Intrinsics(_message.Message):
        __slots__ = ("k",)
        K_FIELD_NUMBER: _ClassVar[int]
        k: _containers.RepeatedScalarFieldContainer[float]
        def __init__(self, k: _Optional[_Iterable[float]] = ...) -> None: ...
    class Projection(_message.Message):
        __slots__ = ("p",)
        P_FIELD_NUMBER: _ClassVar[int]
        p: _containers.RepeatedScalarFieldContainer[float]
        def __init__(self, p: _Optional[_Iterable[float]] = ...) -> None: ...
    HEADER_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    DISTORTION_FIELD_NUMBER: _ClassVar[int]
    INTRINSICS_FIELD_NUMBER: _ClassVar[int]
    PROJECTION_FIELD_NUMBER: _ClassVar[int]
    RECTIFICATION_MATRIX_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    width: int
    height: int
    distortion: CameraInfo.Distortion
    intrinsics: CameraInfo.Intrinsics
    projection: CameraInfo.Projection
    rectification_matrix: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., distortion: _Optional[_Union[CameraInfo.Distortion, _Mapping[str, object]]] = ..., intrinsics: _Optional[_Union[CameraInfo.Intrinsics, _Mapping[str, object]]] = ..., projection: _Optional[_Union[CameraInfo.Projection, _Mapping[str, object]]] = ..., rectification_matrix: _Optional[_Iterable[float]] = ...) -> None: ...

class LaserScan(_message.Message):
    __slots__ = ("header", "frame", "world_pose", "angle_min", "angle_max", "angle_step", "range_min", "range_max", "count", "vertical_angle_min", "vertical_angle_max", "vertical_angle_step", "vertical_count", "ranges", "intensities")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    WORLD_POSE_FIELD_NUMBER: _ClassVar[int]
    ANGLE_MIN_FIELD_NUMBER: _ClassVar[int]
    ANGLE_MAX_FIELD_NUMBER: _ClassVar[int]
    ANGLE_STEP_FIELD_NUMBER: _ClassVar[int]
    RANGE_MIN_FIELD_NUMBER: _ClassVar[int]
    RANGE_MAX_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    VERTICAL_ANGLE_MIN_FIELD_NUMBER: _ClassVar[int]
    VERTICAL_ANGLE_MAX_FIELD_NUMBER: _ClassVar[int]
    VERTICAL_ANGLE_STEP_FIELD_NUMBER: _ClassVar[int]
    VERTICAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    RANGES_FIELD_NUMBER: _ClassVar[int]
    INTENSITIES_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    frame: str
    world_pose: _base_pb2.Pose
    angle_min: float
    angle_max: float
    angle_step: float
    range_min: float
    range_max: float
    count: int
    vertical_angle_min: float
    vertical_angle_max: float
    vertical_angle_step: float
    vertical_count: int
    ranges: _containers.RepeatedScalarFieldContainer[float]
    intensities: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., frame: _Optional[str] = ..., world_pose: _Optional[_Union[_base_pb2.Pose, _Mapping[str, object]]] = ..., angle_min: _Optional[float] = ..., angle_max: _Optional[float] = ..., angle_step: _Optional[float] = ..., range_min: _Optional[float] = ..., range_max: _Optional[float] = ..., count: _Optional[int] = ..., vertical_angle_min: _Optional[float] = ..., vertical_angle_max: _Optional[float] = ..., vertical_angle_step: _Optional[float] = ..., vertical_count: _Optional[int] = ..., ranges: _Optional[_Iterable[float]] = ..., intensities: _Optional[_Iterable[float]] = ...) -> None: ...

class PointCloudPacked(_message.Message):
    __slots__ = ("header", "field", "height", "width", "is_bigendian", "point_step", "row_step", "data", "is_dense")
    class Field(_message.Message):
        __slots__ = ("name", "offset", "datatype", "count")
        class DataType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            INT8: _ClassVar[PointCloudPacked.Field.DataType]
            UINT8: _ClassVar[PointCloudPacked.Field.DataType]
            INT16: _ClassVar[PointCloudPacked.Field.DataType]
            UINT16: _ClassVar[PointCloudPacked.Field.DataType]
            INT32: _ClassVar[PointCloudPacked.Field.DataType]
            UINT32: _ClassVar[PointCloudPacked.Field.DataType]
            FLOAT32: _ClassVar[PointCloudPacked.Field.DataType]
            FLOAT64: _ClassVar[PointCloudPacked.Field.DataType]
        INT8: PointCloudPacked.Field.DataType
        UINT8: PointCloudPacked.Field.DataType
        INT16: PointCloudPacked.Field.DataType
        UINT16: PointCloudPacked.Field.DataType
        INT32: PointCloudPacked.Field.DataType
        UINT32: PointCloudPacked.Field.DataType
        FLOAT32: PointCloudPacked.Field.DataType
        FLOAT64: PointCloudPacked.Field.DataType
        NAME_FIELD_NUMBER: _ClassVar[int]
        OFFSET_FIELD_NUMBER: _ClassVar[int]
        DATATYPE_FIELD_NUMBER: _ClassVar[int]
        COUNT_FIELD_NUMBER: _ClassVar[int]
        name: str
        offset: int
        datatype: PointCloudPacked.Field.DataType
        count: int
        def __init__(self, name: _Optional[str] = ..., offset: _Optional[int] = ..., datatype: _Optional[_Union[PointCloudPacked.Field.DataType, str]] = ..., count: _Optional[int] = ...) -> None: ...
    HEADER_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    IS_BIGENDIAN_FIELD_NUMBER: _ClassVar[int]
    POINT_STEP_FIELD_NUMBER: _ClassVar[int]
    ROW_STEP_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    IS_DENSE_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    field: _containers.RepeatedCompositeFieldContainer[PointCloudPacked.Field]
    height: int
    width: int
    is_bigendian: bool
    point_step: int
    row_step: int
    data: bytes
    is_dense: bool
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., field: _Optional[_Iterable[_Union[PointCloudPacked.Field, _Mapping[str, object]]]] = ..., height: _Optional[int] = ..., width: _Optional[int] = ..., is_bigendian: _Optional[bool] = ..., point_step: _Optional[int] = ..., row_step: _Optional[int] = ..., data: _Optional[bytes] = ..., is_dense: _Optional[bool] = ...) -> None: ...

class Actuators(_message.Message):
    __slots__ = ("header", "position", "velocity", "normalized")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    VELOCITY_FIELD_NUMBER: _ClassVar[int]
    NORMALIZED_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    position: _containers.RepeatedScalarFieldContainer[float]
    velocity: _containers.RepeatedScalarFieldContainer[float]
    normalized: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., position: _Optional[_Iterable[float]] = ..., velocity: _Optional[_Iterable[float]] = ..., normalized: _Optional[_Iterable[float]] = ...) -> None: ...

class Odometry(_message.Message):
    __slots__ = ("header", "pose", "twist")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    POSE_FIELD_NUMBER: _ClassVar[int]
    TWIST_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    pose: _base_pb2.Pose
    twist: _base_pb2.Twist
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., pose: _Optional[_Union[_base_pb2.Pose, _Mapping[str, object]]] = ..., twist: _Optional[_Union[_base_pb2.Twist, _Mapping[str, object]]] = ...) -> None: ...

class OdometryWithCovariance(_message.Message):
    __slots__ = ("header", "pose_with_covariance", "twist_with_covariance")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    POSE_WITH_COVARIANCE_FIELD_NUMBER: _ClassVar[int]
    TWIST_WITH_COVARIANCE_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    pose_with_covariance: _base_pb2.PoseWithCovariance
    twist_with_covariance: _base_pb2.TwistWithCovariance
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., pose_with_covariance: _Optional[_Union[_base_pb2.PoseWithCovariance, _Mapping[str, object]]] = ..., twist_with_covariance: _Optional[_Union[_base_pb2.TwistWithCovariance, _Mapping[str, object]]] = ...) -> None: ...

class BatteryState(_message.Message):
    __slots__ = ("header", "voltage", "current", "charge", "capacity", "percentage")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    VOLTAGE_FIELD_NUMBER: _ClassVar[int]
    CURRENT_FIELD_NUMBER: _ClassVar[int]
    CHARGE_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    PERCENTAGE_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    voltage: float
    current: float
    charge: float
    capacity: float
    percentage: float
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., voltage: _Optional[float] = ..., current: _Optional[float] = ..., charge: _Optional[float] = ..., capacity: _Optional[float] = ..., percentage: _Optional[float] = ...) -> None: ...
