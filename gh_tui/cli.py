"""The command line: `gh-tui [TASK]` opens the app, the other commands work without a screen."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from gh_tui import __version__
from gh_tui.errors import GhError, SettingsError, UsageError
from gh_tui.settings.load import load_settings
from gh_tui.settings.model import Settings
from gh_tui.settings.paths import Paths, find_paths

COMMANDS = ("run", "resume", "replay", "score", "sessions", "doctor", "chaos")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 done, 1 failed, 2 wrong usage, 130 interrupted.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(words)
    except UsageError as error:
        return _complain(error, 2)
    except GhError as error:
        return _complain(error, 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _complain(error: GhError, status: int) -> int:
    from gh_tui.plain import say

    say(f"gh-tui: {error}")
    return status


def _dispatch(words: list[str]) -> int:
    if words and words[0] in COMMANDS:
        arguments = _command_parser().parse_args(words)
        match arguments.command:
            case "run":
                return _run(arguments)
            case "resume":
                return _resume(arguments)
            case "replay":
                return _replay(arguments)
            case "score":
                return _score(arguments)
            case "sessions":
                return _sessions(arguments)
            case "chaos":
                return _chaos(arguments)
            case _:
                return _doctor(arguments)
    return _app(_app_parser().parse_args(words))


def _app_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "gh-tui",
        description="Work with an agent and watch its memory.",
        epilog=f"Commands: {', '.join(COMMANDS)}; each has --help. "
        "A task that is the name of a command goes after --.",
    )
    parser.add_argument("--version", action="version", version=f"gh-tui {__version__}")
    parser.add_argument("task", nargs="?", metavar="TASK", help="what the agent should do")
    _add_session_flags(parser)
    return parser


def _command_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("gh-tui")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a task without a screen")
    run.add_argument("--json", action="store_true", help="events out, commands in, as JSON lines")
    run.add_argument("task", nargs="?", metavar="TASK")
    _add_session_flags(run)
    resume = commands.add_parser("resume", help="go on with a recorded session")
    resume.add_argument("--json", action="store_true", help="without a screen, as for run")
    resume.add_argument("id", metavar="ID", help="as `gh-tui sessions` shows it")
    _add_session_flags(resume)
    replay = commands.add_parser("replay", help="play a recording")
    replay.add_argument("file", type=Path, metavar="FILE")
    replay.add_argument("--json", action="store_true", help="print every record at once")
    replay.add_argument("--state", action="store_true", help="print the folded state")
    replay.add_argument("--to", type=int, metavar="SEQ", help="with --state: fold up to this seq")
    score = commands.add_parser("score", help="score lines of stdin against a task")
    score.add_argument("--task", required=True)
    score.add_argument("--why", default="")
    sessions = commands.add_parser("sessions", help="list recordings")
    sessions.add_argument("--json", action="store_true")
    doctor = commands.add_parser("doctor", help="say what is missing here and what to do")
    doctor.add_argument("--json", action="store_true")
    _add_session_flags(doctor)
    chaos = commands.add_parser("chaos", help="prove with random faults that nothing is lost")
    chaos.add_argument("--runs", type=int, default=200, metavar="N", help="sessions")
    chaos.add_argument("--seed", type=int, default=0, metavar="S", help="of the first session")
    chaos.add_argument("--kill", action="store_true", help="with real processes and SIGKILL")
    chaos.add_argument("--json", action="store_true", help="a line for each session as well")
    return parser


def _add_session_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--provider", metavar="P", help="openai, local or scripted")
    parser.add_argument("--base-url", metavar="U", help="address of an OpenAI-compatible server")
    parser.add_argument("--model", metavar="M")
    parser.add_argument("--script", metavar="FILE", help="for --provider scripted")
    parser.add_argument("--workspace", type=Path, default=Path(), metavar="DIR")
    parser.add_argument("--set", action="append", default=[], metavar="key=value")


def _settings(arguments: argparse.Namespace) -> tuple[Settings, Paths]:
    named = {
        "provider.name": arguments.provider,
        "provider.base_url": arguments.base_url,
        "provider.model": arguments.model,
        "provider.script": arguments.script,
    }
    flags = [f"{key}={value}" for key, value in named.items() if value is not None]
    paths = find_paths()
    return load_settings(paths.settings_file, flags=[*flags, *arguments.set]), paths


def _workspace(arguments: argparse.Namespace) -> Path:
    workspace: Path = arguments.workspace
    if not workspace.is_dir():
        raise UsageError(f"--workspace {workspace}: there is no such folder")
    return workspace


def _app(arguments: argparse.Namespace) -> int:
    _needs_terminal("without one use: gh-tui run TASK")
    from gh_tui.tui.app import run_app

    settings, paths = _settings(arguments)
    return run_app(settings, paths, _workspace(arguments), arguments.task)


def _run(arguments: argparse.Namespace) -> int:
    settings, paths = _settings(arguments)
    workspace = _workspace(arguments)
    if arguments.task is not None and not arguments.task.strip():
        raise UsageError("the task is empty")
    if arguments.task is None and not arguments.json:
        raise UsageError('say what to do: gh-tui run "TASK"')
    from gh_tui.plain import run_json, run_plain
    from gh_tui.runtime import Session

    _interruptible()

    async def work() -> int:
        session = Session(settings, paths, workspace, interactive=False)
        if arguments.json:
            return await run_json(session, arguments.task)
        return await run_plain(session, arguments.task)

    return asyncio.run(work())


def _resume(arguments: argparse.Namespace) -> int:
    settings, paths = _settings(arguments)
    workspace = _workspace(arguments)
    from gh_tui.session.catalog import find

    recording = find(paths.sessions, arguments.id)
    if not arguments.json:
        _needs_terminal("without one use --json")
        from gh_tui.tui.app import run_app

        return run_app(settings, paths, workspace, None, resume=recording)
    from gh_tui.plain import run_json
    from gh_tui.runtime import Session

    _interruptible()

    async def work() -> int:
        session = Session(settings, paths, workspace, interactive=False, resume=recording)
        return await run_json(session, None)

    return asyncio.run(work())


def _interruptible() -> None:
    """All that a command needs is loaded: from now on Ctrl+C is an exception.

    The app never needs it: in its terminal Ctrl+C is a key.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _needs_terminal(instead: str) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"this needs a terminal; {instead}")


