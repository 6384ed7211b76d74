"""Recipes with numpy alone, for methods and simple metrics."""

from __future__ import annotations

from knowledge.recipes.methods import method_recipe


def _metric(key: str, line: str, unit: str) -> str:
    return f'''\
import numpy as np


def {key}(estimate, truth):
    """Return the error of the estimate (k,) in {unit}."""
    return {line}


truth = np.array([0.40, 0.25, 0.15, 0.10, 0.05, 0.03, 0.02, 0.00])
estimate = np.array([0.38, 0.26, 0.17, 0.11, 0.06, 0.03, 0.00, 0.00])
error = {key}(estimate, truth)
'''


METRIC_CODE: dict[str, str] = {
    "l1": _metric("l1", "np.abs(estimate - truth).sum()", "frequency"),
    "mae": _metric("mae", "np.abs(estimate - truth).mean()", "frequency per category"),
    "mse": _metric("mse", "((estimate - truth) ** 2).mean()", "frequency squared"),
    "l2": _metric("l2", "np.sqrt(((estimate - truth) ** 2).sum())", "frequency"),
    "emd": _metric("emd", "np.abs(np.cumsum(estimate - truth)).sum()", "bins of an ordered domain"),
    "mean": _metric("mean", "np.abs(((estimate - truth) * np.arange(len(truth))).sum())", "bins of an ordered domain"),
    "ks": _metric("ks", "np.abs(np.cumsum(estimate - truth)).max()", "frequency, of an ordered domain"),
}


def method_code(key: str) -> str | None:
    """Return Python that does what one method does with numpy alone; None if there is none, or nothing to do."""
    recipe = method_recipe(key)
    return None if recipe is None else f"{recipe.source}\n\n{recipe.example}"


def metric_code(key: str) -> str | None:
    """Return Python that does what one metric does with numpy alone; None where that is not short."""
    return METRIC_CODE.get(key)
