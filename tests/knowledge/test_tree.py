from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from knowledge.making.trees import FEATURES, grow
from knowledge.menu import METHODS
from knowledge.tree import QUESTIONS, WORDS, Tree, explain, leaves, load, rules, save, tree_for
from simulator import rng_for


def questions(rows: int) -> np.ndarray:
    rng = rng_for(0, "tree")
    return np.stack(
        [rng.uniform(-4, 4, rows), np.log(rng.integers(2, 4096, rows).astype(float)), rng.uniform(0, 2.5, rows)], axis=1
    )


def grown(rows: int = 3000) -> tuple[Tree, np.ndarray, np.ndarray]:
    """A tree on errors that jump where the noise does: method 0 is right below a ratio of 1, method 1 above."""
    x = questions(rows)
    errors = np.ones((rows, len(METHODS)))
    errors[:, 0] = np.where(x[:, 0] < 0, 0.0, 0.7)
    errors[:, 1] = np.where(x[:, 0] < 0, 0.6, 0.2) + 0.1 * x[:, 2]
    return grow(x, errors, [True] * len(METHODS)), x, errors


def test_a_tree_finds_where_the_answer_changes() -> None:
    tree, _, _ = grown()
    assert tree.feature[0] == 0
    assert tree.threshold[0] == pytest.approx(1.0, abs=0.02)


def test_the_walk_is_that_of_scikit_learn_but_for_the_rounding_of_thresholds() -> None:
    from sklearn.tree import DecisionTreeRegressor

    tree, x, errors = grown()
    regret = np.minimum(errors - errors.min(axis=1, keepdims=True), 2.0)
    fitted = DecisionTreeRegressor(max_leaf_nodes=12, min_samples_leaf=0.02, random_state=0).fit(x, regret)
    values = np.stack([np.exp(x[:, 0]), np.rint(np.exp(x[:, 1])), x[:, 2]], axis=1)
    leaves = [tree.path(row)[-1] for row in values.tolist()]
    unlike = np.flatnonzero(fitted.apply(x) != leaves)
    assert len(unlike) <= 0.01 * len(x)  # only rows between a threshold and the same with three digits
    exact = np.exp(fitted.tree_.threshold)
    for row in unlike:
        nodes = tree.path(values[row].tolist())
        gaps = [
            min(abs(x[row, tree.feature[node]] - fitted.tree_.threshold[node]), abs(np.exp(x[row, 0]) - exact[node]))
            for node in nodes[:-1]
        ]
        assert min(gaps) < 0.01


def test_leaves_hold_what_the_rounded_tree_sends_there() -> None:
    tree, x, errors = grown()
    regret = np.minimum(errors - errors.min(axis=1, keepdims=True), 2.0)
    values = np.stack([np.exp(x[:, 0]), np.rint(np.exp(x[:, 1])), x[:, 2]], axis=1)
    leaves = np.array([tree.path(row)[-1] for row in values.tolist()])
    for leaf in set(leaves.tolist()):
        np.testing.assert_allclose(tree.regret[leaf], regret[leaves == leaf].mean(axis=0), atol=1e-4)
        assert tree.share[leaf] == pytest.approx((leaves == leaf).mean(), abs=1e-4)


def test_values_are_compared_in_single_precision() -> None:
    tree = Tree((0, 0, 0), (0.1, 0.0, 0.0), (1, -1, -1), (2, -1, -1), ((0.0,),) * 3, (1.0, 0.5, 0.5))
    assert tree.path([float(np.float32(0.1))]) == [0, 1]  # above 0.1 in double precision, equal in single
    assert tree.path([0.1000001]) == [0, 2]


def test_a_tree_survives_a_file(tmp_path: Path) -> None:
    tree, _, _ = grown(500)
    save({"l1": tree}, tmp_path)
    assert load(tmp_path) == {"l1": tree}


def test_trees_ask_what_the_features_hold() -> None:
    assert len(QUESTIONS) == len(FEATURES)


