"""What the options of a ranking alone forbid, before anything is read."""

from __future__ import annotations

from advisor.question.fitting import (
    checked_threat,
    fitting_methods,
    fitting_metrics,
    fitting_protocols,
    refuse_registered,
)
from advisor.question.plurality import check_attributes
from advisor.question.request import RankSettings
from advisor.question.settings import Categories


def check_early(settings: RankSettings, domain: Categories, *, instant: bool = False) -> None:
    """Refuse what the options alone forbid, before anything is read; `instant` where nothing is simulated.

    Raises InputError for the first that does not fit.
    """
    if instant:
        refuse_registered(settings.question, settings.menu, domain.k)
    may_be_ordered = domain.ordered is not False
    metrics, _ = fitting_metrics(settings.question, may_be_ordered)
    fitting_protocols(settings.menu, may_be_ordered, instant=instant)
    fitting_methods(settings.menu, metrics, may_be_ordered, settings.threat)
    if domain.k is not None:
        settings.metric_settings.resolved(domain.k)
    if not instant:
        _ = settings.repetitions
    n = settings.question.n
    checked_threat(settings.threat, n, instant=instant)
    if n is not None and settings.promise.central_epsilon is None:
        check_attributes(settings.plurality, settings.epsilon, n)
