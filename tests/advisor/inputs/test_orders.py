from itertools import pairwise, product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.inputs.domain import arranged, build_domain, given_order
from advisor.inputs.histogram import RawHistogram
from advisor.inputs.orders import recognised
from tests.cells import failures, over

# What the labels are, whether they are ordered unasked, and the labels as people order them.
ORDERS = [
    ("ranges", True, "0-4;5-9;10-14;15-19;45-49;50-54;85+"),
    ("ranges", True, "00-04;05-09;10-14;15+"),
    ("ranges", True, "<5;5-17;18 to 24;25-34;65 and over"),
    ("ranges", True, "under 18;18 to 24;25–64;65 and older"),
    ("ranges", True, "≤ 5;6–10;> 10"),
    ("ranges", True, "Under 1 year;1 to 4 years;5 to 9 years;85 years or older"),
    ("ranges", True, "aged 5-9;aged 10-14;aged 85+"),
    ("ranges", True, "18-24 years old;25-34 years old;65+ years old"),
    ("ranges", True, "under 100k;100k-200k;200k-1m;1m+"),
    ("ranges", True, "50-100k;100-500k;500k-1m"),
    ("ranges", True, "Less than $10,000;$10,000 to $24,999;$25,000 to $49,999;$100,000 or more"),
    ("ranges", True, "£10k–£20k;£20k–£30k;>£100k"),
    ("ranges", True, "500-999 €;1 000-9 999 €;10 000-99 999 €"),
    ("ranges", True, "0;1;2;3;4+"),
    ("numbers", True, "999;1 000;12 500"),
    ("ranges", True, "1-9 employees;10-49 employees;250+ employees"),
    ("ranges", True, "(0, 5];(5, 10];(10, 100]"),
    ("ranges", True, "[-inf, 0.0);[0.0, 18.0);[18.0, 65.0);[65.0, inf)"),
    ("ranges", True, "-10 to -5;-5 to 0;0 to 5;5 to 10"),
    ("ranges", True, "0.5-1.0;1.0-2.5;2.5-10"),
    ("ranges", True, "0,5-1,0;1,0-2,5;2,5-10"),
    ("ranges", True, "up to 1 hour;1-2 hours;2-24 hours;more than 1 day"),
    ("ranges", True, "30-60 minutes;1-2 hours;3+ hours"),
    ("ranges", True, "2019-20;2020-21;2021-22"),
    ("ranges", True, "2024;2025-2029;2030+"),
    ("numbers with units", True, "500 g;1 kg;2 kg;10 kg"),
    ("numbers with units", True, "1 week;2 weeks;1 month;1 year"),
    ("numbers with units", True, "5%;10%;50%;100%"),
    ("months", False, "Jan;Feb;Mar;Sept;Oct;Dec"),
    ("months", False, "January;February;May;December"),
    ("months in German", False, "Januar;März;Mai;Dezember"),
    ("months in French", False, "janvier;février;août;décembre"),
    ("months in Spanish", False, "enero;abril;agosto;diciembre"),
    ("weekdays", False, "Mon;Tue;Wed;Thu;Fri;Sat;Sun"),
    ("weekdays", False, "MONDAY;TUESDAY;SUNDAY"),
    ("weekdays in German", False, "Montag;Dienstag;Mittwoch;Sonntag"),
    ("weekdays in French", False, "lundi;mardi;mercredi;dimanche"),
    ("weekdays in Spanish", False, "lunes;martes;miércoles;domingo"),
    ("dates", False, "2023-12-31;2024-01-31;2024-02-01;2024-10-01"),
    ("dates", False, "2024-01-31 09:15;2024-01-31 10:00;2024-02-01 08:00"),
    ("dates", False, "2023-02;2023-11;2024-01"),
    ("dates", False, "Jan 2023;Oct 2023;Feb 2024"),
    ("dates", False, "December 2023;January 2024;April 2024"),
    ("dates", False, "Dec-22;Jan-23;Feb-24"),
    ("dates", False, "31 Jan 2024;1 Feb 2024;10 Oct 2024"),
    ("dates", False, "Jan 31, 2024;Feb 1, 2024;Oct 10, 2024"),
    ("dates, day before month", False, "31.12.2023;01.01.2024;01.10.2024;02.02.2025"),
    ("dates, day before month", False, "13/01/2024;01/02/2024;02/03/2024"),
    ("dates, month before day", False, "01/13/2024;02/01/2024;10/02/2024"),
    ("parts of years", False, "2023Q4;2024Q1;2024Q2"),
    ("parts of years", False, "Q4 2023;Q1 2024;Q2 2024"),
    ("parts of years", False, "2023-W52;2024-W05;2024-W12"),
    ("quarters, halves or weeks", False, "Q1;Q2;Q3;Q4"),
    ("quarters, halves or weeks", False, "Week 1;Week 2;Week 10"),
    ("times", False, "00:30;8:00;9:30;17:45"),
    ("times", False, "9am;11 am;noon;2pm;11 pm"),
    ("times", False, "12am;9am;10am"),
    ("times", False, "8-10 am;10-12 am;2-4 pm"),
    ("parts of the day", False, "morning;afternoon;evening"),
    ("sizes", False, "XS;S;M;L;XL;XXL;3XL"),
    ("sizes", False, "Small;Medium;Large;Extra large"),
    ("degrees of agreement", False, "Strongly disagree;Disagree;Neither agree nor disagree;Agree;Strongly agree"),
    ("degrees of satisfaction", False, "Very dissatisfied;Dissatisfied;Neutral;Satisfied;Very satisfied"),
    ("degrees of likelihood", False, "very unlikely;unlikely;likely;very likely"),
    ("degrees of importance", False, "Not at all important;Slightly important;Important;Very important"),
    ("words of frequency", False, "never;rarely;sometimes;often;always"),
    ("words of frequency in time", False, "never;yearly;monthly;weekly;daily"),
    ("marks in words", False, "poor;fair;good;very-good;excellent"),
    ("levels", False, "low;medium;high"),
    ("levels", False, "very_low;low;medium;high;very_high"),
    ("degrees of severity", False, "none;mild;moderate;severe"),
    ("grades or letters", False, "A+;A;A-;B+;B;C;F"),
    ("ordinals", False, "first;second;third;fourth"),
    ("ordinals", False, "1st;2nd;3rd;10th"),
    ("numbers in words", False, "zero;one;two;three;ten"),
    ("Roman numerals", False, "I;II;III;IV;V;IX"),
    ("labels with a number", False, "Band 1;Band 2;Band 10"),
    ("numbered labels", False, "1 - Strongly disagree;2 - Disagree;10 - Agree"),
    ("numbered labels", False, "1. bus;2. tram;11. on foot"),
    ("degrees of agreement", False, "disagree;neutral;agree"),
    ("degrees of likelihood", False, "unlikely;neutral;likely"),
    ("degrees of severity", False, "none;mild;severe"),
    ("levels", False, "none;low;high"),
    ("months", False, "mar;may;sep"),
    ("weekdays in Spanish", False, "mar;mié;sáb"),
]
UNKNOWN = [
    "apple;banana;cherry",
    "F;M",
    "red;green;blue",
    "CA;NY;TX",
    "yes;no",
    "192.168.0.1;10.0.0.1",
    "A;B;AB;O",
    "0x10;10;9",
    "a-b;c-d",
    "Main Street 5;Broadway 7",
    "low;blue;green",
    "1 kg;2 hours;3 km",
    "low;medium;high;blue;green",  # two strangers among a few
    *("0 0;0 1;1 0;1 17", "10 500;10 50;2 7"),  # rows and columns of a map: thousands are three digits
]


