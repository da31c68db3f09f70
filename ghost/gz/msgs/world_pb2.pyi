from ghost.gz.msgs import base_pb2 as _base_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Clock(_message.Message):
    __slots__ = ("header", "system", "real", "sim")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    REAL_FIELD_NUMBER: _ClassVar[int]
    SIM_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    system: _base_pb2.Time
    real: _base_pb2.Time
    sim: _base_pb2.Time
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., system: _Optional[_Union[_base_pb2.Time, _Mapping[str, object]]] = ..., real: _Optional[_Union[_base_pb2.Time, _Mapping[str, object]]] = ..., sim: _Optional[_Union[_base_pb2.Time, _Mapping[str, object]]] = ...) -> None: ...

class WorldReset(_message.Message):
    __slots__ = ("header", "all", "time_only", "model_only")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    ALL_FIELD_NUMBER: _ClassVar[int]
    TIME_ONLY_FIELD_NUMBER: _ClassVar[int]
    MODEL_ONLY_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    all: bool
    time_only: bool
    model_only: bool
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., all: _Optional[bool] = ..., time_only: _Optional[bool] = ..., model_only: _Optional[bool] = ...) -> None: ...

class WorldControl(_message.Message):
    __slots__ = ("header", "pause", "step", "multi_step", "reset", "seed", "run_to_sim_time")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    MULTI_STEP_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    RUN_TO_SIM_TIME_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    pause: bool
    step: bool
    multi_step: int
    reset: WorldReset
    seed: int
    run_to_sim_time: _base_pb2.Time
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., pause: _Optional[bool] = ..., step: _Optional[bool] = ..., multi_step: _Optional[int] = ..., reset: _Optional[_Union[WorldReset, _Mapping[str, object]]] = ..., seed: _Optional[int] = ..., run_to_sim_time: _Optional[_Union[_base_pb2.Time, _Mapping[str, object]]] = ...) -> None: ...

class WorldStatistics(_message.Message):
    __slots__ = ("header", "sim_time", "pause_time", "real_time", "paused", "iterations", "model_count", "real_time_factor", "step_size", "stepping")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SIM_TIME_FIELD_NUMBER: _ClassVar[int]
    PAUSE_TIME_FIELD_NUMBER: _ClassVar[int]
    REAL_TIME_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    MODEL_COUNT_FIELD_NUMBER: _ClassVar[int]
    REAL_TIME_FACTOR_FIELD_NUMBER: _ClassVar[int]
    STEP_SIZE_FIELD_NUMBER: _ClassVar[int]
    STEPPING_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    sim_time: _base_pb2.Time
    pause_time: _base_pb2.Time
    real_time: _base_pb2.Time
    paused: bool
    iterations: int
    model_count: int
    real_time_factor: float
    step_size: _base_pb2.Time
    stepping: bool
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., sim_time: _Optional[_Union[_base_pb2.Time, _Mapping[str, object]]] = ..., pause_time: _Optional[_Union[_base_pb2.Time, _Mapping[str, object]]] = ..., real_time: _Optional[_Union[_base_pb2.Time, _Mapping[str, object]]] = ..., paused: _Optional[bool] = ..., iterations: _Optional[int] = ..., model_count: _Optional[int] = ..., real_time_factor: _Optional[float] = ..., step_size: _Optional[_Union[_base_pb2.Time, _Mapping[str, object]]] = ..., stepping: _Optional[bool] = ...) -> None: ...

class ServerControl(_message.Message):
    __slots__ = ("header", "stop")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    stop: bool
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., stop: _Optional[bool] = ...) -> None: ...

class Entity(_message.Message):
    __slots__ = ("header", "id", "name", "type")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[Entity.Type]
        LIGHT: _ClassVar[Entity.Type]
        MODEL: _ClassVar[Entity.Type]
        LINK: _ClassVar[Entity.Type]
        VISUAL: _ClassVar[Entity.Type]
        COLLISION: _ClassVar[Entity.Type]
        SENSOR: _ClassVar[Entity.Type]
        JOINT: _ClassVar[Entity.Type]
        ACTOR: _ClassVar[Entity.Type]
        WORLD: _ClassVar[Entity.Type]
    NONE: Entity.Type
    LIGHT: Entity.Type
    MODEL: Entity.Type
    LINK: Entity.Type
    VISUAL: Entity.Type
    COLLISION: Entity.Type
    SENSOR: Entity.Type
    JOINT: Entity.Type
    ACTOR: Entity.Type
    WORLD: Entity.Type
    HEADER_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    id: int
    name: str
    type: Entity.Type
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., id: _Optional[int] = ..., name: _Optional[str] = ..., type: _Optional[_Union[Entity.Type, str]] = ...) -> None: ...

