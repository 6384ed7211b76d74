"""Print the lowest versions that pyproject.toml allows, as constraints for pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in [
    *project["dependencies"],
    *(one for extra in project["optional-dependencies"].values() for one in extra),
]:
    found = re.match(r"([\w-]+)>=([\w.]+)", requirement)
    if found:
        print(f"{found[1]}=={found[2]}")
