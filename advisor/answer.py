"""From a request to advice: simulate, rank, compare with what one would do otherwise. Pure; nothing is printed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from statistics import NormalDist
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from advisor.errors import InputError, listed
from advisor.inputs.domain import build_domain
from advisor.request import Request, build_request, check_settings, check_whole
from advisor.result import Advice, Baseline, Recommendation, finite
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.benchmark import Experiment, Runs, race
from simulator.ranking import Pair, Standing, contenders, paired_ratio, rank, t_quantile

DEFAULT_PAIR: Pair = ("oue", "norm_sub")
ALWAYS_MEASURED = ("mae", "mse")  # behind the answer in users, whatever the metric
DETECTION_LEVEL = 0.05
PARALLEL_CELLS = 20_000_000  # pairs x repetitions x categories from which threads are worth their start


def advise(
    epsilon: float,
    *,
    metric: str = "l1",
    k: int | None = None,
    n: int | None = None,
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    protocol: str | Sequence[str] | None = None,
    method: str | Sequence[str] | None = None,
    ordered: bool | None = None,
    repetitions: int | None = None,
    max_repetitions: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    top_values: int | None = None,
    set_share: float | None = None,
    kl_mix: float | None = None,
) -> Advice:
    """Rank every protocol and post-processing method for a collection like the sample.

    Parameters
    ----------
    epsilon
        Privacy budget of one report.
    metric
        Error metric, by its name in `simulator.METRICS` or a paper's.
    k
        Domain size; larger than what the sample shows where categories are unobserved.
    n
        Users who will report; default: the size of the sample.
    sample
        One raw value per user.
    sample_counts
        Instead of `sample`: one count per category, or a mapping from label to count.
    protocol, method
        Restrict the menu.
    ordered
        Whether the categories have an order; default: numeric labels have, other labels have not. Counts without
        labels are numbered from 0.
    repetitions, max_repetitions
        Simulated collections to start with (20), and at most (400), to resolve the top of the ranking.
    seed
        Any whole number of at least 0; the same seed gives the same numbers.
    jobs
        Threads; the numbers do not depend on it. Default: all cores for large simulations.
    top_values, set_share, kl_mix
        Settings of the metrics ``topk``, ``set`` and ``kl``/``js``.

    Returns
    -------
    Frozen advice; ``.best`` is the pair to use.

    Raises
    ------
    InputError
        A `ValueError` of one line, if the request is wrong.

    Examples
    --------
    >>> advice = advise(1.0, sample_counts=[5000, 3000, 1500, 500, 0, 0, 0, 0], metric="l1")
    >>> advice.best.method in {row.method for row in advice.ties}
    True
    """
    names = [protocol] if isinstance(protocol, str) else list(protocol or [])
    if not isinstance(metric, str):
        raise InputError(f"metric must be the name of one metric, got {metric!r}")
    if jobs is not None:
        check_whole("jobs", jobs, 1, 1024)
    settings = check_settings(
        epsilon=epsilon,
        metrics=[metric],
        protocols=names,
        methods=[method] if isinstance(method, str) else list(method or []),
        k=k,
        n=n,
        seed=seed,
        repetitions=repetitions,
        max_repetitions=max_repetitions,
        top_values=top_values,
        set_share=set_share,
        kl_mix=kl_mix,
    )
    if settings["every_metric"]:
        raise InputError("metric must be one metric, got 'all': call advise once for each")
    labels, counts, is_histogram = _sample_in_memory(sample, sample_counts)
    domain = build_domain(labels, counts, from_histogram=is_histogram, k=settings["k"], ordered=ordered)
    request = build_request(
        settings,
        labels=domain.labels,
        counts=domain.counts,
        ordered=domain.ordered,
        sample="sample_counts" if is_histogram else "sample",
        assumptions=domain.assumptions,
        warnings=domain.warnings,
    )
    return answer(request, jobs=jobs)[0]


def _sample_in_memory(
    sample: Iterable[Any] | None, sample_counts: ArrayLike | Mapping[Any, int] | None
) -> tuple[list[str], np.ndarray[Any, np.dtype[np.int64]], bool]:
    if (sample is None) == (sample_counts is None):
        raise InputError("give either sample (one value per user) or sample_counts (one count per category)")
    if sample is not None:
        return *_tally(sample), False
    labels: list[str]
    if hasattr(sample_counts, "items"):  # a mapping, or a pandas series with its index
        pairs = list(cast("Mapping[Any, Any]", sample_counts).items())
        labels, numbers = [_label(key) for key, _ in pairs], [number for _, number in pairs]
    else:
        array = np.asarray(sample_counts)
        if array.ndim != 1:
            raise InputError(f"sample_counts must be flat, one count per category, got shape {array.shape}")
        numbers = array.tolist()
        labels = [str(place) for place in range(len(numbers))]
    counts = [check_whole("every count in sample_counts", number, 0) for number in numbers]
    if sum(counts) < 1:
        raise InputError(f"sample_counts must hold at least 1 user, got {len(counts)} counts that sum to 0")
    return labels, np.array(counts, dtype=np.int64), True


def _tally(sample: Iterable[Any]) -> tuple[list[str], np.ndarray[Any, np.dtype[np.int64]]]:
    """Count the raw values of a sample in memory."""
    if isinstance(sample, str | bytes):
        raise InputError("sample must be a sequence of values, got a string: read the file first")
    values = sample if isinstance(sample, np.ndarray) else np.asarray(list(sample), dtype=object)
    if values.ndim != 1 or not values.size:
        raise InputError(f"sample must be a flat sequence of at least one value, got shape {values.shape}")
    if values.dtype.kind in "iub":
        distinct, tally = np.unique(values, return_counts=True)
        return [_label(value) for value in distinct.tolist()], tally.astype(np.int64)
    counter = Counter(_label(value) for value in values.tolist())
    return list(counter), np.array(list(counter.values()), dtype=np.int64)


def _label(value: Any) -> str:
    """Return a value as the label a file would hold; refuse what is no value."""
    if value is None or value != value or value in (float("inf"), float("-inf")) or str(value) in ("NaT", "<NA>"):
        raise InputError(f"sample must hold values, got {value!r}: leave missing ones out")
    if isinstance(value, list | tuple | dict | set | np.ndarray):
        raise InputError(f"sample must be flat, one value per user, got {value!r} in it")
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    if not text:
        raise InputError("sample must hold values, got an empty string: leave missing ones out")
    return text


def answer(
    request: Request, *, jobs: int | None = None, progress: Callable[[int, int], None] | None = None
) -> tuple[Advice, ...]:
    """Answer a request: one advice for each of its metrics, from one simulation."""
    return advice_from(request, *simulate_request(request, jobs=jobs, progress=progress))


def simulate_request(
    request: Request, *, jobs: int | None = None, progress: Callable[[int, int], None] | None = None
) -> tuple[Experiment, Runs]:
    """Simulate what a request needs: its menu, each protocol's raw estimate, and the usual default."""
    menu = [pair for pair in product(request.protocols, request.methods) if _fits(pair, request)]
    if not menu:
        raise InputError(
            f"no method asked for goes with the protocols asked for: {listed(request.methods)} with "
            f"{listed(request.protocols)}"
        )
    raw = [(protocol, "none") for protocol in request.protocols]
    pairs = tuple(dict.fromkeys([*menu, *raw, DEFAULT_PAIR]))
    options = {**request.metric_options, "seed": request.seed}
    measured = dict.fromkeys([*request.metrics, *ALWAYS_MEASURED])
    experiment = Experiment(
        counts=request.counts,
        oracles={name: PROTOCOLS[name](request.k, request.epsilon) for name in dict.fromkeys(p for p, _ in pairs)},
        methods={name: POSTPROCESSORS[name] for name in dict.fromkeys(m for _, m in pairs)},
        metrics={name: METRICS[name].with_options(**options) for name in measured},
        pairs=pairs,
        seed=request.seed,
    )
    if jobs is None:
        large = len(pairs) * request.repetitions * request.k > PARALLEL_CELLS
        jobs = (os.cpu_count() or 1) if large else 1
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


