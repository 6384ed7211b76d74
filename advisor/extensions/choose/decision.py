"""A choice for people who decide, in words without ε."""

from __future__ import annotations

from advisor.extensions.choose.answer import Choice
from advisor.extensions.choose.case import Reason
from advisor.extensions.choose.words import people_text, points
from advisor.show.decision import Decision, decision_of
from advisor.show.model import Badge

REASONS = {
    Reason.REACHED: (Badge.COLLECT, "a share will be off by about {off}"),
    Reason.NOTHING_ASKED: (Badge.DO_NOT_COLLECT, "a guess without any data is off by only {without}"),
    Reason.JUST_ENOUGH: (Badge.ALMOST, "a share will probably be off by less than {within}, but that is not sure"),
    Reason.JUST_SHORT: (Badge.ALMOST, "a share will probably be off by {off}, and {within} was asked for"),
    Reason.OUT_OF_REACH: (Badge.DO_NOT_COLLECT, "shares within {within} cannot be had with so many people and answers"),
    Reason.UNSURE: (Badge.DO_NOT_COLLECT, "it is not sure that the result is better than a guess without any data"),
    Reason.NOT_COVERED: (Badge.DO_NOT_COLLECT, "whether it would be exact enough has to be simulated first"),
}


def decision_of_choice(choice: Choice) -> Decision:
    """Return the decision of a choice."""
    case, need = choice.case, choice.changes.people
    badge, reason = REASONS[choice.reason]
    within = points(case.within)
    texts = {"off": points(choice.best.error), "without": points(case.without), "within": within}
    wanted = f"A share may be off by {within} on average."
    if choice.open_accuracy:
        wanted = f"Half of the error without any data is taken to be exact enough: {within} on average."
    takes = {} if need is None else {"takes": f"{people_text(need).capitalize()} would be enough."}
    return decision_of(choice.there, badge, reason.format_map(texts), wanted=wanted, times=case.times, **takes)
