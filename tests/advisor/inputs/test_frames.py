from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from advisor import InputError, Simulation, advise, estimate, reports
from advisor.extensions.columns.answer import columns_question
from advisor.inputs.memory import estimate_in_memory, sample_in_memory
from advisor.question.cleaning import Cleaning
from advisor.question.question import Question
from advisor.question.sample import simulated_frequencies
from advisor.question.settings import Columns, Terms
from tests.advisor.estimates import ALONE
from tests.advisor.inputs.reading import put, refusal
from tests.cells import failures

COLOURS = pd.Series(["red", "blue", "red", "green", "red", "blue"], name="colour")
USERS = {"red": 3, "blue": 2, "green": 1}
SIZES = pd.CategoricalDtype(["small", "medium", "large", "huge"], ordered=True)
WORN = pd.Series(["large", "small", "large", "medium"], dtype=SIZES)
TWO = pd.DataFrame({"a": COLOURS, "b": COLOURS})


def users(sample):
    return dict(zip(sample.labels, sample.counts.tolist(), strict=True))


def request(**data):
    few = Simulation(repetitions=2, max_repetitions=2)
    return advise(1.0, protocol="grr", method="norm_sub", **data, simulation=few).request


def test_values_and_counts_are_taken_whatever_holds_them():
    values = [
        COLOURS,
        COLOURS.to_frame(),
        COLOURS.astype("category"),
        COLOURS.astype("string"),
        pd.Index(COLOURS),
        list(COLOURS),
        COLOURS.value_counts(),
        COLOURS.value_counts().reset_index(),
        COLOURS.to_frame().groupby("colour").size(),
        USERS,
        Counter(COLOURS),
    ]
    counts = [
        COLOURS.value_counts(),
        COLOURS.value_counts().to_frame(),
        COLOURS.value_counts().reset_index(),
        COLOURS.to_frame().value_counts(),
        COLOURS.astype("category").value_counts(),
        COLOURS.value_counts().rename("n"),
        COLOURS.value_counts().rename_axis("c").rename("n").reset_index(),
        COLOURS.value_counts().astype("Int64"),
        USERS,
    ]
    assert [users(sample_in_memory(held, None)) for held in values] == [USERS] * len(values)
    assert [users(sample_in_memory(None, held)) for held in counts] == [USERS] * len(counts)
    assert users(sample_in_memory(np.array([3, 3, 1]), None)) == {"1": 1, "3": 2}
    by_user = pd.Series([3, 3, 1], index=pd.Index([7, 8, 9], name="user"), name="answer")
    assert users(sample_in_memory(by_user, None)) == {"1": 1, "3": 2}


def test_the_order_of_a_dtype_of_intervals_and_of_whole_numbers_is_taken():
    def taken(cell):
        held, labels, counts = cell
        for data in ({"sample": held}, {"sample_counts": held.value_counts()}):
            asked = request(**data)
            assert (asked.labels, asked.counts.tolist(), asked.ordered) == (labels, counts, True)
            assert not request(**data, ordered=False).ordered

    ages = pd.Series([31, 35, 5, 12, 33])
    cells = [
        (WORN, tuple(SIZES.categories), [1, 1, 2, 0]),
        (pd.cut(ages, [0, 10, 20, 40]), ("(0, 10]", "(10, 20]", "(20, 40]"), [1, 1, 3]),
        (pd.Series([10, 9, 9, 100]), ("9", "10", "100"), [2, 1, 1]),
    ]
    assert failures(cells, taken) == {}
    cut = request(sample_counts=pd.Series([1, 2], index=pd.interval_range(0, 2)[::-1]))
    assert (cut.labels, cut.counts.tolist(), cut.ordered) == (("(0, 1]", "(1, 2]"), [2, 1], True)
    assert request(sample_counts=COLOURS.value_counts()).labels == ("blue", "green", "red")  # frequencies are no order
    numbers = pd.Series([1, 3, 1], dtype=pd.CategoricalDtype([1, 2, 3], ordered=True))
    assert request(sample=numbers, k=5).labels == ("1", "2", "3", "4", "5")  # no names are made up for numbers
    by_hand = pd.Series([1, 2, 3], index=["low", "mid", "high"])
    assert request(sample_counts=by_hand, ordered=True).labels == ("low", "mid", "high")


