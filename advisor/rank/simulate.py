"""From a request to advice: simulate, rank, compare with what one would do otherwise. Pure; nothing is printed."""

from __future__ import annotations

from collections.abc import Callable

from advisor.errors import InputError, listed
from advisor.question.constraints import fitting_pairs, nothing_left
from advisor.question.request import Request
from advisor.question.settings import Simulation
from advisor.rank.assemble import estimate_advice, others_repetitions, simulated_advice
from advisor.rank.result import DEFAULT_PAIR, Answer, Ranking, empty_rankings
from advisor.rank.threat import with_gains
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.benchmark import Experiment, Runs, race, simulate
from simulator.domain import Domain

ALWAYS_MEASURED = ("mae", "mse")  # behind the answer in users, whatever the metric


def simulated_answer(
    request: Request, *, jobs: int | None = None, progress: Callable[[int, int], None] | None = None
) -> Answer:
    """Answer a request by simulation: one advice for each of its metrics, and the errors behind them."""
    if nothing_left(request):
        return Answer(empty_rankings(request))
    experiment, runs = simulate_request(request, jobs=jobs, progress=progress)
    return Answer(advice_from(request, experiment, runs), runs)


def simulate_request(
    request: Request, *, jobs: int | None = None, progress: Callable[[int, int], None] | None = None
) -> tuple[Experiment, Runs]:
    """Simulate what a request needs: its menu, each protocol's raw estimate, and the usual default."""
    used = () if request.collected is None else (request.collected.protocol,)
    protocols = tuple(dict.fromkeys([*used, *request.protocols]))
    menu = fitting_pairs(request, protocols)
    if not any(protocol in (used or protocols) for protocol, _ in menu):
        raise InputError(
            f"no method asked for goes with the protocols asked for: {listed(request.methods)} with "
            f"{listed(used or protocols)}"
        )
    raw = [(protocol, "none") for protocol in protocols]
    usual = [DEFAULT_PAIR, *((protocol, DEFAULT_PAIR[1]) for protocol in used)]
    pairs = tuple(dict.fromkeys([*menu, *raw, *usual]))
    options = request.metric_values.options(request.seed)
    measured = dict.fromkeys([*request.metrics, *ALWAYS_MEASURED])
    experiment = Experiment(
        counts=request.counts if request.populations is None else request.populations,
        oracles={name: PROTOCOLS[name](request.k, request.epsilon) for name in dict.fromkeys(p for p, _ in pairs)},
        methods={name: POSTPROCESSORS[name] for name in dict.fromkeys(m for _, m in pairs)},
        metrics={name: METRICS[name].with_options(**options) for name in measured},
        pairs=pairs,
        seed=request.seed,
        domain=Domain(request.ordered),
    )
    jobs = Simulation(jobs=jobs).workers(len(pairs) * request.repetitions * request.k)
    if used:
        return experiment, _simulate_collected(experiment, request, used[0], jobs, progress)
    runs = race(
        experiment,
        request.metrics,
        menu=menu,
        alongside=[DEFAULT_PAIR],
        repetitions=request.repetitions,
        max_repetitions=request.max_repetitions,
        jobs=jobs,
        progress=progress,
    )
    return experiment, runs


def _simulate_collected(
    experiment: Experiment, request: Request, used: str, jobs: int, progress: Callable[[int, int], None] | None
) -> Runs:
    """Simulate several collections from every population with the protocol that was used, and fewer with the others."""
    others = others_repetitions(len(experiment.populations), request.repetitions)
    more = request.repetitions - others
    cells = others * len(experiment.oracles) + more
    done_before = others * len(experiment.oracles)
    runs = simulate(
        experiment, 0, others, jobs=jobs, progress=None if progress is None else lambda done, _: progress(done, cells)
    )
    if not more:
        return runs
    return runs + simulate(
        experiment,
        others,
        more,
        pairs=[pair for pair in experiment.pairs if pair[0] == used],
        jobs=jobs,
        progress=None if progress is None else lambda done, _: progress(done_before + done, cells),
    )


def advice_from(request: Request, experiment: Experiment, runs: Runs) -> tuple[Ranking, ...]:
    """Turn simulated errors into one advice for each metric of the request."""
    one = simulated_advice if request.collected is None else estimate_advice
    advices = tuple(one(metric, request, experiment, runs) for metric in request.metrics)
    if request.threat is None:
        return advices
    return with_gains(advices, experiment)
