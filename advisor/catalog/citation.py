"""``explain --bibtex`` and ``cite``: the sources of members and of answers, and how to write of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from advisor.checks import shown
from advisor.document.model import Code, Document, Records
from advisor.errors import InputError, listed, printable, reason
from advisor.names import TABLES, resolve
from knowledge.sources import OWN, SOURCES, Source, sources_of
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS

LARGEST_ANSWER = 200_000_000  # bytes of a saved answer that are read
FIELDS = ("key", "type", "title", "authors", "year")
ORIGINS = {
    "simulation": "by simulating {repetitions} collections from a sample",
    "surrogate": "by simulating {repetitions} collections from populations that may be behind the data",
    "grid": "by a model fitted to simulated collections, for an assumed shape of the frequencies",
}


@dataclass(frozen=True)
class Used:
    """What is cited: members of the tables, and the answer that they are from, if it was saved."""

    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    answer: Mapping[str, Any] | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The publications of all of it, each once, and this project's own entry last."""
        members: list[Any] = [
            *(PROTOCOLS[name] for name in self.protocols),
            *(POSTPROCESSORS[name] for name in self.methods),
        ]
        every = (source for member in members for source in sources_of(member.reference))
        return tuple(dict.fromkeys([*(one for one in every if one != SOURCES[OWN]), SOURCES[OWN]]))


def used_in(names: Sequence[str]) -> Used:
    """Return what names of protocols and methods, or the name of a saved JSON answer, stand for.

    Raises InputError if it is neither, or metrics, which have no source.
    """
    if len(names) == 1 and (names[0].endswith(".json") or Path(names[0]).is_file()):
        return _used_in_answer(names[0])
    protocols: list[str] = []
    methods: list[str] = []
    for name in names:
        kind, key = _member(name)
        (protocols if kind == "protocol" else methods).append(key)
    return Used(tuple(dict.fromkeys(protocols)), tuple(dict.fromkeys(methods)))


def _member(name: str) -> tuple[str, str]:
    for kind in ("protocol", "method"):
        try:
            return kind, resolve(kind, name)
        except InputError:
            continue
    every = listed([*TABLES["protocol"], *TABLES["method"]], most=40)
    raise InputError(
        f"{shown(name)} is no protocol, no method, and no JSON file of an answer: there are {every}; an answer is "
        "saved with --output answer.json"
    )


def _used_in_answer(path: str) -> Used:
    try:
        with Path(path).open("rb") as file:
            answer = json.loads(file.read(LARGEST_ANSWER))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    except (ValueError, RecursionError):
        answer = None
    rows = answer.get("recommendations") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not isinstance(answer.get("request"), dict):
        raise InputError(
            f"{path}: holds no ranking in JSON; save one with ldp-advise ... --output answer.json, and name it here"
        )
    if not rows:
        raise InputError(f"{path}: this answer recommends nothing, so there is nothing to cite")
    try:
        best = rows[0]
        return Used((resolve("protocol", best["protocol"]),), (resolve("method", best["method"]),), answer)
    except (TypeError, KeyError):
        raise InputError(f"{path}: its first recommendation names no protocol and method") from None


def methods_paragraph(used: Used) -> str:
    """Return a paragraph for the methods section, with the keys of the sources as LaTeX cites them."""
    sentences = []
    if used.protocols:
        titles = listed(_cited(PROTOCOLS[name]) for name in used.protocols)
        where = "" if used.answer is None else f" at {_setting(used.answer)}"
        sentences.append(f"Values were collected under local differential privacy with {titles}{where}.")
    if used.methods:
        titles = listed(_cited(POSTPROCESSORS[name]) for name in used.methods)
        sentences.append(f"The estimated frequencies were post-processed with {titles}.")
    own = rf"ldp-advise {_version(used)} \cite{{{SOURCES[OWN].key}}}"
    if used.answer is None:
        return " ".join([*sentences, f"The choice was made with {own}."])
    return " ".join([*sentences, _ranking_sentence(used.answer, own)])


def _cited(member: Any) -> str:
    keys = ",".join(source.key for source in sources_of(member.reference))
    return rf"{getattr(member, 'title', member)} \cite{{{keys}}}"


def _version(used: Used) -> str:
    own = dict([SOURCES[OWN].venue])["version"]
    return printable(str((used.answer or {}).get("tool_version", own)))


def _setting(answer: Mapping[str, Any]) -> str:
    asked = answer["request"]
    figures = (("ε = {:g}", "eps"), ("k = {:,} categories", "k"), ("n = {:,} users", "n"))
    return ", ".join(text.format(asked[name]) for text, name in figures if isinstance(asked.get(name), int | float))


def _ranking_sentence(answer: Mapping[str, Any], own: str) -> str:
    rows, metric = answer["recommendations"], str(answer["request"].get("metric", ""))
    best = rows[0]
    measured = f"{METRICS[metric].title} ({metric})" if metric in METRICS else metric
    how = ORIGINS.get(str(answer.get("source")), "").format(repetitions=answer.get("repetitions"))
    seed = f" (seed {answer['seed']})" if answer.get("source") != "grid" and "seed" in answer else ""
    error, low, high = (best.get(name) for name in ("error", "error_low", "error_high"))
    expected = ""
    if all(isinstance(figure, int | float) for figure in (error, low, high)):
        expected = f"; the expected error is {error:.4g} (95 % interval {low:.4g} to {high:.4g})"
    among = f"among {len(rows):,} pairs of protocol and method" if len(rows) > 1 else "as the only pair"
    return printable(f"The pair was ranked first for the {measured} {among} by {own}, {how}{seed}{expected}.")


def citation_document(used: Used) -> Document:
    """Return a methods paragraph and the BibTeX entries of what it cites."""
    text = methods_paragraph(used)
    return Document(
        title="How to cite this",
        parts=(Code(text + "\n", "Methods"), _bibliography(used.sources)),
        data={
            "protocols": list(used.protocols),
            "methods": list(used.methods),
            "paragraph": text,
            "bibtex": bibtex(used.sources),
            "sources": [dict(zip(FIELDS, _fields(source), strict=True)) for source in used.sources],
        },
        records=Records(FIELDS, tuple(_fields(source) for source in used.sources)),
        value=bibtex(used.sources).rstrip("\n"),
    )


def bibtex_document(name: str, reference: str) -> Document:
    """Return the BibTeX entries of what one member names as its source.

    Raises InputError if it names none.
    """
    sources = sources_of(reference)
    if not sources:
        raise InputError(f"{name} names no source: --bibtex is for protocols and methods")
    return Document(
        title=f"Sources of {name}",
        parts=(Code(bibtex(sources)),),
        data={"name": name, "reference": reference, "bibtex": bibtex(sources)},
        records=Records((), ()),
        value=bibtex(sources).rstrip("\n"),
    )


def bibtex(sources: Sequence[Source]) -> str:
    """Return the entries, a blank line between them."""
    return "\n".join(source.bibtex for source in sources)


def _bibliography(sources: Sequence[Source]) -> Code:
    return Code(bibtex(sources), "BibTeX")


def _fields(source: Source) -> tuple[str | int, ...]:
    return source.key, source.kind, source.title, " and ".join(source.authors), source.year
