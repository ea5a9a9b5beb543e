"""The judge of a faulted session: what the server saw, held against what was promised.

It reads the scripted server's log and the recording as a stranger would; nothing that the
program believes of its deliveries counts. Promises are what the program acknowledged: the
lines `USER_SUPPLEMENTARY_INPUT`, `UserInputReceived` and `SupplementReturned`.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gh_tui.context.prompts import STANDING_HEADER
from gh_tui.errors import ProviderError
from gh_tui.events import types as ev
from gh_tui.events.state import SessionState, fold
from gh_tui.events.values import ToolCall
from gh_tui.journal.reader import read_records
from gh_tui.providers.base import Message
from gh_tui.providers.scripted.manners import order_fault
from gh_tui.providers.scripted.server import RecordedRequest
from gh_tui.providers.wire import NEXT_MESSAGE
from gh_tui.providers.wire_anthropic import check_anthropic, to_anthropic
from gh_tui.providers.wire_ollama import check_ollama, to_ollama

_LEFT_OUT = re.compile(r"\n\[\.\.\. (\d+) characters of this attachment left out; [^\n]*\]\n")
"""Between head and tail of an attachment."""
_BLOCKS = (STANDING_HEADER, "[The task, as the user refined it]", "[Not shown: ")
"""How a standing block at the head of a message begins."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One chat request on the wire."""

    messages: list[dict[str, Any]]
    ok: bool
    """Its 2xx headers were sent."""


@dataclass(slots=True)
class Promises:
    """What the program acknowledged, by id (or IRI), in order."""

    supplements: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    returned: set[str] = field(default_factory=set)
    turned: set[str] = field(default_factory=set)
    """The supplements of which a turn was made; such a one may be withdrawn all the same."""

    def take(self, event: ev.Event) -> None:
        """Note a line that the program wrote."""
        match event:
            case ev.SupplementaryInputReceived(id=name, text=text):
                self.supplements[name] = text
            case ev.UserInputReceived(iri=iri, text=text):
                self.inputs[iri] = text
            case ev.SupplementReturned(id=name):
                self.returned.add(name)
            case ev.TurnAdded(supplement=str(name)):
                self.turned.add(name)
            case _:
                pass

    def broken_by(self, state: SessionState, recording: Path) -> list[str]:
        """What a resumed session does not know any more; it may know of more than was said."""
        self.returned |= _returned_in(recording)
        known = {name: entry.text for name, entry in state.supplements.items()}
        known |= state.queued | {iri: turn.text for iri, turn in state.turns.items()}
        faults = []
        for name, text in {**self.supplements, **self.inputs}.items():
            if name in self.inputs and name in self.returned:
                continue
            if known.get(name) != text:
                faults.append(f"{name} was acknowledged and is not in the resumed session")
        for name, entry in state.supplements.items():
            self.supplements.setdefault(name, entry.text)
            if entry.iri is not None:
                self.turned.add(name)
        for iri, text in state.queued.items():
            self.inputs.setdefault(iri, text)
        return faults


def _returned_in(recording: Path) -> set[str]:
    """What was given back, perhaps in the instant before a crash, so that nobody was told."""
    events = [record.envelope.event for record in read_records(recording) if record.envelope]
    return {event.id for event in events if isinstance(event, ev.SupplementReturned)}


@dataclass(slots=True)
class Verdict:
    """What became of the supplements of one run."""

    supplements: int = 0
    delivered: int = 0
    returned: int = 0
    pending: int = 0
    duplicated: int = 0
    out_of_order: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """What is neither delivered nor back nor waiting."""
        return self.supplements - self.delivered - self.returned - self.pending


def sent_in(requests: Iterable[RecordedRequest]) -> list[Sent]:
    """A copy of the server's log, as it is now."""
    return [
        Sent(request.body["messages"], request.status is not None and 200 <= request.status < 300)
        for request in requests
        if isinstance(request.body, dict)
    ]


def judge(log: Sequence[Sent], promises: Promises, pending: Mapping[str, str]) -> Verdict:
    """Count what became of each supplement.

    Args:
        log: every request of the run, in order.
        promises: what was acknowledged.
        pending: ids (or IRIs) and texts that the session still holds for a later request.
    """
    verdict = Verdict(supplements=len(promises.supplements))
    texts = Counter(promises.supplements.values())
    known = {*texts, *promises.inputs.values()}
    turns = [_user_turns(sent.messages, known) for sent in log]
    best: Counter[str] = Counter()
    inputs: set[str] = set()
    for number, (sent, said) in enumerate(zip(log, turns, strict=True), 1):
        counts = Counter(text for text in said if text in texts)
        if sent.ok:
            best |= counts
            inputs.update(said)
        _compare(number, counts, said, promises, verdict)
    _kept(turns, texts, promises, verdict)
    _settle(best, promises, pending, verdict)
    verdict.faults += [
        f"the input {text!r} was never delivered"
        for iri, text in promises.inputs.items()
        if text not in inputs and iri not in promises.returned and iri not in pending
    ]
    verdict.faults += _order_faults(log)
    return verdict


