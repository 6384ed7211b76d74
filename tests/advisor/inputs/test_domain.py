from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.inputs.domain import build_domain, read_domain
from advisor.inputs.estimates import RawEstimates
from advisor.inputs.histogram import RawHistogram
from advisor.inputs.labels import OTHER_LABEL
from advisor.question.collected import collect
from advisor.question.spread import Origin
from tests.advisor.inputs.reading import gz, put, read_bytes, read_reports, refusal
from tests.cells import failures, over


def build(users, **options):
    counts = np.array(list(users.values()), dtype=np.int64)
    built = build_domain(RawHistogram(tuple(users), counts, options.pop("from_histogram", False)), **options)
    assert built.counts.dtype == np.int64
    assert built.counts.shape == (len(built.labels),)
    assert len(set(built.labels)) == len(built.labels) >= 2
    assert built.counts.sum() >= 1
    return built


def pairs(built):
    return list(zip(built.labels, built.counts.tolist(), strict=True))


FILE = {"from_histogram": True}
FRUIT, NUMBERED = {"pear": 1, "fig": 2}, {"1": 5, "2": 1, "3": 4}
GAPS, WIDE = {"5": 1, "3": 2, "8": 3}, {"1": 1, "50": 2}
BASKETS, SPREAD = {"milk": 3, "tea": 1, OTHER_LABEL: 4}, {"a": 5, "b": 1, "c": 3, "x": 7}
ITEMS = {"transactions": True}
LEFT = "3 users with labels that are not kept (21.4% of all) dropped; --other"
# Users of labels, options, the domain, whether it is ordered, and words of its warning.
DOMAINS = [
    ({"10": 1, "9": 2, "-1.5": 3, "1e2": 4}, {}, {"-1.5": 3, "9": 2, "10": 1, "1e2": 4}, True, ""),
    ({"500": 1, "1.000": 2, "2.500": 3}, {}, {"1.000": 2, "2.500": 3, "500": 1}, True, "if it is 1000, write 1000"),
    ({"5": 1, "1.500": 2, "2.5": 3}, {}, {"1.500": 2, "2.5": 3, "5": 1}, True, ""),
    ({"10": 1, "9": 2}, {"ordered": False}, {"9": 2, "10": 1}, False, ""),
    ({"1.0": 2, "2": 1, "1": 3}, {}, {"1": 5, "2": 1}, True, "'1' and '1.0'"),
    ({"b": 1, "a": 2}, {}, {"a": 2, "b": 1}, False, ""),
    ({"b": 1, "a": 2}, FILE, {"b": 1, "a": 2}, False, ""),
    ({"a": 1, "1": 1}, {}, {"1": 1, "a": 1}, False, ""),
    ({"10": 1, "9": 1, "?": 1, "1": 1}, {}, {"1": 1, "10": 1, "9": 1, "?": 1}, False, ""),
    (GAPS, {"k": 8}, {"3": 2, "4": 0, "5": 1, "6": 0, "7": 0, "8": 3, "9": 0, "10": 0}, True, ""),
    (WIDE, {"k": 4}, {"1": 1, "50": 2, "(unseen 1)": 0, "(unseen 2)": 0}, True, "emd and range queries"),
    (WIDE, {"k": 3, "ordered": False}, {"1": 1, "50": 2, "(unseen 1)": 0}, False, ""),
    ({"1e999": 1, "-1e999": 1}, {"k": 3}, {"-1e999": 1, "1e999": 1, "(unseen 1)": 0}, True, "emd and range queries"),
    ({"a": 1, "(unseen 1)": 2}, {"k": 3}, {"(unseen 1)": 2, "a": 1, "(unseen 2)": 0}, False, ""),
    ({"1.5": 1, "(unseen 1)": 2}, {"k": 3}, {"(unseen 1)": 2, "1.5": 1, "(unseen 2)": 0}, False, ""),
    ({"low": 1, "high": 2}, {"domain": ["low", " mid ", "high"]}, {"low": 1, "mid": 0, "high": 2}, False, ""),
    ({"low": 1}, {"domain": ["low", "mid"], "ordered": True, "k": 2}, {"low": 1, "mid": 0}, True, ""),
    ({"1.0": 1, "1": 1, "3": 2}, {"domain": ["3", "2", "1"]}, {"1": 2, "2": 0, "3": 2}, True, ""),
    ({"1": 1, "3": 2}, {"domain": ["3", "2", "1"], "ordered": False}, {"3": 2, "2": 0, "1": 1}, False, ""),
    (SPREAD, {"domain": list("cbad"), "keep_top": 3}, {"c": 3, "b": 1, "a": 5}, False, "7 users with labels that are"),
    (SPREAD, {"domain": list("cbad"), "keep_top": 2, "other": True}, {"c": 3, "a": 5, OTHER_LABEL: 8}, False, ""),
    ({"d": 2, "b": 2, "a": 1, "c": 9}, {"keep_top": 2}, {"b": 2, "c": 9}, False, LEFT),
    ({"d": 2, "b": 2, "c": 9}, {"keep_top": 2, **FILE}, {"d": 2, "c": 9}, False, "2 users with labels that are not"),
    ({"a": 1, "b": 1}, {"keep_top": 5, "other": True}, {"a": 1, "b": 1}, False, ""),
    ({"a": 1, "b": 2, "z": 4}, {"keep_top": 1, "other": True}, {"z": 4, OTHER_LABEL: 3}, False, ""),
    ({"a": 1, "z": 4}, {"keep_top": 1, "other": True, "k": 3}, {"z": 4, "(unseen 1)": 0, OTHER_LABEL: 1}, False, ""),
    (NUMBERED, {"keep_top": 2, "other": True}, {"1": 5, "3": 4, OTHER_LABEL: 1}, False, "taken as unordered"),
    (NUMBERED, {"keep_top": 2, "other": True, "ordered": True}, {"1": 5, "3": 4, OTHER_LABEL: 1}, True, "stands last"),
    (NUMBERED, {"keep_top": 2, "other": True, "ordered": False}, {"1": 5, "3": 4, OTHER_LABEL: 1}, False, ""),
    (BASKETS, ITEMS, {"milk": 3, "tea": 1}, False, "4 users without a kept item (50.0% of all) dropped"),
    (BASKETS, {**ITEMS, "other": True}, BASKETS, False, ""),
    (BASKETS, {**ITEMS, "other": True, "keep_top": 1}, {"milk": 3, OTHER_LABEL: 5}, False, ""),
    ({"1": 3, "2": 1, OTHER_LABEL: 4}, ITEMS, {"1": 3, "2": 1}, True, "4 users without a kept item"),
    (BASKETS, {}, {OTHER_LABEL: 4, "milk": 3, "tea": 1}, False, ""),  # a name like any other
]


