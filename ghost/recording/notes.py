"""What a reader has to say about a file: each thing once, with how often it happened."""

from __future__ import annotations

__all__ = ["Notes"]

_MAX_NOTES = 200


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
            self._texts[key] = text
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
