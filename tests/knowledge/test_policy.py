from itertools import product

import numpy as np
import pytest

from knowledge.describe.assumption import AssumedSkew
from knowledge.describe.profile import profile_of
from knowledge.making.policies import MOST_LEAVES, THRESHOLDS, PolicyCases, case, grow
from knowledge.menu import ORDERED_METRICS
from knowledge.model import load as load_model
from knowledge.policy import Interval, Leaf, PolicyCase, Split, leaf_of, leaves, load, save, tree_for
from knowledge.ranking import first_pair, look_up, tree_reasons
from simulator import rng_for
from simulator.populations import frequencies

TREE = Split(
    "k",
    16,
    Split("epsilon", 2, Leaf("ss", "eb_ns", 0.01, 0.2), Leaf("grr", "norm_sub", 0.02, 0.3)),
    Split("k", 64, Leaf("pgr", "eb_ns", 0.03, 0.1), Leaf("oue", "none", 0.0, 0.4)),
)


def test_a_case_ends_in_the_leaf_whose_conditions_it_meets(tmp_path):
    save({"l1": TREE}, tmp_path)
    assert load(tmp_path) == {"l1": TREE}
    pairs = [("ss", "eb_ns"), ("grr", "norm_sub"), ("pgr", "eb_ns"), ("oue", "none")]
    assert [leaf.pair for _, leaf in leaves(TREE)] == pairs
    rng = rng_for(0, "policy walk")
    for _ in range(200):
        one = PolicyCase(float(rng.uniform(0, 4)), int(rng.integers(2, 100)), 1000, 1.0)
        leaf, path = leaf_of(TREE, one)
        inside = [
            found
            for conditions, found in leaves(TREE)
            if all((c.above or 0) < getattr(one, c.question) <= (c.at_most or np.inf) for c in conditions)
        ]
        assert inside == [leaf]
        assert len({interval.question for interval in path}) == len(path)
    assert leaf_of(TREE, PolicyCase(1.0, 40, 1, 0))[1] == (Interval("k", 16, 64),)


def test_growing_finds_the_questions_behind_the_regrets():
    """Of three pairs one is best up to k = 16, another beyond for small budgets, and the third else."""
    rng = rng_for(0, "policy growth")
    cases = np.array([case(index, 1, ordered=False) for index in range(800)], dtype=np.float64)
    small, tight = cases[:, 1] <= 16, cases[:, 0] <= 2
    best = np.where(small, 0, np.where(tight, 1, 2))
    logs = 0.02 * rng.standard_normal((800, 3)) + 0.5 * (np.arange(3) != best[:, None])
    pairs = (("grr", "none"), ("oue", "none"), ("ss", "none"))
    known = PolicyCases(cases, pairs, {"l1": logs}, np.ones((800, 3)))
    tree = grow(known, "l1")
    assert {leaf.pair for _, leaf in leaves(tree)} == set(pairs)
    named = [leaf_of(tree, PolicyCase(*one))[0].pair for one in cases.tolist()]
    assert np.mean([pair == pairs[place] for pair, place in zip(named, best, strict=True)]) > 0.99
    assert all(end in (None, *THRESHOLDS[one.question]) for path, _ in leaves(tree) for one in path for end in one[1:])
    assert sum(leaf.share for _, leaf in leaves(tree)) == pytest.approx(1, abs=1e-3)
    # Held-out cases of pure noise let no question pay off.
    noise = PolicyCases(cases, pairs, {"l1": 0.1 * rng.standard_normal((800, 3))}, np.ones((800, 3)))
    assert len(list(leaves(grow(noise, "l1")))) <= 4


def test_within_five_percent_the_shorter_report_is_named():
    cases = np.array([case(index, 1, ordered=False) for index in range(400)], dtype=np.float64)
    for more, pair in ((1.04, ("hr", "none")), (1.06, ("oue", "none"))):
        logs = np.tile([0.0, np.log(more)], (400, 1))
        bits = np.tile([64.0, 7.0], (400, 1))
        tree = grow(PolicyCases(cases, (("oue", "none"), ("hr", "none")), {"l1": logs}, bits), "l1")
        assert isinstance(tree, Leaf)
        assert tree.pair == pair


def test_without_data_the_pair_of_the_leaf_is_named_within_a_tie_of_ten_percent(tiny):
    model, kept = load_model(tiny), 0
    for index in range(12):
        one = case(index, 3, ordered=False)._replace(k=12 + index, epsilon=1.0)
        answer = look_up(AssumedSkew(one.k, one.skew), one.epsilon, one.n, "l1", ordered=False, model=model)
        leaf, _ = leaf_of(tree_for("l1", ordered=False, folder=tiny), one)
        row = next((row for row in answer.rows if (row.protocol, row.method) == leaf.pair), None)
        assert answer.tree == (None if row is None else leaf.pair)
        tied = row is not None and (row.ratio < 1.05 or (row.ratio_low <= 1 and row.ratio <= 1.1))
        assert answer.overruled == (row is not None and not tied)
        if row is not None and not answer.overruled:
            kept += 1
            assert first_pair(answer) == leaf.pair
        reasons = tree_reasons(answer, one.skew, first_pair(answer), folder=tiny)
        assert reasons.leaf == leaf
    assert kept
    known = look_up(profile_of(frequencies("zipf", 40), 100_000), 1.0, 100_000, "l1", model=model)
    assert (known.tree, known.overruled) == (None, False)


def test_the_tree_is_overruled_where_a_tied_pair_is_ten_percent_better():
    found = 0
    for index in range(30, 90):
        one = case(index, 5, ordered=False)
        answer = look_up(AssumedSkew(one.k, one.skew), one.epsilon, one.n, "topk", ordered=False)
        row = next(row for row in answer.rows if row.pair == answer.tree)
        if row.ratio_low <= 1 and 1.1 < row.ratio < 1.25:
            found += 1
            assert answer.overruled
            assert first_pair(answer) != answer.tree
        if found == 2:
            break
    assert found


def test_subsets_of_one_value_are_named_randomised_response():
    for metric, epsilon, n in product(("l1", "mse", "kl"), (0.1, 0.3, 1.0, 3.0), (1000, 20_000, 1_000_000)):
        answer = look_up(AssumedSkew(2, 1.0), epsilon, n, metric, ordered=False)
        assert answer.tree is None or answer.tree[0] != "ss"


def test_a_tree_of_every_metric_is_shipped_and_is_short():
    for metric in load_model().provenance.metrics:
        for ordered in (True, False):
            if metric in ORDERED_METRICS and not ordered:
                with pytest.raises(ValueError, match="needs an ordered domain"):
                    tree_for(metric, ordered=ordered)
                continue
            assert 1 <= len(list(leaves(tree_for(metric, ordered=ordered)))) <= MOST_LEAVES
    assert tree_for("mae", ordered=False) == tree_for("l1", ordered=False)
    with pytest.raises(ValueError, match="for a decision tree, got 'l3'"):
        tree_for("l3", ordered=True)