CATEGORICAL = [  # categories, whether they are ordered, and the labels of the domain
    (["zoo", "ape", "bee"], True, ("zoo", "ape", "bee")),
    (["medium", "small", "large"], True, ("medium", "small", "large")),  # declared, against the usual order
    (["large", "medium", "small"], True, ("large", "medium", "small")),
    (["3", "1", "2"], True, ("3", "1", "2")),
    (["3", "1", "2"], False, ("1", "2", "3")),
    (["zoo", "ape", "bee"], False, ("zoo", "ape", "bee")),
]


def test_categories_are_the_same_from_a_series_and_from_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    path = str(tmp_path / "a.parquet")

    def same(cell):
        categories, ordered, labels = cell
        first, second, _ = categories
        held = pd.Series([first, second, first, first], dtype=pd.CategoricalDtype(categories, ordered), name="size")
        pd.DataFrame({"size": held, "other": held}).to_parquet(path, row_group_size=3)
        asked = request(sample=held)
        read = simulated_frequencies(Question(sample=path, columns=Columns(column=("size",))))
        beside = columns_question(
            Question(sample=path, columns=Columns(column=("size", "other")), terms=Terms(epsilon=1))
        ).columns[1]
        users = dict(zip(asked.labels, asked.counts.tolist(), strict=True))
        assert users == dict.fromkeys(labels, 0) | {first: 3, second: 1}
        for file in (read, beside):
            assert (file.labels, file.weights.tolist(), file.ordered) == (labels, asked.counts.tolist(), asked.ordered)
            assert file.warnings == asked.warnings == ()
        assert set(read.assumptions) - set(asked.assumptions) == {"column 'size' read as values, one row a user"}
        assert f"3 categories{' and their order' if ordered else ''} taken from" in asked.assumptions[0]

    assert failures(CATEGORICAL, same) == {}


def test_a_dictionary_that_says_nothing_is_not_taken(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "a.parquet")

    def labels(**options):
        return simulated_frequencies(Question(sample=path, **options)).labels

    WORN.to_frame("size").to_parquet(path, use_dictionary=False)  # comes back in the order of the rows
    assert labels() == ("large", "medium", "small")
    tables = [pa.table({"size": pa.array(words).dictionary_encode()}) for words in (["b", "a"], ["a", "b"])]
    with pq.ParquetWriter(path, tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)
    assert labels() == ("a", "b")
    WORN.to_frame("size").to_parquet(path)
    domain = put(tmp_path, "domain.txt", "small\nmedium\nlarge\n")  # which may leave out what nobody has
    assert labels(cleaning=Cleaning(domain=domain)) == ("small", "medium", "large")


def test_an_estimate_has_the_labels_and_the_order_of_its_index():
    values = [0.5, 0.3, 0.2, 0.0]
    plain = pd.Series(values, index=["large", "small", "huge", "medium"])
    for given in (plain, plain.to_frame(), plain.rename("estimate").rename_axis("size").reset_index()):
        read = estimate_in_memory(given)
        assert (read.labels, read.values.tolist(), read.categories) == (list(plain.index), values, ())
    read = estimate_in_memory(plain.set_axis(pd.CategoricalIndex(plain.index, dtype=SIZES)))
    assert (read.categories, read.ordered) == (tuple(SIZES.categories), True)


def test_what_is_ambiguous_is_refused_in_one_line():
    gap, shares, both = COLOURS.where(COLOURS != "red"), COLOURS.value_counts(normalize=True), TWO.value_counts()
    assert "sample must be one column, got a frame of 2 (a, b): name it" in refusal(sample_in_memory, TWO, None)
    assert "got an index of 2 levels (a, b): sum over" in refusal(sample_in_memory, None, both)
    assert "got an index of 2 levels (a, b)" in refusal(estimate_in_memory, TWO.value_counts(normalize=True))
    assert "got a frame of 4 (a, b, c, d)" in refusal(sample_in_memory, None, TWO.assign(c=1, d=2))
    assert "leave missing ones out" in refusal(sample_in_memory, gap, None)
    assert "must be a whole number" in refusal(sample_in_memory, None, shares)
    for rows in (Cleaning(missing=("-99",)), Cleaning(drop_missing=True), Cleaning(transactions=True, keep_top=2)):
        with pytest.raises(InputError, match="are for the rows of a file: clean data in memory first"):
            request(sample=[1, 2, -99], cleaning=rows)
    with pytest.raises(InputError, match="reports must hold one value per row, got counts by value"):
        reports(COLOURS.value_counts(), "grr", eps=1.0)


