"""Settings of metrics, and their values for a domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from advisor.checks import share, whole
from advisor.errors import InputError
from advisor.question.option import Settings, option, refuse
from advisor.question.settings import Terms
from simulator.metrics import KL_MIX, SET_SHARE, TOP_SHARE


@dataclass(frozen=True, kw_only=True)
class MetricSettings(Settings):
    """Settings of single metrics."""

    panel: ClassVar[str] = "Settings of metrics"

    top_values: int | None = option(
        "--top-values", read=whole(1), metavar="N", advanced=True, help="topk: number of values [default: 5 % of k]"
    )
    set_share: float | None = option(
        "--set-share", read=share, metavar="X", advanced=True, help="set: share of the domain in a set [default: 0.1]"
    )
    kl_mix: float | None = option(
        "--kl-mix", read=share, metavar="X", advanced=True, help="kl, js: weight of the uniform [default: 1e-4]"
    )

    def refuse_unused(self, question: Terms, default: str = "l1") -> None:
        """Refuse the setting of a metric that is not asked for."""
        metrics = question.metrics or (default,)
        for setting, owners in (("top_values", ("topk",)), ("set_share", ("set",)), ("kl_mix", ("kl", "js"))):
            if not question.every_metric and not set(owners) & set(metrics):
                metrics_needed = " or ".join(f"--metric {owner}" for owner in owners)
                refuse(self.given(setting), f"goes with {metrics_needed}: the metric is {', '.join(metrics)}")

    def resolved(self, k: int) -> MetricValues:
        """Return the values for a domain of k categories, defaults filled in.

        Raises InputError if more top values are asked for than there are categories.
        """
        top = max(1, round(TOP_SHARE * k)) if self.top_values is None else self.top_values
        if top > k:
            raise InputError(f"top-values must be at most k={k}, got {top}")
        return MetricValues(top, self.set_share or SET_SHARE, self.kl_mix or KL_MIX)


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

    def assumptions(self, metrics: tuple[str, ...]) -> list[str]:
        """Return what is to be said of the settings of the metrics asked for."""
        lines = []
        if {"kl", "js"} & set(metrics):
            lines.append(f"zeros are repaired by mixing in the uniform distribution at weight {self.mix:g} (--kl-mix)")
        if "topk" in metrics:
            lines.append(f"topk looks at the {self.top_values:,} most frequent values of the truth (--top-values)")
        if "set" in metrics:
            lines.append(f"set asks for subsets of {100 * self.set_share:g} % of the domain (--set-share)")
        return lines
