"""A document as one self-contained page."""

from advisor.document.page.page import fragment_html, page_html

__all__ = ["fragment_html", "page_html"]
