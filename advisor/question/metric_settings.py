"""Settings of metrics, which stand behind their names (``topk:10``), and their values for a domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from advisor.checks import share, whole
from advisor.errors import InputError
from advisor.question.option import Read
from simulator.metrics import KL_MIX, SET_SHARE, TOP_SHARE

SETTINGS: Mapping[str, tuple[str, Read]] = {
    "topk": ("top_values", whole(1)),
    "hotspots": ("top_values", whole(1)),
    "set": ("set_share", share),
    "kl": ("mix", share),
    "js": ("mix", share),
}


def metric_with_setting(key: str, text: str) -> str:
    """Return a metric with a setting behind it, as it is written.

    Raises InputError if the metric has none, or it is wrong.

    >>> metric_with_setting("topk", "1e1")
    'topk:10'
    """
    if key not in SETTINGS:
        raise InputError(
            f"metric {key} has no setting, got {key}:{text}: {', '.join(SETTINGS)} have one, as in topk:10"
        )
    return f"{key}:{SETTINGS[key][1](key, text)}"


@dataclass(frozen=True)
class MetricSettings:
    """Settings that were given; None for the usual ones."""

    top_values: int | None = None  # of topk and hotspots: how many values
    set_share: float | None = None  # of set: share of the domain in a set
    mix: float | None = None  # of kl and js: weight of the uniform distribution

    @classmethod
    def of(cls, metrics: Iterable[str]) -> MetricSettings:
        """Return the settings behind the names of metrics.

        Raises InputError if two of them differ.
        """
        given: dict[str, object] = {}
        for metric in metrics:
            key, _, text = metric.partition(":")
            if text and key in SETTINGS:
                name, read = SETTINGS[key]
                value = read(key, text)
                if given.setdefault(name, value) != value:
                    raise InputError(f"metric {metric} comes after the setting {given[name]}: give one of the two")
        return cls(**given)  # type: ignore[arg-type]

    def resolved(self, k: int) -> MetricValues:
        """Return the values for a domain of k categories, defaults filled in.

        Raises InputError if more top values are asked for than there are categories.
        """
        top = max(1, round(TOP_SHARE * k)) if self.top_values is None else self.top_values
        if top > k:
            raise InputError(f"topk and hotspots must look at no more than k={k} values, got {top}")
        return MetricValues(top, self.set_share or SET_SHARE, self.mix or KL_MIX)


@dataclass(frozen=True)
class MetricValues:
    """Values of the settings of metrics: top values, share of a set, weight of the uniform distribution."""

    top_values: int
    set_share: float
    mix: float

    def options(self, seed: int) -> dict[str, float]:
        """Return the options that `simulator.metrics.Metric.with_options` takes."""
        return self.plain() | {"seed": seed}

    def plain(self) -> dict[str, float]:
        """Return the values by name, as answers show them."""
        return {"top_values": self.top_values, "set_share": self.set_share, "mix": self.mix}

    def of(self, metric: str) -> float | None:
        """Return the value of the setting of a metric; None for a metric without a setting."""
        return self.plain()[SETTINGS[metric][0]] if metric in SETTINGS else None

    def assumptions(self, metrics: tuple[str, ...]) -> list[str]:
        """Return what the metrics that are asked for rest on."""
        lines = []
        if {"kl", "js"} & set(metrics):
            lines.append(
                f"zeros are repaired by mixing in the uniform distribution at weight {self.mix:g} (kl:X for X)"
            )
        if "topk" in metrics:
            lines.append(f"topk looks at the {self.top_values:,} most frequent values of the truth (topk:N at N)")
        if "hotspots" in metrics:
            lines.append(f"hotspots looks at the {self.top_values:,} most frequent values (hotspots:N at N)")
        if "set" in metrics:
            lines.append(f"set asks for subsets of {100 * self.set_share:g} % of the domain (set:X for a share of X)")
        return lines
