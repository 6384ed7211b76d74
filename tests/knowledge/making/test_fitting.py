from dataclasses import replace

import numpy as np
import pytest

from knowledge.describe.features import NAMES
from knowledge.making import fitting
from knowledge.making.fitting import Dataset, distil, fit_model, spreads
from knowledge.making.least_squares import fit, loss_gradients
from knowledge.making.workers import Workers
from knowledge.model import Network, Networks, load, standardised
from simulator import rng_for
from tests.knowledge.conftest import BUILT, built


def test_a_network_learns_a_smooth_function_and_nothing_of_outputs_without_weight():
    rng = rng_for(0, "network")
    x = rng.uniform(-1, 1, size=(2000, 3))
    y = np.stack([np.sin(2 * x[:, 0]) + x[:, 1], x[:, 0] * x[:, 2]], axis=1)
    network = fit(x, y, np.ones_like(y), rng_for(0, "first"), width=32, epochs=60)
    new = rng.uniform(-1, 1, size=(500, 3))
    truth = np.stack([np.sin(2 * new[:, 0]) + new[:, 1], new[:, 0] * new[:, 2]], axis=1)
    assert np.abs(network(new) - truth).mean() < 0.03
    rng = rng_for(0, "weights")
    x = rng.uniform(-1, 1, size=(500, 2))
    y = np.where(rng.random((500, 1)) < 0.5, x[:, :1], 3.0)
    network = fit(x, y, (y < 3).astype(float), rng_for(0, "first"), width=16, epochs=80)
    assert np.abs(network(x) - x[:, :1]).mean() < 0.3


