import inspect
import json
import pydoc
import re

import numpy as np
import pandas as pd
import pytest

import advisor
import ldp_advise
from advisor import AttackSettings, InputError, Limits, Simulation, advise, estimate, reports
from advisor.answers.rank.apply import applied_csv
from advisor.api.keywords import GROUPS, _options, flags_to_keywords
from simulator import PROTOCOLS
from simulator.seeding import rng_for
from tests.advisor.estimates import ALONE

LABELS = ["b", "a", "c", "d", "e", "f", "g", "h"]
COUNTS = np.array([3000, 2000, 2000, 1000, 1000, 500, 300, 200])
N = int(COUNTS.sum())


@pytest.fixture(scope="module")
def raw():
    oracle = PROTOCOLS["oue"](len(LABELS), 1.0)
    estimate = oracle.estimate(oracle.sample_support(COUNTS, rng_for(0, "notebook")), N)
    return pd.Series(estimate, index=LABELS, name="share")


@pytest.fixture(scope="module")
def advice(raw):
    return estimate(
        raw, "oue", eps=1.0, n=N, method=["none", "norm_sub", "eb_ns"], **ALONE, simulation=Simulation(repetitions=6)
    )


def test_a_series_comes_back_with_its_index_and_name_whatever_its_order(advice, raw):
    plain = advice.apply(raw.to_numpy())
    assert isinstance(plain, np.ndarray)
    for order in (LABELS, LABELS[::-1], sorted(LABELS)):
        applied = advice.apply(raw[order])
        pd.testing.assert_series_equal(applied, pd.Series(plain, LABELS, name="share")[order])
    frame = advice.apply(pd.DataFrame([raw, raw[::-1]], index=["mon", "tue"]))
    assert np.allclose(frame.loc["tue", LABELS], plain)


def test_a_series_of_other_categories_is_refused_and_numbers_are_places(advice, raw):
    predicted = advise(1.0, k=len(LABELS), n=N, protocol="oue", method="norm_sub")
    by_place = predicted.apply(raw)
    assert np.allclose(by_place, predicted.apply(raw.to_numpy()))
    assert list(by_place.index) == LABELS
    with pytest.raises(InputError, match="has a value for 'z', which is no category of this advice"):
        advice.apply(raw.rename({"a": "z"}))


def test_frequencies_are_no_sample(raw):
    with pytest.raises(InputError, match=r"numbers below 1 that sum to .*: these are frequencies.* for estimate"):
        advise(1.0, sample=raw, n=N)
    with pytest.raises(InputError, match="these are frequencies"):
        advise(1.0, sample=pd.Series(COUNTS / N), n=N)
    values = pd.Series(rng_for(0, "values").normal(size=500)).round(1)  # of users, and some below 0
    assert advise(1.0, sample=values, instant=True).request.n == 500


def test_intervals_are_those_of_the_command_line(advice, raw):
    frame = advice.intervals()
    text = [line.split(",") for line in applied_csv(advice).splitlines()]
    assert [frame.index.name, *frame.columns] == text[0]
    assert [
        [label, *map(repr, row)] for label, row in zip(frame.index, frame.to_numpy().tolist(), strict=True)
    ] == text[1:]
    for order in (LABELS[::-1], sorted(LABELS)):
        pd.testing.assert_frame_equal(advice.intervals(raw[order]), frame.loc[order], check_names=False)
    assert (frame.low <= frame.raw.clip(lower=0)).all()
    assert (frame.raw <= frame.high).all()
    with pytest.raises(InputError, match="there is no estimate"):
        advise(1.0, k=8, protocol="oue", method="norm_sub").intervals()
    unnamed = advise(1.0, k=4, n=N, instant=True).intervals(np.array([0.52, 0.31, 0.19, -0.02]))
    assert unnamed.index.to_list() == ["0", "1", "2", "3"]


