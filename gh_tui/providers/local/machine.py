"""What the local model needs of this machine, and the command that brings what is missing."""

from __future__ import annotations

import ctypes
import platform
import sys
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Final

from gh_tui.errors import ProviderUnavailable
from gh_tui.providers.local.assembly import INSTALL, ModelPackages, find_parts, is_assembled

_CPUINFO: Final = Path("/proc/cpuinfo")
_GOMP: Final = "libgomp.so.1"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing the local model needs."""

    name: str
    ok: bool
    remedy: str
    """What to do when it is missing; empty when it is there."""


def runtime_requirements(cpuinfo: Path = _CPUINFO, gomp: str = _GOMP) -> tuple[Requirement, ...]:
    """The processor, the system library and the Python package; loads nothing heavy.

    Args:
        cpuinfo: where Linux lists the processor's features.
        gomp: the name of the OpenMP library.
    """
    return (
        _requirement("AVX2", _has_avx2(cpuinfo), "use a server on another machine instead"),
        _requirement(gomp, _has_library(gomp), "install it with: apt-get install libgomp1"),
        _requirement(
            "xllamacpp", util.find_spec("xllamacpp") is not None, f"install it with: {INSTALL}"
        ),
    )


def model_requirement(model: ModelPackages, folder: Path) -> Requirement:
    """Whether the model is assembled, or could be from what is installed."""
    try:
        if not is_assembled(model, folder):
            find_parts(model)
    except ProviderUnavailable as error:
        return _requirement("model", ok=False, remedy=str(error))
    return _requirement("model", ok=True, remedy="")


def check_runtime(requirements: tuple[Requirement, ...] | None = None) -> None:
    """Refuse to go on when something is missing.

    Raises:
        ProviderUnavailable: names it all, with what to do.
    """
    missing = [item for item in requirements or runtime_requirements() if not item.ok]
    if missing:
        words = "; ".join(f"{item.name} is missing, {item.remedy}" for item in missing)
        raise ProviderUnavailable(f"the local model cannot run here: {words}")


def _requirement(name: str, ok: bool, remedy: str) -> Requirement:
    return Requirement(name, ok, "" if ok else remedy)


def _has_avx2(cpuinfo: Path) -> bool:
    """Only x86 needs it; where the system does not say, it is taken to be there."""
    if platform.machine().lower() not in ("x86_64", "amd64") or not cpuinfo.exists():
        return True
    return "avx2" in cpuinfo.read_text(encoding="utf-8", errors="replace").split()


def _has_library(name: str) -> bool:
    if sys.platform != "linux":
        return True
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
