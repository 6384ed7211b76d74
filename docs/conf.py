"""The documentation site: ``sphinx-build -W docs site``."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from reference import write_pages  # noqa: E402 - stands beside this file

from simulator import __version__  # noqa: E402

project, author, copyright = "ldp-advise", "The ldp-advise contributors", "The ldp-advise contributors"  # noqa: A001
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
html_theme, html_title = "furo", f"ldp-advise {__version__}"
html_copy_source = False
html_static_path, html_js_files = ["_static"], ["search.js"]
smartquotes = False  # options begin with two hyphens
napoleon_use_ivar = True
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_preserve_defaults = True

exclude_patterns = ["_made/seeds.md"]  # part of seeds.md

write_pages(HERE / "_made")