def built(labels, **options):
    histogram = RawHistogram(tuple(labels), np.arange(1, len(labels) + 1), options.pop("from_histogram", False))
    return build_domain(histogram, **options)


def shuffled(labels, seed=1):
    return Random(seed).sample(labels, len(labels))  # noqa: S311 - no secret


@over(ORDERS)
def test_labels_stand_in_the_order_that_people_mean(name, unasked, row):
    labels = row.split(";")
    mixed = shuffled(labels)
    domain = built(mixed, ordered=True)
    assert domain.labels == tuple(labels)
    assert domain.ordered
    assert f"labels are {name}, taken as ordered" in domain.assumptions[0]
    assert not any("--domain FILE" in text or "can be" in text for text in domain.warnings)
    usual = built(mixed)
    assert usual.ordered is unasked  # only numbers and ranges of them have an order unasked
    assert usual.labels == tuple(labels if unasked else sorted(labels))
    assert not built(mixed, ordered=False).ordered


def test_an_order_that_is_nobodys_is_a_warning_with_the_order_in_it():
    def warned(row):
        labels = row.split(";")
        assert recognised(labels) is None
        for from_file, how in ((False, "in alphabetical order"), (True, "in the order of the file")):
            given_labels = sorted(labels, reverse=True)
            domain = built(given_labels, from_histogram=from_file, ordered=True)
            assert domain.labels == tuple(given_labels if from_file else sorted(labels))
            (warning,) = domain.warnings
            assert how in warning
        assert built(labels).warnings == built(labels, ordered=False).warnings == ()

    assert failures(UNKNOWN, warned) == {}


