from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Time(_message.Message):
    __slots__ = ("sec", "nsec")
    SEC_FIELD_NUMBER: _ClassVar[int]
    NSEC_FIELD_NUMBER: _ClassVar[int]
    sec: int
    nsec: int
    def __init__(self, sec: _Optional[int] = ..., nsec: _Optional[int] = ...) -> None: ...

class Header(_message.Message):
    __slots__ = ("stamp", "data")
    class Map(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Iterable[str]] = ...) -> None: ...
    STAMP_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    stamp: Time
    data: _containers.RepeatedCompositeFieldContainer[Header.Map]
    def __init__(self, stamp: _Optional[_Union[Time, _Mapping[str, object]]] = ..., data: _Optional[_Iterable[_Union[Header.Map, _Mapping[str, object]]]] = ...) -> None: ...

class Empty(_message.Message):
    __slots__ = ("unused",)
    UNUSED_FIELD_NUMBER: _ClassVar[int]
    unused: bool
    def __init__(self, unused: _Optional[bool] = ...) -> None: ...

class Boolean(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: bool
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., data: _Optional[bool] = ...) -> None: ...

class StringMsg(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: str
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., data: _Optional[str] = ...) -> None: ...

class StringMsg_V(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., data: _Optional[_Iterable[str]] = ...) -> None: ...

class Bytes(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: bytes
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., data: _Optional[bytes] = ...) -> None: ...

class Double(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: float
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., data: _Optional[float] = ...) -> None: ...

class Double_V(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, data: _Optional[_Iterable[float]] = ...) -> None: ...

class Float(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: float
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., data: _Optional[float] = ...) -> None: ...

class Float_V(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., data: _Optional[_Iterable[float]] = ...) -> None: ...

class Int32(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: int
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., data: _Optional[int] = ...) -> None: ...

class Int64(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: int
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., data: _Optional[int] = ...) -> None: ...

class UInt32(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: int
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., data: _Optional[int] = ...) -> None: ...

class UInt64(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: int
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., data: _Optional[int] = ...) -> None: ...

class Vector3d(_message.Message):
    __slots__ = ("header", "x", "y", "z")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    Z_FIELD_NUMBER: _ClassVar[int]
    header: Header
    x: float
    y: float
    z: float
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., x: _Optional[float] = ..., y: _Optional[float] = ..., z: _Optional[float] = ...) -> None: ...

class Quaternion(_message.Message):
    __slots__ = ("header", "x", "y", "z", "w")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    Z_FIELD_NUMBER: _ClassVar[int]
    W_FIELD_NUMBER: _ClassVar[int]
    header: Header
    x: float
    y: float
    z: float
    w: float
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., x: _Optional[float] = ..., y: _Optional[float] = ..., z: _Optional[float] = ..., w: _Optional[float] = ...) -> None: ...

class Pose(_message.Message):
    __slots__ = ("header", "name", "id", "position", "orientation")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ORIENTATION_FIELD_NUMBER: _ClassVar[int]
    header: Header
    name: str
    id: int
    position: Vector3d
    orientation: Quaternion
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., name: _Optional[str] = ..., id: _Optional[int] = ..., position: _Optional[_Union[Vector3d, _Mapping[str, object]]] = ..., orientation: _Optional[_Union[Quaternion, _Mapping[str, object]]] = ...) -> None: ...

class Pose_V(_message.Message):
    __slots__ = ("header", "pose")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    POSE_FIELD_NUMBER: _ClassVar[int]
    header: Header
    pose: _containers.RepeatedCompositeFieldContainer[Pose]
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., pose: _Optional[_Iterable[_Union[Pose, _Mapping[str, object]]]] = ...) -> None: ...

class Twist(_message.Message):
    __slots__ = ("header", "linear", "angular")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    LINEAR_FIELD_NUMBER: _ClassVar[int]
    ANGULAR_FIELD_NUMBER: _ClassVar[int]
    header: Header
    linear: Vector3d
    angular: Vector3d
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., linear: _Optional[_Union[Vector3d, _Mapping[str, object]]] = ..., angular: _Optional[_Union[Vector3d, _Mapping[str, object]]] = ...) -> None: ...

class PoseWithCovariance(_message.Message):
    __slots__ = ("pose", "covariance")
    POSE_FIELD_NUMBER: _ClassVar[int]
    COVARIANCE_FIELD_NUMBER: _ClassVar[int]
    pose: Pose
    covariance: Float_V
    def __init__(self, pose: _Optional[_Union[Pose, _Mapping[str, object]]] = ..., covariance: _Optional[_Union[Float_V, _Mapping[str, object]]] = ...) -> None: ...

class TwistWithCovariance(_message.Message):
    __slots__ = ("twist", "covariance")
    TWIST_FIELD_NUMBER: _ClassVar[int]
    COVARIANCE_FIELD_NUMBER: _ClassVar[int]
    twist: Twist
    covariance: Float_V
    def __init__(self, twist: _Optional[_Union[Twist, _Mapping[str, object]]] = ..., covariance: _Optional[_Union[Float_V, _Mapping[str, object]]] = ...) -> None: ...

class Wrench(_message.Message):
    __slots__ = ("header", "force", "torque", "force_offset")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    TORQUE_FIELD_NUMBER: _ClassVar[int]
    FORCE_OFFSET_FIELD_NUMBER: _ClassVar[int]
    header: Header
    force: Vector3d
    torque: Vector3d
    force_offset: Vector3d
    def __init__(self, header: _Optional[_Union[Header, _Mapping[str, object]]] = ..., force: _Optional[_Union[Vector3d, _Mapping[str, object]]] = ..., torque: _Optional[_Union[Vector3d, _Mapping[str, object]]] = ..., force_offset: _Optional[_Union[Vector3d, _Mapping[str, object]]] = ...) -> None: ...
