r"""``ldp-advise cite``: a methods paragraph, with ``\cite`` as LaTeX has it, and its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from advisor.checks import LARGEST, shown
from advisor.cli.bibliography import Bibliography, References, bibtex, source_data
from advisor.cli.options import Only, argument
from advisor.cli.run import WHOLE, Job, run
from advisor.errors import InputError, listed, printable
from advisor.inputs.saved import COUNT, Maybe, Number, checked, read_json
from advisor.members.names import (
    TABLES,
    UNPROCESSED,
    member_named,
    method_name,
    pair_text,
    protocol_text,
    resolve,
    squash,
    suggestion,
    title_inside,
)
from advisor.question.option import require
from advisor.show.data import LATEX
from advisor.show.model import Code, Document, Records
from knowledge.sources import OWN_ENTRY, Publication, sources_of
from simulator import METRICS
from simulator.channels import PLANAR
from simulator.foreign import REGISTERED
from simulator.places import Places


@dataclass(frozen=True)
class Cited:
    """A protocol or a method as it is cited."""

    name: str
    kind: str  # ``protocol`` or ``method``
    title: str
    reference: str  # its publication; "" for a function of the caller, which has no source

    @property
    def sources(self) -> tuple[Publication, ...]:
        """Its publications."""
        return sources_of(self.reference)

    @property
    def text(self) -> str:
        """Its name inside a sentence, in full, with its sources."""
        if not self.reference:
            return f"{_escaped(self.name)} (own code)"
        keys = ",".join(source.key for source in self.sources)
        return rf"{_escaped(self._name)} \cite{{{keys}}}"

    @property
    def _name(self) -> str:
        if self.kind == "method":
            return "no post-processing" if self.name == UNPROCESSED else method_name(self.name, self.title)
        short, title = protocol_text(self.name), title_inside(self.title)
        return f"{short} ({title})" if short != title else short


@dataclass(frozen=True)
class Used:
    """What is cited: protocols and methods, and the answer that compared them, if one was saved."""

    protocols: tuple[Cited, ...]
    methods: tuple[Cited, ...]
    answer: Mapping[str, Any] | None = None
    pairs: int = 0  # that the answer compared

    @property
    def sources(self) -> tuple[Publication, ...]:
        """All publications, each once, with the entry of this project last."""
        publications = (source for cited in (*self.protocols, *self.methods) for source in cited.sources)
        return tuple(dict.fromkeys([*(cited for cited in publications if cited != OWN_ENTRY), OWN_ENTRY]))


def methods_paragraph(used: Used) -> str:
    """Return a paragraph for the methods section, with the keys of the sources as LaTeX cites them."""
    tool = rf"ldp-advise {_version(used)} \cite{{{OWN_ENTRY.key}}}"
    if used.answer is not None:
        return " ".join(_of_answer(used, used.answer, tool))
    sentences = []
    if used.protocols:
        sentences.append(f"Frequencies were estimated under local differential privacy with {_texts(used.protocols)}.")
    if used.methods:
        sentences.append(f"The estimates were post-processed with {_texts(used.methods)}.")
    return " ".join([*sentences, f"Protocols and methods were compared with {tool}."])


def _of_answer(used: Used, answer: Mapping[str, Any], tool: str) -> list[str]:
    """Return what was compared, under which setting, how, and what came first."""
    pairs, setting, cells = used.pairs, _setting(answer["request"]), len(answer.get("results", ()))
    protocols, methods = _texts(used.protocols), _texts(used.methods)
    if answer["request"].get("collected_with"):
        first = f"Reports were collected under local differential privacy with {protocols} at {setting}."
        several = "compared" if pairs > 1 else "used"
        second = f"For the estimate, post-processing with {methods} was {several}."
        return [first, second, _how(answer, pairs, tool), _first_ranked(answer, pairs)]
    single, many = len(used.protocols) == 1, len(used.methods) > 1
    first = (
        f"For frequency estimation under local differential privacy at {setting}, the protocol{'' if single else 's'} "
        f"{protocols} {'was' if single else 'were each'} combined with the post-processing method{'s' if many else ''} "
        f"{methods}{f': {pairs:,} pairs' if pairs > 1 else ''}"
        f"{f', each in the {cells:,} cells of these settings' if cells > 1 else ''}."
    )
    last = _escaped(answer.get("summary", "")) if cells else _first_ranked(answer, pairs)
    return [first, _how(answer, pairs, tool), last]


def _how(answer: Mapping[str, Any], pairs: int, tool: str) -> str:
    """Return by what the errors were found, and how often it was repeated."""
    if answer.get("source") == "grid":
        return f"Errors were predicted by {tool}, from a model of simulated collections and an assumed skew."
    rows = answer.get("recommendations", [answer])  # a sweep repeats all its cells equally often
    runs = [row["repetitions"] for row in rows if isinstance(row.get("repetitions"), int)]
    ends = dict.fromkeys(f"{end:,}" for end in (min(runs), max(runs))) if runs else ()
    often = f" {' to '.join(ends)} times" if ends else ""
    seed = f" (seed {answer['seed']})" if "seed" in answer else ""
    if answer.get("judged") and runs:
        return f"{tool} read errors off {runs[0]:,} draws of the frequencies that may be behind the estimate{seed}."
    what = "it" if pairs == 1 else "each pair"
    behind = answer.get("source") == "surrogate"
    sample = _escaped(answer["request"].get("sample") or "a sample")
    of = "populations that may be behind the data" if behind else f"the frequencies of {sample}"
    return f"{tool} simulated {what}{often} with {of}{seed}."


def _first_ranked(answer: Mapping[str, Any], pairs: int) -> str:
    request, best = answer["request"], answer["recommendations"][0]
    metric = str(request.get("metric", ""))
    measured = f"{METRICS[metric].title} ({_escaped(metric)})" if metric in METRICS else f"{_escaped(metric)} error"
    error, low, high = (best.get(name) for name in ("error", "error_low", "error_high"))
    expected = ""
    if all(isinstance(figure, int | float) for figure in (error, low, high)):
        expected = rf"{error:.4g} (95\,\% interval {low:.4g} to {high:.4g})"
    if pairs == 1:
        return f"The {measured} to expect is {expected}." if expected else ""
    text = f"Ranked first for the {measured} was {_escaped(pair_text(best['protocol'], best['method']))}"
    if expected and (threat := request.get("threat")):
        expected += rf" under a maximal gain attack by {100 * threat:g}\,\% of the users"
    return f"{text}; its expected error is {expected}." if expected else f"{text}."


def _setting(request: Mapping[str, Any]) -> str:
    """Return the setting of a ranking, or all settings of a sweep, which has several values of each."""
    figures = ((r"$\varepsilon = {}$", "eps"), ("{} categories", "k"), ("{} users", "n"))
    several = isinstance(request.get("eps"), list)
    if several:
        figures = ((r"$\varepsilon$ of {}", "eps"), *figures[1:])
    texts = []
    for text, name in figures:
        entry = request.get(name)
        values = [
            _figure(value)
            for value in (entry if isinstance(entry, list) else [entry])
            if isinstance(value, int | float)
        ]
        texts += [text.format(_joined(values))] if values else []
    if central := request.get("central"):  # each protocol has its own budget of a report
        promise = rf"$\varepsilon = {central['eps']:g}$ and $\delta = {central['delta']:g}$"
        texts[0] = f"the largest budgets with which shuffled reports keep {promise} together"
    return ", with ".join(texts) if several else _joined(texts)


def _figure(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _version(used: Used) -> str:
    version = dict(OWN_ENTRY.fields)["version"]
    return _escaped(str((used.answer or {}).get("tool_version", version)))


def _texts(members: Sequence[Cited]) -> str:
    return _joined([member.text for member in members])


def _joined(texts: Sequence[str]) -> str:
    """Return texts as a list in a sentence.

    >>> _joined(["a"]), _joined(["a", "b"]), _joined(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}" if texts else ""


