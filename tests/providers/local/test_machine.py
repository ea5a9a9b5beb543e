from __future__ import annotations

import platform
from pathlib import Path

import pytest

from gh_tui.errors import ProviderUnavailable
from gh_tui.providers.local.machine import check_runtime, local_missing, runtime_requirements


def test_a_missing_library_is_told_with_its_command() -> None:
    with pytest.raises(ProviderUnavailable, match="apt-get install libgomp1"):
        check_runtime(runtime_requirements(gomp="libgomp-absent.so.1"))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="AVX2 is of x86")
@pytest.mark.parametrize(
    ("flags", "ok"), [("flags : sse avx avx2 fma", True), ("flags : sse avx", False)]
)
def test_avx2_is_looked_for(tmp_path: Path, flags: str, ok: bool) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(flags)
    avx2 = runtime_requirements(cpuinfo=cpuinfo)[0]
    assert (avx2.name, avx2.ok, bool(avx2.remedy)) == ("AVX2", ok, not ok)


def test_a_file_that_is_no_model_is_told(tmp_path: Path) -> None:
    absent, page = tmp_path / "absent.gguf", tmp_path / "page.gguf"
    page.write_text("<!doctype html>")
    assert any("absent.gguf cannot be read" in words for words in local_missing(absent))
    assert any("page.gguf is not a GGUF" in words for words in local_missing(page))
