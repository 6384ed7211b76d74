from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from advisor.inputs import histogram, source, table
from advisor.inputs.bins import Cut
from advisor.inputs.histogram import read_histogram
from tests.advisor.inputs.reading import parquet, read_bytes, read_file, refusal
from tests.cells import over

DECIMALS = st.integers(-10_000_000, 10_000_000).map(lambda number: str(Decimal(number).scaleb(-3)))


def counted(numbers, edges, *, closed=True):
    result = [0] * (len(edges) - 1)
    for text in numbers:
        for at, (low, high) in enumerate(pairwise(edges)):
            number, is_last = Fraction(text), at == len(result) - 1
            if low <= number < high or (closed and is_last and number == high):
                result[at] += 1
    return result


def read(text, cut, **options):
    found = read_bytes(text.encode(), cut=cut, **options)
    assert len(found.labels) == len(found.counts) == found.bins.k
    return found


def column(numbers):
    return "\n".join(["value", *numbers]) + "\n"


@settings(deadline=None, max_examples=30)
@given(st.lists(DECIMALS, min_size=2, max_size=40), st.integers(2, 50))
def test_equal_bins_between_the_smallest_and_the_largest_number(numbers, k):
    values = [Fraction(text) for text in numbers]
    low, high = min(values), max(values)
    assume(low < high)
    found = read(column(numbers), Cut(count=k))
    assert found.counts.tolist() == counted(numbers, [low + (high - low) * at / k for at in range(k + 1)])


