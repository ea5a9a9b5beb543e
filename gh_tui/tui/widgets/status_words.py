"""What the status bar says: states, gauges and urgent lines, as styled pieces of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from rich.cells import cell_len

from gh_tui.events.state import SessionState
from gh_tui.events.types import TopicShiftDetected
from gh_tui.text import one_line
from gh_tui.tui.cells import shorten
from gh_tui.tui.widgets.reasons import setting

_TOOLS_LOOKED_AT = 24
"""The newest calls; older ones have ended."""
_LEAST_QUOTE = 12
"""Cells that the words of an input get before the figures go."""
LOCAL_MODEL, LOCAL_SPEED = "qwen2.5-coder-1.5b", 77.0
"""Tokens in a second that the model of the extra `local` reads, measured on two cores."""
PASS_NEAR = 0.75
"""The share of the budget from which a look at the next pass is offered."""
GAP = "  "


@dataclass(frozen=True, slots=True)
class ReplayInfo:
    """Where a replay stands."""

    title: str
    position: int
    total: int
    playing: bool
    speed: float


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a line.

    When the line is too long, parts are cut to their `least`, then take their `short` form, then
    go: each time the highest `rank` first, and rank 0 never goes.
    """

    text: str
    style: str = "text"
    rank: int = 0
    least: int | None = None
    """Cells to which it may be cut; None keeps it whole."""
    short: str = ""


def activity(state: SessionState, replay: ReplayInfo | None, progress: str | None) -> Part:
    """What happens now, in words."""
    if replay is not None:
        sign, word = ("▶", "replay") if replay.playing else ("⏸", "replay paused")
        if replay.position >= replay.total:
            sign, word = "■", "replay ended"
        return Part(
            f"{sign} {word} {replay.speed:g}× {replay.position:,}/{replay.total:,}", "replay"
        )
    waiting, running = _tools(state)
    if waiting:
        return Part(f"? waiting for your approval: {one_line(waiting, 40)}", "urgent")
    if state.paused:
        works = running or state.replying is not None
        return Part("⏸ pausing after this step" if works else "⏸ paused", "warn")
    if running:
        return Part(f"● running tool {one_line(running, 40)}", "busy")
    if state.replying is not None:
        return Part(_reply_words(state), "busy")
    if state.running:
        return Part("● thinking", "busy")
    if state.ended:
        return Part("■ ended", "dim")
    if progress:
        return Part(f"… {one_line(progress, 80)}", "busy", least=20)
    return Part("○ idle" if state.started else "○ not started", "dim")


def gauge(state: SessionState, width: int) -> list[Part]:
    """The context: a bar with the high watermark `┃`, tokens, budget and their basis."""
    sent = state.request
    if sent is None:
        return [Part(f"context [{'░' * width}] nothing sent yet", "dim", least=12)]
    tokens = state.context_tokens
    share = tokens / sent.budget if sent.budget > 0 else 1.0
    high = setting(state, "eviction.high_watermark", 0.85)
    style = "urgent" if share >= high else "warn" if share >= PASS_NEAR else "gauge"
    full = min(width, round(share * width))
    cells = ["█"] * full + ["░"] * (width - full)
    mark = min(width - 1, round(high * width))
    cells[mark] = "┃"
    parts = [
        Part("context", "dim", rank=8),
        Part(f"[{''.join(cells)}]", style, rank=5),
        Part(f"{tokens:,}/{sent.budget:,} tok {sent.tokens_basis}", style),
        Part(f"{share:.0%}", "dim", rank=10),
    ]
    if share >= PASS_NEAR:
        parts.append(Part("pass near: /preview", "warn", rank=4, short="pass near"))
    read = state.prefill
    if read.cached or read.basis == "confirmed":
        words = f"{read.cached:,} cached + {read.fresh:,} fresh"
        # The server counts what stands beside the messages too.
        known = f"server confirmed {words}" if read.basis == "confirmed" else f"{words} estimated"
        parts.append(Part(known, "dim", rank=9, short=words))
    return parts


def counters(state: SessionState) -> list[Part]:
    """Window, pending inputs and standing marks of what went wrong."""
    parts: list[Part] = []
    if state.started is not None:
        source = one_line(state.started.window_source, 20)
        window = f"{state.started.window:,} {source}"
        parts.append(Part(f"window {window}", "dim", rank=7, short=f"of {window}"))
    pending = len(state.pending)
    parts.append(Part(f"{pending} pending", "warn" if pending else "dim", rank=2))
    if queued := len(state.waiting):
        parts.append(Part(f"{queued} queued", "warn", rank=1))
    if state.shifts:
        word = "shift" if len(state.shifts) == 1 else "shifts"
        parts.append(Part(f"≠ {len(state.shifts)} {word}", "warn", rank=1))
    if state.truncation is not None:
        cut = state.truncation
        read = f"! prompt cut: {cut.reported:,} of {cut.sent:,} tok read"
        parts.append(Part(read, "urgent", rank=6, short="! prompt cut"))
    if embedder_is_degraded(state):
        parts.append(Part("! embedder degraded", "urgent", rank=1))
    return parts


