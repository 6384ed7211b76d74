"""What pandas holds is taken as it is: values, counts, estimates, with the labels and the order of the index."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from advisor import InputError, advise
from advisor.inputs.memory import SampleInMemory, estimate_in_memory, sample_in_memory
from advisor.question.request import Request

COLOURS = pd.Series(["red", "blue", "red", "green", "red", "blue"], name="colour")
USERS = {"red": 3, "blue": 2, "green": 1}
SIZES = pd.CategoricalDtype(["small", "medium", "large", "huge"], ordered=True)
WORN = pd.Series(["large", "small", "large", "medium"], dtype=SIZES)


def users(sample: SampleInMemory) -> dict[str, int]:
    return dict(zip(sample.labels, sample.counts.tolist(), strict=True))


def request(**data: object) -> Request:
    return advise(1.0, protocol="grr", method="norm_sub", repetitions=2, max_repetitions=2, **data).request


@pytest.mark.parametrize(
    "sample",
    [
        COLOURS,
        COLOURS.to_frame(),
        COLOURS.astype("category"),
        COLOURS.astype("string"),
        pd.Index(COLOURS),
        COLOURS.value_counts(),
        COLOURS.value_counts().reset_index(),
    ],
)
def test_values_are_counted_whatever_holds_them(sample: object) -> None:
    assert users(sample_in_memory(sample, None)) == USERS


@pytest.mark.parametrize(
    "counts",
    [
        COLOURS.value_counts(),
        COLOURS.value_counts().to_frame(),
        COLOURS.value_counts().reset_index(),
        COLOURS.to_frame().value_counts(),
        COLOURS.astype("category").value_counts(),
        COLOURS.value_counts().rename("n"),
        COLOURS.value_counts().rename_axis("c").rename("n").reset_index(),
        COLOURS.value_counts().astype("Int64"),
    ],
)
def test_counts_have_the_labels_of_their_index_or_column(counts: object) -> None:
    assert users(sample_in_memory(None, counts)) == USERS


@pytest.mark.parametrize("data", [{"sample": WORN}, {"sample_counts": WORN.value_counts()}])
def test_an_ordered_dtype_gives_the_categories_and_their_order(data: dict[str, object]) -> None:
    asked = request(**data)
    assert asked.labels == ("small", "medium", "large", "huge")
    assert asked.counts.tolist() == [1, 1, 2, 0]
    assert asked.ordered
    assert not request(**data, ordered=False).ordered


def test_intervals_are_in_order_and_frequencies_are_not_an_order() -> None:
    ages = pd.Series([31, 35, 5, 12, 33])
    for counts in (pd.cut(ages, [0, 10, 20, 40]).value_counts(), pd.Series({pd.Interval(0, 10): 1})):
        assert sample_in_memory(None, counts).ordered or len(counts) == 1
    asked = request(sample_counts=pd.cut(ages, [0, 10, 20, 40]).value_counts())
    assert (asked.labels, asked.counts.tolist()) == (("(0, 10]", "(10, 20]", "(20, 40]"), [1, 1, 3])
    assert request(sample_counts=COLOURS.value_counts()).labels == ("blue", "green", "red")
    by_hand = pd.Series([1, 2, 3], index=["low", "mid", "high"])
    assert request(sample_counts=by_hand, ordered=True).labels == ("low", "mid", "high")


def test_whole_numbers_are_ordered_by_value() -> None:
    ages = pd.Series([10, 9, 9, 100])
    for data in ({"sample": ages}, {"sample_counts": ages.value_counts()}):
        asked = request(**data)
        assert (asked.labels, asked.counts.tolist(), asked.ordered) == (("9", "10", "100"), [2, 1, 1], True)


def test_an_estimate_has_the_labels_and_the_order_of_its_index() -> None:
    values = [0.5, 0.3, 0.2, 0.0]
    plain = pd.Series(values, index=["large", "small", "huge", "medium"])
    for given in (plain, plain.to_frame(), plain.rename("estimate").rename_axis("size").reset_index()):
        read = estimate_in_memory(given)
        assert (read.labels, read.values.tolist(), read.domain) == (list(plain.index), values, None)
    read = estimate_in_memory(plain.set_axis(pd.CategoricalIndex(plain.index, dtype=SIZES)))
    assert (read.domain, read.ordered) == (list(SIZES.categories), True)


def test_what_is_ambiguous_is_refused_in_one_line() -> None:
    two = pd.DataFrame({"a": COLOURS, "b": COLOURS})
    for call, words in (
        (lambda: sample_in_memory(two, None), "sample must be one column, got a frame of 2 (a, b); name one"),
        (lambda: sample_in_memory(None, two.value_counts()), "got an index of 2 levels (a, b): sum over"),
        (lambda: estimate_in_memory(two.value_counts(normalize=True)), "got an index of 2 levels (a, b)"),
        (lambda: sample_in_memory(None, two.assign(c=1, d=2)), "got a frame of 4 columns (a, b, c, d)"),
        (lambda: sample_in_memory(COLOURS.where(COLOURS != "red"), None), "leave missing ones out"),
        (lambda: sample_in_memory(None, COLOURS.value_counts(normalize=True)), "must be a whole number"),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)


def test_plain_values_are_read_as_before() -> None:
    assert users(sample_in_memory(list(COLOURS), None)) == USERS
    assert users(sample_in_memory(np.array([3, 3, 1]), None)) == {"1": 1, "3": 2}
    assert users(sample_in_memory(None, {"a": 1, "b": 2})) == {"a": 1, "b": 2}