def test_the_gradient_is_that_of_the_loss():
    rng = rng_for(0, "gradient")
    sizes = [(4, 6), (6, 6), (6, 3)]
    layers = tuple((rng.standard_normal(s).astype("f4"), rng.standard_normal(s[1]).astype("f4")) for s in sizes)
    x, y = rng.standard_normal((9, 4)).astype("f4"), rng.standard_normal((9, 3)).astype("f4")
    w = rng.random((9, 3)).astype("f4")
    _, gradients = loss_gradients(layers, x, y, w)
    for place, gradient in enumerate(gradients):
        depth, which = divmod(place, 2)
        for index in list(np.ndindex(gradient.shape))[:: max(1, gradient.size // 5)]:
            values = []
            for step in (1e-2, -1e-2):
                moved = [[a.copy() for a in layer] for layer in layers]
                moved[depth][which][index] += step
                values.append(loss_gradients(tuple((a, b) for a, b in moved), x, y, w)[0])
            assert abs((values[0] - values[1]) / 2e-2 - gradient[index]) < 2e-2 * (1 + abs(gradient[index]))


def test_a_network_survives_its_file_and_clips_far_features():
    rng = rng_for(0, "file")
    x, y = rng.standard_normal((50, 3)), rng.standard_normal((50, 2))
    network = fit(x, y, np.ones_like(y), rng_for(0, 1), width=8, epochs=2)
    back = Network.from_arrays(network.to_arrays())
    np.testing.assert_array_equal(back(x), network(x))
    centre, scale = np.zeros(2, dtype="f4"), np.ones(2, dtype="f4")
    assert standardised(np.array([[1e9, -5.0]]), centre, scale).tolist() == [[4.0, -4.0]]


@pytest.mark.parametrize("caution", [0.5, pytest.param(0.0, marks=pytest.mark.slow)])
def test_one_network_is_taught_what_several_say_together(caution):
    """Much nearer to what they say together, with what they differ by added, than they are to each other."""
    rng = rng_for(0, "taught")
    x = rng.uniform(-1, 1, size=(600, 3))
    y = np.stack([np.sin(3 * x[:, 0]) + x[:, 1], x[:, 0] * x[:, 2]], axis=1)
    noisy = y + 0.3 * rng.standard_normal(y.shape)
    teachers = [fit(x, noisy, np.ones_like(y), rng_for(0, number), width=16, epochs=30) for number in range(3)]
    asked = rng.uniform(-1, 1, size=(2400, 3))  # never simulated: what the teachers say is all there is
    rows = asked, np.ones((2400, 2)), rng_for(0, "pupil")
    pupil = distil(teachers, *rows, width=32, epochs=60, caution=caution)
    new = rng.uniform(-1, 1, size=(500, 3))
    alone = [teacher(new) for teacher in teachers]
    apart = np.std(alone, axis=0, ddof=1)
    assert np.abs(pupil(new) - np.mean(alone, axis=0) - caution * apart).mean() < 0.4 * apart.mean()


def _two_pairs_alike(tiny, rows, folds):
    """Return rows where two pairs are alike but for noise of 0.5, and a provenance of small networks for them."""
    rng = rng_for(0, "luck")
    features, noise = rng.uniform(-1, 1, size=(rows, len(NAMES))), 0.5 * rng.standard_normal((rows, 2, 1))
    zeros, index = np.zeros((rows, 2, 1)), np.arange(rows)
    others = features[:, None].astype("f4"), np.zeros((rows, 1, 2, 1), dtype="f4")
    data = Dataset(features, noise, zeros, np.full_like(noise, 0.25), index, np.zeros(rows), *others)
    networks = Networks(8, 16, 20, folds, ("one", "two", "three"))
    return data, replace(load(tiny).provenance, methods=("norm", "norm_sub"), metrics=("l1",), networks=networks)


@pytest.mark.parametrize("folds", [2, 8])
def test_each_network_leaves_out_one_fold(tiny, monkeypatch, folds):
    data, provenance = _two_pairs_alike(tiny, 80, folds)
    seen = []

    def recorded(features, *args, **options):
        seen.append(features)
        return fit(features, *args, **options)

    monkeypatch.setattr(fitting, "fit", recorded)
    fit_model(data, provenance)
    for number, features in enumerate(seen[:8]):
        np.testing.assert_array_equal(features, data.features[np.arange(80) % folds != number % folds])


@pytest.mark.slow
def test_luck_in_few_repetitions_does_not_make_errors_too_low(tiny):
    """Weighing rows by what was measured gives a bias of 0.1 at least, beside the caution, which adds up to 0.05."""
    data, provenance = _two_pairs_alike(tiny, 1600, 4)
    guessed, measured = (
        float(fit_model(data, provenance, *stream).log_ratios(data.features)[0].mean()) for stream in (("own",), ())
    )
    assert abs(guessed) < 0.06
    assert measured < guessed - 0.1


def test_what_pairs_do_not_share_is_told_from_sampling():
    """A mean square of 20,000 rows has a standard error of 1 %, and that of 20 pairs together of 0.25 %."""
    rng = rng_for(0, "spreads")
    size = (20_000, 20, 1)
    shared, own, sampling = (
        sd * rng.standard_normal(of) for sd, of in ((0.4, (size[0], 1, 1)), (0.1, size), (0.3, size))
    )
    variance = np.full(size, 0.09)
    whole, apart = spreads(shared + own + sampling, np.ones(size), variance, variance)
    assert whole == pytest.approx(np.full((20, 1), np.hypot(0.4, 0.1)), rel=0.05)
    # A twentieth of the own variance and of that of sampling counts as shared.
    expected = np.sqrt(0.01 * 19 / 20 - 0.09 / 20)
    assert np.sqrt((apart**2).mean()) == pytest.approx(expected, rel=0.1)  # four times 0.0025 x 0.1 / 0.005 / 2
    assert spreads(shared + own + sampling, np.ones(size), variance)[1].min() > 2 * apart.max()


@pytest.mark.slow
def test_a_build_does_not_depend_on_threads(tiny, tmp_path):
    built(tmp_path, Workers(2, "threading"))
    for name in BUILT:
        assert (tmp_path / name).read_bytes() == (tiny / name).read_bytes()
