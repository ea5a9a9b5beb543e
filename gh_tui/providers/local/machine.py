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
from gh_tui.providers.local.assembly import (
    DEFAULT_MODEL,
    INSTALL,
    ModelPackages,
    find_parts,
    is_assembled,
    models_folder,
)

_CPUINFO: Final = Path("/proc/cpuinfo")
_GGUF: Final = b"GGUF"
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


def local_missing(model_path: Path | None = None, folder: Path | None = None) -> tuple[str, ...]:
    """What the local model lacks here, each with its remedy; empty when it can run.

    Args:
        model_path: the user's GGUF file; None is the model of the extra `local`.
        folder: where that model is assembled; None is `models_folder()`.
    """
    missing = [_sentence(item) for item in runtime_requirements() if not item.ok]
    if model_path is None:
        model = model_requirement(DEFAULT_MODEL, folder or models_folder())
        missing += [] if model.ok else [model.remedy]
    else:
        try:
            check_gguf(model_path)
        except ProviderUnavailable as error:
            missing.append(str(error))
    return tuple(missing)


def check_gguf(path: Path) -> None:
    """Refuse a file that cannot be a model.

    Raises:
        ProviderUnavailable: it cannot be read, or is no GGUF file.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(len(_GGUF))
    except OSError as error:
        raise ProviderUnavailable(
            f"the model file {path} cannot be read: {error.strerror}; check provider.model_path"
        ) from error
    if magic != _GGUF:
        raise ProviderUnavailable(f"{path} is not a GGUF model file; check provider.model_path")


def check_runtime(requirements: tuple[Requirement, ...] | None = None) -> None:
    """Refuse to go on when something is missing.

    Raises:
        ProviderUnavailable: names it all, with what to do.
    """
    missing = [item for item in requirements or runtime_requirements() if not item.ok]
    if missing:
        words = "; ".join(_sentence(item) for item in missing)
        raise ProviderUnavailable(f"the local model cannot run here: {words}")


def _sentence(item: Requirement) -> str:
    return f"{item.name} is missing, {item.remedy}"


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
