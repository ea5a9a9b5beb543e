"""Extractive one-line summaries: what must not be lost is taken word for word.

Failures, negations, commands, numbers, paths and names decide which clauses stay, so that nothing
depends on a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from gh_tui.memory import cues

LIMIT: Final = 180
"""Columns of a summary line; a CJK character takes two, as on the screen."""
_GAP: Final = " … "
_END: Final = 20_000
"""Characters that are read at each end of a text."""
_REASONS: Final = 8
_WIDE: Final = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_CLAUSE: Final = re.compile(r"[^\n。！？；!?;]+?(?:[。！？；!?;]+|\.(?=\s|$)|\n|$)", re.DOTALL)
_COMMA: Final = re.compile(
    r"(?<=[,:])\s+|(?<=[，、：])\s*|(?<=[\u0e00-\u0e7f])\s+(?=[\u0e00-\u0e7f])"
)
_EXIT: Final = re.compile(
    r"\b(?:exit(?:ed)?(?: with)?(?:[ _](?:code|status))?|return[ _]?code)[\"']?[ :=]+(-?\d+)",
    re.IGNORECASE | re.ASCII,
)


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def width(text: str) -> int:
    """Columns of a text: two for a CJK character, one for any other."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))


def summarise(text: str, limit: int = LIMIT) -> str:
    """Reduce a text to one line of at most `limit` columns.

    Whole clauses are kept in their order, the weightiest first; a gap is marked by `…`. Of a long
    text only both ends are read.
    """
    if len(text) <= _END and width(line := one_line(text)) <= limit:
        return line
    clauses = _ends(text, lambda part: _clauses(part, limit))
    scores = [cues.weight(clause) for clause in clauses]
    scores[0] += 1.0  # what a message opens with says what it is about
    order = sorted(range(len(clauses)), key=lambda i: (-scores[i], i))
    return _fill(dict(enumerate(clauses)), (i for i in order if scores[i]), limit)


def summarise_result(text: str, *, ok: bool | None = None, limit: int = LIMIT) -> str:
    """Reduce a tool result to one line: how it ended, its size, what failed or its first line.

    `ok` says whether the tool succeeded, if that is known; `limit` is in columns. Of a long text
    only both ends are read.
    """
    lines = _ends(text, lambda part: part.splitlines() or [""])
    only = [line for line in lines if line.strip()]
    if len(only) <= 1 and width("".join(only)) <= limit // 2 and ok is not False:
        return one_line("".join(only)) or "(empty)"
    state = _state(text, ok)
    count = text.count("\n") + (not text.endswith("\n")) if text else 0
    head = ", ".join(filter(None, (state, f"{count} line{'s' * (count != 1)}")))
    told = _telling(lines, limit - len(head) - 2, failed=state not in ("", "ok", "exit 0"))
    return f"{head}: {told}" if told else head


def _ends(text: str, split: Callable[[str], list[str]]) -> list[str]:
    """The pieces of a text, or of its two ends with an empty one between."""
    if len(text) <= 2 * _END:
        return split(text)
    head, tail = split(text[:_END]), split(text[-_END:])
    return [*(head[:-1] or head), "", *(tail[1:] or tail)]


def _state(text: str, ok: bool | None) -> str:
    codes = _EXIT.findall(text[-_END:]) or _EXIT.findall(text[:_END])
    if codes and not (ok is False and codes[-1] == "0"):
        return f"exit {codes[-1]}"
    if ok is None:
        return ""
    return "ok" if ok else "failed"


def _telling(lines: list[str], limit: int, *, failed: bool) -> str:
    """As many of the lines that say what failed as there is room for, the last one before all.

    Without one: the last line that mentions a failure; or the last of all if the tool failed, and
    the first if it did not.
    """
    ranks = [cues.failure_rank(line) for line in lines]
    reasons = [_reason(lines, i) for i, rank in enumerate(ranks) if rank == 2]
    if reasons:
        last = sorted({lines[i].strip(): i for i in reasons}.values())
        order = dict.fromkeys((last[-1], last[0], *last[: -_REASONS - 1 : -1]))
        return _fill({i: summarise(lines[i], limit) for i in order}, order, limit)
    told = [line for line, rank in zip(lines, ranks, strict=True) if rank]
    if not told:
        told = [line for line in lines if line.strip()]
        told = [line for line in told if _EXIT.search(line) is None] or told
        told = told if failed else told[:1]
    return summarise(told[-1], limit) if told else ""


def _reason(lines: list[str], index: int) -> int:
    """The line that says why: of a traceback the one in which it ends."""
    if not lines[index].lstrip().startswith("Traceback"):
        return index
    depth = _indent(lines[index])
    for later in range(index + 1, len(lines)):
        if lines[later].strip() and _indent(lines[later]) <= depth:
            return later
    return index


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _clauses(text: str, limit: int) -> list[str]:
    """Sentences, or their parts at commas where a sentence alone is too long."""
    clauses: list[str] = []
    for found in _CLAUSE.finditer(text):
        sentence = one_line(found[0])
        if width(sentence) <= limit:
            clauses.append(sentence)
        else:
            clauses.extend(part for part in _COMMA.split(sentence) if part)
    clauses = list(dict.fromkeys(filter(None, clauses))) or [one_line(text)]
    room = limit if len(clauses) == 1 else limit * 2 // 3
    return [clause if width(clause) <= limit else _cut(clause, room) for clause in clauses]


def _fill(parts: Mapping[int, str], order: Iterable[int], limit: int) -> str:
    """As many parts as the limit has room for, taken in one order and shown in their own."""
    chosen: list[int] = []
    line = ""
    for index in order:
        if width(line) + width(parts[index]) > limit:
            continue
        attempt = sorted([*chosen, index])
        longer = _join(parts, attempt)
        if width(longer) <= limit:
            chosen, line = attempt, longer
    return line


def _join(parts: Mapping[int, str], chosen: list[int]) -> str:
    joined: list[str] = []
    for position, index in enumerate(chosen):
        if position:
            joined.append(" " if index == chosen[position - 1] + 1 else _GAP)
        joined.append(parts[index])
    return "".join(joined)


def _cut(clause: str, limit: int) -> str:
    """The part of a clause around the heaviest of what must stay, at blanks if there are some."""
    focus = cues.focus(clause)
    room = (limit - 2) * len(clause) // width(clause)
    start = max(0, min(focus - room // 4, len(clause) - room))
    if start and not clause[start - 1].isspace():
        start = clause.find(" ", start, max(start, focus)) + 1 or start
    cut = clause[start : start + room]
    while width(cut) > limit - 2:
        cut = cut[:-1]
    end = start + len(cut)
    if end < len(clause) and not clause[end].isspace() and (blank := cut.rfind(" ", room // 2)) > 0:
        end = start + blank
    return f"{'…' * (start > 0)}{clause[start:end]}{'…' * (end < len(clause))}"
