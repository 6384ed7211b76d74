"""From a request to advice: simulate, rank, compare with what one would do otherwise. Pure; nothing is printed."""

from __future__ import annotations

from dataclasses import replace

from advisor.answers.rank.assemble import RAW, contests, ranking_of
from advisor.answers.rank.look_up import look_up
from advisor.answers.rank.result import Answer, empty_rankings, usual_pair
from advisor.answers.rank.threat import under_threat
from advisor.answers.rank.why import explained
from advisor.errors import InputError, listed
from advisor.members import as_named
from advisor.question.constraints import fitting_pairs, nothing_left
from advisor.question.estimate_request import NEXT_ROUND
from advisor.question.question import Question
from advisor.question.ranking import FULL_RACE_DOMAIN, REPETITIONS
from advisor.question.request import Request
from advisor.question.settings import Simulation
from simulator import METRICS, POSTPROCESSORS
from simulator.benchmark import Experiment, Runs, judged, simulate
from simulator.methods.processor import SUMMARIES
from simulator.metrics import EMD_SLACK
from simulator.poisoning import MAXIMAL, Attack
from simulator.progress import Progress, part, silent, within
from simulator.race import race
from simulator.ranking import Pair

ALWAYS_MEASURED = ("mae", "mse")  # behind the answer in users, whatever the metric


def ranking_answer(question: Question, request: Request, progress: Progress = silent) -> Answer:
    """Return the answer to a question whose data were read: simulated, or predicted with or without reasons."""
    if not question.is_predicted:
        return simulated_answer(request, jobs=question.simulation.jobs, progress=progress)
    rankings = look_up(request)
    return Answer(explained(rankings) if question.instant.why else rankings)


def simulated_answer(request: Request, *, jobs: int | None = None, progress: Progress = silent) -> Answer:
    """Answer a request by simulation: one advice for each of its metrics, and the errors behind them."""
    if nothing_left(request):
        return Answer(empty_rankings(request))
    first, second = (part(progress, place, 1 if request.threat is None else 2) for place in (0, 1))
    experiment, runs = simulate_request(request, jobs=jobs, progress=first)
    judged_runs = judged_methods(request, experiment)
    menu = [pair for pair in runs.errors if pair[1] in request.methods]
    request = replace(request, metrics=runs.metrics_of(request.metrics, menu))
    tables = [contests(metric, request, experiment, runs, judged_runs) for metric in request.metrics]
    rankings = tuple(map(ranking_of, tables))
    if request.threat is not None:
        threads = _threads(experiment, request, jobs)
        rankings = under_threat(rankings, tables, experiment, jobs=threads, progress=second)
    return Answer(rankings, (runs,) if judged_runs is None else (runs, judged_runs))


def simulate_request(
    request: Request, *, jobs: int | None = None, progress: Progress = silent
) -> tuple[Experiment, Runs]:
    """Simulate what a request needs: its menu, each protocol's raw estimate, and the usual default."""
    experiment, menu = experiment_of(request)
    jobs = _threads(experiment, request, jobs)
    if request.collected is not None:
        return experiment, _simulate_collected(experiment, request, request.collected.protocol, jobs, progress)
    runs = race(
        experiment,
        request.metrics,
        menu=menu,
        alongside=request.usual,
        repetitions=request.repetitions,
        max_repetitions=request.max_repetitions,
        enough=REPETITIONS[0] if request.k > FULL_RACE_DOMAIN else 0,
        jobs=jobs,
        progress=progress,
    )
    return experiment, runs


def experiment_of(request: Request) -> tuple[Experiment, list[Pair]]:
    """Return the experiment that answers a request, and the pairs of its menu.

    Raises InputError if no method that was asked for goes with any of the protocols.
    """
    used = () if request.collected is None else (request.collected.protocol,)
    protocols = tuple(dict.fromkeys([*used, *request.protocols]))
    menu = fitting_pairs(request, protocols)
    if not any(protocol in (used or protocols) for protocol, _ in menu):
        raise InputError(
            f"no method asked for goes with the protocols asked for: {listed(request.methods)} with "
            f"{listed(used or protocols)} (ldp-advise explain {as_named(request.methods[0])} says what it is for)"
        )
    raw = [(protocol, "none") for protocol in protocols if request.oracle(protocol).offers("estimate")]
    usual = [*request.usual, *(usual_pair(request.oracle(protocol)) for protocol in used)]
    pairs = tuple(dict.fromkeys([*menu, *raw, *usual]))
    measured = {name: METRICS[name] for name in (*request.metrics, *ALWAYS_MEASURED)}
    if request.ground is not None and "emd" in measured:
        measured[EMD_SLACK.name] = EMD_SLACK
    experiment = Experiment(
        counts=request.counts if request.populations is None else request.populations,
        oracles={name: request.oracle(name) for name in dict.fromkeys(p for p, _ in pairs)},
        methods={name: POSTPROCESSORS[name] for name in dict.fromkeys(m for _, m in pairs)},
        metrics={name: metric.with_options(**request.metric_options) for name, metric in measured.items()},
        pairs=pairs,
        seed=request.seed,
        domain=request.domain,
        attack=None if request.threat is None else Attack(MAXIMAL, request.threat, request.promoted),
    )
    return experiment, menu


def _threads(experiment: Experiment, request: Request, jobs: int | None) -> int:
    return Simulation(jobs=jobs).threads(len(experiment.pairs), request.repetitions, request.k)


def _simulate_collected(experiment: Experiment, request: Request, used: str, jobs: int, progress: Progress) -> Runs:
    """Simulate a collection with each protocol from some populations, for the next round.

    Where populations are no draws from a posterior, several from every one with the protocol that was used as well.
    """
    repetitions, populations = request.repetitions, len(experiment.populations)
    each = NEXT_ROUND if populations == 1 else min(NEXT_ROUND, populations)
    others = repetitions if request.judged else min(each, repetitions)
    more = repetitions - others
    pairs, before = [pair for pair in experiment.pairs if pair[0] == used], others * len(experiment.pairs)
    total = before + more * len(pairs)
    runs = simulate(experiment, 0, others, jobs=jobs, progress=within(progress, "all pairs", 0, total))
    if more:
        steps = within(progress, f"pairs of {used}", before, total)
        runs += simulate(experiment, others, more, pairs=pairs, jobs=jobs, progress=steps)
    return runs


def judged_methods(request: Request, experiment: Experiment) -> Runs | None:
    """Return the errors of what methods make of what was collected, if populations tell them."""
    collected = request.collected
    if collected is None or not request.judged:
        return None
    methods = {
        method: experiment.methods[method] for protocol, method in experiment.pairs if protocol == collected.protocol
    }
    summaries = {name: POSTPROCESSORS[name] for name in SUMMARIES if request.summaries}
    observed = replace(collected.observed, domain=request.domain)
    runs = judged(experiment, collected.protocol, observed, methods | summaries)
    if collected.given is not None and RAW in methods:  # what was given is raw to who gave it
        as_given = judged(
            experiment, collected.protocol, replace(observed, estimate=collected.given), {RAW: methods[RAW]}
        )
        runs = replace(runs, errors={**runs.errors, **as_given.errors})
    return runs
