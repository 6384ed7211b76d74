"""Settings of metrics, which stand behind their names (``topk:10``), and their values for a domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from advisor.checks import path, real, share, whole
from advisor.errors import InputError
from advisor.inputs.domain import read_sets
from advisor.question.option import Read
from simulator.metrics import KL_MIX, SET_SHARE, TOP_SHARE

SETTINGS: Mapping[str, tuple[str, Read]] = {
    "topk": ("top_values", whole(1)),
    "hotspots": ("top_values", whole(1)),
    "set": ("set_share", share),
    "kl": ("mix", real(0, below=1)),
    "js": ("mix", real(0, below=1)),
    "sets": ("sets", path),
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
    sets: str | None = None  # of sets: the file that names them

    @classmethod
    def of(cls, metrics: Iterable[str]) -> MetricSettings:
        """Return the settings behind the names of metrics.

        Raises InputError if two of them differ, or one that is needed is missing.
        """
        given: dict[str, object] = {}
        for metric in metrics:
            key, _, text = metric.partition(":")
            if text and key in SETTINGS:
                name, read = SETTINGS[key]
                value = read(key, text)
                if given.setdefault(name, value) != value:
                    raise InputError(f"metric {metric} comes after the setting {given[name]}: give one of the two")
            elif metric == "sets":
                raise InputError(
                    "metric sets needs a file with the sets, as in sets:groups.csv: one a line, a name and its members"
                )
        return cls(**given)  # type: ignore[arg-type]

    def resolved(self, k: int, labels: Sequence[str] = ()) -> MetricValues:
        """Return the values for a domain of k categories, defaults filled in.

        labels: of the categories, where they have any; else they are numbered from 0.

        Raises InputError if more top values are asked for than there are categories, or the sets are wrong.
        """
        top = max(1, round(TOP_SHARE * k)) if self.top_values is None else self.top_values
        if top > k:
            raise InputError(f"topk and hotspots must look at no more than k={k} values, got {top}")
        sets = None if self.sets is None else read_sets(self.sets, labels or [str(place) for place in range(k)])
        mix = KL_MIX if self.mix is None else self.mix
        return MetricValues(top, self.set_share or SET_SHARE, mix, self.sets, sets)


@dataclass(frozen=True)
class MetricValues:
    """Values of the settings of metrics: top values, share of a set, weight of the uniform distribution, and sets."""

    top_values: int
    set_share: float
    mix: float
    sets_file: str | None = None
    sets: tuple[tuple[int, ...], ...] | None = None  # the places of the members of each

    def options(self, seed: int) -> dict[str, Any]:
        """Return the options that `simulator.metrics.Metric.with_options` takes."""
        return self.plain() | {"seed": seed}

    def plain(self) -> dict[str, Any]:
        """Return the values by name, as answers show them."""
        values = {"top_values": self.top_values, "set_share": self.set_share, "mix": self.mix}
        return values | ({} if self.sets is None else {"sets": self.sets})

    def of(self, metric: str) -> float | str | None:
        """Return the value of the setting of a metric, of sets their file; None for a metric without a setting."""
        values = self.plain() | {"sets": self.sets_file}
        return values[SETTINGS[metric][0]] if metric in SETTINGS else None

    def may_be_infinite(self, metric: str) -> bool:
        """Return whether an infinite error is a figure, and not a sign that a method fails."""
        return metric == "kl" and self.mix == 0

    def assumptions(self, metrics: tuple[str, ...]) -> list[str]:
        """Return what the metrics that are asked for rest on."""
        lines = []
        if self.mix == 0 and "kl" in metrics:
            lines.append(
                "estimates are clipped at 0 and scaled to 1; kl is infinite where one is 0 and the truth is not (kl:X "
                "mixes in the uniform distribution at weight X)"
            )
        elif {"kl", "js"} & set(metrics):
            lines.append(
                f"zeros are repaired by mixing in the uniform distribution at weight {self.mix:g} (kl:X for X)"
            )
        looks = f"looks at the {self.top_values:,} most frequent values of the truth"
        lines += [f"{name} {looks} ({name}:N at N)" for name in ("topk", "hotspots") if name in metrics]
        if "set" in metrics:
            lines.append(f"set asks for subsets of {100 * self.set_share:g} % of the domain (set:X for a share of X)")
        if "sets" in metrics and self.sets is not None:
            lines.append(f"sets asks for the {len(self.sets):,} sets of {self.sets_file}")
        return lines
