"""Whether a pipeline is told of an answer that is of no use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from advisor.question.option import Settings, option


@dataclass(frozen=True, kw_only=True)
class Usefulness(Settings):
    """What a pipeline is told of an answer that is of no use."""

    panel: ClassVar[str] = "Output"

    fail_if_useless: bool = option("--fail-if-useless", advanced=True, help="exit code 3 if no better than no data")
