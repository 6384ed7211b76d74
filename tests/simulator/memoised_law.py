"""What memoised devices send, enumerated from p1, q1, p2 and q2: every sequence of reports with its probability."""

import itertools
import math
from collections import defaultdict

import numpy as np

from simulator.memoisation import MEMOISED, DBitFlipPM

FOREVER, ONCE = 2.0, 1.0  # budgets where nothing else is said


def one_value(p1, p2, size, history):
    """Randomised response twice, a memo for each value: all sequences of reports of a history."""
    q1, q2 = (1 - p1) / (size - 1), (1 - p2) / (size - 1)
    result = {}
    for sent in itertools.product(range(size), repeat=len(history)):
        chance = 1.0
        for value in set(history):
            mine = [report for held, report in zip(history, sent, strict=True) if held == value]
            chance *= sum(
                (p1 if memo == value else q1) * math.prod([p2 if report == memo else q2 for report in mine])
                for memo in range(size)
            )
        result[sent] = chance
    return result


def bits(first, second, k, history):
    """Bits flipped twice, those of each value once for ever."""
    rounds, each = len(history), []
    for category in range(k):
        chances = {}
        for sent in itertools.product((0, 1), repeat=rounds):
            chance = 1.0
            for value in set(history):
                mine = [bit for held, bit in zip(history, sent, strict=True) if held == value]
                one = first[0] if value == category else first[1]
                chance *= sum(
                    (one if memo else 1 - one) * math.prod([abs(1 - bit - second[1 - memo]) for bit in mine])
                    for memo in (0, 1)
                )
            chances[sent] = chance
        each.append(chances)
    result = {}
    for chosen in itertools.product(*(chances.items() for chances in each)):
        result[tuple(zip(*(sent for sent, _ in chosen), strict=True))] = float(math.prod([c for _, c in chosen]))
    return result


def hashed(p1, p2, g, k, history):
    """Randomised response twice on symbols, a memo for each, and every hash function there is."""
    result = {}
    for function in itertools.product(range(g), repeat=k):
        for sent, chance in one_value(p1, p2, g, [function[value] for value in history]).items():
            result[(function, sent)] = chance / g**k
    return result


def chosen_bits(first, d, k, history):
    """DBitFlipPM: d categories for ever, and a memo for each of them and for all others together."""
    result = defaultdict(float)
    drawn = list(itertools.combinations(range(k), d))
    for mine in drawn:
        states = [value if value in mine else None for value in history]
        distinct = list(dict.fromkeys(states))
        for memos in itertools.product(itertools.product((0, 1), repeat=d), repeat=len(distinct)):
            chance = 1 / len(drawn)
            for state, memo in zip(distinct, memos, strict=True):
                ones = (first[0] if category == state else first[1] for category in mine)
                chance *= math.prod([one if bit else 1 - one for bit, one in zip(memo, ones, strict=True)])
            kept = dict(zip(distinct, memos, strict=True))
            result[(mine, tuple(kept[state] for state in states))] += chance
    return dict(result)


def sequences(member, history):
    """Every sequence of reports of a history, and its probability."""
    if member.key == "dbitflip":
        return chosen_bits(member.flips, member.bits, member.k, history)
    p1, p2 = member.first[0], member.second[0]
    if member.key == "grr":
        return one_value(p1, p2, member.k, history)
    if member.key in ("rappor", "oue"):
        return bits(member.first, member.second, member.k, history)
    return hashed(p1, p2, member.g, member.k, history)


def contributions(member, sent):
    """What one user's sequence adds to the estimates of each round: ``(rounds, k)``, in frequencies."""
    k = member.k
    if member.key == "dbitflip":
        (p, q), (mine, each) = member.flips, sent
        result = np.zeros((len(each), k))
        for row, memo in zip(result, each, strict=True):
            row[list(mine)] = (np.array(memo) - q) / (p - q) * k / member.bits
        return result
    return (supports(member, sent) - member.once.q) / (member.once.p - member.once.q)


def supports(member, sent):
    """Which values the reports of a sequence support: ``(rounds, k)``."""
    if member.key == "grr":
        return np.eye(member.k)[list(sent)]
    if member.key in ("rappor", "oue"):
        return np.array(sent, dtype=float)
    function, symbols = sent
    return (np.array(function)[None, :] == np.array(symbols)[:, None]).astype(float)


def member_of(key, k=3, forever=FOREVER, once=ONCE):
    if key.startswith("dbitflip"):
        return DBitFlipPM(k, once, once, bits=int(key[8:]))
    return MEMOISED[key](k, forever, once)


EVERY = [*MEMOISED, "dbitflip1", "dbitflip2", "dbitflip3"]


def values_of(changes, n, rng):
    """Draw ``(n, rounds)`` values of n users."""
    values = rng.choice(len(changes.frequencies), size=(n, changes.rounds), p=changes.frequencies)
    again = rng.random((n, changes.rounds)) < changes.redraw
    again[:, 0] = True
    latest = np.maximum.accumulate(np.where(again, np.arange(changes.rounds), 0), axis=1)
    return np.take_along_axis(values, latest, axis=1)


def replay_rounds(member, values, draws, rng):
    """Let every device report in every round, again and again: values ``(n, rounds)`` to ``(draws, rounds, ...)``."""
    report = member.devices(draws * len(values), rng)
    rounds = [np.split(report(np.tile(column, draws), rng), draws) for column in values.T]
    return np.array([[member.support(reports) for reports in of_one] for of_one in zip(*rounds, strict=True)])