def _escaped(text: str) -> str:
    r"""Return a text as LaTeX shows it.

    >>> _escaped("eb_ns, 95 %"), _escaped("a~b.csv")
    ('eb\\_ns, 95 \\%', 'a\\textasciitilde{}b.csv')
    """
    return printable(text).translate(LATEX)


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
    """Return a member of the tables, or a mechanism for places, as it is cited."""
    member = PLANAR[key](Places(1, 2), 1.0) if key in PLANAR else TABLES[kind][resolve(kind, key)]
    reference = getattr(member, "reference", "")
    return Cited(key, kind, getattr(member, "title", key), "" if reference == REGISTERED.get(key) else reference)


_ERRORS = dict.fromkeys(("error?", "error_low?", "error_high?"), Maybe(Number()))
_ROWS = [{"protocol": str, "method": str, "repetitions?": Maybe(COUNT), **_ERRORS}]
ANSWER = {
    "request": {
        **{"eps?": (Maybe(Number()),), "k?": (COUNT,), "n?": (COUNT,), "metric?": Maybe(str), "sample?": Maybe(str)},
        **{"central?": Maybe({"eps": Number(), "delta": Number()}), "threat?": Maybe(Number())},
        **{"protocols?": [str], "methods?": [str], "collected_with?": Maybe(str)},
        "own_members?": [dict.fromkeys(("name", "kind", "title", "reference"), str)],
    },
    **{"recommendations?": _ROWS, "results?": [{"errors": _ROWS}], "repetitions?": COUNT, "judged?": bool},
    **{"seed?": Number(0, LARGEST, whole=True), "source?": str, "summary?": str, "tool_version?": str},
}
"""What is cited of a saved answer."""


def _used_in_answer(path: str) -> Used:
    content = read_json(path)
    keys = content.keys() if isinstance(content, dict) else set[str]()
    if "request" not in keys or "unknown" in keys or not keys & {"results", "recommendations"}:
        raise InputError(
            f"{path}: holds no ranking and no sweep in JSON (and no plan, prices of several ε or frontier is cited); "
            "save one with ldp-advise ... --output FILE.json, and name it here"
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
        return tuple(own_members.get(name) or _cited(kind, name) for name in compared(kind, place))

    def compared(kind: str, place: int) -> dict[str, None]:
        """Return those of the rows, and those of rows that --top cut off; an estimate has methods of the next round."""
        request = answer["request"]
        cut = () if request.get("collected_with") else request.get(f"{kind}s", ())
        return dict.fromkeys([*(pair[place] for pair in pairs), *cut])

    protocols, methods = used("protocol", 0), used("method", 1)
    whole = (len(protocols), len(methods)) == tuple(len(set(names)) for names in zip(*pairs, strict=True))
    return Used(protocols, methods, answer, len(set(pairs)) if whole else 0)


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
