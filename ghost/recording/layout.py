"""A short cut for decoding: messages of one class and size that look like the one before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any

from ghost.recording.schema import Field, Kind
from ghost.recording.wire import WireError

__all__ = ["FieldReader", "Layout", "Place"]

FieldReader = Callable[[bytes, int], Any]
"""Takes the bytes of a field, and its number if it is a varint."""

Place = tuple[Field, FieldReader, int, int]
"""A field that was found, how it is read, and where its bytes start and end."""

_SCALARS = {Kind.DOUBLE: "d", Kind.SFIXED64: "q"}


class Layout:
    """Where the fields are in messages of one class and size, and the tags between them.

    Most messages look like the one before, so a reader compares what lies between the fields and
    takes the fields out in one `unpack`. Other messages take the general way.
    """

    __slots__ = ("between", "make", "unpack")

    def __init__(
        self,
        unpack: Callable[[bytes], tuple[Any, ...]],
        between: tuple[bytes, ...],
        make: Callable[[tuple[Any, ...], Mapping[str, Any]], Any],
    ) -> None:
        self.unpack = unpack
        self.between = between
        self.make = make

    @classmethod
    def of(
        cls,
        message_class: type[Any],
        data: bytes,
        places: list[Place],
        defaults: Mapping[str, Any],
        bulk: Mapping[str, Any],
    ) -> Layout | None:
        """Learn from a message that was decoded; None if its form does not repeat."""
        pattern, between, at = "<", [], 0
        convert: list[FieldReader | None] = []
        for spec, read, start, end in places:
            size = end - start
            between.append(data[at:start])
            pattern += f"{start - at}s"
            at = end
            if spec.kind in _SCALARS:
                pattern += _SCALARS[spec.kind]
                convert.append(None)
            elif spec.kind in (Kind.BOOL, Kind.ENUM):
                if size != 1:
                    return None
                pattern += "B"
                convert.append(_small(read))
            else:
                pattern += f"{size}s"
                convert.append(read)
        between.append(data[at:])
        pattern += f"{len(data) - at}s"
        names = [place[0].name for place in places]
        many = [place[0].kind in (Kind.MESSAGES, Kind.MAPPING) for place in places]
        mappings = {place[0].name for place in places if place[0].kind is Kind.MAPPING}
        if len(set(names)) < len(names) and not any(many):
            return None
        repeats = any(many)
        everything = not bulk and not repeats and names == list(defaults)
        rest = {name: value for name, value in defaults.items() if name not in names}
        for name in bulk:
            rest.pop(name, None)

        def make(parts: tuple[Any, ...], bulk: Mapping[str, Any]) -> Any:
            found = [
                part if read is None else read(part, 0)
                for part, read in zip(parts, convert, strict=True)
            ]
            if everything:
                return message_class(*found)
            if repeats:
                values = {**rest, **bulk}
                for name, value, is_many in zip(names, found, many, strict=True):
                    values[name] = (*values.get(name, ()), value) if is_many else value
                for name in mappings:
                    values[name] = dict(values[name])
                return message_class(**values)
            return message_class(**rest, **dict(zip(names, found, strict=True)), **bulk)

        return cls(Struct(pattern).unpack, tuple(between), make)


def _small(read: FieldReader) -> FieldReader:
    """A varint of one byte, given as a number where other readers get bytes."""

    def convert(number: Any, _: int) -> Any:
        if number > 127:
            raise WireError("a number is cut off")
        return read(b"", number)

    return convert