@over(DOMAINS)
def test_labels_and_options_make_the_domain(users, options, domain, ordered, warned):
    built = build(users, **options)
    assert pairs(built) == list(domain.items())
    assert built.ordered is ordered
    assert len(built.warnings) == bool(warned)
    assert warned in "".join(built.warnings)


@pytest.mark.parametrize("odd", ["02138", "1_000", "nan", "inf", "0x10", "", "1" * 50])
def test_one_label_that_is_no_number_makes_all_of_them_names(odd):
    built = build({"10": 1, "9": 2, odd: 3})
    assert built.labels == tuple(sorted(["10", "9", odd]))
    assert not built.ordered


def test_a_few_words_among_many_numbers_are_pointed_out():
    users = {str(age): 1 for age in range(20, 60)} | {"?": 1}
    assert "1 of 41 labels are not numbers ('?')" in build(users).warnings[0]


THREE = {"a": 1, "b": 2, "z": 4}
STATES = {"Texas": 1, "Ohio": 2, "Yowa": 1}
REFUSED = [
    ({"a": 1, "b": 1, "c": 1}, {"k": 2}, ["got 2", "have 3 categories", "at least 3", "--keep-top"]),
    ({"a": 1}, {}, ["only the label 'a'", "--domain FILE", "--k"]),
    ({}, {}, ["no label"]),
    ({"a": 0, "b": 0}, {}, ["no user is left"]),
    ({"a": 1, "b": 2**53}, {}, ["more than 9007199254740992"]),
    ({"a": 1, OTHER_LABEL: 1}, {"other": True, "keep_top": 1}, ["'(other)' is a label already"]),
    (THREE, {"keep_top": 2, "other": True, "k": 2}, ["(other) is one of them"]),
    (STATES, {"domain": ["Texas", "Utah"]}, ["'Ohio' (and 1 more label) is", "not in the domain", "Texas, Utah"]),
    (STATES, {"domain": ["Ohoi", "Txas", "Texas"]}, ["label 'Ohio'", "did you mean 'Ohoi'?"]),
    (STATES, {"domain": ["Texas", "Ohio", "Iowa", "Utah"], "k": 5}, ["--k: got 5", "has 4 labels"]),
    (STATES, {"domain": ["Texas", "Ohio", "Iowa"], "k": 3, "keep_top": 2}, ["--domain and --keep-top"]),
    (STATES, {"domain": ["Texas", "Ohio", "Texas"]}, ["place 3: label 'Texas' is on place 1 already"]),
    (STATES, {"domain": ["1", "1.0"]}, ["label '1.0' is on place 1, written '1', already"]),
    (STATES, {"domain": ["Texas", " "]}, ["label 2 is empty"]),
    (STATES, {"domain": ["Texas"], "keep_top": 1}, ["only the label 'Texas'"]),
]


