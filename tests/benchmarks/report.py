"""What every benchmark gives back: tables of figures with their targets and baselines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal["baseline", "result", "also"]
"""`also` is shown beside the result and held to no target."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure must reach."""

    value: float
    most: bool = False
    """The figure may be that at most; otherwise at least."""

    def reached(self, figure: float) -> bool:
        """Whether a figure, rounded as it is printed, is on the right side."""
        shown = round(figure, 3)
        return shown <= self.value if self.most else shown >= self.value

    def __str__(self) -> str:
        return f"{'≤' if self.most else '≥'}{_number(self.value)}"


@dataclass(frozen=True, slots=True)
class Row:
    """One method's figures, in the order of the table's heads."""

    method: str
    kind: Kind
    items: int
    figures: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One measure on one split of the data."""

    measure: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    targets: tuple[Target | None, ...] = ()
    items: str = "items"
    """What the numbers of items count."""
    note: str = ""

    def missed(self) -> list[str]:
        """The heads at which a result is short of its target, with the method."""
        return [
            f"{row.method}: {head}"
            for row in self.rows
            if row.kind == "result"
            for head, figure, target in zip(self.heads, row.figures, self.targets, strict=False)
            if target is not None and (figure is None or not target.reached(figure))
        ]

    def to_wire(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self), "missed": self.missed()}


def render(table: Table) -> str:
    """A table as text: what is to be reached, then a line per method."""
    targets = [str(target) if target else "" for target in table.targets]
    targets += [""] * (len(table.heads) - len(targets))
    lines = [("", "", table.items, *table.heads)]
    if table.targets:
        lines.append(("target", "", "", *targets))
    lines += [
        (row.method, row.kind, str(row.items), *(_number(figure) for figure in row.figures))
        for row in table.rows
    ]
    text = [table.measure, *_columns(lines)]
    if table.note:
        text.append(f"  {table.note}")
    if table.targets:
        missed = table.missed()
        text.append(f"  short of the target: {'; '.join(missed)}" if missed else "  reached")
    return "\n".join(text)


def _columns(lines: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for cells in lines:
        padded = [
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        yield "  " + "  ".join(padded).rstrip()


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    if value == int(value) and abs(value) >= 10:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"
