"""``python -m ldp_advise``."""

from __future__ import annotations

import sys

from advisor.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