def test_one_label_without_a_place_stands_last_and_is_warned_about():
    def stands_last(cell):
        odd, row = cell
        labels = row.split(";")
        domain = built(shuffled([odd, *labels]), ordered=True)
        assert domain.labels == (*labels, odd)
        assert any(f"{odd!r}" in text and "at the end of the order" in text for text in domain.warnings)
        usual = built(shuffled([odd, *labels]))
        assert not usual.ordered

    cells = product(
        ["unknown", "Prefer not to say", "n/a", "don’t know", "somewhere else"],
        ["0-4;5-9;10-14;15-19;20+", "never;rarely;sometimes;often;always", "1;2;3;4;10"],
    )
    assert failures(cells, stands_last) == {}
    assert recognised(["low", "medium", "high", "unknown", "refused"]) is not None  # who does not answer is no stranger


ODD = [
    (["0-10", "5-15", "20-30"], "'0-10' and '5-15' overlap"),
    (["under 5", "under 10", "under 20"], "overlap"),
    (["0-4", "5-9", "15-19", "20-24"], "no label covers what lies between '5-9' and '15-19'"),
    (["0-4", "5-9", "Oct-14", "15-19", "20-24"], "'Oct-14' looks like a range that a spreadsheet has turned into"),
    ([*(f"{at}-{at + 4}" for at in range(15, 85, 5)), "9-May", "14-Oct"], "'14-Oct' looks like a range that a spread"),
    (["US$500 - US$999", "US$1,000 - US$1,999", "US$1,500 - US$2,500"], "overlap"),
    (["500 - 999", "1.000 - 1.999", "10.000 - 19.999"], "points between digits are taken for thousands"),
    (["01/02/2024", "02/01/2024", "03/03/2024"], "can be read in two ways, and are taken with the day first"),
    (["Mon", "Monday", "Tue"], "'Mon' and 'Monday'"),
]


@over(ODD)
def test_what_is_odd_about_an_order_is_said(labels, words):
    assert any(words in warning for warning in built(labels, ordered=True).warnings)


def test_a_circle_is_laid_out_as_a_line_that_begins_where_the_file_does():
    week = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    kept = built(week, from_histogram=True, ordered=True)
    assert kept.labels == tuple(week)
    assert "a line, not a circle" in kept.assumptions[0]
    assert built(week, ordered=True).labels == (*week[1:], "Sun")
    assert built(shuffled(week), from_histogram=True, ordered=True).labels == (*week[1:], "Sun")
    falling = ["high", "medium", "low"]
    assert built(falling, from_histogram=True, ordered=True).labels == tuple(falling)  # the same line


@over(["1c;10", "9 km;10 km", "5-9;10-14", "Mar;Apr", "medium;high"])
def test_an_alphabetical_table_is_put_in_order_as_raw_values_are(row):
    labels = row.split(";")
    assert sorted(labels) == labels[::-1]
    for from_file in (True, False):
        assert built(labels[::-1], from_histogram=from_file, ordered=True).labels == tuple(labels)
    longer = [*labels, "2"] if row == "1c;10" else labels
    assert built(sorted(longer), from_histogram=True).labels == built(sorted(longer)).labels


def test_the_order_of_a_domain_file_always_wins():
    assert built(["Jan", "Feb"], domain=["Mar", "Feb", "Jan"], ordered=True).labels == ("Mar", "Feb", "Jan")
    assert given_order(["0-4", "5-9", "10+"])
    assert given_order(["10+", "5-9", "0-4"])
    assert not given_order(["5-9", "0-4", "10+"])
    assert not given_order(["Jan", "Feb"])


ODD_TEXT = st.text("019-+/.,:;–%€$ \t\n\0\u200bajmnoRX½٣é", max_size=12)  # of all characters it takes seconds to begin


@pytest.mark.parametrize(
    ("examples", "texts"), [(10, ODD_TEXT), pytest.param(200, st.text(max_size=12), marks=pytest.mark.slow)]
)
def test_whatever_the_labels_are_none_is_lost(examples, texts):
    @given(st.lists(texts, min_size=2, max_size=12, unique=True))
    @settings(max_examples=examples, deadline=None)
    def none_is_lost(labels):
        for ordered, from_file in product((None, True, False), (True, False)):
            order = arranged(labels, from_file=from_file, ordered=ordered)
            assert sorted(order.labels) == sorted(labels)
            assert order.ordered or ordered is not True

    none_is_lost()


@given(st.integers(-50, 50), st.lists(st.integers(1, 40), min_size=2, max_size=30), st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_ranges_made_of_edges_are_put_in_the_order_of_the_edges(start, steps, random):
    edges = [start + sum(steps[:at]) for at in range(len(steps) + 1)]
    for form in ("{} to {}", "[{}, {})", "from {} to {}", "{} – {}"):
        labels = [form.format(low, high) for low, high in pairwise(edges)]
        domain = built(random.sample(labels, len(labels)))
        assert domain.labels == tuple(labels)
        assert domain.ordered
