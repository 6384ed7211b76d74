"""Reference pages that are made from the code: the command line, the members, and the schemas of answers."""

from __future__ import annotations

import csv
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import typer

from advisor.cli.groups import app_for, panels_of
from advisor.cli.options import COMMANDS
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS

ROOT = Path(__file__).parent.parent
SEEDS = {
    "ldp_auditor": "LDP-Auditor (Arcolezi and Gambs)",
    "ldp3_toolkit": "LDP3, the toolkit",
    "ldp3_benchmark": "LDP3, the benchmark",
    "palamidessi": "Iterative Bayesian update and d-privacy (Palamidessi)",
    "wang": "Consistency (Wang et al.)",
}
KINDS = (("Protocols", PROTOCOLS), ("Post-processing methods", POSTPROCESSORS), ("Metrics", METRICS))


def write_pages(folder: Path) -> None:
    """Write all pages that have changed."""
    folder.mkdir(exist_ok=True)
    pages = {"commands": commands_page(), "menu": menu_page(), "schemas": schemas_page(), "seeds": seeds_tables()}
    for name, text in pages.items():
        page = folder / f"{name}.md"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def commands_page() -> str:
    """Return every command with all its options, by panel."""
    parts = [
        "# Command line",
        "Options hold for every command that lists them, with one meaning and one default. Any of them can be set in "
        "the environment too: `LDP_ADVISE_EPS=1`. Exit codes: 0 done, 2 wrong input (one line says what), 130 "
        "interrupted.",
    ]
    for name in ("", *COMMANDS):
        command: Any = app_for([name] if name else [])
        context = typer.Context(command)
        if name:
            command = command.get_command(context, name)
        parts += _described(f"ldp-advise {name}".strip(), command)
    return "\n\n".join(parts) + "\n"


def _described(title: str, command: Any) -> list[str]:
    parts = [f"## {title}", *_paragraphs(command.help)]
    below = getattr(command, "commands", {})
    if below:
        for name, each in below.items():
            parts += [f"### {title} {name}", *_paragraphs(each.help), *_tables(each)]
        return parts
    return [*parts, *_tables(command)]


def _paragraphs(text: str | None) -> list[str]:
    found = []
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        example = paragraph.startswith("Example")
        found.append(f"```text\n{paragraph}\n```" if example else " ".join(paragraph.split()))
    return found


def _tables(command: Any) -> list[str]:
    parts = []
    for title, records in panels_of(command, typer.Context(command), verbose=True).items():
        rows = [f"| `{name}` | {words.replace('|', '&#124;').replace('<', '&lt;')} |" for name, words in records]
        parts.append(f"**{title}**\n\n| option | meaning |\n|---|---|\n" + "\n".join(rows))
    return parts


def menu_page() -> str:
    """Return what is on the menu, and what `explain` says of each member."""
    parts = ["# Protocols, methods and metrics", _printed("list", "--format", "markdown", "--quiet")]
    for title, table in KINDS:
        parts.append(f"## {title}")
        for name in table:
            head, _, rest = _printed("explain", name, "--format", "markdown").partition("\n")
            parts.append(f"({name})=\n### {head.strip('* ')}\n\n{rest}")
    return "\n\n".join(parts) + "\n"


def schemas_page() -> str:
    """Return the schemas of answers in JSON."""
    parts = ["# Schemas of answers in JSON", "Fields are only ever added. `schema_version` counts changes of meaning."]
    for file in sorted((ROOT / "advisor" / "schema").glob("*.json")):
        schema = json.loads(file.read_text(encoding="utf-8"))
        parts.append(f"## {schema.get('title', file.stem)}\n\n```json\n{json.dumps(schema, indent=2)}\n```")
    return "\n\n".join(parts) + "\n"


def seeds_tables() -> str:
    """Return a table of what each source defines, and of the command that shows it."""
    parts = []
    for name, title in SEEDS.items():
        with (ROOT / "docs" / "seeds" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = [f"| {row['item']} | {_code(row['shown by'])} | {row['why not']} |" for row in csv.DictReader(file)]
        parts.append(f"## {title}\n\n| item | shown by | why not |\n|---|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _code(command: str) -> str:
    return f"`{command.replace('|', chr(92) + '|')}`" if command else ""


def _printed(*arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own command, with names from our own tables
        [sys.executable, "-m", "advisor", *arguments], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout
