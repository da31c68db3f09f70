"""Functions that write one kind of message in one `struct.pack`, made from source.

Nearly all messages of a topic look alike: the same texts and metadata, arrays of the same sizes.
`compile_record` learns from one message which bytes repeat, and writes a function that packs the
whole MCAP message record with the rest in its gaps. The function checks all that it took for
granted and returns None for a message that looks different; such a message takes the general way of
`encode`, which gives the same bytes (a test compares).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from struct import Struct
from typing import Any

import numpy as np

from ghost.hal import SensorSample
from ghost.recording.schema import COMMANDS, SAMPLE_FIELDS, Field, Kind, fields_of
from ghost.recording.wire import BYTES, FIXED64, VARINT, key, varint

__all__ = ["MESSAGE_HEAD_BYTES", "RecordMaker", "compile_record"]

RecordMaker = Callable[[Any, int, int], bytes | None]
"""Takes a message, its sequence number and its stamp (ns); None if the message looks different.

Raises `struct.error`, or what a field of a wrong type raises, for what does not fit.
"""

MESSAGE_HEAD_BYTES = 2 + 4 + 8 + 8
"""Of a message record, after its opcode and length: channel, sequence, log and publish time."""

_OP_MESSAGE = b"\x05"
_LONGEST_ARRAY = 64
_PAYLOAD = Field("payload", 9, Kind.MESSAGE)
_BY_NAME = {spec.name: spec for spec in SAMPLE_FIELDS}
_SAMPLE_ORDER = (
    *(_BY_NAME[n] for n in ("stamp_sim_ns", "stamp_sensor_ns", "stamp_wall_ns", "seq")),
    _PAYLOAD,
    *(_BY_NAME[n] for n in ("sensor_id", "health", "schema_version", "meta")),
)
"""As `MessageEncoder` writes a sample: the payload before what repeats."""


class _Unlike(Exception):
    """Messages of this class do not look alike."""


@dataclass(frozen=True, slots=True)
class _Gap:
    """A place in the record that an expression fills."""

    code: str
    size: int
    expression: str


@dataclass(frozen=True, slots=True)
class _Loose:
    """Bytes whose number varies: the expression gives them."""

    name: str


_Token = bytes | _Gap | _Loose
FieldBytes = Callable[[Field], Callable[[Any], bytes]]


@dataclass(slots=True)
class _Source:
    """What the function does before it packs, and the objects that it knows."""

    bytes_of: FieldBytes
    lines: list[str] = field(default_factory=list)
    objects: list[object] = field(default_factory=list)
    variables: int = 0

    def known(self, value: object) -> str:
        """Return the name under which the function knows `value`."""
        self.objects.append(value)
        return f"k{len(self.objects) - 1}"

    def variable(self, expression: str) -> str:
        """Return the name of a new variable that is set to `expression`."""
        self.variables += 1
        self.lines.append(f"v{self.variables} = {expression}")
        return f"v{self.variables}"

    def unless(self, condition: str) -> None:
        """Give the message up if `condition` holds."""
        self.lines.append(f"if {condition}: return None")

    def fields(self, specs: tuple[Field, ...], message: object, name: str) -> list[_Token]:
        """Return the tokens of a message; `message` is the example, `name` its variable."""
        tokens: list[_Token] = []
        for spec in specs:
            tokens += self.field(spec, getattr(message, spec.name), f"{name}.{spec.name}")
        return tokens

    def field(self, spec: Field, value: Any, place: str) -> list[_Token]:
        """Return the tokens of a field with its tag."""
        kind, number = spec.kind, spec.number
        if spec.optional and value is None:
            self.unless(f"{place} is not None")
            return []
        # A None where a number is expected fails in `pack`, and other kinds compare below.
        if kind is Kind.DOUBLE:
            return [key(number, FIXED64), _Gap("d", 8, place)]
        if kind is Kind.SFIXED64:
            return [key(number, FIXED64), _Gap("q", 8, place)]
        if kind is Kind.ENUM:
            return [key(number, VARINT), _Gap("B", 1, place)]
        if kind is Kind.TEXT:
            self.unless(f"{place} != {self.known(value)}")
            return [self.bytes_of(spec)(value)]
        if kind in (Kind.BOOL, Kind.TEXT_ENUM):
            self.unless(f"{place} is not {self.known(value)}")
            return [self.bytes_of(spec)(value)]
        if kind is Kind.ARRAY:
            return self.array(spec, value, place)
        if kind is Kind.MAPPING and spec.cls is int:
            encode = self.known(self.bytes_of(spec))
            return [_Loose(self.variable(f"{encode}({place})"))]
        if kind in (Kind.MAPPING, Kind.MESSAGES) and not value:
            self.unless(place)
            return []
        if kind is Kind.COMMAND:
            name = self.variable(place)
            self.unless(f"type({name}) is not {self.known(type(value))}")
            if type(value) not in COMMANDS:
                raise _Unlike
            inner = self.fields(fields_of(type(value)), value, name)
            return _nested(number, _nested(COMMANDS.index(type(value)) + 1, inner))
        if kind is Kind.MESSAGE and spec is not _PAYLOAD:
            # Metadata and cameras: one object for all samples of a sensor.
            self.unless(f"{place} is not {self.known(value)}")
            return [self.bytes_of(spec)(value)]
        if kind is Kind.MESSAGE:
            name = self.variable(place)
            self.unless(f"type({name}) is not {self.known(type(value))}")
            return _nested(number, self.fields(fields_of(type(value)), value, name))
        raise _Unlike

    def array(self, spec: Field, value: Any, place: str) -> list[_Token]:
        """Return the tokens of an array of the size of `value`."""
        dtype = np.dtype(spec.cls)
        size = value.size * dtype.itemsize
        if value.size > _LONGEST_ARRAY or not dtype.newbyteorder("<").isnative:
            raise _Unlike
        name = self.variable(f"{place}.tobytes()")
        self.unless(f"len({name}) != {size}")
        return [key(spec.number, BYTES) + varint(size), _Gap(f"{size}s", size, name)]


def _nested(number: int, inner: list[_Token]) -> list[_Token]:
    if any(isinstance(token, _Loose) for token in inner):
        raise _Unlike
    return [key(number, BYTES) + varint(_size(inner)), *inner]


def _size(tokens: list[_Token]) -> int:
    """How many bytes they are, without the loose ones."""
    texts = sum(len(token) for token in tokens if isinstance(token, bytes))
    return texts + sum(token.size for token in tokens if isinstance(token, _Gap))


def compile_record(message: object, channel_id: int, bytes_of: FieldBytes) -> RecordMaker | None:
    """Return a function for messages that look like `message`; None if they do not look alike.

    `bytes_of` gives the general encoder of a field with its tag, and must remember what it gives
    for a field of counts, since that is called for every message.
    """
    source = _Source(bytes_of)
    source.unless(f"type(message) is not {source.known(type(message))}")
    is_sample = type(message) is SensorSample
    specs = _SAMPLE_ORDER if is_sample else fields_of(type(message))
    try:
        tokens = source.fields(specs, message, "message")
    except _Unlike:
        return None
    loose = [token.name for token in tokens if isinstance(token, _Loose)]
    length = MESSAGE_HEAD_BYTES + _size(tokens)
    channel = channel_id.to_bytes(2, "little")
    head: list[_Token] = [_OP_MESSAGE]
    if loose:
        total = " + ".join([str(length), *[f"len({name})" for name in loose]])
        head += [_Gap("Q", 8, total), channel]
    else:
        head += [length.to_bytes(8, "little") + channel]
    # Together they refuse a stamp outside 0 … 2^63−1.
    head += [_Gap("I", 4, "sequence & 0xFFFFFFFF"), _Gap("Q", 8, "stamp"), _Gap("q", 8, "stamp")]
    terms = _terms([*head, *tokens], source)
    lines = [*source.lines, f"return {' + '.join(terms)}"]
    names = ", ".join(f"k{n}" for n in range(len(source.objects)))
    body = "".join(f"        {line}\n" for line in lines)
    text = (
        f"def make({names}):\n    def record(message, sequence, stamp):\n{body}    return record\n"
    )
    made: RecordMaker = _maker(text)(*source.objects)
    return made


def _terms(tokens: list[_Token], source: _Source) -> list[str]:
    """Return the expressions whose sum is the record: one `pack` between loose bytes."""
    terms: list[str] = []
    run: list[bytes | _Gap] = []
    for token in [*tokens, _Loose("")]:
        if not isinstance(token, _Loose):
            last = run[-1] if run else None
            if isinstance(token, bytes) and isinstance(last, bytes):
                run[-1] = last + token
            elif token != b"":
                run.append(token)
            continue
        if any(isinstance(part, _Gap) for part in run):
            codes = [f"{len(p)}s" if isinstance(p, bytes) else p.code for p in run]
            pack = source.known(Struct("<" + "".join(codes)).pack)
            values = [source.known(p) if isinstance(p, bytes) else p.expression for p in run]
            terms.append(f"{pack}({', '.join(values)})")
        elif run:
            terms.append(source.known(run[0]))
        if token.name:
            terms.append(token.name)
        run = []
    return terms


@lru_cache(maxsize=256)
def _maker(text: str) -> Callable[..., RecordMaker]:
    # The text holds names of fields and numbers only, all of them from the classes of ghost.hal;
    # texts and bytes of messages are passed as objects.
    space: dict[str, Any] = {}
    exec(text, {"type": type, "len": len, "__builtins__": {}}, space)
    maker: Callable[..., RecordMaker] = space["make"]
    return maker
