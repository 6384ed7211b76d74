"""Files of reports that were counted before: how often each value was reported, or the sums of bits.

=================  =============================================================================================
protocol           one row
=================  =============================================================================================
grr                a value, and the number of reports with it
rappor, oue, the   a category, and the number of its bits that were set (of n reports); or the number of reports and
                   k sums, in the order of the domain or with its labels as the header. Such rows add up
=================  =============================================================================================
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from advisor.errors import InputError
from advisor.inputs.blocks import Rows, whole_counts
from advisor.inputs.columns import choose_columns, find_column
from advisor.inputs.labels import shortened
from advisor.inputs.reports.categories import Labels, says_value
from advisor.inputs.reports.counting import Counted, CountedFile
from advisor.inputs.reports.settings import ReportSettings, place_names
from advisor.inputs.reports.vectors import categories_of_columns
from advisor.inputs.totals import FEW_USERS, names_total, total_row


def count_counts(rows: Rows, settings: ReportSettings) -> CountedFile:
    """Return the counts in a file. It is read here: it has a row per category or day, not per report.

    Raises InputError for columns or counts that do not fit, and for a row that is the total of the others.
    """
    table = rows.table
    at = find_column(table, settings.counts or "", "--counts")
    block = rows.in_one_block(range(table.width))
    counts, places = np.array(whole_counts(block, table, at, 0), dtype=np.int64), np.array(block.places)
    if settings.kind == "bits" and settings.column is None and len(table.values) > 2:
        note = f"column {table.called(at)} read as numbers of reports, the others as the sums of their bits"
        columns = [column for column in table.values if column != at]
        sums = np.array([whole_counts(block, table, column, 0) for column in columns], dtype=np.int64).T
        ends = set(map(total_row, np.column_stack([counts, sums]).T.tolist()))
        if len(ends) == 1 and (end := ends.pop()) is not None:
            raise table.bad(block.places[end], "is the sum of the other rows, not more reports; remove this row")
        names = table.names and tuple(table.names[column] for column in columns)
        places = places[:, None]
    else:
        label, _ = choose_columns(table, settings.column, settings.counts)
        labels, total = block.cells(label), total_row(counts.tolist())
        if total is not None and (names_total(labels[total]) or counts[total] > FEW_USERS):
            what = f"{shortened(labels[total])} is the sum of all other rows, {counts[total]:,}"
            raise table.bad(block.places[total], f"{what}: remove it if it is their total, else move it between them")
        note = f"column {table.called(at)} read as numbers of reports of the values in column {table.called(label)}"
        if settings.kind == "value":
            users: Counter[str] = Counter()
            form = Labels(settings, label)
            for name, count, place in zip(labels, counts.tolist(), block.places, strict=True):
                if not form.is_category(name):
                    raise table.bad(place, f"the label is {shortened(name)}; {says_value(settings)}")
                users[name] += count
            return CountedFile(table, settings, (note,), Counted(users.total(), users))
        if settings.n is None:
            raise InputError(f"{table.source}: holds a sum for each category, of how many reports? Say so with --n")
        note = f"column {table.called(at)} read as sums of the bits of the categories in column {table.called(label)}"
        names, counts, sums = tuple(labels), np.array([settings.n]), counts[None]
    table, k = replace(table, names=names, width=sums.shape[1]), sums.shape[1]
    if settings.k not in (None, k):
        raise InputError(f"{table.source}: holds the sums of {k} categories; k is {settings.k}")
    for row, column in np.argwhere(sums > counts[:, None]):
        place, more = np.broadcast_to(places, sums.shape)[row, column], f"of only {counts[row]:,} reports"
        raise table.bad(place, f"the sum {sums[row, column]:,} of category {table.called(int(column))} is {more}")
    order, domain, notes = categories_of_columns(table, settings, k, what="sums", columns=True)
    placed = np.zeros(k, dtype=np.int64)
    placed[list(order)] = sums.sum(axis=0)
    settings = replace(settings, k=k, domain=domain if settings.domain or domain != place_names(k) else None)
    return CountedFile(table, settings, (note, *notes), Counted(int(counts.sum()), placed))