def _fits(pair: Pair, request: Request) -> bool:
    """Tell whether the method is for estimates of the protocol."""
    protocol, method = pair
    fits = POSTPROCESSORS[method].fits
    return fits is None or fits(PROTOCOLS[protocol](request.k, request.epsilon).noise(request.n), request.k)


def advice_from(request: Request, experiment: Experiment, runs: Runs) -> tuple[Advice, ...]:
    """Turn simulated errors into one advice for each metric of the request."""
    return tuple(_advice_for(metric, request, experiment, runs) for metric in request.metrics)


def _advice_for(metric: str, request: Request, experiment: Experiment, runs: Runs) -> Advice:
    errors = runs.of(metric)
    menu = {
        pair: block for pair, block in errors.items() if pair[0] in request.protocols and pair[1] in request.methods
    }
    bits = {name: oracle.report_bits for name, oracle in experiment.oracles.items()}
    standings = rank(menu, bits)
    rows = tuple(_row(standing, errors, experiment, runs) for standing in standings)
    lowest = errors[min(menu, key=lambda pair: float(menu[pair].mean()))]
    noise = experiment.oracles[rows[0].protocol].noise(request.n)
    uniform = np.full(request.k, 1 / request.k)
    measure = experiment.metrics[metric]
    uniform_error = float(measure(uniform, experiment.truth))
    zero_error = float(measure(np.zeros(request.k), experiment.truth))
    reference = float(lowest.mean())
    baselines = (
        _baseline("raw", (rows[0].protocol, "none"), errors, lowest),
        Baseline(
            "uniform",
            None,
            None,
            uniform_error,
            uniform_error,
            uniform_error,
            uniform_error / reference if reference else None,
            None,
            None,
        ),
        _baseline("default", DEFAULT_PAIR, errors, lowest),
    )
    return Advice(
        request=request,
        metric=metric,
        source="simulation",
        recommendations=rows,
        baselines=baselines,
        repetitions=runs.repetitions,
        detectable_frequency=NormalDist().inv_cdf(1 - DETECTION_LEVEL) * noise.sd,
        warnings=request.warnings,
        error_without_data=min(uniform_error, zero_error),
        resolved=not contenders(menu).open,
        experiment_id=experiment.id,
    )


