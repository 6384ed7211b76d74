"""Conformance checks for authors of protocols, post-processing methods and metrics; no test framework is needed.

Add a line per member to your tests::

    from simulator.conformance import check_metric, check_postprocessor, check_protocol

    def test_conformance():
        check_protocol(MyProtocol)
        check_postprocessor(MY_METHOD)
        check_metric(MY_METRIC)

Each returns None, or raises `ConformanceError` with a sentence about the first broken promise. They cannot check
whether `perturb` is private, or whether a method or metric is any good.
"""

from __future__ import annotations

from simulator.conformance.forms import ConformanceError
from simulator.conformance.methods import check_postprocessor
from simulator.conformance.metrics import check_metric
from simulator.conformance.protocols import check_collection, check_protocol

__all__ = ["ConformanceError", "check_collection", "check_metric", "check_postprocessor", "check_protocol"]
