from __future__ import annotations

import hashlib
import multiprocessing
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gh_tui.errors import ProviderUnavailable
from gh_tui.providers.local import assembly
from gh_tui.providers.local.assembly import (
    ModelPackages,
    ensure_model,
    find_parts,
    is_assembled,
    models_folder,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_PIECES = [b"GGUF first ", b"second ", b"third"]


def _install(site: Path, number: int, content: bytes, version: str = "1.0") -> None:
    name = f"gh_test_part{number}"
    data = site / name / "data"
    data.mkdir(parents=True, exist_ok=True)
    (data / f"part{number:02}.bin").write_bytes(content)
    # Importing a part would be noticed.
    (site / name / "__init__.py").write_text("raise RuntimeError('imported')")
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: gh-test-part{number}\nVersion: {version}\n"
    )
    (info / "RECORD").write_text(f"{name}/__init__.py,,\n{name}/data/part{number:02}.bin,,\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    for number, piece in enumerate(_PIECES, 1):
        _install(folder, number, piece)
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def model() -> ModelPackages:
    digest = hashlib.sha256(b"".join(_PIECES)).hexdigest()
    return ModelPackages("Test", "gh-test-part", 3, "1.0", digest, "test.gguf")


def _ignore(done: int, total: int) -> None:
    del done, total


@pytest.mark.usefixtures("site")
def test_parts_are_joined_in_order_and_kept_private(tmp_path: Path, model: ModelPackages) -> None:
    steps: list[tuple[int, int]] = []
    folder = tmp_path / "models"
    path = ensure_model(model, folder, lambda done, total: steps.append((done, total)))
    assert path.read_bytes() == b"".join(_PIECES)
    assert steps[-1] == (23, 23)
    assert path.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert sorted(entry.name for entry in folder.iterdir()) == [
        ".lock",
        "test.gguf",
        "test.gguf.verified",
    ]


@pytest.mark.usefixtures("site")
def test_a_known_file_is_not_read_again(tmp_path: Path, model: ModelPackages) -> None:
    ensure_model(model, tmp_path, _ignore)
    assert is_assembled(model, tmp_path)

    def refuse(done: int, total: int) -> None:
        raise AssertionError((done, total))

    ensure_model(model, tmp_path, refuse)


def test_a_known_file_needs_no_packages(
    site: Path, tmp_path: Path, model: ModelPackages, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ensure_model(model, tmp_path / "models", _ignore)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(site)])
    with pytest.raises(ProviderUnavailable, match="pip install"):
        find_parts(model)
    assert ensure_model(model, tmp_path / "models", _ignore) == path


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:9]),
        lambda path: path.write_bytes(b"X" * 23),
        lambda path: path.unlink(),
        lambda path: path.with_name("test.gguf.verified").write_text("{"),
        lambda path: path.with_name("test.gguf.partial").write_bytes(b"left over"),
    ],
)
def test_a_damaged_file_is_made_again(
    tmp_path: Path, model: ModelPackages, damage: Callable[[Path], object]
) -> None:
    path = ensure_model(model, tmp_path, _ignore)
    damage(path)
    assert ensure_model(model, tmp_path, _ignore).read_bytes() == b"".join(_PIECES)
    assert is_assembled(model, tmp_path)


def test_damaged_packages_are_refused_and_leave_nothing(
    site: Path, tmp_path: Path, model: ModelPackages
) -> None:
    _install(site, 2, b"tampered")
    folder = tmp_path / "models"
    with pytest.raises(ProviderUnavailable, match="SHA-256"):
        ensure_model(model, folder, _ignore)
    assert [entry.name for entry in folder.iterdir()] == [".lock"]


def test_another_version_counts_as_missing(
    site: Path, tmp_path: Path, model: ModelPackages
) -> None:
    (site / "gh_test_part3-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: gh-test-part3\nVersion: 2.0\n"
    )
    with pytest.raises(ProviderUnavailable, match=r"gh-test-part3 \(==1.0\)"):
        ensure_model(model, tmp_path / "models", _ignore)


@pytest.mark.usefixtures("site")
def test_a_full_disk_is_told_before_anything_is_written(
    tmp_path: Path, model: ModelPackages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "_SPARE", 1 << 60)
    with pytest.raises(ProviderUnavailable, match=r"GB in .*GH_TUI_MODELS=DIR"):
        ensure_model(model, tmp_path / "models", _ignore)


@pytest.mark.usefixtures("site")
def test_stopping_in_the_middle_leaves_nothing_half_done(
    tmp_path: Path, model: ModelPackages
) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ensure_model(model, tmp_path, stop)
    assert not list(tmp_path.glob("test.gguf*"))
    assert ensure_model(model, tmp_path, _ignore).exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, model: ModelPackages) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ProviderUnavailable, match=r"file.*GH_TUI_MODELS=DIR"):
        ensure_model(model, tmp_path / "file" / "models", _ignore)


def _assemble_elsewhere(site: str, folder: str, model: ModelPackages, results: object) -> None:
    sys.path.insert(0, site)
    steps: list[int] = []
    ensure_model(model, Path(folder), lambda done, _: steps.append(done))
    results.put(steps[-1:] == [23])  # type: ignore[attr-defined]


def test_processes_that_start_together_assemble_once(
    site: Path, tmp_path: Path, model: ModelPackages
) -> None:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [
        context.Process(
            target=_assemble_elsewhere, args=(str(site), str(tmp_path / "m"), model, results)
        )
        for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert sorted(results.get(timeout=5) for _ in workers) == [False, False, True]
    results.close()


def test_the_folder_is_the_users_choice_or_the_cache(tmp_path: Path) -> None:
    assert models_folder({"GH_TUI_MODELS": str(tmp_path)}) == tmp_path
    assert models_folder({}).parts[-2:] == ("gh-tui", "models")
