"""Recipes: copy-ready code for every member, with this package and without it; clients and servers to deploy."""

from __future__ import annotations

from knowledge.recipes.assembly import (
    Collection,
    Shuffled,
    browser_client,
    has_code,
    postprocessing,
    python_client,
    server,
)
from knowledge.recipes.numpy_alone import method_code, metric_code
from knowledge.recipes.package import package_recipe
from knowledge.recipes.parameters import Parameters
from knowledge.recipes.vectors import BROWSER_CHECK, CHECK

__all__ = [
    "BROWSER_CHECK",
    "CHECK",
    "Collection",
    "Parameters",
    "Shuffled",
    "browser_client",
    "has_code",
    "method_code",
    "metric_code",
    "package_recipe",
    "postprocessing",
    "python_client",
    "server",
]
