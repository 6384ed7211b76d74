"""Decisions without a file, which are made once for all tests and formats that look at them."""

from advisor.extensions.choose.answer import make_choice

MADE = {}


def chosen(wishes, frequencies=None, *words, **options):
    """Return what `choose` does; it is frozen."""
    if frequencies is not None:
        return make_choice(wishes, frequencies, *words, **options)
    if wishes not in MADE:
        MADE[wishes] = make_choice(wishes)
    return MADE[wishes]
