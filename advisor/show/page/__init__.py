"""A document as one self-contained page."""

from advisor.show.page.explorer import explorer_html
from advisor.show.page.page import RESTS_ON, fragment_html, page_html, pieces_html, section_html, svg_html

__all__ = ["RESTS_ON", "explorer_html", "fragment_html", "page_html", "pieces_html", "section_html", "svg_html"]
