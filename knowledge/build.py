"""Make the shipped data: ``python -m knowledge.build``; see `knowledge.making.build`."""

from __future__ import annotations

from knowledge.making.build import FULL, QUICK, Size, build, main

__all__ = ["FULL", "QUICK", "Size", "build", "main"]

if __name__ == "__main__":
    raise SystemExit(main())
