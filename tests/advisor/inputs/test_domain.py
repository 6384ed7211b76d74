"""The domain: labels in order, categories nobody reported, and what happens to labels that are not kept."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.inputs.domain import LabelDomain, build_domain, read_domain
from advisor.inputs.histogram import read_histogram
from advisor.inputs.labels import OTHER_LABEL
from tests.cells import failures


def gz(data: bytes) -> bytes:
    """Compress without the time of day, so that test names are the same in every process."""
    return gzip.compress(data, mtime=0)


def build(users: dict[str, int], **options) -> LabelDomain:
    options.setdefault("from_histogram", False)
    built = build_domain(list(users), np.array(list(users.values()), dtype=np.int64), **options)
    assert built.counts.dtype == np.int64
    assert built.counts.shape == (len(built.labels),)
    assert len(set(built.labels)) == len(built.labels) >= 2
    assert built.counts.sum() >= 1
    return built


def pairs(built: LabelDomain) -> list[tuple[str, int]]:
    return list(zip(built.labels, built.counts.tolist(), strict=True))


def error_of(users: dict[str, int], **options) -> str:
    with pytest.raises(InputError) as caught:
        build(users, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- order -----------------------------------------------------------------------------------------------------


def test_numbers_are_sorted_by_value_and_ordered() -> None:
    built = build({"10": 1, "9": 2, "-1.5": 3, "1e2": 4})
    assert pairs(built) == [("-1.5", 3), ("9", 2), ("10", 1), ("1e2", 4)]
    assert built.ordered
    assert "sorted by value" in built.assumptions[0]
    assert not build({"10": 1, "9": 2}, ordered=False).ordered


@pytest.mark.parametrize("odd", ["02138", "1_000", "nan", "inf", "0x10", "", "1" * 50])
def test_one_label_that_is_no_number_makes_all_of_them_names(odd: str) -> None:
    built = build({"10": 1, "9": 2, odd: 3})
    assert built.labels == tuple(sorted(["10", "9", odd]))
    assert not built.ordered


def test_a_few_words_among_many_numbers_are_pointed_out() -> None:
    users = {str(age): 1 for age in range(20, 60)} | {"?": 1}
    assert "1 of 41 labels are not numbers ('?')" in build(users).warnings[0]
    assert build({"a": 1, "1": 1}).warnings == ()


def test_equal_numbers_are_merged_under_the_shortest_spelling_with_a_warning() -> None:
    built = build({"1.0": 2, "2": 1, "1": 3})
    assert pairs(built) == [("1", 5), ("2", 1)]
    assert "'1' and '1.0'" in built.warnings[0]


def test_names_are_alphabetical_or_in_the_order_of_the_histogram() -> None:
    assert build({"b": 1, "a": 2}).labels == ("a", "b")
    kept = build({"b": 1, "a": 2}, from_histogram=True)
    assert kept.labels == ("b", "a")
    assert not kept.ordered
    asked = build({"pear": 1, "fig": 2}, from_histogram=True, ordered=True)
    assert asked.ordered
    assert "ordered in the order of the file" in asked.assumptions[0]
    assert "ordered in alphabetical order" in build({"pear": 1, "fig": 2}, ordered=True).assumptions[0]


# --- k ---------------------------------------------------------------------------------------------------------


def test_integers_fill_their_gaps_first_and_go_on_above() -> None:
    built = build({"5": 1, "3": 2, "8": 3}, k=8)
    assert pairs(built) == [("3", 2), ("4", 0), ("5", 1), ("6", 0), ("7", 0), ("8", 3), ("9", 0), ("10", 0)]
    assert built.ordered
    assert built.warnings == ()
    assert "3 unobserved integers between 3 and 8" in built.assumptions[-1]
    assert "the integers 9 to 10 above the largest label seen" in built.assumptions[-1]


def test_a_k_that_is_smaller_than_the_gaps_leaves_the_new_categories_without_a_name() -> None:
    built = build({"1": 1, "50": 2}, k=4)
    assert pairs(built) == [("1", 1), ("50", 2), ("(unseen 1)", 0), ("(unseen 2)", 0)]
    assert "emd and range queries" in built.warnings[0]
    assert "--domain FILE" in built.assumptions[-1]
    assert build({"1": 1, "50": 2}, k=4, ordered=False).warnings == ()


def test_integers_too_large_to_count_along_get_categories_without_a_name() -> None:
    assert build({"1e999": 1, "-1e999": 1}, k=3).labels == ("-1e999", "1e999", "(unseen 1)")


@pytest.mark.parametrize("users", [{"a": 1, "(unseen 1)": 2}, {"1.5": 1, "(unseen 1)": 2}])
def test_other_labels_get_categories_without_a_name(users: dict) -> None:
    built = build(users, k=4)
    assert built.labels[2:] == ("(unseen 2)", "(unseen 3)")
    assert built.counts.tolist()[2:] == [0, 0]


def test_gaps_are_mentioned_if_nobody_says_k() -> None:
    assert "--k 8 adds the 6 between them" in build({"1": 1, "8": 2}).assumptions[-1]
    assert len(build({"1": 1, "2": 2}).assumptions) == 1


@pytest.mark.parametrize(
    ("users", "options", "said"),
    [
        ({"a": 1, "b": 1, "c": 1}, {"k": 2}, ["got 2", "have 3 categories", "at least 3", "--keep-top"]),
        ({"a": 1}, {}, ["only the label 'a'", "--domain FILE", "--k"]),
        ({}, {}, ["no label"]),
        ({"a": 0, "b": 0}, {}, ["no user is left"]),
        ({"a": 1, "b": 2**53}, {}, ["more than 9007199254740992"]),
        ({"a": 1, OTHER_LABEL: 1}, {"other": True, "keep_top": 1}, ["'(other)' is a label already"]),
    ],
)
def test_what_does_not_fit_is_refused(users: dict, options: dict, said: list) -> None:
    message = error_of(users, **options)
    for part in said:
        assert part in message


def test_a_label_that_is_there_twice_is_refused() -> None:
    with pytest.raises(InputError, match="'a' is there twice"):
        build_domain(["a", "a"], np.array([1, 2]), from_histogram=True)


# --- a given domain --------------------------------------------------------------------------------------------


def test_names_stand_in_the_order_of_the_domain() -> None:
    built = build({"low": 1, "high": 2}, domain=["low", " mid ", "high"])
    assert pairs(built) == [("low", 1), ("mid", 0), ("high", 2)]
    assert not built.ordered
    assert build({"low": 1}, domain=["low", "mid"], ordered=True, k=2).ordered


def test_numbers_of_the_domain_are_compared_and_sorted_by_value() -> None:
    built = build({"1.0": 1, "1": 1, "3": 2}, domain=["3", "2", "1"])
    assert pairs(built) == [("1", 2), ("2", 0), ("3", 2)]
    assert built.ordered
    unordered = build({"1": 1, "3": 2}, domain=["3", "2", "1"], ordered=False)
    assert unordered.labels == ("3", "2", "1")
    assert not unordered.ordered


MISFITS = [
    ({"domain": ["Texas", "Utah"]}, ["'Ohio' (and 1 more label) is", "not in the domain", "Texas, Utah"]),
    ({"domain": ["Ohoi", "Txas", "Texas"]}, ["label 'Ohio'", "did you mean 'Ohoi'?"]),
    ({"domain": ["Texas", "Ohio", "Iowa", "Utah"], "k": 5}, ["--k: got 5", "has 4 labels"]),
    ({"domain": ["Texas", "Ohio", "Iowa"], "k": 3, "keep_top": 2}, ["--domain and --keep-top"]),
    ({"domain": ["Texas", "Ohio", "Texas"]}, ["'Texas' is there twice (labels 1 and 3)"]),
    ({"domain": ["1", "1.0"]}, ["'1.0' is there twice"]),
    ({"domain": ["Texas", " "]}, ["label 2 is empty"]),
    ({"domain": ["Texas"], "keep_top": 1}, ["only the label 'Texas'"]),
]


def test_a_domain_that_does_not_fit() -> None:
    def refused(cell: tuple[dict, list]) -> None:
        options, said = cell
        message = error_of({"Texas": 1, "Ohio": 2, "Yowa": 1}, **options)
        for part in said:
            assert part in message

    assert failures(MISFITS, refused) == {}


def test_labels_outside_of_the_domain_go_where_the_rest_goes() -> None:
    users = {"a": 5, "b": 1, "c": 3, "x": 7}
    built = build(users, domain=["c", "b", "a", "d"], keep_top=3)
    assert pairs(built) == [("c", 3), ("b", 1), ("a", 5)]
    assert "7 users with labels that are not kept (43.8% of all) dropped" in built.warnings[0]
    merged = build(users, domain=["c", "b", "a", "d"], keep_top=2, other=True)
    assert pairs(merged) == [("c", 3), ("a", 5), (OTHER_LABEL, 8)]


# --- keep_top and other ----------------------------------------------------------------------------------------


def test_keep_top_breaks_ties_by_the_order_of_the_labels() -> None:
    built = build({"d": 2, "b": 2, "a": 1, "c": 9}, keep_top=2)
    assert pairs(built) == [("b", 2), ("c", 9)]
    assert "3 users with labels that are not kept (21.4% of all) dropped; --other" in built.warnings[0]
    assert build({"d": 2, "b": 2, "c": 9}, keep_top=2, from_histogram=True).labels == ("d", "c")
    everything = build({"a": 1, "b": 1}, keep_top=5, other=True)
    assert everything.labels == ("a", "b")
    assert everything.warnings == ()


def test_other_is_the_last_category() -> None:
    built = build({"a": 1, "b": 2, "z": 4}, keep_top=1, other=True)
    assert pairs(built) == [("z", 4), (OTHER_LABEL, 3)]
    assert any("3 users with other labels are merged" in text for text in built.assumptions)


def test_k_counts_other_and_pads_before_it() -> None:
    built = build({"a": 1, "b": 2, "z": 4}, keep_top=1, other=True, k=4)
    assert built.labels == ("z", "(unseen 1)", "(unseen 2)", OTHER_LABEL)
    assert "(other) is one of them" in error_of({"a": 1, "b": 2, "z": 4}, keep_top=2, other=True, k=2)


def test_other_takes_the_order_from_numbers_unless_it_is_asked_for() -> None:
    users = {"1": 5, "2": 1, "3": 4}
    built = build(users, keep_top=2, other=True)
    assert pairs(built) == [("1", 5), ("3", 4), (OTHER_LABEL, 1)]
    assert not built.ordered
    assert "taken as unordered" in built.warnings[0]
    asked = build(users, keep_top=2, other=True, ordered=True)
    assert asked.ordered
    assert "stands last in the order" in asked.warnings[0]
    refused = build(users, keep_top=2, other=True, ordered=False)
    assert not refused.ordered
    assert refused.warnings == ()


def test_users_without_a_kept_item_are_dropped_or_kept() -> None:
    users = {"milk": 3, "tea": 1, OTHER_LABEL: 4}
    dropped = build(users, transactions=True)
    assert pairs(dropped) == [("milk", 3), ("tea", 1)]
    assert "4 users without a kept item (50.0% of all) dropped" in dropped.warnings[0]
    assert pairs(build(users, transactions=True, other=True)) == [("milk", 3), ("tea", 1), (OTHER_LABEL, 4)]
    both = build(users, transactions=True, other=True, keep_top=1)
    assert pairs(both) == [("milk", 3), (OTHER_LABEL, 5)]
    assert build({"1": 3, "2": 1, OTHER_LABEL: 4}, transactions=True).ordered
    assert pairs(build(users)) == [(OTHER_LABEL, 4), ("milk", 3), ("tea", 1)]  # a name like any other


# --- the domain file -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data", ["low\nmid, so\nhigh\n", "\ufefflow\r\n\r\n mid, so \r\nhigh", '"low"\n"mid, so"\nhigh\n']
)
@pytest.mark.parametrize("zipped", [False, True])
def test_a_domain_file_has_one_label_a_line(tmp_path: Path, data: str, zipped: bool) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(gz(data.encode()) if zipped else data.encode())
    assert read_domain(str(path)) == ("low", "mid, so", "high")


UNREADABLE = [
    (b"a\nb\n\na\n", "line 4: label 'a' is on line 1 already"),
    (b"", "is empty; give one"),
    (b"\n\n", "is empty"),
    (b'""\n""\n', "is empty"),
    (b"a\ncaf\xe9\n", "line 2 (byte 6) is not UTF-8"),
    (b"PK\x03\x04", "zip archive"),
    (b"PAR1\x15\x00", "the Parquet file cannot be read"),
    (b'"a"\n' * 2, "line 2: label 'a' is on line 1"),
    (b'"a"\n' + b"".join(b"b%d\n" % at for at in range(1500)) + b'"c",d\n', "line 1502 has 2 fields"),
    (b'"a"\n' + b"".join(b"b%d\n" % at for at in range(1500)) + b'"c"d\n', "line 1502: text goes on after"),
]


def test_a_domain_file_that_cannot_be_read(tmp_path: Path) -> None:
    def refused(cell: tuple[bytes, str]) -> None:
        data, said = cell
        path = tmp_path / "labels.txt"
        path.write_bytes(data)
        with pytest.raises(InputError) as caught:
            read_domain(str(path))
        assert str(caught.value).startswith(str(path))
        assert said in str(caught.value)

    assert failures(UNREADABLE, refused) == {}


def test_a_missing_domain_file_has_a_near_miss(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("a\n")
    with pytest.raises(InputError, match=r"lables\.txt: no such file; did you mean 'labels\.txt'"):
        read_domain(str(tmp_path / "lables.txt"))


# --- properties ------------------------------------------------------------------------------------------------

NUMBERS = st.integers(-50, 50).map(str) | st.sampled_from(["1.0", "2.50", "2.5", "1e1", "-0", "1e999"])
WORDS = st.text("abcXYZ 0123456789é", min_size=1, max_size=5).map(str.strip).filter(bool)
USERS = st.dictionaries(NUMBERS | WORDS, st.integers(0, 9), min_size=2, max_size=12) | st.dictionaries(
    NUMBERS, st.integers(0, 9), min_size=2, max_size=12
)


def outcome(users: dict[str, int], **options) -> object:
    try:
        built = build(users, **options)
    except InputError as error:
        return str(error)
    return (pairs(built), built.ordered, built.assumptions, built.warnings)


@settings(deadline=None, max_examples=40)
@given(
    users=USERS,
    seed=st.randoms(use_true_random=False),
    k=st.none() | st.integers(2, 30),
    keep_top=st.none() | st.integers(1, 6),
    other=st.booleans(),
    ordered=st.none() | st.booleans(),
    domain=st.none() | st.lists(NUMBERS | WORDS, min_size=2, max_size=6, unique=True),
)
def test_the_order_of_the_rows_does_not_matter(users, seed, k, keep_top, other, ordered, domain) -> None:
    shuffled = list(users)
    seed.shuffle(shuffled)
    options = {"k": k, "keep_top": keep_top, "other": other, "ordered": ordered, "domain": domain}
    assert outcome(users, **options) == outcome({label: users[label] for label in shuffled}, **options)


@settings(deadline=None, max_examples=40)
@given(users=USERS, k=st.none() | st.integers(14, 30), keep_top=st.integers(1, 12))
def test_no_user_is_lost_with_other_and_k_is_met(users, k, keep_top) -> None:
    assume(sum(users.values()))
    padded = outcome(users, k=k, keep_top=keep_top, other=True)
    assume(isinstance(padded, tuple))
    assert sum(number for _, number in padded[0]) == sum(users.values())
    assert k is None or len(padded[0]) == k


@settings(deadline=None, max_examples=40)
@given(users=USERS, k=st.none() | st.integers(13, 120))
def test_histogram_and_raw_values_give_the_same_domain(users, k) -> None:
    users = {label: users[label] + 1 for label in sorted(users)}
    rows = "".join(f"{label}\n" * number for label, number in users.items())
    table = "label,count\n" + "".join(f"{label},{number}\n" for label, number in users.items())
    raw = read_histogram("-", stdin=io.BytesIO(rows.encode()), header=False)
    tabled = read_histogram("-", stdin=io.BytesIO(table.encode()))
    assert not raw.from_histogram
    assert tabled.from_histogram
    built = [
        outcome(dict(zip(read.labels, read.counts.tolist(), strict=True)), from_histogram=read.from_histogram, k=k)
        for read in (raw, tabled)
    ]
    if isinstance(built[0], str):
        assert built[0] == built[1]
    else:
        assert built[0][:2] == built[1][:2]
        assert sum(number for _, number in built[0][0]) == sum(users.values())
