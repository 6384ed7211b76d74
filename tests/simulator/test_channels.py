import math
from itertools import product

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from simulator import channels
from simulator.channels import FixedChannel, epsilon_per_unit, krr, optimal, planar_geometric, planar_laplace
from simulator.channels.channel import InversionCovariance
from simulator.channels.mechanisms import GAP, MOST_LOG_RATIO
from simulator.methods.maximum_likelihood import LANES, OFTEN, TOLERANCE, maxima, maximum
from simulator.places import Places
from simulator.populations import apportion, frequencies
from simulator.protocols.grr import GRR
from simulator.protocols.protocol import Tally
from simulator.seeding import rng_for
from tests.cells import failures, over

from .law import accept, moments_p

FALSE_ALARM = 1e-6
GRID, WIDE = Places(3, 4, "euclidean", 1.0, 1.5), Places(5, 6)
LN2 = math.log(2)


def a_channel(name="matrix", shape=(4, 6), least=0.0):
    weights = rng_for(0, name).random(shape) + least
    return FixedChannel("own", "a matrix", weights / weights.sum(axis=1, keepdims=True))


def ibu(channel, observed, **options):
    return maximum(channel.likelihood, observed, **options)


def observed_by(channel, n=20_000, name="seen"):
    return channel.sample_tally(apportion(frequencies("zipf_shuffled", channel.k), n), rng_for(0, name)).counts


@pytest.mark.parametrize("how", ["sample", "replay"])
def test_observed_counts_have_mean_and_covariance_of_the_law(how):
    channel, counts = a_channel(), np.array([40, 0, 25, 10])
    repetitions, rng = 4000, rng_for(1, how)
    if how == "sample":
        drawn = channel.sample_tally(np.broadcast_to(counts, (repetitions, 4)), rng).counts
    else:
        users = np.repeat(np.arange(4), counts)
        drawn = np.stack([channel.tally(channel.perturb(users, rng)).counts for _ in range(repetitions)])
    assert (drawn.sum(axis=1) == counts.sum()).all()
    mean = counts @ channel.matrix
    covariance = np.diag(mean) - (channel.matrix.T * counts) @ channel.matrix
    assert all(map(accept, moments_p(drawn, mean, covariance)))


def test_a_matrix_that_is_5_percent_off_is_seen():
    channel, counts = a_channel(), np.array([40, 0, 25, 10]) * 50
    drawn = channel.sample_tally(np.broadcast_to(counts, (400, 4)), rng_for(2, "off")).counts.sum(axis=0)
    moved = 0.05 * channel.matrix[:, :1] * np.array([-1.0, 1, 0, 0, 0, 0])
    right, wrong = (
        stats.chisquare(drawn, 400 * counts @ matrix) for matrix in (channel.matrix, channel.matrix + moved)
    )
    assert wrong.pvalue < FALSE_ALARM < right.pvalue


def test_krr_is_grr():
    channel, oracle = krr(5, 1.3), GRR(5, 1.3)
    assert (channel.matrix[2, 2], channel.matrix[2, 3]) == pytest.approx((oracle.p, oracle.q), rel=1e-12)
    assert (channel.epsilon, channel.attack_success) == pytest.approx((1.3, oracle.attack_success), rel=1e-12)
    observed = observed_by(krr(30, 1.0))
    channel, oracle = krr(30, 1.0), GRR(30, 1.0)
    assert np.allclose(channel.linear.estimate(Tally(observed, 20_000)), oracle.estimate(observed, 20_000), atol=1e-12)
    truth = frequencies("zipf", 30)
    assert np.allclose(InversionCovariance(channel, 99).entry(truth), oracle.variance(truth, 99), rtol=1e-9)


