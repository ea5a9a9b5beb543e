"""Extractive one-line summaries: what must not be lost is taken word for word.

Failures, negations, commands, numbers, paths and names decide which clauses stay, so that nothing
depends on a model.
"""

from __future__ import annotations

import re
from typing import Final

from gh_tui.memory import cues

LIMIT: Final = 180
"""Columns of a summary line; a CJK character takes two, as on the screen."""
_GAP: Final = " … "
_SCANNED: Final = 20_000
_WIDE: Final = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_CLAUSE: Final = re.compile(r"[^\n。！？；!?;]+?(?:[。！？；!?;]+|\.(?=\s|$)|\n|$)", re.DOTALL)
_COMMA: Final = re.compile(
_EXIT: Final = re.compile(
    r"\b(?:exit(?:ed)?(?: with)?(?: (?:code|status))?|returncode|status)[ :=]+(-?\d+)",
    re.IGNORECASE,
)


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def width(text: str) -> int:
    """Columns of a text: two for a CJK character, one for any other."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))


def summarise(text: str, limit: int = LIMIT) -> str:
    """Reduce a text to one line of at most `limit` columns.

    Whole clauses are kept in their order, the weightiest first; a gap is marked by `…`.
    """
    line = one_line(text[:_SCANNED])
    if len(text) <= _SCANNED and width(line) <= limit:
        return line
    clauses = _clauses(text[:_SCANNED], limit)
    scores = [cues.weight(clause) for clause in clauses]
    scores[0] += 1.0  # what a message opens with says what it is about
    order = sorted(range(len(clauses)), key=lambda i: (-scores[i], i))
    chosen: list[int] = []
    for index in order:
        if chosen and not scores[index]:
            break
        attempt = sorted([*chosen, index])
        if width(_join(clauses, attempt)) <= limit:
            chosen = attempt
    return _join(clauses, chosen) if chosen else _cut(clauses[order[0]], limit)


def summarise_result(text: str, *, ok: bool | None = None, limit: int = LIMIT) -> str:
    """Reduce a tool result to one line: how it ended, its size, its first failure or first line.

    `ok` says whether the tool succeeded, if that is known; `limit` is in columns.
    """
    body = text[:_SCANNED]
    lines = [line for line in map(one_line, body.splitlines()) if line]
    if len(lines) <= 1 and width(text) <= limit // 2 and ok is not False:
        return lines[0] if lines else "(empty)"
    state = _exit_state(body, ok)
    count = text.count("\n") + (not text.endswith("\n")) if text else 0
    size = f"{count} line{'s' * (count != 1)}"
    wrong = next((i for i, line in enumerate(lines) if cues.failure_rank(line)), None)
    shown = lines[wrong] if wrong is not None else (lines[0] if lines else "")
    if wrong is not None and shown.lower().startswith("traceback"):
        shown = lines[-1]
    head = ", ".join(filter(None, (state, size)))
    return f"{head}: {summarise(shown, limit - len(head) - 2)}" if shown else head


def _exit_state(text: str, ok: bool | None) -> str:
    found = _EXIT.search(text)
    if found is not None:
        return f"exit {found[1]}"
    if ok is None:
        return ""
    return "ok" if ok else "failed"


def _clauses(text: str, limit: int) -> list[str]:
    """Sentences, or their parts at commas where a sentence alone is too long."""
    clauses: list[str] = []
    for found in _CLAUSE.finditer(text):
        sentence = one_line(found[0])
        if width(sentence) <= limit:
            clauses.append(sentence)
        else:
            clauses.extend(part for part in _COMMA.split(sentence) if part)
    return list(dict.fromkeys(filter(None, clauses))) or [one_line(text)]


def _join(clauses: list[str], chosen: list[int]) -> str:
    parts: list[str] = []
    for position, index in enumerate(chosen):
        if position:
            parts.append(" " if index == chosen[position - 1] + 1 else _GAP)
        parts.append(clauses[index])
    return "".join(parts)


def _cut(clause: str, limit: int) -> str:
    """The part of a clause around the heaviest of what must stay."""
    room = (limit - 2) * len(clause) // width(clause)
    start = max(0, min(cues.focus(clause) - room // 4, len(clause) - room))
    cut = clause[start : start + room]
    while width(cut) > limit - 2:
        cut = cut[:-1]
    head = "…" if start else ""
    tail = "…" if start + len(cut) < len(clause) else ""
    return f"{head}{cut}{tail}"