def test_bits_that_are_true_or_false_are_counted_in_frames_too():
    bits = PROTOCOLS["oue"](4, 1.0).perturb(rng_for(0, "bits").integers(4, size=500), rng_for(1, "bits")).astype(bool)
    few = {"method": "norm_sub", **ALONE}
    pd.testing.assert_series_equal(
        *(reports(held, "oue", eps=1.0, **few).apply() for held in (bits, pd.DataFrame(bits)))
    )


def test_reports_of_a_tree_are_counted_alike_with_names_of_columns(tmp_path, monkeypatch):
    """The first bit was read as the number of a node."""
    monkeypatch.setattr("advisor.api.collected._advice", lambda request, _: request.collected.observed.tally.counts)
    rows = PROTOCOLS["tree"](8, 1.0).perturb(rng_for(0, "of a tree").integers(3, size=300), rng_for(1, "of a tree"))
    known = reports(rows, "tree", eps=1.0, k=8).tolist()
    frame = pd.DataFrame(rows)
    for names in (frame.columns, ["h", *(f"node{at}" for at in range(8))], ["height", *(f"b{at}" for at in range(8))]):
        named = frame.set_axis(names, axis=1)
        assert reports(named, "tree", eps=1.0, k=8).tolist() == known
    named.to_csv(tmp_path / "tree.csv", index=False)
    assert reports(tmp_path / "tree.csv", "tree", eps=1.0, k=8).tolist() == known
    with pytest.raises(InputError, match="has 9 columns; a report of tree is height and node in two columns"):
        reports(frame, "tree", eps=1.0, k=16)


def test_the_keywords_of_all_functions_are_what_their_options_are_called():
    functions = (advise, advisor.plan, advisor.sweep, advisor.audit, advisor.memoise, advisor.places, advisor.choose)
    keywords = {name for function in functions for name in inspect.signature(function).parameters}
    named = {flags_to_keywords(flag).partition("=")[0] for flag in _options()}
    assert keywords - named - {*GROUPS.values()} <= {"sample", "sample_counts", "source", "ground"}
    assert max(len({*inspect.signature(one).parameters} - {*GROUPS.values()}) for one in functions) <= 13
    with pytest.raises(InputError, match="max_repetitions must be at least repetitions, got max_repetitions 2 and"):
        advise(1.0, sample=["a", "b"], simulation=Simulation(repetitions=4, max_repetitions=2))


def test_both_names_of_the_package_have_all_that_is_public():
    for module in (advisor, ldp_advise):
        names = [name for name in dir(module) if not name.startswith("__")]
        assert len(names) > 25
        assert all(getattr(module, name) is getattr(advisor, name) for name in names)
        assert len(pydoc.render_doc(module).splitlines()) < 60
    with pytest.raises(AttributeError, match="has no attribute 'advice'"):
        _ = ldp_advise.advice


def test_every_answer_of_a_function_has_its_verdict_everywhere_and_names_keywords():
    two = {"protocol": ["oue", "ss"]}
    advised = advise(1.0, k=16, **two)
    answers = [
        (advised, "Tied"),
        (advise(0.1, k=100, n=100, **two), "Do not collect"),
        (advise(1.0, k=16, limits=Limits(max_bits=1)), "Nothing is left"),
        (advisor.pareto(advised), "Collect"),
        (advisor.plan(target=0.1, eps=1.0, k=16, instant=True, **two), "Collect"),
        (advisor.sweep(eps=[1, 2], n=1000, k=4, protocol="grr", simulation=Simulation(repetitions=3)), "Tied"),
        (advisor.memoise(1.0, epsilon_forever=2.0, rounds=3, k=16), "Use"),
        (advisor.audit(1.0, k=4, protocol="grr", attack=AttackSettings(trials=2000)), ""),
    ]
    for answer, badge in answers:
        page, begin = answer._repr_html_(), answer._document().verdict.text[:20]
        assert [text for text in (page, str(answer), answer.summary) if re.search("--[a-z]", text)] == []
        assert re.findall('class="badge[^>]*>(.*?)<', page) == [badge] * bool(badge)
        assert json.loads(answer.to_json())["schema_version"]
        if badge != "Nothing is left":
            assert len(answer.to_frame()) >= 1
            assert begin in answer.summary
            assert begin in str(answer)
