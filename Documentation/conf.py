# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How Sphinx builds these documents: see "Documents" in testing.rst."""
import pathlib
import re

project = "IP over InfiniBand"
copyright = "the ib-ipoib authors"
author = "the ib-ipoib authors"
release = re.search(
    r'IB_IPOIB_VERSION "(.*)"', pathlib.Path(__file__).parents[1].joinpath("version.h").read_text()
).group(1)

# :ref:`ipoib:Life of a path` is that section of ipoib.rst
extensions = ["sphinx.ext.autosectionlabel"]
autosectionlabel_prefix_document = True
nitpicky = True

highlight_language = "none"
html_theme = "alabaster"
html_theme_options = {
    "description": "A Linux driver, with its fabric and tests",
    # Drawings have up to 120 columns
    "page_width": "1360px",
    "body_max_width": "1040px",
    "code_font_size": "0.8em",
    "sidebar_width": "260px",
    "fixed_sidebar": True,
}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_copy_source = False
html_show_copyright = False
# tests/docs.sh makes these pages of man/ and tools/
manpages_url = "man/{page}.{section}.html"

man_pages = [
    (name, f"ib-ipoib-{name}", title, "the ib-ipoib authors", 7)
    for name, title in (
        ("admin-guide", "IP over InfiniBand: administrator's guide"),
        ("reference", "IP over InfiniBand: parameters, counters and messages"),
        ("faq", "IP over InfiniBand: questions and answers"),
    )
]
