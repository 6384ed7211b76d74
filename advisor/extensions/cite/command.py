"""``ldp-advise cite``: a methods paragraph and its sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from advisor.answers.catalog import member_named
from advisor.checks import LARGEST, shown
from advisor.cli.catalog import Bibliography, References
from advisor.cli.options import Only, argument
from advisor.cli.run import WHOLE, Job, run
from advisor.errors import InputError, listed
from advisor.extensions.cite.paragraph import Cited, Used, methods_paragraph
from advisor.inputs.saved import COUNT, Maybe, Number, checked, read_json
from advisor.names import TABLES, resolve, squash, suggestion
from advisor.question.option import require
from advisor.show.catalog import bibtex, source_data
from advisor.show.model import Code, Document, Records
from simulator.foreign import REGISTERED


def used_in(names: Sequence[str]) -> Used:
    """Return what names of protocols and methods, or the name of a saved JSON answer, stand for.

    Raises InputError if it is neither, or metrics, which have no source.
    """
    if len(names) == 1 and (names[0].endswith(".json") or (":" not in names[0] and Path(names[0]).is_file())):
        return _used_in_answer(names[0])
    members = dict.fromkeys(_member(name) for name in names)
    if metrics := [key for kind, key in members if kind == "metric"]:
        raise InputError(f"{listed(metrics)} is a metric: only protocols and methods have sources")
    protocols, methods = (
        tuple(_cited(kind, key) for kind, key in members if kind == wanted_kind)
        for wanted_kind in ("protocol", "method")
    )
    return Used(protocols, methods)


def _member(name: str) -> tuple[str, str]:
    member = member_named(name, ("protocol", "method"))
    if member is not None:
        return member
    keys = {squash(key): key for kind in ("protocol", "method") for key in TABLES[kind]}
    what = "is no protocol, no method, and no JSON file of an answer"
    raise InputError(f"{shown(name)} {what}; {suggestion(name, keys)}")


def _cited(kind: str, key: str) -> Cited:
    """Return a member of the tables as it is cited."""
    member = TABLES[kind][key]
    reference = getattr(member, "reference", "")
    return Cited(key, kind, getattr(member, "title", key), "" if reference == REGISTERED.get(key) else reference)


_ERRORS = dict.fromkeys(("error?", "error_low?", "error_high?"), Maybe(Number()))
_ROWS = [{"protocol": str, "method": str, "repetitions?": Maybe(COUNT), **_ERRORS}]
ANSWER = {
    "request": {
        **{"eps?": (Maybe(Number()),), "k?": (COUNT,), "n?": (COUNT,), "metric?": Maybe(str), "sample?": Maybe(str)},
        "own_members?": [dict.fromkeys(("name", "kind", "title", "reference"), str)],
    },
    **{"recommendations?": _ROWS, "results?": [{"errors": _ROWS}], "repetitions?": COUNT, "judged?": bool},
    **{"seed?": Number(0, LARGEST, whole=True), "source?": str, "summary?": str, "tool_version?": str},
}
"""What is cited of a saved answer."""


def _used_in_answer(path: str) -> Used:
    content = read_json(path)
    if not isinstance(content, dict) or "request" not in content or not content.keys() & {"results", "recommendations"}:
        raise InputError(
            f"{path}: holds no ranking and no sweep in JSON; save one with ldp-advise ... --output "
            "FILE.json, and name it here"
        )
    try:
        return _used(checked(ANSWER, content))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _used(answer: dict[str, Any]) -> Used:
    rows = [row for cell in answer.get("results", ()) for row in cell["errors"]] or answer.get("recommendations")
    if not rows:
        raise InputError("this answer recommends nothing, so there is nothing to cite")
    pairs = [(row["protocol"], row["method"]) for row in rows]
    own_members = {entry["name"]: Cited(**entry) for entry in answer["request"].get("own_members", ())}

    def used(kind: str, place: int) -> tuple[Cited, ...]:
        keys = dict.fromkeys(pair[place] for pair in pairs)
        return tuple(own_members[name] if name in own_members else _cited(kind, resolve(kind, name)) for name in keys)

    return Used(used("protocol", 0), used("method", 1), answer, len(set(pairs)))


def citation_document(used: Used, *, bibtex_alone: bool = False) -> Document:
    """Return a methods paragraph and the BibTeX entries of what it cites, or the entries alone."""
    text, entries = methods_paragraph(used), bibtex(used.sources)
    sources = [source_data(source) for source in used.sources]
    return Document(
        title="How to cite this",
        verdict=None,
        parts=(Code(entries),) if bibtex_alone else (Code(text + "\n", "Methods"), Code(entries, "BibTeX")),
        data={
            "protocols": [cited.name for cited in used.protocols],
            "methods": [cited.name for cited in used.methods],
            "paragraph": text,
            "bibtex": entries,
            "sources": sources,
        },
        records=Records.of(sources),
        value=entries.rstrip("\n"),
    )


Names = Annotated[list[str] | None, argument("NAME", "protocols and methods, or one answer that was saved as JSON")]


def cite_command(
    *, names: Names = None, bibliography: Bibliography, output: Annotated[References, Only(*WHOLE)]
) -> None:
    """Write a methods paragraph, and BibTeX of what it cites.

    Of a saved answer, that is all it compared.

    Examples: ldp-advise cite pgr eb_ns --output refs.bib
              ldp-advise --eps 1 sample.csv --output answer.json && ldp-advise cite answer.json
    """
    given = names or []
    require(
        ("NAME", given or None, "protocols and methods, for example ldp-advise cite pgr eb_ns, or a saved answer.json")
    )
    alone = bibliography.bibtex or output.is_bibliography
    run(replace(Job.of(lambda: citation_document(used_in(given), bibtex_alone=alone)), inputs=given), output)
