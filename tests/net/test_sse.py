from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.errors import ProviderError
from gh_tui.net.sse import ServerEvent, SseDecoder

BOM = b"\xef\xbb\xbf"


def decode(*chunks: bytes) -> list[ServerEvent]:
    decoder = SseDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    rest = decoder.finish()
    return [*events, rest] if rest else events


def data_of(*chunks: bytes) -> list[str]:
    return [event.data for event in decode(*chunks)]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_is_accepted(end: bytes) -> None:
    body = end.join(
        [b": keep-alive", b"", b"event: e", b"data:one", b"data:  two", b"", b"data: x"]
    )
    assert decode(body + end + end) == [
        ServerEvent(data="one\n two", name="e"),
        ServerEvent(data="x"),
    ]


def test_a_crlf_split_between_chunks_is_one_line_end() -> None:
    assert data_of(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n", b"data: c\n\n") == ["a\nb", "c"]


def test_an_empty_chunk_between_cr_and_lf_changes_nothing() -> None:
    assert data_of(b"data: a\r", b"", b"\ndata: b\r\n\r\n") == ["a\nb"]


def test_the_byte_order_mark_is_dropped_only_at_the_start() -> None:
    assert data_of(BOM[:1], BOM[1:] + b"data: a\n\n" + BOM + b"data: b\n\n") == ["a"]


def test_only_line_ends_split_lines() -> None:
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg"
    assert data_of(f"data: {text}\n\n".encode()) == [text]


def test_id_retry_and_unknown_fields() -> None:
    events = decode(b"id: 7\nretry: 20\nx: y\ndata: a\n\nretry: soon\ndata\n\ndata: b\n\n")
    assert events == [
        ServerEvent(data="a", id="7", retry=20),
        ServerEvent(data="", id="7"),
        ServerEvent(data="b", id="7"),
    ]


def test_a_field_named_error_is_an_event() -> None:
    assert decode(b'error: {"message": "busy"}\n\n') == [
        ServerEvent(data="", error='{"message": "busy"}')
    ]


def test_events_without_data_are_none() -> None:
    assert decode(b"event: ping\n\n: comment\n\n\n\n") == []


def test_an_endless_event_is_refused() -> None:
    decoder = SseDecoder(max_event_bytes=100)
    for _ in range(50):
        decoder.feed(b"data: 123\n\n: keep\n\n")
    with pytest.raises(ProviderError, match="more than 100 bytes"):
        for _ in range(50):
            decoder.feed(b"data: 123\n")


LINES = st.one_of(
    st.sampled_from(["data:", "data", ":", "event: e", "error: e", "id: 1", "retry: 5", ""]),
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12),
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12).map(
        lambda text: f"data: {text}"
    ),
)
STREAMS = st.tuples(
    st.sampled_from([b"", BOM]),
    st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r", "\r\n"])), max_size=12),
).map(lambda made: made[0] + "".join(line + end for line, end in made[1]).encode())


@given(body=STREAMS, cuts=st.lists(st.integers(0, 200), max_size=8))
def test_a_stream_split_anywhere_equals_the_whole(body: bytes, cuts: list[int]) -> None:
    places = sorted({0, *(min(cut, len(body)) for cut in cuts), len(body)})
    parts = [body[start:end] for start, end in pairwise(places)]
    assert decode(*parts) == decode(body)
    assert decode(*(bytes([byte]) for byte in body)) == decode(body)
