"""The package as pip installs it, built from a copy: both names of the public API, the command, and its data."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simulator import __version__

ROOT = Path(__file__).parents[1]
PACKAGES = ("advisor", "knowledge", "ldp_advise", "simulator")
LITTER = shutil.ignore_patterns("__pycache__", "*.egg-info", "cells.jsonl")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, place / "source" / name, ignore=LITTER)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place / "source" / name)
    install = ["install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", *install, "--target", str(place / "site"), str(place / "source")], check=True
    )
    return place / "site"


def ask(site: Path, code: str) -> str:
    """Run code that sees the installed packages before the source."""
    before = f"import sys; sys.path.insert(0, {str(site)!r}); "
    done = subprocess.run(
        [sys.executable, "-P", "-c", before + code], capture_output=True, text=True, cwd=site, check=True
    )
    return done.stdout.strip()


def test_both_names_are_installed_with_their_types_and_data(site: Path) -> None:
    for name in PACKAGES:
        assert (site / name / "py.typed").is_file()
    assert (site / "bin" / "ldp-advise").is_file()
    for name in ("advisor", "ldp_advise"):
        code = f"import {name}; print({name}.__file__); print({name}.advise(1, k=16, n=10_000).source)"
        where, source = ask(site, code).splitlines()
        assert Path(where).is_relative_to(site)
        assert source == "grid"
    assert ask(site, "from ldp_advise import advise, __version__; print(__version__)") == __version__


def test_the_module_runs_as_a_command(site: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ldp_advise", "--version"], capture_output=True, text=True, cwd=site, check=True
    )
    assert done.stdout == f"ldp-advise {__version__}\n"
