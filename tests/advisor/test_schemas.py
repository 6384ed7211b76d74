import re

import pytest

from tests.advisor import schemas


@pytest.mark.parametrize("name", schemas.NAMES)
def test_the_rows_of_a_schema_have_the_fields_of_their_classes(name):
    assert schemas.made(name) == schemas.text(name), "python -m tests.advisor.schemas writes them anew"


def test_a_field_of_another_type_is_noticed(monkeypatch):
    changed = re.sub(r'("report_bits": \{\s+"type": )"integer"', r'\1"string"', schemas.text("rounds"))
    monkeypatch.setattr(schemas, "text", lambda name: changed)
    assert schemas.made("rounds") != changed
