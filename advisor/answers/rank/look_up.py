"""Instant advice: predicted by the model of the shipped knowledge, without simulating anything."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from advisor.answers.rank.prediction import frequencies_of, stays
from advisor.answers.rank.result import Baseline, OtherUsers, Ranking, Recommendation, central_rows, empty_rankings
from advisor.answers.rank.trade_offs import predicted_for_single_categories
from advisor.answers.rank.verdict import errors_without_data, kind_of, reasons_of
from advisor.errors import InputError, listed
from advisor.question.constraints import nothing_left
from advisor.question.metric_settings import MetricSettings
from advisor.question.request import DEFAULT_PAIR, Request
from knowledge import predict, ranking
from knowledge.changes import COMMON_USERS
from knowledge.describe.assumption import AssumedSkew
from knowledge.menu import ALIASES, COVERED
from simulator import METRICS
from simulator.detection import detectable
from simulator.ranking import FLOOR

FEWEST_USERS = 50  # below it predictions, from 1,000 users on, are off by multiples


@dataclass(frozen=True, eq=False)  # holds arrays
class _Case:
    """A request with what is predicted for it."""

    request: Request
    frequencies: predict.Frequencies
    prediction: predict.PredictedErrors

    @property
    def truth(self) -> NDArray[np.float64]:
        """The frequencies ``(k,)``; of a skew, those of its first shape."""
        return self.request.counts / self.request.counts.sum()

    def predicted(self, n: int, protocols: tuple[str, ...]) -> predict.PredictedErrors:
        """Predict for other users or protocols."""
        return _predicted(self.request, self.frequencies, n, protocols)


def look_up(request: Request) -> tuple[Ranking, ...]:
    """Answer a request by the shipped model: one advice for each of its metrics.

    Raises InputError if the model does not predict a metric, or that setting of it, or none of the methods.
    """
    if nothing_left(request):
        return empty_rankings(request)
    check_settings_known(request)
    frequencies = frequencies_of(request)
    case = _Case(request, frequencies, _predicted(request, frequencies, request.n, request.protocols))
    return tuple(_advice(metric, case) for metric in request.metrics)


def _predicted(
    request: Request, frequencies: predict.Frequencies, n: int, protocols: tuple[str, ...]
) -> predict.PredictedErrors:
    budgets = None if request.central is None else request.central.local
    return predict.predicted(frequencies, request.epsilon, n, protocols, ordered=request.ordered, budgets=budgets)


def check_settings_known(request: Request) -> None:
    """Refuse settings of metrics that the model was not fitted to.

    Raises InputError if a metric is asked for with another setting than the usual.
    """
    usual = MetricSettings().resolved(request.k)
    for metric in request.metrics:
        value, known = request.metric_values.of(metric), usual.of(metric)
        if value != known:
            if isinstance(value, str):
                raise InputError(f"predictions do not know the sets of {value}: leave --instant out")
            raise InputError(
                f"a prediction needs {metric}:{known:g}, got {metric}:{value:g}: give a sample to simulate, and no "
                "--instant"
            )


def _ranked(metric: str, methods: tuple[str, ...], prediction: predict.PredictedErrors) -> ranking.LookUp:
    if not any(ALIASES.get(method, method) in COVERED for method in methods):
        raise InputError(f"predictions do not cover {listed(methods)}: give a sample to simulate, and no --instant")
    try:
        return ranking.rank(prediction, metric, methods)
    except ValueError as error:
        raise InputError(str(error)) from None


def _advice(metric: str, case: _Case) -> Ranking:
    request, prediction = case.request, case.prediction
    answer = _ranked(metric, request.methods, prediction)
    rows = _recommendations(request, answer)
    uniform, zero = _without_data(metric, case)
    first = rows[0]
    return Ranking(
        request=request,
        metric=metric,
        source="grid",
        recommendations=rows,
        baselines=_baselines(rows, answer, metric, case, uniform),
        repetitions=0,
        detectable_frequency=detectable(request.oracle(first.protocol), request.n),
        warnings=(*request.warnings, *map(str, answer.warnings), *_missing(answer)),
        error_without_data=min(uniform, zero),
        beats_uniform_guess=first.error_high < min(uniform, zero) and request.n >= FEWEST_USERS,
        resolved=not first.tied,
        experiment_id=_digest(case),
        leader=answer.best.pair,
        # With a shuffler other users have other budgets.
        elsewhere=partial(_other_users, metric, case, first.pair, min(uniform, zero))
        if request.central is None
        else None,
        single_categories=predicted_for_single_categories(metric, rows),
        by_shape=_by_shape(case, answer, first.pair),
        tree=answer.tree,
    )


def _recommendations(request: Request, answer: ranking.LookUp) -> tuple[Recommendation, ...]:
    """Return the rows of a look-up, with the figures of a simulation left empty."""
    oracles = {name: request.oracle(name) for name in {row.protocol for row in answer.rows}}
    standing = ranking.placed(answer, {name: request.cost(name) for name in oracles})
    return tuple(
        Recommendation(
            rank=place.rank,
            tier=1 if place.rank == 1 else 2,
            tied=place.tied,
            protocol=row.protocol,
            method=row.method,
            error=row.error,
            error_low=row.low,
            error_high=row.high,
            standard_error=None,
            spread=None,
            ratio_to_best=row.ratio,
            ratio_low=row.ratio_low,
            ratio_high=row.ratio_high,
            win_share=None,
            repetitions=None,
            error_without_postprocessing=row.raw_error,
            equivalent_users=None,
            mean_absolute_error=row.per_category,
            report_bits=oracles[row.protocol].report_bits,
            attack_success=request.attack_success(row.protocol),
            origin=row.origin,
            epsilon=request.budget(row.protocol),
        )
        for place in standing
        for row in [answer.rows[place.at]]
    )


def _by_shape(case: _Case, answer: ranking.LookUp, pair: tuple[str, str]) -> tuple[tuple[str, float], ...]:
    """Return for a skew the error of a pair for each shape that the skew represents."""
    if not isinstance(case.frequencies, AssumedSkew):
        return ()
    row = next(row for row in answer.rows if row.pair == pair)
    return tuple(zip(case.frequencies.names, row.by_shape, strict=True))


def _missing(answer: ranking.LookUp) -> list[str]:
    if not answer.missing:
        return []
    return [f"predictions do not cover {listed(answer.missing)}, so they are not ranked: give a sample to simulate"]


def _digest(case: _Case) -> str:
    """Return a name for the figures: of the models, protocols and noises, the frequencies, and the skew if any."""
    text = json.dumps(
        [
            [model.provenance.to_json() for model in case.prediction.models],
            repr((case.request.epsilon, case.request.n, case.request.protocols, case.prediction.noises)),
            case.request.skew,
        ],
        sort_keys=True,
    )
    return hashlib.blake2b(text.encode() + case.truth.tobytes(), digest_size=16).hexdigest()


def _other_users(metric: str, case: _Case, pair: tuple[str, str], without_data: float) -> tuple[OtherUsers, ...]:
    choose, request = stays(pair), case.request
    if request.users != request.n:
        return ()  # each user reports one of several attributes: n counts reports
    others = []
    for n in COMMON_USERS:
        prediction = case.prediction if n == request.n else case.predicted(n, request.protocols)
        answer = _ranked(metric, request.methods, prediction)
        best_pair = choose(answer)
        row = next(row for row in answer.rows if row.pair == best_pair)
        # What an answer without data errs by does not depend on the number of users.
        verdict = kind_of(reasons_of(row.error, without_data, below=row.high < without_data))
        others.append(OtherUsers(n, *best_pair, verdict))
    return tuple(others)


def _without_data(metric: str, case: _Case) -> tuple[float, float]:
    """Return the errors of two answers that use no data: all categories equally frequent, and 0 for all.

    Over the histograms of a skew they are averaged as predictions are: by their logarithms. That the mean of a
    symmetric one lies where a guess puts it says nothing of the others.
    """
    frequencies, measure = case.frequencies, METRICS[metric].with_options(**case.request.metric_values.plain())
    truths = frequencies.histograms(case.request.n) if isinstance(frequencies, AssumedSkew) else (case.truth,)
    errors = errors_without_data(measure, truths)
    even = np.array([np.ptp(truth) < FLOOR for truth in truths])
    counted = even[:, None] | (errors >= FLOOR * errors.max(axis=0))
    with np.errstate(divide="ignore"):  # of equal frequencies that are equal there is no error
        uniform, zero = np.exp(np.log(errors).mean(axis=0, where=counted)).tolist()
    return uniform, zero


def _baselines(
    rows: tuple[Recommendation, ...], answer: ranking.LookUp, metric: str, case: _Case, uniform: float
) -> tuple[Baseline, ...]:
    lowest, n = answer.best.error, case.request.n
    raw = [] if rows[0].error_without_postprocessing is None else [(rows[0].protocol, "none")]

    def row_of(kind: str, pair: tuple[str, str]) -> Baseline:
        inside = next((row for row in answer.rows if row.pair == pair), None)
        if inside is not None:
            return Baseline(
                kind, *pair, inside.error, inside.low, inside.high, inside.ratio, inside.ratio_low, inside.ratio_high
            )
        protocol, method = pair
        prediction = case.prediction if protocol in case.request.protocols else case.predicted(n, (protocol,))
        others = _ranked(metric, (method,), prediction).rows
        single = next(row for row in others if row.protocol == protocol)
        return Baseline(kind, *pair, single.error, single.low, single.high, single.error / lowest, None, None)

    return (
        *(row_of("raw", pair) for pair in raw),
        Baseline("uniform", None, None, uniform, uniform, uniform, uniform / lowest if lowest else None, None, None),
        row_of("default", DEFAULT_PAIR),
        *central_rows(metric, case.request, lowest),
    )