class EntityFactory(_message.Message):
    __slots__ = ("header", "sdf", "sdf_filename", "clone_name", "pose", "name", "allow_renaming", "relative_to")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SDF_FIELD_NUMBER: _ClassVar[int]
    SDF_FILENAME_FIELD_NUMBER: _ClassVar[int]
    CLONE_NAME_FIELD_NUMBER: _ClassVar[int]
    POSE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ALLOW_RENAMING_FIELD_NUMBER: _ClassVar[int]
    RELATIVE_TO_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    sdf: str
    sdf_filename: str
    clone_name: str
    pose: _base_pb2.Pose
    name: str
    allow_renaming: bool
    relative_to: str
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., sdf: _Optional[str] = ..., sdf_filename: _Optional[str] = ..., clone_name: _Optional[str] = ..., pose: _Optional[_Union[_base_pb2.Pose, _Mapping[str, object]]] = ..., name: _Optional[str] = ..., allow_renaming: _Optional[bool] = ..., relative_to: _Optional[str] = ...) -> None: ...

class EntityFactory_V(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    data: _containers.RepeatedCompositeFieldContainer[EntityFactory]
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., data: _Optional[_Iterable[_Union[EntityFactory, _Mapping[str, object]]]] = ...) -> None: ...

class EntityWrench(_message.Message):
    __slots__ = ("header", "entity", "wrench")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    WRENCH_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    entity: Entity
    wrench: _base_pb2.Wrench
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., entity: _Optional[_Union[Entity, _Mapping[str, object]]] = ..., wrench: _Optional[_Union[_base_pb2.Wrench, _Mapping[str, object]]] = ...) -> None: ...

class Physics(_message.Message):
    __slots__ = ("header", "type", "solver_type", "min_step_size", "gravity", "enable_physics", "real_time_factor", "real_time_update_rate", "max_step_size", "profile_name", "magnetic_field")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ODE: _ClassVar[Physics.Type]
        BULLET: _ClassVar[Physics.Type]
        SIMBODY: _ClassVar[Physics.Type]
        DART: _ClassVar[Physics.Type]
    ODE: Physics.Type
    BULLET: Physics.Type
    SIMBODY: Physics.Type
    DART: Physics.Type
    HEADER_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SOLVER_TYPE_FIELD_NUMBER: _ClassVar[int]
    MIN_STEP_SIZE_FIELD_NUMBER: _ClassVar[int]
    GRAVITY_FIELD_NUMBER: _ClassVar[int]
    ENABLE_PHYSICS_FIELD_NUMBER: _ClassVar[int]
    REAL_TIME_FACTOR_FIELD_NUMBER: _ClassVar[int]
    REAL_TIME_UPDATE_RATE_FIELD_NUMBER: _ClassVar[int]
    MAX_STEP_SIZE_FIELD_NUMBER: _ClassVar[int]
    PROFILE_NAME_FIELD_NUMBER: _ClassVar[int]
    MAGNETIC_FIELD_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    type: Physics.Type
    solver_type: str
    min_step_size: float
    gravity: _base_pb2.Vector3d
    enable_physics: bool
    real_time_factor: float
    real_time_update_rate: float
    max_step_size: float
    profile_name: str
    magnetic_field: _base_pb2.Vector3d
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., type: _Optional[_Union[Physics.Type, str]] = ..., solver_type: _Optional[str] = ..., min_step_size: _Optional[float] = ..., gravity: _Optional[_Union[_base_pb2.Vector3d, _Mapping[str, object]]] = ..., enable_physics: _Optional[bool] = ..., real_time_factor: _Optional[float] = ..., real_time_update_rate: _Optional[float] = ..., max_step_size: _Optional[float] = ..., profile_name: _Optional[str] = ..., magnetic_field: _Optional[_Union[_base_pb2.Vector3d, _Mapping[str, object]]] = ...) -> None: ...