@settings(deadline=None, max_examples=30)
@given(st.lists(DECIMALS, min_size=2, max_size=40), st.sampled_from(["0.1", "0.3", "7", "2.5", "1000", "0.007"]))
def test_bins_of_a_width_begin_at_its_multiples(numbers, width):
    step = Fraction(width)
    values = [Fraction(text) for text in numbers]
    first, last = min(values) // step, max(values) // step + 1
    assume(last - first >= 2 and last - first < 10_000)
    found = read(column(numbers), Cut(width=float(width)))
    expected = {}
    for value in values:
        expected[value // step - first] = expected.get(value // step - first, 0) + 1
    assert {at: count for at, count in enumerate(found.counts.tolist()) if count} == expected
    assert found.bins.k == last - first


@settings(deadline=None, max_examples=30)
@given(st.lists(DECIMALS, min_size=3, max_size=12, unique_by=Fraction), st.data())
def test_edges_as_given(edges, data):
    edges = sorted(edges, key=Fraction)
    numbers = data.draw(st.lists(st.one_of(DECIMALS, st.sampled_from(edges)), min_size=1, max_size=40))
    numbers = [text for text in numbers if Fraction(edges[0]) <= Fraction(text) <= Fraction(edges[-1])]
    assume(numbers)
    found = read(column(numbers), Cut(edges=tuple(map(float, edges))))
    assert found.counts.tolist() == counted(numbers, [Fraction(text) for text in edges])


def test_numbers_on_the_edges_of_a_width_that_no_double_holds():
    numbers = [f"{at / 10:.1f}" for at in range(-50, 1000)]  # 0.3 is below 3 * 0.1 in doubles
    assert read(column(numbers), Cut(width=0.1)).counts.tolist() == [1] * len(numbers)
    ranged = read(column(numbers), Cut(width=0.1, edges=(-5.0, 100.0)))
    assert ranged.counts.tolist() == [1] * len(numbers)
    assert ranged.labels[:2] == ("-5–-4.9", "-4.9–-4.8")


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_the_size_of_blocks_changes_nothing(block, monkeypatch):
    numbers = [str(at * at % 101) for at in range(500)]
    cuts = [Cut(count=13), Cut(width=7), Cut(count=13, edges=(0, 130)), Cut(count=5, edges=(10, 60), clamp=True)]
    whole = [read(column(numbers), cut).counts.tolist() for cut in cuts]
    monkeypatch.setattr(table, "BLOCK_ROWS", block)
    monkeypatch.setattr(source, "CHUNK_BYTES", block)
    assert [read(column(numbers), cut).counts.tolist() for cut in cuts] == whole


def test_equal_steps_are_a_width_and_others_are_none():
    assert read("1\n2\n", Cut(edges=(0.0, 0.1, 0.2, 5.0))).bins.width is None
    assert read("0.1\n0.2\n", Cut(edges=(0.0, 0.1, 0.2, 0.3))).bins.width == 0.1


EQUAL = Cut(edges=(-2000.0, 0.0, 100.0, 2000.0))
# Text, cut, options, and the counts.
CUT = [
    ("-5\n−4\n+3\n1e1\n0.5\n.5\n5.\n007\n", Cut(edges=(-10.0, 0.0, 1.0, 2000.0)), {}, [2, 2, 4]),
    ('"1,000"\n"-1,250.50"\n"12"\n', EQUAL, {}, [1, 1, 1]),
    ("id;x\n1;3,5\n2;1.250,5\n3;-1\n", EQUAL, {"column": "x"}, [1, 1, 1]),
    ("id;x\n1;3,5\n2;1.250\n3;-1\n", EQUAL, {"column": "x"}, [1, 1, 1]),  # 3,5 tells that a point groups thousands
    ("id;x\n1;3.5\n2;1,250\n3;-1\n", EQUAL, {"column": "x"}, [1, 1, 1]),
    ("id\tx\n1\t3.5\n2\t1250\n3\t-1\n", EQUAL, {"column": "x"}, [1, 1, 1]),
    ("age,count\n17,5\n18,7\n18.5,1\n90,2\n", Cut(edges=(0, 18, 65, 120)), {}, [5, 8, 2]),
    ("5\n5\n", Cut(count=4, edges=(0, 8)), {}, [0, 0, 2, 0]),
    ("-3\n5\n131\n", Cut(width=70, edges=(-5, 135)), {}, [2, 1]),
    ("-1.7e308\n0\n1.7e308\n", Cut(count=2), {}, [1, 2]),
    ("-1.7e308\n0\n", Cut(edges=(-1.7e308, 1.7e308, 1.75e308)), {}, [2, 0]),
    ("0\n5e-324\n", Cut(edges=(0, 5e-324, 1e-323)), {}, [1, 1]),
]
AGES = "-3\n5\n7\n130\n131\n"
FOUR = Cut(count=4)
REFUSED = [
    ("id;x\n1;1,250\n2;3,500\n", FOUR, {"column": "x"}, "column 'x' holds '1,250' on line 2, which can be read in two"),
    ("age,count\n17,5\n18,x\n", Cut(width=5), {"counts": "count"}, "a count is a whole number"),
    ("5\n5\n", FOUR, {}, "all numbers lie in one bin, from 5 to 5"),
    ("5\n6\n", Cut(width=5), {}, "in one bin, from 5 to 6, and a domain needs at least 2"),
    ("x\nnan\n", FOUR, {"header": True, "drop_missing": True}, "holds no user with a number"),
    ("x,count\n5,0\n6,0\n", FOUR, {}, "holds no user with a number"),
    (AGES, Cut(edges=(0, 50, 120)), {}, "3 of 5 users lie outside of the edges 0 to 120: 1 below (down to -3) and 2"),
    (AGES, Cut(edges=(0, 50, 120)), {}, "from -3 to 131, or count these users in the first and last bin with --clamp"),
    (AGES, Cut(width=5, edges=(0, 120)), {}, "reach from -3 to 131"),
    ("-3\n5\n", Cut(count=5, edges=(0, 120)), {}, "reach from -3 to 120"),
    ("0\n1\n", Cut(width=1e-7), {}, "into 10,000,001 bins, and a domain has at most 2,000,000"),
    (f"1\n{1 + 2**-50!r}\n", Cut(count=100), {}, "narrower than numbers of double precision can tell apart"),
    ("-1e308\n1e308\n", Cut(width=1e-300), {}, "into over 10^15 bins"),
    ("1\n1.7e308\n", Cut(width=1e308), {}, "beyond the largest"),
]


@over(CUT)
def test_numbers_are_cut_as_people_write_them(text, cut, options, counts):
    assert read(text, cut, **options).counts.tolist() == counts


@over(REFUSED)
def test_what_cannot_be_cut_is_refused_in_one_line(text, cut, options, said):
    assert said in refusal(read, text, cut, **options)


@over(["abc", "1_000", "2024-01-31", "3,5,", "1e5000"])
def test_what_is_no_number_is_named_with_its_column_and_line(word):
    error = refusal(read, f'"income"\n"5"\n"{word}"\n', Cut(count=4))
    assert f"column 'income' holds '{word}' on line 3, which is" in error
    assert "choose another --column" in error


@over(["", "NaN", "n/a", "null", "inf", "-Infinity", "∞"])
def test_what_is_missing_or_infinite_is_refused_or_left_out(word):
    text = f'x\n"1"\n"{word}"\n"9"\n'
    assert "line 3: the value is missing" in refusal(read, text, Cut(count=2))
    found = read(text, Cut(count=2), drop_missing=True)
    assert found.counts.tolist() == [1, 1]
    assert f"1 user was left out: the value is missing{f' ({word!r})' if word else ''}" in found.warnings


def test_parquet_is_cut_like_text(tmp_path):
    numbers = [-0.5, 3.0, 7.25, 12.0]
    cut = Cut(width=2.5)
    first = read_histogram(parquet(tmp_path, x=numbers), cut=cut)
    second = read_file(tmp_path, "a.txt", "\n".join(map(str, numbers)) + "\n", cut=cut)
    assert first.counts.tolist() == second.counts.tolist() == [1, 0, 1, 1, 0, 1]
    assert first.labels == second.labels == ("-2.5–0", "0–2.5", "2.5–5", "5–7.5", "7.5–10", "10–12.5")
    assert (first.bins.name, second.bins.name) == ("x", "the unit of the data")


def test_numbers_outside_of_the_edges_go_into_the_ends_if_asked():
    found = read("-3\n-2\n5\n7\n131\n", Cut(edges=(0, 50, 120), clamp=True))
    assert found.counts.tolist() == [4, 1]
    assert found.warnings == ("3 users lie outside of the edges (60.00% of all), counted in the first or last bin",)


def test_distinct_numbers_are_bounded_where_the_range_depends_on_them(monkeypatch):
    monkeypatch.setattr(histogram, "MOST_NUMBERS", 999)
    numbers = column([str(at) for at in range(1000)])
    assert "more than 999 distinct numbers" in refusal(read, numbers, Cut(count=10))
    assert read(numbers, Cut(count=10, edges=(0, 1000))).counts.tolist() == [100] * 10


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 60), st.sampled_from(["0", "-3", "1e9", "0.001"]), st.sampled_from(["1", "0.1", "1e-6", "1e6"]))
def test_labels_tell_bins_apart_and_stay_short(k, low, width):
    high = Fraction(low) + k * Fraction(width)
    found = read(f"{low}\n", Cut(count=k, edges=(float(low), float(high))))
    assert len(set(found.labels)) == k
    assert max(map(len, found.labels)) <= 35
