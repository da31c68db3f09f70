from ghost.gz.msgs import base_pb2 as _base_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Discovery(_message.Message):
    __slots__ = ("header", "version", "process_uuid", "type", "flags", "sub", "pub")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNINITIALIZED: _ClassVar[Discovery.Type]
        ADVERTISE: _ClassVar[Discovery.Type]
        SUBSCRIBE: _ClassVar[Discovery.Type]
        UNADVERTISE: _ClassVar[Discovery.Type]
        HEARTBEAT: _ClassVar[Discovery.Type]
        BYE: _ClassVar[Discovery.Type]
        NEW_CONNECTION: _ClassVar[Discovery.Type]
        END_CONNECTION: _ClassVar[Discovery.Type]
        SUBSCRIBERS_REQ: _ClassVar[Discovery.Type]
        SUBSCRIBERS_REP: _ClassVar[Discovery.Type]
    UNINITIALIZED: Discovery.Type
    ADVERTISE: Discovery.Type
    SUBSCRIBE: Discovery.Type
    UNADVERTISE: Discovery.Type
    HEARTBEAT: Discovery.Type
    BYE: Discovery.Type
    NEW_CONNECTION: Discovery.Type
    END_CONNECTION: Discovery.Type
    SUBSCRIBERS_REQ: Discovery.Type
    SUBSCRIBERS_REP: Discovery.Type
    class Flags(_message.Message):
        __slots__ = ("relay", "no_relay")
        RELAY_FIELD_NUMBER: _ClassVar[int]
        NO_RELAY_FIELD_NUMBER: _ClassVar[int]
        relay: bool
        no_relay: bool
        def __init__(self, relay: _Optional[bool] = ..., no_relay: _Optional[bool] = ...) -> None: ...
    class Subscriber(_message.Message):
        __slots__ = ("topic",)
        TOPIC_FIELD_NUMBER: _ClassVar[int]
        topic: str
        def __init__(self, topic: _Optional[str] = ...) -> None: ...
    class Publisher(_message.Message):
        __slots__ = ("topic", "address", "process_uuid", "node_uuid", "scope", "msg_pub", "srv_pub")
        class Scope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            PROCESS: _ClassVar[Discovery.Publisher.Scope]
            HOST: _ClassVar[Discovery.Publisher.Scope]
            ALL: _ClassVar[Discovery.Publisher.Scope]
        PROCESS: Discovery.Publisher.Scope
        HOST: Discovery.Publisher.Scope
        ALL: Discovery.Publisher.Scope
        class MessagePublisher(_message.Message):
            __slots__ = ("ctrl", "msg_type", "throttled", "msgs_per_sec")
            CTRL_FIELD_NUMBER: _ClassVar[int]
            MSG_TYPE_FIELD_NUMBER: _ClassVar[int]
            THROTTLED_FIELD_NUMBER: _ClassVar[int]
            MSGS_PER_SEC_FIELD_NUMBER: _ClassVar[int]
            ctrl: str
            msg_type: str
            throttled: bool
            msgs_per_sec: int
            def __init__(self, ctrl: _Optional[str] = ..., msg_type: _Optional[str] = ..., throttled: _Optional[bool] = ..., msgs_per_sec: _Optional[int] = ...) -> None: ...
        class ServicePublisher(_message.Message):
            __slots__ = ("socket_id", "request_type", "response_type")
            SOCKET_ID_FIELD_NUMBER: _ClassVar[int]
            REQUEST_TYPE_FIELD_NUMBER: _ClassVar[int]
            RESPONSE_TYPE_FIELD_NUMBER: _ClassVar[int]
            socket_id: str
            request_type: str
            response_type: str
            def __init__(self, socket_id: _Optional[str] = ..., request_type: _Optional[str] = ..., response_type: _Optional[str] = ...) -> None: ...
        TOPIC_FIELD_NUMBER: _ClassVar[int]
        ADDRESS_FIELD_NUMBER: _ClassVar[int]
        PROCESS_UUID_FIELD_NUMBER: _ClassVar[int]
        NODE_UUID_FIELD_NUMBER: _ClassVar[int]
        SCOPE_FIELD_NUMBER: _ClassVar[int]
        MSG_PUB_FIELD_NUMBER: _ClassVar[int]
        SRV_PUB_FIELD_NUMBER: _ClassVar[int]
        topic: str
        address: str
        process_uuid: str
        node_uuid: str
        scope: Discovery.Publisher.Scope
        msg_pub: Discovery.Publisher.MessagePublisher
        srv_pub: Discovery.Publisher.ServicePublisher
        def __init__(self, topic: _Optional[str] = ..., address: _Optional[str] = ..., process_uuid: _Optional[str] = ..., node_uuid: _Optional[str] = ..., scope: _Optional[_Union[Discovery.Publisher.Scope, str]] = ..., msg_pub: _Optional[_Union[Discovery.Publisher.MessagePublisher, _Mapping[str, object]]] = ..., srv_pub: _Optional[_Union[Discovery.Publisher.ServicePublisher, _Mapping[str, object]]] = ...) -> None: ...
    HEADER_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PROCESS_UUID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    SUB_FIELD_NUMBER: _ClassVar[int]
    PUB_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    version: int
    process_uuid: str
    type: Discovery.Type
    flags: Discovery.Flags
    sub: Discovery.Subscriber
    pub: Discovery.Publisher
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., version: _Optional[int] = ..., process_uuid: _Optional[str] = ..., type: _Optional[_Union[Discovery.Type, str]] = ..., flags: _Optional[_Union[Discovery.Flags, _Mapping[str, object]]] = ..., sub: _Optional[_Union[Discovery.Subscriber, _Mapping[str, object]]] = ..., pub: _Optional[_Union[Discovery.Publisher, _Mapping[str, object]]] = ...) -> None: ...