def embedder_is_degraded(state: SessionState) -> bool:
    """Whether relevance comes from hashed words instead of meaning."""
    return state.started is not None and state.started.embedder.startswith("hashing")


def shift_line(shift: TopicShiftDetected, state: SessionState, width: int) -> str:
    """A topic shift in words, in `width` cells: where, how clear, and what undoes its pass."""
    known = [value for value in shift.similarities if value is not None]
    kind = "similarity" if shift.rule == "adjacent" else "contrast"
    clear = f" ({kind} {min(known):.2f} < {shift.threshold:.2f})" if known else ""
    frame, undo = "topic shift at «»", " · u or /undo undoes it"
    if width < cell_len(frame + clear + undo) + _LEAST_QUOTE:
        clear = ""
    room = max(_LEAST_QUOTE, width - cell_len(frame + clear + undo))
    turn = state.turns.get(shift.boundary)
    where = one_line(turn.text if turn else shift.boundary, 80)
    return f"topic shift at «{shorten(where, min(room, 60))}»{clear}{undo}"


def failure_line(state: SessionState, now: datetime, width: int) -> str | None:
    """A failed request in `width` cells, with the seconds to the next try."""
    failure = state.failure
    if failure is None:
        return None
    frame, retry = "request failed: ", _retry_words(failure.retry_at, now)
    room = max(_LEAST_QUOTE, width - len(frame) - len(retry))
    return f"{frame}{shorten(one_line(failure.message), room)}{retry}"


def _retry_words(retry_at: str | None, now: datetime) -> str:
    if retry_at is None:
        return ""
    try:
        left = (datetime.fromisoformat(retry_at) - now).total_seconds()
    except (ValueError, TypeError):  # a damaged recording
        return ""
    return f" · retry in {left:.0f} s" if left >= 0.5 else " · retrying"


def arrange(parts: Iterable[Part], width: int) -> list[Part]:
    """The parts that fit on a line of `width` cells, in their order."""
    kept = [part for part in parts if part.text]
    for part in sorted(kept, key=lambda part: -part.rank):
        over = length(kept) - width
        if over > 0 and part.least is not None:
            size = max(part.least, cell_len(part.text) - over)
            kept[kept.index(part)] = replace(part, text=shorten(part.text, size))
    while length(kept) > width and any(part.rank for part in kept):
        last = max(kept, key=lambda part: part.rank)
        if last.short:
            kept[kept.index(last)] = replace(last, text=last.short, short="")
        else:
            kept.remove(last)
    return kept if length(kept) <= width else _cut(kept, width)


def _cut(parts: Sequence[Part], width: int) -> list[Part]:
    result: list[Part] = []
    for part in parts:
        room = width - length(result) - (len(GAP) if result else 0)
        if room <= 0:
            break
        result.append(Part(shorten(part.text, room), part.style))
    return result


def length(parts: Sequence[Part]) -> int:
    """Cells of a line of parts, gaps included."""
    return sum(cell_len(part.text) for part in parts) + len(GAP) * max(0, len(parts) - 1)


def _tools(state: SessionState) -> tuple[str, str]:
    """The names of a tool that waits for approval and of one that runs; empty if none."""
    waiting = running = ""
    for count, tool in enumerate(reversed(state.tools.values())):
        if count >= _TOOLS_LOOKED_AT:
            break
        if tool.status == "waiting":
            waiting = tool.name
        elif tool.status == "running":
            running = tool.name
    return waiting, running


def _reply_words(state: SessionState) -> str:
    if state.reply_text:
        return "● answering"
    if state.reply_reasoning:
        return "● thinking"
    speed, _ = _speed(state)
    fresh = state.prefill.fresh
    wait = f" {_wait_words(fresh / speed)}" if speed and fresh else ""
    return f"● prefill {fresh:,} tok{wait}…"


def wait_basis(state: SessionState) -> Part:
    """What the expected wait for the first word rests on, while it lasts."""
    speed, basis = _speed(state)
    answers = state.replying is None or state.reply_text or state.reply_reasoning
    if answers or state.paused or speed is None:
        return Part("")
    return Part(f"at {speed:,.0f} tok/s {basis}", "dim", rank=9)


def _speed(state: SessionState) -> tuple[float | None, str]:
    """Tokens that the server reads in a second, and how that is known."""
    if (speed := state.prefill.speed) is not None:
        return speed, "measured"
    started = state.started
    if started is None or started.provider != "local":
        return None, ""
    known = started.model.casefold().startswith(LOCAL_MODEL)
    return (LOCAL_SPEED, "usual") if known else (None, "")


def _wait_words(seconds: float) -> str:
    if seconds < 1:
        return "< 1 s"
    return f"≈ {seconds:.0f} s" if seconds < 100 else f"≈ {seconds / 60:.0f} min"
