"""Cases P1 to P5, P9, P12 and P13: what may stand in a 200 answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from gh_tui.errors import StreamInterrupted
from gh_tui.net.retry import RetryPolicy
from gh_tui.providers.base import Usage
from gh_tui.providers.scripted import Reply
from tests.providers.talk import HELLO, Heard, hear, listen, serving

TEXT = "Grüße, 世界 🐎. One\u2028line."


def chunk(delta: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def stream_of(*events: Any, end: str = "\n") -> bytes:
    lines = [e if isinstance(e, str) else json.dumps(e, ensure_ascii=False) for e in events]
    return "".join(f"data: {line}{end}{end}" for line in lines).encode()


def raw(body: bytes, **fields: Any) -> Reply:
    return Reply(body=body, **fields)


@pytest.mark.parametrize("split", [1, 2, 3, 7, 0])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
async def test_p1_p12_any_legal_stream_split_anywhere(split: int, end: str) -> None:
    body = (
        b"\xef\xbb\xbf"
        + (
            f": keep-alive{end}{end}"
            f'data:{{"choices":[{{"delta":{{"content":"{TEXT[:9]}"}}}}]}}{end}{end}'
            f'event: message{end}data: {{"choices":{end}data: [{{"delta":{{"content":"{TEXT[9:]}"}}'
            f"}}]}}{end}{end}: again{end}data:[DONE]{end}{end}"
        ).encode()
    )
    heard = await hear(raw(body, split=split))
    assert heard.whole.text == heard.text == TEXT


async def test_p2_a_cut_at_any_byte_is_never_a_success() -> None:
    body = stream_of(
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
        chunk({"tool_calls": [_call(0, "a", "read", '{"path": "x"}')]}),
    )
    replies = [raw(body[:length]) for length in range(1, len(body) + 1, 9)]
    script = [*replies, raw(body, ending="cut"), raw(body, ending="reset")]
    async with serving(script, retry=RetryPolicy(attempts=1)) as (_, provider):
        for _ in range(len(script)):
            heard = await listen(provider)
            assert isinstance(heard.failure, StreamInterrupted)
            assert "Hello".startswith(heard.text)


@pytest.mark.parametrize("ending", ["no_marker", "cut", "reset"])
async def test_p2_partial_text_is_kept_and_the_request_not_repeated(ending: str) -> None:
    script = [{"text": "one two three", "calls": [{"name": "read"}], "ending": ending}]
    async with serving([*script, {"text": "again"}]) as (server, provider):
        heard = await listen(provider)
    assert isinstance(heard.failure, StreamInterrupted)
    assert heard.failure.kind == "interrupted"
    assert heard.text == "one two three"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "events",
    [
        [chunk({"content": "Hi"}, "stop")],
        [chunk({"content": "Hi"}), chunk({}, "stop")],
        [chunk({"content": "Hi"}), "[DONE]"],
        [chunk({"content": "Hi"}), chunk({}, "stop"), "[DONE]"],
        [chunk({"content": "Hi"}), chunk({}, "stop"), "[DONE]", chunk({"content": "late"})],
    ],
)
async def test_p2_a_finish_reason_or_done_completes(events: list[Any]) -> None:
    assert (await hear(raw(stream_of(*events)))).whole.text == "Hi"


@pytest.mark.parametrize("ending", ["cut", "reset", "stall"])
async def test_what_befalls_the_connection_after_the_marker_is_no_matter(ending: str) -> None:
    body = stream_of(chunk({"content": "Hi"}), chunk({}, "stop"))
    async with asyncio.timeout(3.0):
        assert (await hear(raw(body, ending=ending))).whole.text == "Hi"


async def test_a_last_line_without_its_blank_line_counts() -> None:
    body = stream_of(chunk({"content": "Hi"})) + b"data: [DONE]"
    assert (await hear(raw(body))).whole.text == "Hi"


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"error": {"message": "The engine is on fire", "type": "x"}}\n\n',
        b'data: {"error": "The engine is on fire"}\n\n',
        b'data: {"choices": [], "error": {"code": 400, "message": "The engine is on fire"}}\n\n',
        b'data: {"choices": [{"error": {"message": "The engine is on fire"}}]}\n\n',
        b'event: error\ndata: {"message": "The engine is on fire"}\n\n',
        b'event: error\ndata: {"error": {"message": "The engine is on fire"}}\n\n',
        b"event: error\ndata: The engine is on fire\n\n",
        b'error: {"code": 500, "message": "The engine is on fire"}\n\n',
        b'{"error": {"message": "The engine is on fire"}}',
    ],
)
@pytest.mark.parametrize("before", [b"", stream_of(chunk({"content": "Hi"}))])
async def test_p3_an_error_in_a_200_stream_speaks(event: bytes, before: bytes) -> None:
    if before and event.startswith(b"{"):
        before = b""
    heard = await hear([raw(before + event)] * 3)
    assert "The engine is on fire" in str(heard.failure)
    assert not isinstance(heard.failure, StreamInterrupted)
    assert heard.text == ("Hi" if before else "")


async def test_p3_an_overloaded_server_is_asked_again_before_content_only() -> None:
    overloaded = {"error": {"code": 503, "message": "Overloaded"}}
    heard = await hear([Reply(events=[overloaded]), Reply(text="fine")])
    assert heard.whole.text == "fine"
    assert [retry.kind for retry in heard.retries] == ["rate_limited"]
    events = [chunk({"content": "Hi"}), overloaded]
    heard = await hear([Reply(events=events), Reply(text="fine")])
    assert "Overloaded" in str(heard.failure)
    assert not heard.retries


async def test_p4_what_carries_nothing_is_ignored() -> None:
    events = [
        {"choices": []},
        {"choices": None},
        chunk(None),
        chunk({}),
        chunk({"content": None, "tool_calls": None}),
        chunk({"content": "", "tool_calls": []}, ""),
        {"type": "ping"},
        {"object": "new.kind", "choices": [{"index": 1, "delta": {"content": "other"}}]},
        "ping",
        "[]",
        "null",
        "7",
        chunk({"content": "Hi"}),
        chunk(None, "stop", usage=None),
        {"usage": {"prompt_tokens": 3, "completion_tokens": 1}},
        "[DONE]",
    ]
    heard = await hear(Reply(events=events))
    assert heard.text == heard.whole.text == "Hi"
    assert heard.whole.usage == Usage(3, 1)


async def test_p4_a_broken_event_is_an_error_and_no_silent_gap() -> None:
    events = [chunk({"content": "Hi"}), '{"choices": [', chunk({}, "stop")]
    heard = await hear(Reply(events=events))
    assert heard.failure.kind == "protocol"
    assert heard.text == "Hi"


def _call(index: int | None, call_id: str, name: str | None, arguments: Any) -> dict[str, Any]:
    call: dict[str, Any] = {"function": {"arguments": arguments}}
    if name is not None:
        call["function"]["name"] = name
    if call_id:
        call["id"] = call_id
    if index is not None:
        call["index"] = index
    return call


async def test_p5_calls_arrive_with_id_name_and_arguments() -> None:
    calls = [
        {"id": "a", "name": "read", "arguments": {"path": "ä/世界.txt"}},
        {"id": "b", "name": "read", "arguments": {"path": "y", "lines": [1, 2]}},
    ]
    whole = (await hear(Reply(text="Looking.", calls=calls, split=5))).whole
    assert whole.finish_reason == "tool_calls"
    assert [(c.id, c.name, c.arguments, c.error) for c in whole.calls] == [
        ("a", "read", {"path": "ä/世界.txt"}, None),
        ("b", "read", {"path": "y", "lines": [1, 2]}, None),
    ]


@pytest.mark.parametrize(
    "usage",
    [
        [chunk({"content": "Hi"}, "stop"), {"choices": [], "usage": "U"}],
        [chunk({"content": "Hi"}, "stop", usage="U"), {"choices": [], "usage": "U"}],
        [{"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop", "usage": "U"}]}],
        [chunk({"content": "Hi"}, "stop", x_groq={"usage": "U"})],
        [
            chunk({"content": "H"}, usage={"prompt_tokens": 10, "completion_tokens": 1}),
            chunk({"content": "i"}, usage={"prompt_tokens": 10, "completion_tokens": 3}),
            chunk({}, "stop", usage="U"),
        ],
        [
            chunk({"content": "Hi"}, usage="U"),
            chunk({}, "stop", usage={"prompt_tokens": 0, "completion_tokens": 0}),
        ],
    ],
)
async def test_p13_usage_is_found_and_counted_once(usage: list[Any]) -> None:
    counts = {"prompt_tokens": 10, "completion_tokens": 5}
    counts_text = json.dumps(counts | {"prompt_tokens_details": {"cached_tokens": 4}})
    events = json.loads(json.dumps(usage).replace('"U"', counts_text))
    assert (await hear(Reply(events=[*events, "[DONE]"]))).whole.usage == Usage(10, 5, 4)


@pytest.mark.parametrize(
    "counts",
    [{"prompt_cache_hit_tokens": 4}, {"cached_tokens": 4}],
)
async def test_p13_cached_tokens_by_their_other_names(counts: dict[str, int]) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, **counts}
    assert (await hear(Reply(events=[chunk({}, "stop", usage=usage)]))).whole.usage == Usage(
        10, 5, 4
    )


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
async def test_reasoning_under_its_names(key: str) -> None:
    events = [chunk({key: "hm, "}), chunk({key: "so", "content": ""}), chunk({"content": "Hi"})]
    heard = await hear(Reply(events=[*events, "[DONE]"]))
    assert heard.whole.reasoning == heard.reasoning == "hm, so"
    assert heard.whole.text == "Hi"


async def test_reasoning_sent_under_two_names_counts_once() -> None:
    events = [chunk({"reasoning": "hm", "reasoning_content": "hm"}), "[DONE]"]
    assert (await hear(Reply(events=events))).whole.reasoning == "hm"


async def test_content_as_a_list_of_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "Hi"},
    ]
    heard = await hear(Reply(events=[chunk({"content": parts}), "[DONE]"]))
    assert (heard.text, heard.reasoning) == ("Hi", "hm")


async def test_an_emoji_split_between_two_chunks_is_whole() -> None:
    body = (
        rb'data: {"choices":[{"delta":{"content":"a\ud83d"}}]}' + b"\n\n"
        rb'data: {"choices":[{"delta":{"content":"\udc0eb\ud83d!"}}]}' + b"\n\ndata: [DONE]\n\n"
    )
    heard = await hear(raw(body))
    assert heard.text == heard.whole.text == "a🐎b\ufffd!"


async def test_a_whole_completion_without_a_stream_is_accepted() -> None:
    call = {"id": "a", "name": "read", "arguments": {"path": "x"}}
    heard = await hear(Reply(text="Hi", reasoning="hm", calls=[call], stream=False))
    assert heard.opened == 1
    assert (heard.text, heard.reasoning) == ("Hi", "hm")
    assert heard.whole.calls[0].arguments == {"path": "x"}
    assert heard.whole.usage is not None


@pytest.mark.parametrize("kind", ["", "text/plain", "application/octet-stream"])
async def test_a_stream_under_a_wrong_type_is_known_by_its_first_bytes(kind: str) -> None:
    body = b"\n" + stream_of(chunk({"content": "Hi"}), "[DONE]")
    assert (await hear(raw(body, content_type=kind, split=1))).whole.text == "Hi"


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("<html><script>x()</script><h1>Sign in</h1></html>", "text/html", "Sign in"),
        ("<html><h1>Sign in</h1></html>", "text/event-stream", "Sign in"),
        ('{"error": {"message": "No such model"}}', "application/json", "No such model"),
        ('{"error": "No such model"}', "text/event-stream", "No such model"),
        ('{"detail": "No such model"}', "application/json", "No such model"),
        ('{"choices": [{"delta": {}}]}', "application/json", "choices"),
        ("[1]", "application/json", "[1]"),
        ("{broken", "application/json", "{broken"),
        ("Welcome", "text/plain", "Welcome"),
        ("", "text/plain", "empty"),
    ],
)
async def test_p9_a_200_that_is_no_completion_shows_its_beginning(
    body: str, kind: str, words: str
) -> None:
    heard = await hear([Reply(body=body, content_type=kind)] * 3)
    assert words in str(heard.failure)
    assert not isinstance(heard.failure, StreamInterrupted)
    assert "x()" not in str(heard.failure)


async def test_a_filtered_answer_is_refused_with_its_text_kept() -> None:
    heard: Heard = await hear(Reply(events=[chunk({"content": "Hi"}, "content_filter")]))
    assert heard.failure.kind == "refused"
    assert heard.text == "Hi"


async def test_reasoning_goes_back_only_where_it_is_wanted() -> None:
    for wanted in (True, False):
        events = [chunk({"reasoning": "hm"}), chunk({"content": "Hi"}, "stop")]
        script = [Reply(events=events), Reply(text="fine")]
        async with serving(script, send_reasoning=wanted) as (server, provider):
            whole = (await listen(provider)).whole
            reply = type(HELLO[0])("assistant", whole.text, blocks=whole.blocks)
            again = type(HELLO[0])("user", "And?")
            await listen(provider, [*HELLO, reply, again])
        sent = server.requests[1].body["messages"][2]
        assert sent.get("reasoning") == ("hm" if wanted else None)
