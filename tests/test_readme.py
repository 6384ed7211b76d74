"""What the README shows is what the tool prints."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"<!-- run -->\n```console\n\$ (.*?)\n(.*?)```", README, flags=re.DOTALL)


def printed(command: str) -> str:
    program, *arguments = shlex.split(command)
    assert program == "ldp-advise"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LDP_ADVISE_")}
    done = subprocess.run(
        [sys.executable, "-m", "advisor", *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**environment, "PYTHONUTF8": "1"},
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def test_the_readme_shows_runs() -> None:
    assert len(SHOWN) >= 3


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_shown_output_is_real(command: str, output: str) -> None:
    assert printed(command) == output


def test_python_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})  # noqa: S102 - the README's own examples


def test_the_help_mentions_every_option_the_readme_names() -> None:
    help_text = printed("ldp-advise --help")
    for option in set(re.findall(r"`(--[a-z][a-z-]+)", README)):
        assert option in help_text, option


if __name__ == "__main__":  # rewrites the shown outputs: python tests/test_readme.py
    text = README
    for shown_command, shown_output in SHOWN:
        old = f"$ {shown_command}\n{shown_output}```"
        text = text.replace(old, f"$ {shown_command}\n{printed(shown_command)}```")
    (ROOT / "README.md").write_text(text, encoding="utf-8")
