"""The process that holds the model: llama.cpp's server on a free loopback port.

It is started as a script and imports nothing of this package, so that it comes up quickly and
does not depend on the folder it is started in. One line of JSON arrives on stdin (`model`,
`window`, `threads`, `token`), lines of JSON leave on stdout (`{"url": ...}` or `{"error": ...}`),
and the native log goes to stderr. When stdin ends, the parent is gone, and so is this process.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Final

_PR_SET_PDEATHSIG: Final = 1
_PROMPT_CACHE_MIB: Final = 256
_BATCH_TOKENS: Final = 64
"""Between two batches the server looks whether the client is still there."""


def main() -> None:
    """Serve until stdin ends."""
    _die_with_parent()
    settings = json.loads(os.fdopen(0, "rb", buffering=0, closefd=False).readline())
    # The native library logs to the standard streams whatever it is told: only our own lines
    # may reach the parent's pipe.
    replies = os.dup(1)
    os.dup2(2, 1)
    threading.Thread(target=_leave_at_end_of_input, daemon=True).start()
    try:
        server = _serve(settings)
    except Exception as error:  # whatever it is, the parent has to be told
        _tell(replies, {"error": f"{type(error).__name__}: {error}"})
        raise SystemExit(1) from error
    _tell(replies, {"url": server.listening_address})
    threading.Event().wait()


def _die_with_parent() -> None:
    """Ask Linux to kill this process with its parent; elsewhere the end of stdin has to do.

    The native library holds the interpreter's lock for long stretches while it loads, so that a
    thread that waits for the end of stdin may be late.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _leave_at_end_of_input() -> None:
    while os.read(0, 1024):
        pass
    os._exit(0)


def _tell(replies: int, message: dict[str, str]) -> None:
    os.write(replies, json.dumps(message).encode() + b"\n")


def _serve(settings: dict[str, Any]) -> Any:
    import xllamacpp  # only here: a library that does not load is an error to report

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.model_alias = {Path(settings["model"]).stem}
    params.n_ctx = settings["window"]
    params.n_parallel = 1
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.n_batch = _BATCH_TOKENS
    params.n_ubatch = _BATCH_TOKENS
    params.fit_params = False
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    params.api_keys = [settings["token"]]
    params.port = 0
    params.ui = False
    params.cors_origins = ""
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
