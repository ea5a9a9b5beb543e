"""What every benchmark gives back: tables of figures with their targets and baselines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from tests.benchmarks.data import NoData

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
    """In the order of the heads; None, or what is no number, was not measured."""


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
    skipped: str = ""
    """What of the data was not measured, and why; such a table has no rows."""

    def missed(self) -> list[str]:
        """The heads at which a result is short of its target, with the method."""
        return [
            name
            for name, figure, target in self._judged()
            if figure is not None and not target.reached(figure)
        ]

    def unmeasured(self) -> list[str]:
        """The heads at which a result has a target and no figure, with the method."""
        return [name for name, figure, _ in self._judged() if figure is None]

    def _judged(self) -> list[tuple[str, float | None, Target]]:
        return [
            (f"{row.method}: {head}", _known(figure), target)
            for row in self.rows
            if row.kind == "result"
            for head, figure, target in zip(self.heads, row.figures, self.targets, strict=False)
            if target is not None
        ]

    def to_wire(self) -> dict[str, Any]:
        """As plain values; JSON has no word for what is no number."""
        values = asdict(self)
        for row in values["rows"]:
            row["figures"] = [_known(figure) for figure in row["figures"]]
        return {**values, "missed": self.missed(), "unmeasured": self.unmeasured()}


def mean(values: Iterable[float]) -> float | None:
    """The mean, or None of nothing."""
    known = list(values)
    return math.fsum(known) / len(known) if known else None


def with_skipped(
    measure: str, tables: Iterable[Table], left_out: Iterable[tuple[str, str]]
) -> list[Table]:
    """The tables, and one without rows for each part of the data that is not in them.

    Args:
        measure: what is measured.
        tables: of what could be measured.
        left_out: parts of the data, each with why it is not in the figures.

    Raises:
        NoData: nothing could be measured.
    """
    found, parts = list(tables), list(left_out)
    if not found:
        raise NoData("; ".join(f"{part}: {reason}" for part, reason in parts))
    return [*found, *(Table(f"{measure}: {part}", (), (), skipped=why) for part, why in parts)]


def render(table: Table) -> str:
    """A table as text: what is to be reached, then a line per method."""
    if table.skipped:
        return f"{table.measure}\n  skipped: {table.skipped}"
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
    missed, unmeasured = table.missed(), table.unmeasured()
    if missed:
        text.append(f"  short of the target: {'; '.join(missed)}")
    if unmeasured:
        text.append(f"  not measured: {'; '.join(unmeasured)}")
    if table.targets and not missed and not unmeasured:
        text.append("  reached")
    return "\n".join(text)


def _columns(lines: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for cells in lines:
        padded = [
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        yield "  " + "  ".join(padded).rstrip()


def _known(figure: float | None) -> float | None:
    return figure if figure is not None and math.isfinite(figure) else None


def _number(figure: float | None) -> str:
    value = _known(figure)
    if value is None:
        return "-"
    if value == int(value) and abs(value) >= 10:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"