class SphericalCoordinates(_message.Message):
    __slots__ = ("header", "surface_model", "latitude_deg", "longitude_deg", "elevation", "heading_deg", "entity")
    class SurfaceModel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        EARTH_WGS84: _ClassVar[SphericalCoordinates.SurfaceModel]
        MOON_SCS: _ClassVar[SphericalCoordinates.SurfaceModel]
        CUSTOM_SURFACE: _ClassVar[SphericalCoordinates.SurfaceModel]
    EARTH_WGS84: SphericalCoordinates.SurfaceModel
    MOON_SCS: SphericalCoordinates.SurfaceModel
    CUSTOM_SURFACE: SphericalCoordinates.SurfaceModel
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SURFACE_MODEL_FIELD_NUMBER: _ClassVar[int]
    LATITUDE_DEG_FIELD_NUMBER: _ClassVar[int]
    LONGITUDE_DEG_FIELD_NUMBER: _ClassVar[int]
    ELEVATION_FIELD_NUMBER: _ClassVar[int]
    HEADING_DEG_FIELD_NUMBER: _ClassVar[int]
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    surface_model: SphericalCoordinates.SurfaceModel
    latitude_deg: float
    longitude_deg: float
    elevation: float
    heading_deg: float
    entity: Entity
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., surface_model: _Optional[_Union[SphericalCoordinates.SurfaceModel, str]] = ..., latitude_deg: _Optional[float] = ..., longitude_deg: _Optional[float] = ..., elevation: _Optional[float] = ..., heading_deg: _Optional[float] = ..., entity: _Optional[_Union[Entity, _Mapping[str, object]]] = ...) -> None: ...

class Wind(_message.Message):
    __slots__ = ("header", "linear_velocity", "enable_wind")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    LINEAR_VELOCITY_FIELD_NUMBER: _ClassVar[int]
    ENABLE_WIND_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    linear_velocity: _base_pb2.Vector3d
    enable_wind: bool
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., linear_velocity: _Optional[_Union[_base_pb2.Vector3d, _Mapping[str, object]]] = ..., enable_wind: _Optional[bool] = ...) -> None: ...

class Contact(_message.Message):
    __slots__ = ("header", "collision1", "collision2", "position", "normal", "depth", "world")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    COLLISION1_FIELD_NUMBER: _ClassVar[int]
    COLLISION2_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    NORMAL_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    WORLD_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    collision1: Entity
    collision2: Entity
    position: _containers.RepeatedCompositeFieldContainer[_base_pb2.Vector3d]
    normal: _containers.RepeatedCompositeFieldContainer[_base_pb2.Vector3d]
    depth: _containers.RepeatedScalarFieldContainer[float]
    world: Entity
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., collision1: _Optional[_Union[Entity, _Mapping[str, object]]] = ..., collision2: _Optional[_Union[Entity, _Mapping[str, object]]] = ..., position: _Optional[_Iterable[_Union[_base_pb2.Vector3d, _Mapping[str, object]]]] = ..., normal: _Optional[_Iterable[_Union[_base_pb2.Vector3d, _Mapping[str, object]]]] = ..., depth: _Optional[_Iterable[float]] = ..., world: _Optional[_Union[Entity, _Mapping[str, object]]] = ...) -> None: ...

class Contacts(_message.Message):
    __slots__ = ("header", "contact")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CONTACT_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    contact: _containers.RepeatedCompositeFieldContainer[Contact]
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., contact: _Optional[_Iterable[_Union[Contact, _Mapping[str, object]]]] = ...) -> None: ...

class Sensor(_message.Message):
    __slots__ = ("header", "name", "id", "parent", "parent_id", "type", "always_on", "update_rate", "pose", "topic")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    ALWAYS_ON_FIELD_NUMBER: _ClassVar[int]
    UPDATE_RATE_FIELD_NUMBER: _ClassVar[int]
    POSE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    name: str
    id: int
    parent: str
    parent_id: int
    type: str
    always_on: bool
    update_rate: float
    pose: _base_pb2.Pose
    topic: str
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., name: _Optional[str] = ..., id: _Optional[int] = ..., parent: _Optional[str] = ..., parent_id: _Optional[int] = ..., type: _Optional[str] = ..., always_on: _Optional[bool] = ..., update_rate: _Optional[float] = ..., pose: _Optional[_Union[_base_pb2.Pose, _Mapping[str, object]]] = ..., topic: _Optional[str] = ...) -> None: ...

