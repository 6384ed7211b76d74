import numpy as np

from advisor.extensions.code.usage import usage
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from tests.cells import over


def executed(script):
    names = {}
    exec(compile(script, "script", "exec"), names)  # noqa: S102 - what is tested is that it runs
    return names


@over(PROTOCOLS)
def test_protocol_scripts_run(key):
    names = executed(usage("protocol", key))
    assert ("estimate" in names) == ("sd" in names) == PROTOCOLS[key](16, 1.0).offers("estimate")
    for result in {"estimate", "sd", "improved", "simulated"} & names.keys():
        assert names[result].shape == (16,)
        assert np.isfinite(names[result]).all()
    assert names["tally"].n == 1_000
    assert (names.get("sd", np.ones(1)) > 0).all()
    # A thousand times the users: errors have a mean of 0.004, for sw 0.008, and hardly ever reach twice that.
    assert np.abs(names["simulated"] - names["counts"] / names["counts"].sum()).max() < 0.05


@over(POSTPROCESSORS)
def test_method_scripts_run(key):
    names = executed(usage("method", key))
    assert names["improved"].shape == (16,)
    assert np.isfinite(names["improved"]).all()
    assert np.isfinite(names.get("answer", 0.0))
    assert ("answer" in names) == POSTPROCESSORS[key].queries_only


@over(METRICS)
def test_metric_scripts_run(key):
    names = executed(usage("metric", key))
    for result in ("error", "other", "clipped"):
        assert np.isfinite(names.get(result, 0.0))
    assert (names["error"] > 0) == (key not in {"quantiles", "hotspots"})  # right to the category
    assert ("clipped" in names) == (METRICS[key].clipped is not None)
    assert ("other" in names) == (key in ("kl", "js", "topk", "hotspots", "set"))
