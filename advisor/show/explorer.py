"""Figures that depend on two settings, for a page on which they are turned."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dial:
    """A setting that the reader of a page can turn."""

    name: str  # what it is, in words
    texts: tuple[str, ...]  # its values, as people read them
    at: int  # the number of the value that was asked about
    values: tuple[float, ...] = ()  # the values themselves


@dataclass(frozen=True)
class Curve:
    """An error along the first dial, for each value of the second; None where there is none."""

    name: str
    values: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Explorer:
    """Figures for all values of two settings, worked out beforehand, for a page whose reader turns dials."""

    title: str
    note: str  # what the figures rest on
    dials: tuple[Dial, Dial]
    names: tuple[str, ...]  # of the figures
    figures: tuple[tuple[tuple[str, ...], ...], ...]  # texts for each value of the first dial, and of the second
    # along: values of the first dial, where they are figures; axis: what the curves measure
    along: tuple[float, ...] = ()
    axis: str = ""
    curves: tuple[Curve, ...] = ()