class Link(_message.Message):
    __slots__ = ("header", "id", "name", "pose", "sensor", "canonical")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    POSE_FIELD_NUMBER: _ClassVar[int]
    SENSOR_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    id: int
    name: str
    pose: _base_pb2.Pose
    sensor: _containers.RepeatedCompositeFieldContainer[Sensor]
    canonical: bool
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., id: _Optional[int] = ..., name: _Optional[str] = ..., pose: _Optional[_Union[_base_pb2.Pose, _Mapping[str, object]]] = ..., sensor: _Optional[_Iterable[_Union[Sensor, _Mapping[str, object]]]] = ..., canonical: _Optional[bool] = ...) -> None: ...

class Model(_message.Message):
    __slots__ = ("header", "name", "id", "is_static", "pose", "link", "deleted", "model")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    IS_STATIC_FIELD_NUMBER: _ClassVar[int]
    POSE_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    name: str
    id: int
    is_static: bool
    pose: _base_pb2.Pose
    link: _containers.RepeatedCompositeFieldContainer[Link]
    deleted: bool
    model: _containers.RepeatedCompositeFieldContainer[Model]
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., name: _Optional[str] = ..., id: _Optional[int] = ..., is_static: _Optional[bool] = ..., pose: _Optional[_Union[_base_pb2.Pose, _Mapping[str, object]]] = ..., link: _Optional[_Iterable[_Union[Link, _Mapping[str, object]]]] = ..., deleted: _Optional[bool] = ..., model: _Optional[_Iterable[_Union[Model, _Mapping[str, object]]]] = ...) -> None: ...

class Scene(_message.Message):
    __slots__ = ("header", "name", "shadows", "grid", "model")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHADOWS_FIELD_NUMBER: _ClassVar[int]
    GRID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    name: str
    shadows: bool
    grid: bool
    model: _containers.RepeatedCompositeFieldContainer[Model]
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., name: _Optional[str] = ..., shadows: _Optional[bool] = ..., grid: _Optional[bool] = ..., model: _Optional[_Iterable[_Union[Model, _Mapping[str, object]]]] = ...) -> None: ...

class SdfGeneratorConfig(_message.Message):
    __slots__ = ("header", "global_entity_gen_config")
    class EntityGeneratorConfig(_message.Message):
        __slots__ = ("expand_include_tags", "save_fuel_version", "resources_use_absolute_paths", "copy_model_resources")
        EXPAND_INCLUDE_TAGS_FIELD_NUMBER: _ClassVar[int]
        SAVE_FUEL_VERSION_FIELD_NUMBER: _ClassVar[int]
        RESOURCES_USE_ABSOLUTE_PATHS_FIELD_NUMBER: _ClassVar[int]
        COPY_MODEL_RESOURCES_FIELD_NUMBER: _ClassVar[int]
        expand_include_tags: _base_pb2.Boolean
        save_fuel_version: _base_pb2.Boolean
        resources_use_absolute_paths: _base_pb2.Boolean
        copy_model_resources: _base_pb2.Boolean
        def __init__(self, expand_include_tags: _Optional[_Union[_base_pb2.Boolean, _Mapping[str, object]]] = ..., save_fuel_version: _Optional[_Union[_base_pb2.Boolean, _Mapping[str, object]]] = ..., resources_use_absolute_paths: _Optional[_Union[_base_pb2.Boolean, _Mapping[str, object]]] = ..., copy_model_resources: _Optional[_Union[_base_pb2.Boolean, _Mapping[str, object]]] = ...) -> None: ...
    HEADER_FIELD_NUMBER: _ClassVar[int]
    GLOBAL_ENTITY_GEN_CONFIG_FIELD_NUMBER: _ClassVar[int]
    header: _base_pb2.Header
    global_entity_gen_config: SdfGeneratorConfig.EntityGeneratorConfig
    def __init__(self, header: _Optional[_Union[_base_pb2.Header, _Mapping[str, object]]] = ..., global_entity_gen_config: _Optional[_Union[SdfGeneratorConfig.EntityGeneratorConfig, _Mapping[str, object]]] = ...) -> None: ...