def test_what_does_not_fit_is_refused():
    def refused(cell):
        users, options, said = cell
        message = refusal(build, users, **options)
        for words in said:
            assert words in message

    assert failures(REFUSED, refused) == {}
    assert "'a' is there twice" in refusal(build_domain, RawHistogram(("a", "a"), np.array([1, 2]), True))


def test_a_domain_file_has_one_label_a_line(tmp_path):
    def read(cell):
        text, zipped = cell
        path = put(tmp_path, "labels.csv", gz(text.encode()) if zipped else text)
        assert read_domain(path) == ("low", "mid, so", "high")

    texts = ["low\nmid, so\nhigh\n", "\ufefflow\r\n\r\n mid, so \r\nhigh", '"low"\n"mid, so"\nhigh\n']
    assert failures(product(texts, [False, True]), read) == {}


UNREADABLE = [
    (b"a\nb\n\na\n", "line 4: label 'a' is on line 1 already"),
    (b"", "is empty; give one"),
    (b"PAR1\x15\x00", "the Parquet file cannot be read"),
    (b'"a"\n' * 2, "line 2: label 'a' is on line 1"),
    (b'"a"\n' + b"".join(b"b%d\n" % at for at in range(1500)) + b'"c"d\n', "line 1502 cannot be cut into cells"),
]


def test_a_domain_file_that_cannot_be_read(tmp_path):
    def refused(cell):
        data, said = cell
        path = put(tmp_path, "labels.txt", data)
        message = refusal(read_domain, path)
        assert message.startswith(path)
        assert said in message

    assert failures(UNREADABLE, refused) == {}
    assert "lables.txt: no such file; did you mean 'labels.txt'" in refusal(read_domain, f"{tmp_path}/lables.txt")


NUMBERS = st.integers(-50, 50).map(str) | st.sampled_from(["1.0", "2.50", "2.5", "1e1", "-0", "1e999"])
WORDS = st.text("abcXYZ 0123456789é", min_size=1, max_size=5).map(str.strip).filter(bool)
USERS = st.dictionaries(NUMBERS | WORDS, st.integers(0, 9), min_size=2, max_size=12) | st.dictionaries(
    NUMBERS, st.integers(0, 9), min_size=2, max_size=12
)


