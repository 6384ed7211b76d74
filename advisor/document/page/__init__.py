"""One self-contained page with the answer, the ranking, pictures, reasons and what it takes to do it again."""

from advisor.document.page.page import report_html

__all__ = ["report_html"]
