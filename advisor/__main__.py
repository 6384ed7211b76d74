"""``python -m advisor`` is the command ``ldp-advise``."""

import sys

from advisor.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