def outcome(users, **options):
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
def test_the_order_of_the_rows_does_not_matter(users, seed, k, keep_top, other, ordered, domain):
    shuffled = list(users)
    seed.shuffle(shuffled)
    options = {"k": k, "keep_top": keep_top, "other": other, "ordered": ordered, "domain": domain}
    assert outcome(users, **options) == outcome({label: users[label] for label in shuffled}, **options)


@settings(deadline=None, max_examples=40)
@given(users=USERS, k=st.none() | st.integers(14, 30), keep_top=st.integers(1, 12))
def test_no_user_is_lost_with_other_and_k_is_met(users, k, keep_top):
    assume(sum(users.values()))
    padded = outcome(users, k=k, keep_top=keep_top, other=True)
    assume(isinstance(padded, tuple))
    assert sum(number for _, number in padded[0]) == sum(users.values())
    assert k is None or len(padded[0]) == k


@settings(deadline=None, max_examples=40)
@given(users=USERS, k=st.none() | st.integers(13, 120))
def test_histogram_and_raw_values_give_the_same_domain(users, k):
    users = {label: users[label] + 1 for label in sorted(users)}
    rows = "".join(f"{label}\n" * number for label, number in users.items())
    table = "label,count\n" + "".join(f"{label},{number}\n" for label, number in users.items())
    raw = read_bytes(rows.encode(), header=False)
    tabled = read_bytes(table.encode())
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


ALIKE = [  # two labels of each, and how the warning shows the second one, in the order of code points
    ("caf\u00e9", "cafe\u0301", "'caf\u00e9' (U+00E9) and 'cafe\u0301' (U+0065 U+0301)"),
    ("New York", "New\u00a0York", r"'New\xa0York' (U+00A0) and 'New York' (U+0020)"),
    ("Ohio", "Ohio\u200b", r"'Ohio\u200b' (U+200B) and 'Ohio' (without it)"),
    ("Ohio", "Oh\u00adio", r"'Oh\xadio' (U+00AD) and 'Ohio' (without it)"),
    ("b\u200cc", "b\u200dc", r"'b\u200dc' (U+200D) and 'b\u200cc' (U+200C)"),
    ("\u212b", "\u00c5", "'\u212b' (U+212B) and '\u00c5' (U+00C5)"),
]
UNLIKE = [("2", "\u00b2"), ("a", "\u0430"), ("e", "\u00e9"), ("Ohio", "ohio"), ("a b", "ab"), ("10", "1\u200b0a")]


def test_labels_that_look_alike_are_apart_with_a_warning_that_shows_their_characters(tmp_path):
    def check(cell):
        one, two, *shown = cell
        data = f"{one}\n{two}\n{two}\nUtah\n"
        built = build({one: 5, two: 3, "Utah": 2})
        assert sorted(built.labels) == sorted([one, two, "Utah"])  # not merged
        read = read_reports(put(tmp_path, "reports.csv", data), "grr", 1.0, header=False)
        assert len(read.labels) == 3
        estimate = collect(RawEstimates((one, two, "Utah"), np.array([0.5, 0.3, 0.2])), Origin("grr", 4.0, 1000))
        for warnings in (built.warnings, read.warnings, estimate.warnings):
            texts = [text for text in warnings if "look the same" in text]
            assert len(texts) == len(shown)
            assert all(f"different categories: {part}; if they are one, write them in" in texts[0] for part in shown)

    assert failures([*ALIKE, *UNLIKE], check) == {}


def test_a_label_that_only_looks_like_one_of_the_domain_is_refused_with_its_characters():
    message = refusal(build, {"cafe\u0301": 1, "tea": 2}, domain=["caf\u00e9", "tea"])
    assert "did you mean 'caf\u00e9' (U+00E9, not U+0065 U+0301)?" in message
