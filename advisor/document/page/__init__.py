"""A document as one self-contained page."""

from advisor.document.page.explorer import explorer_html
from advisor.document.page.page import RESTS_ON, fragment_html, page_html, pieces_html, section_html, svg_html

__all__ = ["RESTS_ON", "explorer_html", "fragment_html", "page_html", "pieces_html", "section_html", "svg_html"]
