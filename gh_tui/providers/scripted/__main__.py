"""`python -m gh_tui.providers.scripted`: serve a script until interrupted."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from gh_tui.errors import UsageError
from gh_tui.providers.scripted.script import ScriptFile, load_script
from gh_tui.providers.scripted.server import ScriptedServer


async def serve(script: ScriptFile, port: int) -> None:
    """Serve `script` for ever."""
    server = ScriptedServer(
        script.replies, model=script.model, window=script.window, port=port, repeat=script.repeat
    )
    async with server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> int:
    """Parse the command line and serve; the address goes to standard output."""
    parser = argparse.ArgumentParser(prog="python -m gh_tui.providers.scripted")
    parser.add_argument("--script", type=Path, required=True, help="a JSON file of replies")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    arguments = parser.parse_args()
    try:
        asyncio.run(serve(load_script(arguments.script), arguments.port))
    except KeyboardInterrupt:
        return 0
    except (UsageError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