def _row(
    standing: Standing, errors: Mapping[Pair, np.ndarray[Any, np.dtype[np.float64]]], experiment: Experiment, runs: Runs
) -> Recommendation:
    protocol, method = standing.pair
    oracle = experiment.oracles[protocol]
    raw_variance = float(oracle.variance(experiment.truth, experiment.n).mean())
    squares, absolutes = (runs.of(name).get(standing.pair) for name in ("mse", "mae"))
    mean_square = None if squares is None else float(squares.mean())
    return Recommendation(
        rank=standing.rank,
        tier=standing.tier,
        tied=standing.tied,
        protocol=protocol,
        method=method,
        error=standing.error,
        error_low=standing.low,
        error_high=standing.high,
        standard_error=standing.standard_error,
        spread=standing.spread,
        ratio_to_best=finite(standing.ratio.value),
        ratio_low=finite(standing.ratio.low),
        ratio_high=finite(standing.ratio.high),
        win_share=standing.win_share,
        repetitions=standing.repetitions,
        # Over the repetitions of this row, so that the two figures share their noise.
        error_without_postprocessing=float(errors[protocol, "none"][: standing.repetitions].mean()),
        # Raw variance falls as 1/n, so the n that gives this mean square is n * raw variance / mean square.
        equivalent_users=(
            float(experiment.n)
            if method == "none"
            else experiment.n * raw_variance / mean_square
            if mean_square
            else None
        ),
        mean_absolute_error=None if absolutes is None else float(absolutes.mean()),
        report_bits=oracle.report_bits,
        attack_success=oracle.attack_success,
    )


def _baseline(
    kind: str,
    pair: Pair,
    errors: Mapping[Pair, np.ndarray[Any, np.dtype[np.float64]]],
    lowest: np.ndarray[Any, np.dtype[np.float64]],
) -> Baseline:
    block = errors[pair]
    ratio = paired_ratio(block, lowest)
    reach = t_quantile(len(block)) * float(block.std(ddof=1)) / len(block) ** 0.5
    mean = float(block.mean())
    return Baseline(
        kind,
        *pair,
        mean,
        max(0.0, mean - reach),
        mean + reach,
        finite(ratio.value),
        finite(ratio.low),
        finite(ratio.high),
    )
