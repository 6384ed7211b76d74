import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from simulator import __version__

ROOT = Path(__file__).parents[1]
PACKAGES = ("advisor", "knowledge", "ldp_advise", "simulator")
LITTER = shutil.ignore_patterns("__pycache__", "*.egg-info", "cells.jsonl")


BESIDE = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    place = tmp_path_factory.mktemp("source")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, place / name, ignore=LITTER)
    for name in BESIDE:
        shutil.copy(ROOT / name, place / name)
    return place


def installed(package, place):
    """Install a folder or an sdist as pip does, without its dependencies; return where it is."""
    install = ["install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", *install, "--target", str(place), str(package)], check=True)
    return place


@pytest.fixture(scope="module")
def site(source, tmp_path_factory):
    return installed(source, tmp_path_factory.mktemp("wheel") / "site")


def ask(site, code):
    before = f"import sys; sys.path.insert(0, {str(site)!r}); "
    done = subprocess.run(
        [sys.executable, "-P", "-c", before + code], capture_output=True, text=True, cwd=site, check=True
    )
    return done.stdout.strip()


@pytest.mark.slow  # a build
def test_both_names_the_command_types_and_data_are_installed(site):
    for name in PACKAGES:
        assert (site / name / "py.typed").is_file()
    assert (site / "bin" / "ldp-advise").is_file()
    for name in ("advisor", "ldp_advise"):
        code = f"import {name}; print({name}.__file__); print({name}.advise(1, k=16, n=10_000).source)"
        where, source = ask(site, code).splitlines()
        assert Path(where).is_relative_to(site)
        assert source == "grid"
    code = "import sys, runpy; sys.argv[1:] = ['--version']; runpy.run_module('ldp_advise', run_name='__main__')"
    assert ask(site, code) == f"ldp-advise {__version__}"
    code = (
        "from advisor.extensions.code.collection import CodedCollection; "
        "from advisor.extensions.code.answer import files_of; from simulator import PROTOCOLS; "
        "methods = {'sw': 'em_stopped'}; "
        "print({len(files_of(CodedCollection(key, methods.get(key, 'norm'), 20, 1.0))) for key in PROTOCOLS})"
    )
    assert ask(site, code) == "{7}"


def contents(site):
    return {
        str(path.relative_to(site)): path.read_bytes()
        for name in PACKAGES
        for path in (site / name).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


@pytest.mark.slow  # two more builds
def test_the_sdist_builds_what_the_source_builds(source, site, tmp_path):
    build = f"from setuptools.build_meta import build_sdist; build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build], check=True, cwd=source, capture_output=True)
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        top = {Path(name).parts[1] for name in archive.getnames() if len(Path(name).parts) > 1}
    assert top == {*PACKAGES, *BESIDE, "ldp_advise.egg-info", "PKG-INFO", "setup.cfg"}
    other = installed(sdist, tmp_path / "site")
    assert contents(other) == contents(site)
    assert ask(other, "from ldp_advise import advise; print(advise(1, k=256).source)") == "grid"
