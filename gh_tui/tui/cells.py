"""Text measured in terminal cells: a Chinese character takes two."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "…"


def fit(text: str, width: int, *, right: bool = False) -> str:
    """The text in exactly `width` cells: padded, or cut with `…`.

    Args:
        text: one sanitised line.
        width: cells; nothing comes back for less than one.
        right: pad on the left, for numbers.
    """
    if width < 1:
        return ""
    text = shorten(text, width)
    padding = " " * (width - cell_len(text))
    return padding + text if right else text + padding


def shorten(text: str, width: int) -> str:
    """The text in at most `width` cells, cut with `…` if it is longer."""
    if cell_len(text) <= width:
        return text
    if width < 2:
        return ELLIPSIS[:width]
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS


def bar(value: float, width: int) -> tuple[str, str]:
    """A value in [0, 1] as a filled and an empty part, together `width` cells.

    Half cells are drawn, so that 8 cells show 16 steps.
    """
    halves = round(min(max(value, 0.0), 1.0) * width * 2)
    whole, half = divmod(halves, 2)
    filled = "━" * whole + "╸" * half
    return filled, "─" * (width - whole - half)
