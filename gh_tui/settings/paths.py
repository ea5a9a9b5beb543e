"""Where the program keeps things: one folder of `GH_TUI_HOME`, or the platform's own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Paths:
    """The program's folders; none is created by asking for it."""

    config: Path
    """The user's settings file is `settings.toml` in here."""
    data: Path
    """Recordings are in `sessions/` in here."""

    @property
    def settings_file(self) -> Path:
        """The user's own settings."""
        return self.config / "settings.toml"

    @property
    def sessions(self) -> Path:
        """One recording a file, `<session-id>.jsonl`."""
        return self.data / "sessions"


def find_paths(environ: Mapping[str, str] = os.environ) -> Paths:
    """The folders for this user and environment."""
    home = environ.get("GH_TUI_HOME")
    if home:
        root = Path(home).expanduser().absolute()
        return Paths(root, root)
    import platformdirs

    return Paths(
        Path(platformdirs.user_config_dir("gh-tui", appauthor=False)),
        Path(platformdirs.user_data_dir("gh-tui", appauthor=False)),
    )


def make_private_folder(folder: Path) -> None:
    """Create `folder` (0700) with its parents; an existing one is left as it is.

    Raises:
        OSError: if it cannot be created, or is a symbolic link.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink():
        raise OSError(f"{folder} is a symbolic link; move it away and start again")
