"""The report as one HTML page: everything inside, nothing from a network, no scripts."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from importlib.resources import files

from ghost.report.theme import theme_css

__all__ = ["Section", "card", "data_uri", "definitions", "page", "table", "tags", "tiles"]

Section = tuple[str, str, str, str]
"""(anchor, title, sentence, content)."""


def text(value: object) -> str:
    """Escape what is no markup."""
    return html.escape(str(value))


def data_uri(media_type: str, data: bytes) -> str:
    """Return a file as a URI that holds it."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def card(content: str, *, title: str = "", small: str = "", anchor: str = "") -> str:
    """One white card."""
    head = f"<h3>{text(title)} <small>{text(small)}</small></h3>" if title else ""
    name = f' id="{text(anchor)}"' if anchor else ""
    return f'<div class="card"{name}>{head}{content}</div>'


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    left: Sequence[int] = (0,),
    small: bool = False,
) -> str:
    """A table of cells that are markup already. The columns `left` are texts, the rest numbers."""

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{' class=l' if at in left else ''}>{cell}</{tag}>"
            for at, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    head = cells("th", [text(column) for column in columns])
    kind = ' class="small"' if small else ""
    return (
        f'<div class="scroll"><table{kind}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def tiles(items: Iterable[tuple[str, str, str]]) -> str:
    """Large numbers: (value, unit, what it is)."""
    made = "".join(
        f'<div class="tile"><b>{text(value)}<small>{text(unit)}</small></b>'
        f"<span>{text(name)}</span></div>"
        for value, unit, name in items
    )
    return f'<div class="tiles">{made}</div>'


def tags(items: Iterable[tuple[str, str]]) -> str:
    """Short statements with a coloured dot: (tone, words), tone `good`, `warn`, `bad` or none."""
    made = "".join(f'<span class="tag {tone}">{text(words)}</span>' for tone, words in items)
    return f'<div class="tags">{made}</div>'


def definitions(items: Iterable[tuple[str, str]]) -> str:
    """How it was made: (name, markup)."""
    made = "".join(f"<div><dt>{text(name)}</dt><dd>{value}</dd></div>" for name, value in items)
    return f'<dl class="made">{made}</dl>'


def page(title: str, head: str, sections: Sequence[Section], foot: str) -> str:
    """The whole document."""
    style = files("ghost.report").joinpath("style.css").read_text(encoding="utf-8")
    links = "".join(f'<a href="#{anchor}">{text(name)}</a>' for anchor, name, _, _ in sections)
    body = "".join(
        f'<section id="{anchor}"><h2>{text(name)}</h2>'
        + (f"<p>{sentence}</p>" if sentence else "")
        + f"{content}</section>"
        for anchor, name, sentence, content in sections
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src data:; style-src 'unsafe-inline'\">\n"
        f"<title>{text(title)}</title>\n<style>{theme_css()}\n{style}</style>\n</head>\n<body>\n"
        f"<header><div>{head}</div></header>\n"
        f'<nav class="bar"><div>{links}</div></nav>\n'
        f"<main>\n{body}\n<footer>{foot}</footer>\n</main>\n</body>\n</html>\n"
    )