def _user_turns(messages: Sequence[Mapping[str, Any]], known: set[str]) -> list[str]:
    """The texts of the user's own turns in a request, without a standing block."""
    said = []
    for position, message in enumerate(messages):
        if message["role"] != "user":
            continue
        parts = message["content"].split(NEXT_MESSAGE)
        if position == len(messages) - 1 and parts[-1].startswith(_BLOCKS):
            block = parts[-1]
            fitting = [text for text in known if _shows(block, text, after="\n\n")]
            parts[-1:] = [max(fitting, key=len)] if fitting else []
        said += [_whole(part, known) for part in parts]
    return said


def _whole(part: str, known: set[str]) -> str:
    """What the user said, where a message shows it as an attachment."""
    if part in known or _LEFT_OUT.search(part) is None:
        return part
    return next((text for text in known if _shows(part, text)), part)


def _shows(message: str, text: str, *, after: str = "") -> bool:
    """Whether a message is a text, or ends with it after something else, whole or attached."""
    head = text
    if (cut := _LEFT_OUT.search(message)) is not None and text.endswith(message[cut.end() :]):
        size = len(text) - int(cut[1]) - (len(message) - cut.end())
        message, head = message[: cut.start()], text[: max(size, 0)]
    return message.endswith(after + head) if after else message == head


def _compare(
    number: int, counts: Counter[str], said: Sequence[str], promises: Promises, verdict: Verdict
) -> None:
    """Hold one request against what was accepted: how often, and in which order."""
    allowed = Counter(promises.supplements.values())
    # A queued input may have the very words of a supplement.
    allowed.update(text for text in promises.inputs.values() if text in allowed)
    for text, times in (counts - allowed).items():
        verdict.duplicated += times
        verdict.faults.append(f"request {number} has {text!r} {counts[text]} times")
    shared = set(promises.inputs.values())
    left = allowed.copy()
    spoken = []
    for text in said:
        if text in counts and text not in shared and left[text] > 0:
            left[text] -= 1
            spoken.append(text)
    accepted = iter([text for text in promises.supplements.values() if text not in shared])
    if not all(any(text == other for other in accepted) for text in spoken):
        verdict.out_of_order += 1
        verdict.faults.append(f"request {number} has supplements out of order: {spoken}")


def _kept(
    turns: Sequence[Sequence[str]], texts: Counter[str], promises: Promises, verdict: Verdict
) -> None:
    """What one request carried, every later one carries, or none after it was withdrawn."""
    named = promises.supplements
    may_go = Counter(named[name] for name in promises.returned & promises.turned & named.keys())
    may_come = texts + Counter(promises.inputs.values())
    before: Counter[str] = Counter()
    for number, said in enumerate(turns, 1):
        counts = Counter(text for text in said if text in texts)
        for text, times in (before - counts).items():
            if times > may_go[text]:
                verdict.faults.append(f"request {number} lacks {text!r}, which an earlier one had")
                continue
            may_go[text] -= times
            before[text] = counts[text]
        may_come.subtract(counts - before)
        for text in -may_come:
            verdict.faults.append(f"request {number} has {text!r} again, which had gone")
        before |= counts


def _settle(
    best: Counter[str], promises: Promises, pending: Mapping[str, str], verdict: Verdict
) -> None:
    named: dict[str, list[str]] = defaultdict(list)
    for name, text in promises.supplements.items():
        named[text].append(name)
    for text, names in named.items():
        returned = [name for name in names if name in promises.returned]
        others = [name for name in names if name not in promises.returned]
        inputs = sum(
            said == text and iri not in promises.returned for iri, said in promises.inputs.items()
        )
        seen = max(0, best[text] - inputs)
        # A server may have read what was withdrawn after a request that was broken off.
        if seen > len(others) + sum(name in promises.turned for name in returned):
            verdict.faults.append(f"{text!r} was given back and sent all the same")
        delivered = min(seen, len(others))
        waiting = sum(name in pending for name in others)
        verdict.delivered += delivered
        verdict.returned += len(returned)
        verdict.pending += min(waiting, len(others) - delivered)
    if verdict.lost:
        verdict.faults.append(f"{verdict.lost} supplement(s) lost; delivered: {sorted(best)}")