def _replay(arguments: argparse.Namespace) -> int:
    if arguments.to is not None and not arguments.state:
        raise UsageError("--to goes with --state")
    if arguments.json or arguments.state:
        from gh_tui.listing import print_records, print_state

        _interruptible()
        if arguments.state:
            return print_state(arguments.file, arguments.to)
        return print_records(arguments.file)
    _needs_terminal("without one use --json or --state")
    from gh_tui.tui.app import run_replay

    paths = find_paths()
    return run_replay(load_settings(paths.settings_file), paths, arguments.file)


def _score(arguments: argparse.Namespace) -> int:
    from gh_tui.listing import print_scores

    _interruptible()
    return print_scores(arguments.task, arguments.why, sys.stdin.fileno())


def _sessions(arguments: argparse.Namespace) -> int:
    from gh_tui.listing import print_sessions

    _interruptible()
    return print_sessions(find_paths().sessions, as_json=arguments.json)


def _chaos(arguments: argparse.Namespace) -> int:
    if arguments.runs < 1:
        raise UsageError("--runs must be at least 1")
    from gh_tui.chaos.command import run_chaos

    _interruptible()
    return run_chaos(arguments.runs, arguments.seed, kill=arguments.kill, as_json=arguments.json)


def _doctor(arguments: argparse.Namespace) -> int:
    from gh_tui.doctor import examine
    from gh_tui.listing import print_findings

    _interruptible()
    fault = ""
    try:
        settings, paths = _settings(arguments)
    except SettingsError as error:
        settings, paths, fault = Settings(), find_paths(), str(error)
    findings = asyncio.run(examine(settings, paths, fault=fault))
    return print_findings(findings, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
