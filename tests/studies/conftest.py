import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "studies"))  # as when a study is run as a script