def test_channels_on_a_line_are_those_of_the_distribution_functions():
    k, epsilon = 6, 0.4
    far = np.arange(-400, 401 + k)
    noise = np.exp(-epsilon * np.abs(far - np.arange(k)[:, None]))
    noise *= (1 - math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    expected = np.stack([noise[:, np.clip(far, 0, k - 1) == y].sum(axis=1) for y in range(k)], axis=1)
    assert np.allclose(planar_geometric(Places(1, k), epsilon).matrix, expected, rtol=1e-12, atol=0)
    epsilon, edges = 0.8, np.array([-np.inf, 0.5, 1.5, np.inf])
    expected = np.diff(stats.laplace(loc=np.arange(3)[:, None], scale=1 / epsilon).cdf(edges), axis=1)
    assert np.allclose(planar_laplace(Places(1, 3), epsilon).matrix, expected, rtol=1e-12)


@pytest.mark.parametrize("ground", ["euclidean", "manhattan"])
def test_planar_geometric_is_the_endless_lattice_cut_to_the_grid(ground):
    places, epsilon, reach = Places(3, 4, ground, 1.0, 1.5), 0.7, 60
    rows, columns = np.arange(-reach, reach + 3), np.arange(-reach, reach + 4)
    target = (np.clip(rows, 0, 2)[:, None] * 4 + np.clip(columns, 0, 3)).ravel()
    matrix = np.empty((12, 12))
    for x, (row, column) in enumerate(product(range(3), range(4))):
        down, across = np.abs(rows - row)[:, None] * 1.0, np.abs(columns - column) * 1.5
        weights = np.exp(-epsilon * (down + across if ground == "manhattan" else np.hypot(down, across)))
        matrix[x] = np.bincount(target, weights.ravel() / weights.sum())
    # What lies beyond 60 cells is e^-42 of the whole.
    assert np.allclose(planar_geometric(places, epsilon).matrix, matrix, rtol=1e-10, atol=0)


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_planar_laplace_integrates_the_density(epsilon):
    matrix = planar_laplace(GRID, epsilon).matrix

    def density(x, y):
        return epsilon**2 / (2 * math.pi) * math.exp(-epsilon * math.hypot(x, y))

    def mass(x_from, x_to, y_from, y_to):
        return float(integrate.dblquad(density, y_from, y_to, x_from, x_to, epsabs=1e-11, epsrel=1e-9)[0])

    # From cell (1, 1): itself in quarters (the density has a kink there), an inner neighbour, and the right border.
    assert matrix[5, 5] == pytest.approx(4 * mass(0, 0.75, 0, 0.5), rel=1e-7)
    assert matrix[5, 6] == pytest.approx(2 * mass(0.75, 2.25, 0, 0.5), rel=1e-7)
    far = 60 / epsilon
    assert matrix[5, 7] == pytest.approx(2 * mass(2.25, far, 0, 0.5), rel=1e-6)
    assert matrix[5, 11] == pytest.approx(mass(2.25, far, 0.5, far), rel=1e-6)


def test_leakage_is_that_of_the_double_loop_and_built_in_noise_keeps_its_promise():
    own = a_channel("leak", (12, 7), 0.1)

    def check(cell):
        build, ground = cell
        places = Places(3, 4, ground, 1.0, 1.5)
        channel, distances = build(places, 0.6), places.distances()
        logs, apart = np.log(channel.matrix), places.distances() > 0
        gaps = np.abs(logs[:, None] - logs).max(axis=2)
        assert channels.epsilon_within(channel, places, 2.0) == pytest.approx(gaps[distances <= 2.0].max(), rel=1e-9)
        assert channels.epsilon_within(channel, places, 99) == pytest.approx(channel.epsilon, rel=1e-9)
        per_unit = (gaps[apart] / distances[apart]).max()
        assert epsilon_per_unit(channel, places) == pytest.approx(per_unit, rel=1e-9)
        assert epsilon_per_unit(channel, distances) == pytest.approx(per_unit, rel=1e-9)
        if build in (planar_geometric, planar_laplace):
            wide = Places(9, 6, ground)
            leak = epsilon_per_unit(build(wide, LN2), wide)
            assert 0.99 * LN2 < leak <= LN2 * (1 + 1e-9)  # rounding of quadrature and logarithms

    builders = (planar_geometric, planar_laplace, lambda *_: own)
    assert failures(product(builders, ("euclidean", "manhattan")), check) == {}


def test_impossible_outputs_leak_everything_and_so_does_cloaking_and_common_ones_nothing():
    channel = FixedChannel("own", "own", np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]))
    places = Places(1, 3)
    assert channel.epsilon == math.inf
    assert epsilon_per_unit(channel, places) == math.inf
    two = FixedChannel("own", "own", np.array([[0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]))
    assert two.epsilon == 0
    assert channels.epsilon_within(two, Places(1, 2), 1) == 0
    places = Places(4, 5)
    channel = channels.cloaking(places, 3)
    assert channel.matrix.argmax(axis=1).reshape(4, 5).tolist() == [[6, 6, 6, 8, 8]] * 3 + [[16, 16, 16, 18, 18]]
    assert channel.epsilon == epsilon_per_unit(channel, places) == math.inf
    assert (channels.cloaking(places, 1).matrix == np.eye(20)).all()


NO_METRICS = [
    ([[0, 1], [1, 0], [1, 1]], "must be a 2x2 matrix"),
    ([[0, np.nan], [1, 0]], "numbers above 0"),
    ([[0, 0], [0, 0]], "numbers above 0"),
    ([[0, 1, 1], [1, 0, 2], [1, 3, 0]], "symmetric"),
    ([[0, 1, 3], [1, 0, 1], [3, 1, 0]], "triangle inequality: 0 to 2 is shorter over others"),
]


@over(NO_METRICS)
def test_distances_of_no_metric_are_refused(distances, words):
    k = len(distances[0])
    for ask in (lambda at: epsilon_per_unit(krr(k, 1.0), at), lambda at: optimal(at, 1.0, np.full(k, 1 / k))):
        with pytest.raises(ValueError, match=words):
            ask(np.array(distances, dtype=float))


def test_a_metric_that_is_no_grid_has_an_optimum_too():
    """A tree: three leaves around a place, by roads of 1, 2 and 3."""
    distances = np.array([[0, 1, 2, 3], [1, 0, 3, 4], [2, 3, 0, 5], [3, 4, 5, 0]], dtype=float)
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    channel = optimal(distances, 0.6, prior)
    assert epsilon_per_unit(channel, distances) <= 0.6 * (1 + 1e-12)
    moved = channel.expected_distance(prior, distances)
    assert moved == pytest.approx(dual_of_optimal(distances, 0.6, prior), abs=5e-6)
    assert moved < krr(4, 0.6).expected_distance(prior, distances)


def test_the_adversary_guesses_what_is_nearest_on_average_and_never_worse_than_the_report():
    channel, prior, distances = planar_geometric(GRID, 0.8), frequencies("zipf", 12), GRID.distances()
    by_hand = 0.0
    for y in range(12):
        guesses = [sum(prior[x] * channel.matrix[x, y] * distances[x, guess] for x in range(12)) for guess in range(12)]
        by_hand += min(guesses)
    error = channel.adversary_error(prior, distances)
    assert error == pytest.approx(by_hand, rel=1e-12)
    assert error < channel.expected_distance(prior, distances)
    nothing = FixedChannel("none", "nothing", np.full((12, 3), 1 / 3))
    assert nothing.adversary_error(prior, distances) == pytest.approx((prior @ distances).min(), rel=1e-12)


def dual_of_optimal(distances, epsilon, prior):
    """The best proof that no d-private mechanism has a lower expected distance: weights of sums and constraints."""
    k = len(prior)
    pairs = [(x, y) for x, y in product(range(k), repeat=2) if x != y]
    rows, costs = [], []
    for x, z in product(range(k), repeat=2):
        weights = np.zeros((len(pairs), k))
        for at, (one, other) in enumerate(pairs):
            weights[at, z] = -1.0 if one == x else math.exp(epsilon * distances[one, x]) if other == x else 0.0
        rows.append(np.concatenate([np.eye(k)[x], weights.ravel()]))
        costs.append(prior[x] * distances[x, z])
    limits = [(None, None)] * k + [(0, None)] * (len(pairs) * k)
    goal = np.concatenate([-np.ones(k), np.zeros(len(pairs) * k)])
    return -float(optimize.linprog(goal, A_ub=np.array(rows), b_ub=costs, bounds=limits, method="highs-ds").fun)


@over(
    [
        (Places(2, 3), 0.7, "zipf"),
        (Places(2, 3, "manhattan", 1.0, 2.0), 1.5, "uniform"),
        (Places(1, 5), 0.1, "zipf_shuffled"),
        (Places(3, 2), 9.0, "uniform"),
    ]
)
def test_the_optimal_mechanism_is_d_private_and_no_other_is_nearer(places, epsilon, shape):
    prior, distances = frequencies(shape, places.k), places.distances()
    channel = optimal(distances, epsilon, prior)
    moved = channel.expected_distance(prior, distances)
    slack = (places.k * math.exp(-MOST_LOG_RATIO) + GAP) * distances.max()  # as documented
    assert abs(moved - dual_of_optimal(distances, epsilon, prior)) <= slack
    assert epsilon_per_unit(channel, places) <= epsilon * (1 + 1e-12)
    # Whatever an adversary makes of a report is d-private too, and therefore not nearer.
    assert moved - slack <= channel.adversary_error(prior, distances) <= moved * (1 + 1e-12)
    assert moved <= planar_geometric(places, epsilon).adversary_error(prior, distances) + slack


@over([(4, 0.5), (6, 1.2), (6, 0.05)])
def test_on_a_line_the_optimum_is_the_geometric_mechanism_remapped(k, epsilon):
    """For every prior: Ghosh, Roughgarden, Sundararajan, STOC 2009. Of two places it is randomised response."""
    prior, distances = frequencies("zipf_shuffled", k), Places(1, k).distances()
    remapped = planar_geometric(Places(1, k), epsilon).adversary_error(prior, distances)
    assert optimal(distances, epsilon, prior).expected_distance(prior, distances) == pytest.approx(
        remapped, abs=GAP * k
    )
    two = optimal(3 * distances[:2, :2], epsilon, np.array([0.5, 0.5]))
    assert np.allclose(two.matrix, krr(2, 3 * epsilon).matrix, rtol=1e-6)
    with pytest.raises(ValueError, match="at most 100 places"):
        optimal(np.zeros((101, 101)), 1.0, np.ones(101))
    with pytest.raises(ValueError, match="an epsilon above 0"):
        optimal(distances, 0.0, prior)


def test_what_is_no_channel_spreads_too_far_or_cannot_be_inverted_is_refused():
    with pytest.raises(ValueError, match="so small that noise spreads"):
        planar_geometric(Places(3, 3), 1e-4)
    with pytest.raises(ValueError, match="positive"):
        planar_laplace(Places(3, 3), 0.0)
    for matrix in (np.eye(2)[:1], [[0.5, 0.6], [0.5, 0.5]], [[1.2, -0.2], [0.5, 0.5]], np.full((2, 2), np.nan)):
        with pytest.raises(ValueError, match="channel"):
            FixedChannel("own", "own", np.array(matrix))
    three = [[0.5, 0.5], [0.4, 0.6], [0.3, 0.7]]
    for matrix in (np.full((3, 3), 1 / 3), three, [[0.5 + 1e-10, 0.5 - 1e-10], [0.5, 0.5]]):
        channel = FixedChannel("own", "own", np.array(matrix))
        with pytest.raises(channels.SingularChannelError, match="invers"):
            assert channel.decoder is None
        assert channel.linear is None


def test_inversion_is_unbiased_with_the_stated_variance():
    matrix = planar_geometric(WIDE, 1.0).matrix
    # More outputs than inputs: every output in two shades that tell nothing more.
    channel = FixedChannel("wide", "wide", np.concatenate([0.3 * matrix, 0.7 * matrix], axis=1))
    counts = apportion(frequencies("zipf", 30), 5000)
    repetitions, truth = 1500, counts / 5000
    tally = channel.sample_tally(np.broadcast_to(counts, (repetitions, 30)), rng_for(1, "inv"))
    drawn = channel.linear.estimate(tally)
    variance = InversionCovariance(channel, 5000).entry(truth)
    z = stats.norm.isf(1e-6 / 2 / 60)
    assert (np.abs(drawn.mean(axis=0) - truth) <= z * np.sqrt(variance / repetitions)).all()
    squares = (drawn - truth) ** 2
    assert (np.abs(squares.mean(axis=0) - variance) <= z * squares.std(axis=0) / math.sqrt(repetitions)).all()


def direct_likelihood(channel, observed, shares):
    return sum(o / observed.sum() * math.log(float(shares @ channel.matrix[:, y])) for y, o in enumerate(observed) if o)


@pytest.mark.parametrize("start", [None, np.array([0.0, 0.1, 0.2, 0.3, 0.2, 0.2])])
def test_plain_updates_are_the_textbook_loop_from_any_start(start):
    channel = planar_geometric(Places(2, 3), 0.7)
    observed = observed_by(channel, 500)
    matrix, shares = channel.matrix, np.full(6, 1 / 6) if start is None else start
    for _ in range(5):
        each = [[observed[y] / 500 * matrix[x, y] / (shares @ matrix[:, y]) for y in range(6)] for x in range(6)]
        shares = shares * np.sum(each, axis=1)
    done = ibu(channel, observed, accelerate=False, tolerance=0, most_updates=5, start=start)
    assert np.allclose(done.frequencies, shares, rtol=1e-12)
    assert done.log_likelihood == pytest.approx(direct_likelihood(channel, observed, shares), rel=1e-12)
    assert (done.updates, done.converged) == (5, False)


def test_starts_lead_to_one_maximum_and_must_be_frequencies_under_which_all_can_occur():
    channel = planar_geometric(Places(2, 3), 0.7)
    observed, starts = observed_by(channel, 500), (None, np.r_[0.5, [0.1] * 5])
    ends = [ibu(channel, observed, tolerance=1e-12, most_updates=5000, start=at) for at in starts]
    assert np.allclose(ends[0].frequencies, ends[1].frequencies, atol=1e-5)  # the matrix can be inverted
    assert ibu(krr(6, 1.0), observed, start=np.full(6, 1 / 6)).updates > 0  # iterated, and not in closed form
    for wrong in (np.ones(6), np.full(5, 0.2), np.array([1.5, -0.5, 0, 0, 0, 0])):
        with pytest.raises(ValueError, match="start must hold 6 frequencies"):
            ibu(channel, observed, start=wrong)
    with pytest.raises(ValueError, match="impossible"):
        ibu(FixedChannel("sure", "sure", np.eye(6)), observed, start=np.r_[0.0, [0.2] * 5])


def test_ibu_ends_at_the_maximum_another_solver_finds_and_the_gap_bounds_what_is_missing():
    channel = planar_geometric(Places(2, 3), 0.7)
    observed = observed_by(channel, 300, "few")
    best = -optimize.minimize(
        lambda shares: -direct_likelihood(channel, observed, shares),
        np.full(6, 1 / 6),
        bounds=[(0, 1)] * 6,
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    ).fun
    done = ibu(channel, observed, tolerance=1e-10, most_updates=5000)
    plain = ibu(channel, observed, accelerate=False, tolerance=1e-10, most_updates=5000)
    assert done.converged
    assert done.log_likelihood >= best - 1e-10
    assert done.updates <= plain.updates / 5
    for most in (1, 3, 10, 30, 5000):
        early = ibu(channel, observed, tolerance=1e-10, most_updates=most)
        assert early.updates <= most
        assert best <= early.log_likelihood + early.gap + 1e-12


@over([(30, 1.0, 20_000), (30, 3.0, 500), (8, 0.3, 1000)])
def test_closed_form_of_randomised_response_is_the_iterated_one(k, epsilon, n):
    channel = krr(k, epsilon)
    observed = observed_by(channel, n)
    closed = ibu(channel, observed)
    iterated = ibu(channel, observed, closed=False, tolerance=1e-14, most_updates=200_000)
    assert closed.updates == 0
    assert np.abs(closed.frequencies - iterated.frequencies).max() < 1e-8


def test_ibu_of_one_report_and_of_none():
    channel = planar_geometric(WIDE, 0.5)
    one = ibu(channel, np.eye(30, dtype=np.int64)[3])
    assert one.frequencies.sum() == pytest.approx(1, abs=1e-12)
    assert one.frequencies.argmax() == 3
    with pytest.raises(ValueError, match="at least 1 report"):
        ibu(channel, np.zeros(30, dtype=np.int64))


def test_fits_in_step_are_fits_one_by_one_and_do_not_depend_on_those_beside_them():
    channel = planar_geometric(WIDE, 2.0)
    users = [5 if place % 7 == 3 else 20_000 for place in range(LANES + 5)]
    collections = np.stack([observed_by(channel, n, str(place)) for place, n in enumerate(users)])
    few = (collections > 0).mean(axis=1) < OFTEN
    assert 0 < few.sum() < len(few)
    whole = maxima(channel.likelihood, collections)
    for observed, fit in zip(collections, whole, strict=True):
        alone = ibu(channel, observed)
        assert fit.converged
        assert fit.gap <= TOLERANCE
        assert fit.frequencies.sum() == pytest.approx(1, abs=1e-12)
        assert fit.log_likelihood == pytest.approx(direct_likelihood(channel, observed, fit.frequencies), rel=1e-10)
        # Both are proven to be within their gaps of the same maximum; between these, rounding decides.
        assert abs(fit.log_likelihood - alone.log_likelihood) <= max(fit.gap, alone.gap)
    order = np.random.default_rng(0).permutation(len(collections))
    for place, fit in zip(order, maxima(channel.likelihood, collections[order]), strict=True):
        assert (fit.frequencies == whole[place].frequencies).all()
    assert (maxima(channel.likelihood, collections[2:3])[0].frequencies == whole[2].frequencies).all()
