"""What a reader has to say about a file: each thing once, with how often it happened."""

from __future__ import annotations

__all__ = ["Notes"]

_MAX_NOTES = 200
_MAX_TEXT = 1000
"""Characters of a note: names in a damaged file may have megabytes."""


class Notes:
    """Collects remarks by key; a key that comes again is counted."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._beyond = 0

    def add(self, key: str, text: str) -> None:
        """Note `text`, or count `key` if it was noted before."""
        if key in self._texts:
            self._counts[key] += 1
        elif len(self._texts) < _MAX_NOTES:
            self._texts[key] = _bounded(text)
            self._counts[key] = 1
        else:
            self._beyond += 1

    def texts(self) -> tuple[str, ...]:
        """Return the notes, in the order in which they were made first."""
        texts = [
            text if self._counts[key] == 1 else f"{text} ({self._counts[key]} times)"
            for key, text in self._texts.items()
        ]
        if self._beyond:
            texts.append(f"and {self._beyond} more")
        return tuple(texts)


def _bounded(text: str) -> str:
    """Cut `text`, and spell out what a terminal would obey."""
    cut = text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in cut)
