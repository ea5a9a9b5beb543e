from __future__ import annotations

from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.tui.transcript import InputRow, NoteRow, ReplyRow, ToolRow, Transcript
from tests.tui.harness import ScriptedSession


class Rows:
    def __init__(self) -> None:
        self.session = ScriptedSession()
        self.transcript, self.state = Transcript(), SessionState()
        self.session.bus.subscribe(self._take)

    def _take(self, envelope: Envelope) -> None:
        self.state.apply(envelope)
        self.transcript.apply(envelope, self.state)

    def notes(self) -> list[str]:
        return [row.text for row in self.transcript.rows if isinstance(row, NoteRow)]


async def test_a_supplement_stands_where_the_model_reads_it() -> None:
    rows = Rows()
    session = rows.session
    await session.say("plan it")
    await session.request(1)
    await session.supplement("use the test database")
    await session.reply(1, "first I read")
    await session.tool("c1", "read_file", "url = prod")
    await session.deliver("s1", cycle=2, request=2)
    kinds = [type(row).__name__ for row in rows.transcript.rows]
    assert kinds == ["InputRow", "ReplyRow", "ToolRow", "InputRow", "ReplyRow"]
    last = rows.transcript.rows[3]
    assert isinstance(last, InputRow)
    assert (last.supplement, last.text) == ("s1", "use the test database")


async def test_replies_of_other_purposes_are_not_shown() -> None:
    rows = Rows()
    await rows.session.bus.publish(
        ev.RequestSent(
            request=1,
            cycle=1,
            purpose="summary",
            manifest=(),
            tokens=1,
            tokens_basis="estimated",
            budget=9,
        )
    )
    await rows.session.stream(1, "secret thoughts")
    await rows.session.bus.publish(
        ev.ReplyFinished(request=1, outcome="complete", text="secret thoughts")
    )
    assert rows.transcript.rows == []


async def test_an_input_waits_until_it_is_a_turn_and_can_be_returned() -> None:
    rows = Rows()
    bus = rows.session.bus
    await bus.publish(ev.UserInputReceived(iri="i1", text="one"))
    await bus.publish(ev.UserInputReceived(iri="i2", text="two"))
    (first,) = rows.transcript.rows
    assert isinstance(first, InputRow)
    assert first.waits is True
    await rows.session.turn("user", "one", iri="i1")
    rows.transcript.drain()
    assert [r.waits for r in rows.transcript.rows if isinstance(r, InputRow)] == [False]
    await rows.session.turn("user", "two", iri="i2")
    assert len(rows.transcript.rows) == 2
    await bus.publish(ev.UserInputReceived(iri="i3", text="three"))
    await bus.publish(ev.SupplementReturned(id="i3", text="three", reason="escape"))
    third = rows.transcript.rows[2]
    assert isinstance(third, InputRow)
    assert (third.waits, third.returned) == (False, True)


async def test_a_queued_input_appears_when_it_begins() -> None:
    rows = Rows()
    await rows.session.say("first")
    await rows.session.request(1)
    await rows.session.bus.publish(ev.UserInputReceived(iri="i9", text="later"))
    assert [r.text for r in rows.transcript.rows if isinstance(r, InputRow)] == ["first"]
    await rows.session.finish()
    await rows.session.turn("user", "later", iri="i9")
    assert [r.text for r in rows.transcript.rows if isinstance(r, InputRow)] == ["first", "later"]


async def test_a_partial_reply_keeps_its_text_and_says_so() -> None:
    rows = Rows()
    await rows.session.request(1)
    await rows.session.stream(1, "half an ans")
    await rows.session.bus.publish(
        ev.ReplyFinished(request=1, outcome="interrupted", text="half an ans")
    )
    (reply,) = rows.transcript.rows
    assert isinstance(reply, ReplyRow)
    assert (reply.status, reply.text) == ("interrupted", "half an ans")


async def test_a_call_identifier_may_come_again() -> None:
    rows = Rows()
    await rows.session.tool("call_0", "now", "noon")
    await rows.session.tool("call_0", "now", "one")
    tools = [row for row in rows.transcript.rows if isinstance(row, ToolRow)]
    assert [(tool.result, tool.status) for tool in tools] == [("noon", "done"), ("one", "done")]


async def test_a_pass_a_shift_and_a_failure_are_told_in_words() -> None:
    rows = Rows()
    bus = rows.session.bus
    iri = await rows.session.turn("tool", "a long result")
    await bus.publish(
        ev.PassStarted(
            pass_=1,
            trigger="watermark",
            policy="fusion",
            config={},
            now=0.0,
            query_iri=None,
            budget=1500,
            tokens_before=1400,
        )
    )
    await bus.publish(
        ev.TurnFidelityChanged(
            iri=iri,
            before="full",
            after="masked",
            phase="mask",
            terms={},
            tokens_freed=500,
            pass_=1,
        )
    )
    await bus.publish(ev.PassFinished(pass_=1, tokens_after=900, prefix_kept=100))
    await bus.publish(ev.TaskFinished(outcome="failed", text="no answer from the server"))
    assert rows.notes() == [
        "pass 1 (watermark) · 1 masked · 1,400 → 900 tokens",
        "the task failed: no answer from the server",
    ]


async def test_only_changed_rows_are_drained() -> None:
    rows = Rows()
    await rows.session.bus.publish(ev.Notice(level="info", text="one"))
    assert len(rows.transcript.drain()) == 1
    assert rows.transcript.drain() == []
