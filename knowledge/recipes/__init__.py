"""Recipes: copy-ready Python for every member, with this package, and for the simple ones with numpy alone."""

from __future__ import annotations

from knowledge.recipes.numpy_alone import NUMPY, numpy_recipe
from knowledge.recipes.package import package_recipe

__all__ = ["NUMPY", "numpy_recipe", "package_recipe"]
