"""Protocols, methods and pairs as sentences call them."""

from __future__ import annotations

from advisor.rank.result import Recommendation
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.methods.summaries import SUMMARIES

ACRONYMS = frozenset({"grr", "rappor", "oue", "blh", "olh", "ss", "the", "she", "hr", "pgr", "sw"})
EPONYMS = ("Haar", "Hadamard")  # words that keep their capital
UNPROCESSED = "none"
SHORT = {"em_stopped": "Stopped EM", "ibu_pseudo": "pseudo-IBU"}  # where the title is a description


def protocol_text(key: str) -> str:
    """Return the name of a protocol.

    >>> protocol_text("pgr"), protocol_text("tree")
    ('PGR', 'tree')
    """
    return key.upper() if key in ACRONYMS else key


def protocol_in_full(key: str) -> str:
    """Return the name of a protocol, and what it stands for.

    >>> protocol_in_full("the"), protocol_in_full("grr")
    ('THE (thresholding with histogram encoding)', 'GRR (generalised randomised response, k-RR)')
    """
    return f"{protocol_text(key)} ({_title(key)})"


def protocol_with_report(row: Recommendation) -> str:
    """Return the name of a row's protocol, what it stands for, and the size of its report."""
    return f"{protocol_text(row.protocol)} ({_title(row.protocol)}, {row.report_bits:,}-bit reports)"


def _title(key: str) -> str:
    return title_inside(str(getattr(PROTOCOLS[key], "title", key)))


def title_inside(title: str) -> str:
    """Return the title of a protocol as it stands inside a sentence, and inside brackets.

    >>> title_inside("Generalised randomised response (k-RR)"), title_inside("Hadamard response")
    ('generalised randomised response, k-RR', 'Hadamard response')
    """
    title = title.replace(" (", ", ").replace(")", "")
    return title if title.startswith(EPONYMS) else title[:1].lower() + title[1:]


def method_text(key: str) -> str:
    """Return post-processing by a method in words.

    >>> method_text("eb_ns"), method_text("none"), method_text("posterior_mean")
    ('Empirical Bayes post-processing', 'no post-processing', 'the posterior mean')
    """
    if key in SUMMARIES:
        return f"the {method_name(key).lower()}"
    return "no post-processing" if key == UNPROCESSED else f"{method_name(key)} post-processing"


def pair_text(protocol: str, method: str) -> str:
    """Return a pair in a few words.

    >>> pair_text("oue", "power_ns"), pair_text("oue", "none")
    ('OUE with PowerNS', 'OUE with no post-processing')
    """
    return f"{protocol_text(protocol)} with {method_text(method) if method == UNPROCESSED else method_name(method)}"


def method_name(key: str, title: str | None = None) -> str:
    """Return the name of a method; its title is told of one that is not in the table, which may have no other name.

    >>> method_name("norm_sub"), method_name("em_stopped"), method_name("not_here")
    ('Norm-Sub', 'Stopped EM', 'not_here')
    >>> method_name("posterior_median")
    'Posterior median'
    """
    known = POSTPROCESSORS[key].title if key in (*POSTPROCESSORS, *SUMMARIES) else key
    return SHORT.get(key) or (title or known).partition(" (")[0]