def _order_faults(log: Sequence[Sent]) -> list[str]:
    faults = []
    for number, sent in enumerate(log, 1):
        fault = order_fault(sent.messages, alternating=False) or _other_wires(sent.messages)
        if fault is not None:
            faults.append(f"request {number}: {fault}")
    return faults


def _other_wires(wire: Sequence[Mapping[str, Any]]) -> str | None:
    """Why the same messages could not go to the servers that speak otherwise; None if fine."""
    messages = [_message(entry) for entry in wire]
    try:
        check_ollama(to_ollama(messages))
        check_anthropic(to_anthropic(messages)[1])
    except ProviderError as error:
        return str(error)
    return None


def _message(entry: Mapping[str, Any]) -> Message:
    calls = tuple(
        ToolCall(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in entry.get("tool_calls", ())
    )
    text = entry["content"] or ""
    return Message(entry["role"], text, calls=calls, call_id=entry.get("tool_call_id"))


def examine(recording: Path, crashes: int, *, finished: bool) -> tuple[SessionState, list[str]]:
    """Read a recording as a stranger; its state and what is wrong with it.

    Args:
        recording: the file.
        crashes: how often the program ended without a word; each may leave one torn line.
        finished: the session was closed, so that nothing is open any more.
    """
    records = list(read_records(recording))
    envelopes = [record.envelope for record in records if record.envelope is not None]
    faults = []
    torn = len(records) - len(envelopes)
    if torn > crashes:
        faults.append(f"{torn} unreadable lines after {crashes} crashes")
    numbers = [envelope.seq for envelope in envelopes]
    if numbers != list(range(1, len(numbers) + 1)):
        faults.append("the records are not numbered from 1 without gaps")
    faults += _once([envelope.event for envelope in envelopes])
    faults += _given_back([envelope.event for envelope in envelopes])
    faults += _results([envelope.event for envelope in envelopes], finished=finished)
    return fold(envelopes), faults


def _once(events: Sequence[ev.Event]) -> list[str]:
    """One turn and one injection for each id, one turn for each IRI, one end for each reply."""
    seen: Counter[str] = Counter()
    for event in events:
        match event:
            case ev.TurnAdded(iri=iri, supplement=name):
                seen[f"turn {iri}"] += 1
                if name is not None:
                    seen[f"turn of {name}"] += 1
            case ev.SupplementInjected(id=name):
                seen[f"injection of {name}"] += 1
            case ev.SupplementaryInputReceived(id=name):
                seen[f"acceptance of {name}"] += 1
            case ev.ReplyFinished(request=request):
                seen[f"end of reply {request}"] += 1
            case _:
                pass
    return [f"{what}: recorded {times} times" for what, times in seen.items() if times > 1]


def _given_back(events: Sequence[ev.Event]) -> list[str]:
    """What was given back had not been delivered, and is not sent afterwards."""
    faults = []
    turns: dict[str, str] = {}
    injected: set[str] = set()
    gone: set[str] = set()
    for event in events:
        match event:
            case ev.TurnAdded(iri=iri, supplement=name):
                turns[name or iri] = iri
                if (name or iri) in gone:
                    faults.append(f"{name or iri} was given back and became a turn")
            case ev.SupplementInjected(id=name):
                injected.add(name)
            case ev.SupplementReturned(id=name):
                gone |= {name, turns.get(name, name)}
                if name in injected or (name in turns and turns[name] == name):
                    faults.append(f"{name} was given back after it had been delivered")
            case ev.RequestSent(request=request, manifest=manifest):
                sent = {entry.iri for entry in manifest if entry.iri} & gone
                faults += [f"request {request} has {iri}, which was given back" for iri in sent]
            case _:
                pass
    return faults


def _results(events: Sequence[ev.Event], *, finished: bool) -> list[str]:
    """Every call has exactly one result, before anything else comes."""
    faults = []
    open_calls: list[str] = []
    for event in events:
        if not isinstance(event, ev.TurnAdded):
            continue
        if event.role == "tool":
            if event.call_id in open_calls:
                open_calls.remove(event.call_id)
            else:
                faults.append(f"{event.iri} is a result of no open call ({event.call_id})")
            continue
        if open_calls:
            faults.append(f"{event.iri} comes before the results of {', '.join(open_calls)}")
        open_calls = [call.id for call in event.calls]
    if finished and open_calls:
        faults.append(f"calls without a result at the end: {', '.join(open_calls)}")
    return faults
