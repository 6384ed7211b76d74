"""``python tests/check_install.py dist/*``: do a wheel and an sdist install and answer in clean environments?

For each file and each Python: an environment of its own, ``pip install`` with the dependencies from the index that pip
knows, one look-up, and the same answer from all of them. Pythons are those called ``python3.11`` to ``python3.14`` that
start, and those of ``--python``. Exits with 1 if one fails.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SUPPORTED = range(11, 15)
LOOK_UP = ("-m", "ldp_advise", "--eps", "1", "--k", "256", "--format", "json")


def version(python: str) -> str | None:
    """Return the version of an interpreter, None if it does not start."""
    try:
        done = subprocess.run([python, "-c", "import platform; print(platform.python_version())"], capture_output=True)
    except OSError:
        return None
    return done.stdout.decode().strip() if done.returncode == 0 else None


def pythons(more: list[str]) -> dict[str, str]:
    """Return the interpreters by version."""
    candidates = [*more, *filter(None, (shutil.which(f"python3.{minor}") for minor in SUPPORTED))]
    return {found: python for python in reversed(candidates) if (found := version(python))}


def answer(python: str, package: Path, folder: Path) -> str:
    """Install a file in a new environment there, and return what it answers; raises CalledProcessError if it fails."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    inside = str(folder / "bin" / "python")
    pip = ["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    subprocess.run([inside, *pip, str(package)], check=True, cwd=folder)
    done = subprocess.run([inside, *LOOK_UP], check=True, cwd=folder, capture_output=True, text=True)
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+", type=Path, help="wheel and sdist")
    parser.add_argument("--python", action="append", default=[], help="another interpreter; repeatable")
    options = parser.parse_args()
    present = pythons(options.python)
    answers, failed = set(), False
    for found, python in sorted(present.items()):
        for package in options.packages:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    answers.add(answer(python, package.resolve(), Path(folder)))
                    print(f"Python {found}  {package.name}  answers", flush=True)
                except subprocess.CalledProcessError as error:
                    failed = True
                    print(f"Python {found}  {package.name}  FAILS\n{error}\n{error.stderr or ''}", flush=True)
    absent = [f"3.{minor}" for minor in SUPPORTED if not any(one.startswith(f"3.{minor}.") for one in present)]
    if absent:
        print(f"not on this machine: {', '.join(absent)}")
    if failed or len(answers) != 1:
        sys.exit(f"{len(answers)} different answers, {'some' if failed else 'no'} failures")


if __name__ == "__main__":
    main()
