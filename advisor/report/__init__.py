"""One self-contained page with the answer, the ranking, pictures, reasons and what it takes to do it again."""

from advisor.report.page import report_html

__all__ = ["report_html"]