class Statistic(_message.Message):
    __slots__ = ("header", "type", "name", "value")
    class DataType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNINITIALIZED: _ClassVar[Statistic.DataType]
        AVERAGE: _ClassVar[Statistic.DataType]
        MINIMUM: _ClassVar[Statistic.DataType]
        MAXIMUM: _ClassVar[Statistic.DataType]
        VARIANCE: _ClassVar[Statistic.DataType]
        STDDEV: _ClassVar[Statistic.DataType]
        SAMPLE_COUNT: _ClassVar[Statistic.DataType]
    UNINITIALIZED: Statistic.DataType
    AVERAGE: Statistic.DataType
    MINIMUM: Statistic.DataType
    MAXIMUM: Statistic.DataType
    VARIANCE: Statistic.DataType
    STDDEV: Statistic.DataType
    SAMPLE_COUNT: Statistic.DataType
    HEADER_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    type: Statistic.DataType
    name: str
    value: float
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., type: _Optional[_Union[Statistic.DataType, str]] = ..., name: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...

class StatisticsGroup(_message.Message):
    __slots__ = ("header", "name", "statistics")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    name: str
    statistics: _containers.RepeatedCompositeFieldContainer[Statistic]
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., name: _Optional[str] = ..., statistics: _Optional[_Iterable[_Union[Statistic, _Mapping[str, object]]]] = ...) -> None: ...

class Metric(_message.Message):
    __slots__ = ("header", "unit", "statistics_groups", "statistics")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_GROUPS_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    unit: str
    statistics_groups: _containers.RepeatedCompositeFieldContainer[StatisticsGroup]
    statistics: _containers.RepeatedCompositeFieldContainer[Statistic]
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., unit: _Optional[str] = ..., statistics_groups: _Optional[_Iterable[_Union[StatisticsGroup, _Mapping[str, object]]]] = ..., statistics: _Optional[_Iterable[_Union[Statistic, _Mapping[str, object]]]] = ...) -> None: ...
