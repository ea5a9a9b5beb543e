"""The HTTP client: time-outs that count progress, no redirects, errors in plain words."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from gh_tui.errors import ProviderError, ProviderUnavailable, StreamInterrupted
from gh_tui.net.address import is_loopback, shown

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@dataclass(frozen=True, slots=True)
class Limits:
    """Time-outs in seconds."""

    connect: float = 10.0
    first_byte: float = 300.0
    """From sending to the first content: a long prompt may take minutes to read."""
    idle: float = 120.0
    """Between two pieces of content; keep-alives do not count."""
    grace: float = 2.0
    """After the terminal marker, for the usage that may follow."""

    @property
    def transport(self) -> httpx.Timeout:
        """What httpx watches over; reading is for `Patience`."""
        return httpx.Timeout(None, connect=self.connect)


class Patience:
    """The deadline of one reply; only progress moves it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._started = False
        self._ended = False
        self.deadline = asyncio.get_running_loop().time() + limits.first_byte
        """On the loop's clock."""

    def progress(self) -> None:
        """Content came."""
        self._started = True
        self.deadline = asyncio.get_running_loop().time() + self._limits.idle

    def end(self, seconds: float) -> None:
        """The terminal marker came: at most `seconds` for what may follow."""
        self._ended = True
        self.deadline = asyncio.get_running_loop().time() + seconds

    def expired(self) -> ProviderError:
        """The error for a deadline that has passed."""
        if self._started or self._ended:
            return StreamInterrupted(
                f"the server sent nothing new for {self._limits.idle:g} s in the middle of its "
                "answer; the text so far is kept"
            )
        return ProviderError(
            f"the server did not begin to answer within {self._limits.first_byte:g} s; if it "
            "needs longer for a long prompt, raise provider.first_byte_seconds",
            kind="timeout",
        )


def make_client(base_url: httpx.URL, timeout: httpx.Timeout) -> httpx.AsyncClient:
    """A client for one host: proxies from the environment, but never for this machine.

    Raises:
        ProviderUnavailable: the environment names a proxy or certificates that cannot be used.
    """
    own = is_loopback(base_url.host)
    # Loading the trusted certificates takes 30 ms; without TLS an empty store does as well.
    plain = own and base_url.scheme == "http"
    try:
        return httpx.AsyncClient(
            timeout=timeout,
            follow_redirects=False,
            trust_env=not own,
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
        )
    except (ValueError, ImportError, OSError, httpx.InvalidURL) as error:
        raise ProviderUnavailable(
            f"the proxy or certificate settings of the environment cannot be used: {error}; "
            "check HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR"
        ) from error


@asynccontextmanager
async def exchange(
    client: httpx.AsyncClient, request: httpx.Request, patience: Patience
) -> AsyncGenerator[httpx.Response, None]:
    """Send `request` and give the response as soon as its headers are here.

    Leaving closes the connection unless the body was read to its end.

    Raises:
        ProviderError: the network failed, time ran out, or the server redirects.
    """
    try:
        async with asyncio.timeout_at(patience.deadline):
            response = await client.send(request, stream=True)
    except TimeoutError:
        raise patience.expired() from None
    except httpx.HTTPError as error:
        raise explain(error, request.url) from error
    try:
        refuse_redirect(response)
        yield response
    finally:
        await response.aclose()


async def chunks(response: httpx.Response, patience: Patience) -> AsyncGenerator[bytes, None]:
    """The body as it comes.

    Raises:
        StreamInterrupted: the connection broke.
        ProviderError: time ran out, or the body cannot be decoded.
    """
    body = response.aiter_bytes()
    while True:
        try:
            async with asyncio.timeout_at(patience.deadline):
                chunk = await anext(body, None)
        except TimeoutError:
            raise patience.expired() from None
        except httpx.DecodingError as error:
            raise ProviderError(
                f"the answer cannot be decoded: {error}", kind="protocol"
            ) from error
        except httpx.HTTPError as error:
            raise StreamInterrupted(
                f"the connection to {shown(response.request.url)} broke before the answer was "
                f"complete ({_words(error)})"
            ) from error
        if chunk is None:
            return
        yield chunk


async def read_body(response: httpx.Response, patience: Patience, limit: int) -> bytes:
    """The body up to `limit` bytes; what came before a broken connection is enough."""
    body = bytearray()
    try:
        async for chunk in chunks(response, patience):
            body += chunk
            if len(body) >= limit:
                break
    except StreamInterrupted:
        pass
    return bytes(body[:limit])


def refuse_redirect(response: httpx.Response) -> None:
    """Raise `ProviderError` if the server points elsewhere: key and prompt stay where they are."""
    if not 300 <= response.status_code < 400:
        return
    try:
        target = shown(response.url.join(response.headers.get("location", "")))
    except (httpx.InvalidURL, ValueError):
        target = "an address that cannot be read"
    raise ProviderError(
        f"{shown(response.url)} redirects to {target} (HTTP {response.status_code}). Redirects are "
        "not followed, so that key and prompt reach only the configured host; if that address is "
        "right, set provider.base_url to it",
        kind="http",
        status=response.status_code,
    )


def explain(error: httpx.HTTPError, url: httpx.URL) -> ProviderError:
    """A failure before the headers, in words that name the address and what to do."""
    where = shown(url)
    match error:
        case httpx.ConnectTimeout():
            return ProviderError(f"no connection to {where} in time", kind="network")
        case httpx.ConnectError() if is_loopback(url.host):
            return ProviderUnavailable(
                f"nothing answers at {where} ({_words(error)}); start the server, or set "
                "provider.base_url to where it listens"
            )
        case httpx.ConnectError():
            return ProviderError(
                f"cannot connect to {where} ({_words(error)}); check provider.base_url, the "
                "network and the proxy",
                kind="network",
            )
        case httpx.UnsupportedProtocol():
            return ProviderError(f"{where} is not an http or https address", kind="protocol")
        case _:
            return ProviderError(
                f"the connection to {where} failed before an answer ({_words(error)})",
                kind="network",
            )


def _words(error: httpx.HTTPError) -> str:
    return str(error) or type(error).__name__
