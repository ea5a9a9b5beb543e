from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.errors import UsageError
from gh_tui.providers.base import Message
from gh_tui.providers.openai import OpenAIProvider
from gh_tui.providers.scripted import Reply, ScriptedServer, load_script
from gh_tui.providers.scripted.manners import order_fault
from gh_tui.providers.scripted.render import document_of, events_of
from gh_tui.providers.scripted.script import as_reply
from tests.providers.talk import HELLO, listen, provider_for, serving

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_script_is_answered_in_turn_and_then_ends() -> None:
    async with serving([{"text": "one"}, {"text": "two"}]) as (server, provider):
        assert [(await listen(provider)).text for _ in range(2)] == ["one", "two"]
        assert "only 2 replies" in str((await listen(provider)).failure)
    assert [request.body["model"] for request in server.requests] == ["scripted"] * 3


async def test_a_script_may_repeat() -> None:
    async with serving([{"text": "one"}, {"text": "two"}], server={"repeat": True}) as (_, p):
        assert [(await listen(p)).text for _ in range(3)] == ["one", "two", "one"]


async def test_a_script_may_be_a_function_of_the_request() -> None:
    async def answer(request: dict[str, Any], number: int) -> Reply:
        await asyncio.sleep(0)
        return Reply(text=f"{number}: {request['messages'][-1]['content']}")

    async with serving(answer) as (_, provider):
        await listen(provider)
        assert (await listen(provider, [Message("user", "hi")])).text == "1: hi"


async def test_what_a_function_raises_comes_out_at_the_end() -> None:
    def answer(_: dict[str, Any], __: int) -> Reply:
        raise ZeroDivisionError("in the script")

    server = ScriptedServer(answer)
    await server.start()
    provider = provider_for(server)
    assert (await listen(provider)).failure.kind == "network"
    await provider.aclose()
    with pytest.raises(ZeroDivisionError):
        await server.aclose()
    await server.aclose()


async def test_usage_is_plausible_and_tells_the_cached_prefix() -> None:
    async with serving([{"text": "one two three four"}] * 2) as (_, provider):
        first = (await listen(provider)).whole.usage
        longer = [*HELLO, Message("assistant", "one"), Message("user", "more " * 50)]
        second = (await listen(provider, longer)).whole.usage
    assert first is not None
    assert second is not None
    assert first.cached_tokens == 0
    assert first.completion_tokens > 0
    assert second.prompt_tokens > first.prompt_tokens + 50
    assert 0.8 * first.prompt_tokens <= (second.cached_tokens or 0) <= first.prompt_tokens


async def test_the_window_may_be_enforced() -> None:
    options = {"window": 100, "enforce_window": True}
    async with serving([{"text": "one"}], server=options) as (_, provider):
        heard = await listen(provider, [Message("user", "x" * 500)])
    assert heard.failure.kind == "overflow"


async def test_it_drops_its_connections_when_closed() -> None:
    server = ScriptedServer([Reply(text="a", ending="stall")])
    await server.start()
    provider = provider_for(server)
    task = asyncio.create_task(listen(provider))
    await asyncio.sleep(0.1)
    await server.aclose()
    heard = await asyncio.wait_for(task, 1.0)
    assert heard.text == "a"
    assert heard.failure.kind == "interrupted"
    await provider.aclose()


def write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_script_file_is_a_list_or_an_object(tmp_path: Path) -> None:
    assert load_script(write(tmp_path / "a", [{"text": "ä"}])).replies == (Reply(text="ä"),)
    whole = {"model": "m", "window": 99, "repeat": True, "replies": [{"ending": "cut"}]}
    script = load_script(write(tmp_path / "b", whole))
    assert (script.model, script.window, script.repeat) == ("m", 99, True)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{", "not valid JSON"),
        ([], "no replies"),
        ({"replies": {}}, "no replies"),
        ([{"text": "a"}, {"txt": "b"}], "reply 2 of the script has no field 'txt'"),
        ([{"ending": "bang"}], "reply 1 of the script: ending must be one of done"),
        ([{"text": 5}], "reply 1 of the script: text must be a text, not 5"),
        ([{"delay": "slow"}], "delay must be seconds"),
        ([{"delay": -1}], "delay must be seconds"),
        ([{"calls": ["a"]}], "calls must be a list of objects"),
        ([{"calls": [{"nmae": "now"}]}], "calls must be a list of objects"),
        ([{"headers": ["a"]}], "headers must be an object"),
        ([{"status": "500"}], "status must be a whole number"),
        ([{"status": 9999}], "status must be a whole number"),
        ([{"after": "2", "ending": "cut"}], "after must be a number of events"),
        ({"replies": [{}], "repaet": True}, "has no field 'repaet'"),
        ({"replies": [{}], "repeat": "yes"}, "repeat"),
        (["text"], "reply 1 of the script is not an object"),
        ({"replies": [{}], "window": "big"}, "window"),
    ],
)
def test_a_wrong_script_file_names_the_place(tmp_path: Path, value: Any, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_script(write(tmp_path / "script.json", value))
    assert words in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([field.name for field in fields(Reply)]), JSON, max_size=4))
def test_what_a_script_may_hold_can_be_said(value: dict[str, Any]) -> None:
    try:
        reply = as_reply(value)
    except UsageError:
        return
    base = {"id": "1"}
    assert all(part.startswith(b"data: ") for part in events_of(reply, base, None))
    assert json.loads(document_of(reply, base, {}))["id"] == "1"


@pytest.mark.parametrize(
    "messages",
    [
        ["a"],
        [{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": [{}]}],
        [
            {"role": "user", "content": "a"},
            {"role": "assistant", "tool_calls": [{"id": "1"}, {"id": "1"}]},
        ],
    ],
)
def test_messages_without_sense_are_refused(messages: list[Any]) -> None:
    assert order_fault(messages, alternating=False)


def test_a_missing_script_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.json"):
        load_script(tmp_path / "nowhere.json")


async def test_it_runs_as_a_program(tmp_path: Path) -> None:
    script = write(tmp_path / "script.json", {"model": "m", "replies": [{"text": "from a file"}]})
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "gh_tui.providers.scripted", "--script", str(script),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    base_url = (await process.stdout.readline()).decode().strip()
    provider = OpenAIProvider(base_url, "m")
    assert (await listen(provider)).whole.text == "from a file"
    await provider.aclose()
    process.terminate()
    await process.wait()
