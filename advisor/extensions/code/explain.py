"""``ldp-advise explain``: what a protocol, method or metric is, and code that uses it."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from advisor.answers.catalog import Member, promises_of, reference_of, title_of
from advisor.checks import shown
from advisor.cli.bibliography import Bibliography, References, bibtex_document
from advisor.cli.options import Only
from advisor.cli.run import WHOLE, Job, run
from advisor.errors import InputError
from advisor.extensions.code.collection import CodedCollection, client_file
from advisor.extensions.code.parameters import BUILDERS
from advisor.extensions.code.usage import trial, usage, usage_on, usual_method
from advisor.members.names import TABLES, member_named, squash, suggestion
from advisor.question.option import refuse
from advisor.question.settings import Categories, Cells, Terms
from advisor.show.model import Code, Document, Part, Records, Role, Sentence, sentences
from knowledge.cards import Card, cards
from simulator import Metric, PostProcessor
from simulator.channels import PLANAR

SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z(])")  # between two of them
NOTATION = "e: raw estimate of a frequency; s: its noise sd at frequency 0; k: categories; n: users"
TEXTS = {"Description": "description", "Good for": "good_for", "Pitfalls": "pitfalls", "Formula": "formula"}
EPSILON, K, GRID = 1.0, 16, "8x8"  # defaults for the code of a protocol
Name = Annotated[str, typer.Argument(metavar="NAME", help="a protocol, method or metric, as ldp-advise list names it")]


def explanation(name: str, epsilon: float | None, k: int | None, cells: Cells) -> dict[str, Any]:
    """Return what JSON has of a member; for a protocol, with code for this budget and domain size or these cells.

    Raises InputError if no protocol, method or metric has this name, or if a budget is given for a member without one.
    """
    planar = cells.mechanism(name, [] if k is None else ["--k"])
    kind, key = ("protocol", planar) if planar else member_named(name, TABLES) or ("", "")
    if not key:
        raise _unknown(name)
    if kind != "protocol":
        flags = [flag for flag, value in (("--eps", epsilon), ("--k", k)) if value is not None]
        refuse(flags, f"does not go with {key}, a {kind}: only the code of protocols is written for a setting")
    budget, size = epsilon or EPSILON, k or K
    member: Any
    collection = None
    if planar:
        cells = replace(cells, grid=cells.grid or GRID, radius=cells.radius or 1.0)
        member, python = cells.channel(planar, budget), usage_on(cells, planar, budget)
        promises: tuple[str, ...] = (
            f"ε = {budget:g} {cells.promise}, and in proportion to the distance for any two",
            cells.leakage(member),
        )
        collection = CodedCollection(planar, "ibu", cells.places.k, budget, cells=cells)
    else:
        member, python = TABLES[kind][key], usage(kind, key, size, budget)
        promises = promises_of(member)
        if key in BUILDERS:
            collection = CodedCollection(key, usual_method(member), size, budget)
    written_card = cards().get(key.partition(":")[0])  # members of other packages have no card
    card = written_card or Card(formula="", good_for="", pitfalls="", cost="")
    return {
        "name": key,
        "kind": kind,
        "title": title_of(key, member),
        # of the author, for a member of another package: ours have a card
        "description": "" if written_card else _docstring(member),
        **asdict(card),
        "promises": promises,
        "reference": reference_of(member),
        "python": python,
        "source": None if kind == "protocol" else _source(member),
        "client": None if collection is None else client_file(collection),
        "eps": None if collection is None else budget,
        "k": None if collection is None else collection.k,
    }


def _source(member: PostProcessor | Metric) -> str | None:
    """Return the source of the function of a method or a metric; None if unknown."""
    function = _function(member)
    try:
        return f"# {function.__module__}\n{inspect.getsource(function)}"
    except (OSError, TypeError):
        return None


def _unknown(name: str) -> InputError:
    keys = {squash(key): key for table in (*TABLES.values(), PLANAR) for key in table}
    return InputError(f"no protocol, method or metric is called {shown(name)}; {suggestion(name, keys)}")


def _docstring(member: Member) -> str:
    """Return the author's docstring of a member: of the class, or of the function that it wraps."""
    if isinstance(member, type):
        docstring = member.__dict__.get("__doc__") or ""
        # Python sets the signature as the docstring of a dataclass without a docstring.
        return "" if docstring.startswith(f"{member.__name__}(") else inspect.cleandoc(docstring)
    return inspect.getdoc(_function(member)) or ""


def _function(member: PostProcessor | Metric) -> Callable[..., object]:
    """Return the function that a member wraps, without its preset arguments."""
    function: Callable[..., object] = member.function
    while isinstance(function, functools.partial):
        function = function.func
    return function


def explain_document(member: dict[str, Any]) -> Document:
    """Return an explanation: the first sentence of each fact; the rest, and code to copy, on request."""
    name, kind, promises = member["name"], member["kind"], "; ".join(member["promises"])
    facts = {title: SENTENCE.split(member[key], maxsplit=1) for title, key in TEXTS.items() if member[key]}
    facts |= {title: [member[key]] for title, key in (("Cost", "cost"), ("Source", "reference")) if member[key]}
    facts["Try it"] = [trial(kind, name, member["eps"] or EPSILON, member["k"] or K)]
    called = name if member["title"] == name else f"{name}: {member['title']}"
    parts: list[Part] = [Sentence(f"{called} ({kind})", Role.ANSWER)]
    for title, (first, *_) in facts.items():
        parts.append(Sentence(f"{title}: {first}"))
        parts += [Sentence(NOTATION, Role.NOTE)] if title == "Formula" and kind == "method" else []
    more = [f"{title}, further: {text}" for title, (_, *rest) in facts.items() for text in rest]
    more += [f"Promises: {promises}"] if promises else []
    parts += [*sentences(more, Role.LEGEND), Code(member["python"], "With this package", Role.LEGEND)]
    if member["source"]:
        parts.append(Code(member["source"], "The function itself", Role.LEGEND))
    if member["client"]:
        client = f"Client without dependencies, client.py (ε = {member['eps']:g}, k = {member['k']:,})"
        parts.append(Code(member["client"], client, Role.LEGEND))
        written = f"ldp-advise code --protocol {name} … writes this file and more to a directory."
        parts.append(Sentence(written, Role.LEGEND))
    elif kind == "protocol":
        parts.append(Sentence(f"There is no client of {name} without this package.", Role.LEGEND))
    return Document(
        title=called,
        verdict=None,
        parts=tuple(parts),
        data=member,
        records=Records.of([member | {"promises": promises}]),
        value=name,
        setting=kind,
    )


def explain_command(
    name: Name,
    bibliography: Bibliography,
    question: Annotated[Terms, Only("epsilon")],
    domain: Annotated[Categories, Only("k")],
    cells: Annotated[Cells, Only("grid", "distance", "radius")],
    output: Annotated[References, Only(*WHOLE)],
) -> None:
    """Explain a protocol, method or metric.

    With --verbose there is code to copy: of a protocol with --eps and --k filled in (default: 1 and 16), of a mechanism
    for places with --grid.

    Examples: ldp-advise explain eb_ns
              ldp-advise explain pgr --eps 1 --k 300
              ldp-advise explain planar_geometric --eps 2 --grid 12x16 --radius 3
    """
    member = explanation(name, question.epsilon, domain.k, cells)
    if bibliography.bibtex or output.is_bibliography:
        run(Job.of(lambda: bibtex_document(member["name"], member["reference"])), output)
    else:
        run(Job.of(lambda: explain_document(member)), output)