def test_an_explanation_is_the_rule_that_holds(tiny: Path) -> None:
    found = explain("l1", noise_to_uniform=0.3, k=40, skew=1.0, folder=tiny)
    values = {"noise_to_uniform": 0.3, "k": 40.0, "skew": 1.0}
    (rule,) = (
        rule
        for rule in leaves("l1", folder=tiny)
        if all((one.above or -1.0) < values[one.feature] <= (one.at_most or 1e9) for one in rule.conditions)
    )
    assert found.reasons == tuple(
        f"{WORDS[one.feature]} is {values[one.feature]:g} ({one.ends})" for one in rule.conditions
    )
    assert found.method == found.ranking[0][0]
    regrets = [regret for _, regret in found.ranking]
    assert regrets == sorted(regrets)
    assert "post_pos" not in dict(found.ranking)
    assert "wavelet_eb" in dict(found.ranking)
    assert "wavelet_eb" not in dict(
        explain("l1", noise_to_uniform=0.3, k=40, skew=1.0, ordered=False, folder=tiny).ranking
    )


def test_the_menu_of_an_explanation_can_be_restricted(tiny: Path) -> None:
    found = explain("kl", noise_to_uniform=0.3, k=40, skew=1.0, methods=["norm", "ibu_pseudo"], folder=tiny)
    assert {name for name, _ in found.ranking} == {"norm", "ibu_pseudo"}
    with pytest.raises(ValueError, match="needs a method that goes with the metric"):
        explain("kl", noise_to_uniform=0.3, k=40, skew=1.0, methods=["post_pos"], folder=tiny)


def test_rules_name_a_method_on_every_leaf(tiny: Path) -> None:
    text = rules("mae", folder=tiny)
    tree = tree_for("l1", ordered=True, folder=tiny)
    assert text.count("use ") == sum(child < 0 for child in tree.left)
    assert text.count("if ") == text.count("else:") == sum(child >= 0 for child in tree.left)


def test_every_rule_is_a_way_through_the_tree(tiny: Path) -> None:
    every = leaves("l1", folder=tiny)
    assert sum(rule.populations for rule in every) == pytest.approx(1, abs=0.01)
    lines = [line.strip() for line in rules("l1", folder=tiny).splitlines() if "use " in line]
    assert all(line.startswith(f"use {rule.ranking[0][0]}:") for rule, line in zip(every, lines, strict=True))
    for rule in every:
        inside = dict.fromkeys(QUESTIONS, 1.0)
        for one in rule.conditions:
            low, high = one.above or 0.0, one.at_most or 1e6
            inside[one.feature] = (low + high) / 2
        there = explain("l1", **inside, folder=tiny)  # type: ignore[arg-type]
        assert dict(there.ranking) == dict(rule.ranking)
        assert len(there.reasons) == len(rule.conditions)
        for reason, one in zip(there.reasons, rule.conditions, strict=True):
            assert reason.endswith(f"({one.ends})")


def test_unknown_metrics_are_refused(tiny: Path) -> None:
    with pytest.raises(ValueError, match="metric must be one of"):
        rules("l7", folder=tiny)
    with pytest.raises(ValueError, match="needs an ordered domain"):
        rules("emd", ordered=False, folder=tiny)
    with pytest.raises(FileNotFoundError):
        load(tiny / "nowhere")


def test_questions_that_all_answer_alike_are_left_out() -> None:
    bare = Tree(
        feature=(0, 1, 0, 0, 0),
        threshold=(1.0, 8.0, 0.0, 0.0, 0.0),
        left=(1, 3, -1, -1, -1),
        right=(2, 4, -1, -1, -1),
        regret=tuple((float(node),) for node in range(5)),
        share=(1.0, 0.6, 0.4, 0.6, 0.0),
    )
    pruned = bare.without_empty()
    assert pruned.feature == (0, 0, 0)
    assert (pruned.left, pruned.right) == ((2, -1, -1), (1, -1, -1))
    assert pruned.regret == ((0.0,), (2.0,), (3.0,))
    assert pruned.without_empty() == pruned


def test_every_leaf_of_the_shipped_trees_was_reached() -> None:
    for tree in load().values():
        assert all(share > 0 for share in tree.share)
