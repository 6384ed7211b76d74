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

FIGURE = re.compile(r"[0-9]+\.[0-9]+(?:e[+-]?[0-9]+)?")
# Iterations that stop at a tolerance end elsewhere where the processor rounds in another way: errors differed by
# 0.3 % between two machines, and a last digit by 1. Whole numbers (ranks, users, percent) and words are the same.
ROUNDING = 0.01


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


def in_words(text: str) -> list[str]:
    """Return the words of each line, with a dot for every figure that is not whole."""
    return [" ".join(FIGURE.sub(".", line).split()) for line in text.splitlines()]


def figures(text: str) -> list[tuple[float, float]]:
    """Return the figures that are not whole, each with one unit of its last digit."""
    found = []
    for figure in FIGURE.findall(text):
        digits, _, power = figure.partition("e")
        found.append((float(figure), float(f"1e{int(power or 0) - len(digits.partition('.')[2])}")))
    return found


def test_the_readme_shows_runs() -> None:
    assert len(SHOWN) >= 3


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_shown_output_is_real(command: str, output: str) -> None:
    now, shown = printed(command), output
    assert in_words(now) == in_words(shown)
    for (of_now, _), (of_shown, last_digit) in zip(figures(now), figures(shown), strict=True):
        assert abs(of_now - of_shown) <= max(ROUNDING * of_shown, 1.001 * last_digit), (of_now, of_shown)


def test_shown_figures_are_compared() -> None:
    assert in_words("  1=  oue  1.204 ± 0.03") == in_words("  1=  oue   1.31 ± 0.03")
    assert in_words("  1=  oue  1.2") != in_words("  2=  oue  1.2")
    assert in_words("100 of 2,000 users") != in_words("101 of 2,000 users")
    assert figures("1.204 of 1.9e+05, 0.02 %, 3 users") == [(1.204, 0.001), (1.9e5, 1e4), (0.02, 0.01)]


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