def test_labels_beside_an_estimate_with_labels_order_it_and_move_no_value():
    values = pd.Series([0.5, 0.3, 0.2], index=["home", "news", "mail"])
    told = {"protocol": "oue", "eps": 2.0, "n": 10_000, "method": "norm_sub", **ALONE}
    assert estimate(values, labels=["mail", "news", "home"], **told).intervals()["raw"].to_dict() == values.to_dict()
    assert estimate(values.to_numpy(), labels=[*"abc"], **told).intervals()["raw"].to_dict() == {
        "a": 0.5,
        "b": 0.3,
        "c": 0.2,
    }
    for labels, says in (([*"abc"], "has no value for 'a' of the domain"), ({*"abc"}, "labels must be a list")):
        with pytest.raises(InputError, match=says):
            estimate(values, labels=labels, **told)
    in_users = estimate(values * 10_000, **told)
    assert in_users.apply(values * 10_000).tolist() == in_users.apply(values).tolist()


def test_reports_that_are_labels_are_no_places(monkeypatch):
    monkeypatch.setattr("advisor.api.collected._advice", lambda request, _: request)

    def most(labels):
        request = reports(np.array([0] * 60 + [1] * 40), "grr", eps=2.0, labels=labels)
        return request.labels[request.collected.observed.estimate.argmax()]

    assert most(["1", "0"]) == most([1, 0]) == "0"
    assert most(np.array(["a", "b"])) == "a"


def test_a_column_called_count_is_doubted_where_a_filter_may_have_kept_some_rows():
    frame = pd.DataFrame({"kept": [True, True, False, True, False] * 20, "count": [1, 2, 3, 1, 2] * 20})
    kept = frame[frame.kept]["count"]
    assert "could be values of users: if they are, give them as .to_numpy()" in sample_in_memory(kept, None).warnings[0]
    assert users(sample_in_memory(kept.to_numpy(), None)) == {"1": 40, "2": 20}
    sizes = pd.Series([1] * 5 + [2] * 9).value_counts().sort_index()  # nothing tells the two apart
    assert (users(sample_in_memory(sizes, None)), len(sample_in_memory(sizes, None).warnings)) == ({"1": 5, "2": 9}, 1)
    counted = frame["count"].value_counts()
    for given in (counted, counted.to_frame(), counted.rename_axis(None)):
        read = sample_in_memory(given, None)
        assert dict(zip(read.labels, read.counts.tolist(), strict=True)) == {"1": 40, "2": 40, "3": 20}
        assert not read.warnings
    by_user = pd.Series([2, 1, 2], index=pd.Index([7, 9, 12], name="user"))
    assert "read as counts of users, and could be values" in sample_in_memory(by_user, None).warnings[0]


def test_missing_masked_and_total_entries_are_no_categories():
    arrow = pytest.importorskip("pyarrow")
    assert sample_in_memory(arrow.array(["a", "b", "a"]), None).labels == ("a", "b")
    masked = np.ma.array([100, 200, 300], mask=[0, 1, 0])
    for given, counts in ((arrow.array(["a", None]), None), (None, masked), (5, None), (Path("a.csv"), None)):
        with pytest.raises(InputError):
            sample_in_memory(given, counts)
    read = sample_in_memory(None, {"a": 100, "b": 200, "Total": 300})
    assert (read.labels, read.counts.tolist()) == (("a", "b"), [100, 200])
    assert "left out as their total" in read.warnings[0]
    for source in (None, 5):
        with pytest.raises(InputError, match="reports must be a sequence of values"):
            reports(source, "grr", eps=1.0)
    with pytest.raises(InputError, match="got counts by value"):
        reports({"a": 5, "b": 2}, "grr", eps=1.0)
    days = pd.Series(pd.to_datetime(["2024-01-02", "2024-01-03"]))
    assert sample_in_memory(days.to_numpy(), None).labels == sample_in_memory(days, None).labels
