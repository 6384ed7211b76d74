"""Protocols, methods and pairs as sentences call them."""

from __future__ import annotations

from advisor.rank.result import Recommendation
from simulator import POSTPROCESSORS, PROTOCOLS

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
    title = str(getattr(PROTOCOLS[key], "title", key)).replace(" (", ", ").replace(")", "")
    return title if title.startswith(EPONYMS) else title[:1].lower() + title[1:]


def method_text(key: str) -> str:
    """Return post-processing by a method in words.

    >>> method_text("eb_ns"), method_text("norm_sub"), method_text("none")
    ('Empirical Bayes post-processing', 'Norm-Sub post-processing', 'no post-processing')
    """
    return "no post-processing" if key == UNPROCESSED else f"{_short(key)} post-processing"


def pair_text(protocol: str, method: str) -> str:
    """Return a pair in a few words.

    >>> pair_text("oue", "power_ns"), pair_text("oue", "none")
    ('OUE with PowerNS', 'OUE with no post-processing')
    """
    return f"{protocol_text(protocol)} with {method_text(method) if method == UNPROCESSED else _short(method)}"


def _short(method: str) -> str:
    return SHORT.get(method) or POSTPROCESSORS[method].title.partition(" (")[0]
