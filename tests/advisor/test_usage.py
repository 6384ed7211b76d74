import numpy as np

from advisor.extensions.code.usage import usage
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.protocols import ORDERED_PROTOCOLS
from tests.cells import over

KINDS = {"protocol": PROTOCOLS, "method": POSTPROCESSORS, "metric": METRICS}
MEMBERS = [(kind, key) for kind, table in KINDS.items() for key in table]


def executed(script):
    names = {}
    exec(compile(script, "script", "exec"), names)  # noqa: S102 - what is tested is that it runs
    return names


@over(MEMBERS)
def test_scripts_can_be_copied(kind, key):
    script = usage(kind, key)
    assert max(map(len, script.splitlines())) <= 120
    assert not set("{}%\t") & set(script)  # nothing left to fill in
    assert "\n\n\n" not in script
    assert script.endswith("\n")
    assert "__" not in script


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
    assert names["improved"].shape == (8 if "oracle" in names else 16,)
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


def test_scripts_for_ordered_domains_have_a_protocol_and_a_method_for_them():
    for key in ORDERED_PROTOCOLS:
        method = "em_stopped" if key == "sw" else "tree_eb"
        assert f'POSTPROCESSORS["{method}"].apply(observed)' in usage("protocol", key)
    for key in (key for key, method in POSTPROCESSORS.items() if "order" in method.needs):
        protocol = "sw" if key.startswith("em") else "tree"
        assert f'protocol = PROTOCOLS["{protocol}"]' in usage("method", key)
