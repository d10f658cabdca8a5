"""The page of a replay: this page's own scripts, styles and fonts in one file that opens without a server and asks no network.

Modules lie in an import map as data addresses, because a browser takes no module from a file; what they import from each other
becomes a plain name of that map. See docs/decisions/0005-a-replay-is-one-file.md.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from app.ui.index import ASSETS, Page, page_data
from app.ui.language import chosen, say
from app.ui.layout import page
from app.ui.still import markup

NAME = "lookback"
IMPORT = re.compile(r"""(\bfrom |\bimport |\bimport\()(["'])(\.{1,2}/[^"']+\.mjs)\2""")
ADDRESS = re.compile(r"url\((fonts/[^)]+)\)")
# Says at once that the file is cut, and sets the scheme before anything is painted.
FIRST = """
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  let chosen = "";
  try { chosen = localStorage.getItem("lookback-theme"); } catch { /* a browser may keep nothing for files */ }
  const scheme = chosen === "light" || chosen === "dark" ? chosen : dark ? "dark" : "light";
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme);
  addEventListener("DOMContentLoaded", () => {
    const old = !HTMLScriptElement.supports?.("importmap") || !self.DecompressionStream;
    if (document.getElementById("lookback-end") && !old) return;
    document.body.innerHTML = '<p class="replay-broken" role="alert"></p>';
    document.querySelector(".replay-broken").textContent = old ? OLD : CUT;
  });
"""


def replay_pages(app: Page, catalogue: Mapping[str, Any]) -> Callable[[], Pages]:
    """The replay page of this application, in the language of who asks."""
    plotly = Path(str(files("plotly"))) / "package_data" / "plotly.min.js"
    made = cache(lambda language: Pages(ASSETS, plotly, page_data(app, catalogue), page(catalogue, None)))
    return lambda: made(chosen())


class Pages:
    """Makes a replay's two halves once; between them stands the run. data: what `index.page_data` says; content: the page."""

    def __init__(self, assets: Path, plotly: Path, data: Mapping[str, Any], content: Any) -> None:
        self._assets, self._plotly, self._data, self._content = assets, plotly, data, content
        self._language = chosen()
        self._cut = say("This replay is not whole: the file ends too early. Copy or save it again.")
        self._old = say("This replay needs scripts and a browser of 2023 or newer.")
        self._title = say("Lookback: a recorded run")

    @cache  # noqa: B019 (one of these lives as long as the server)
    def __call__(self, charts: bool) -> tuple[bytes, bytes]:
        """Before and after the packed run, which is base64. charts: with the chart library, which a run that trains needs."""
        return self._before(charts).encode(), b'</script>\n<i id="lookback-end" hidden></i>\n</body>\n</html>\n'

    def _before(self, charts: bool) -> str:
        first = FIRST.replace("OLD", json.dumps(self._old)).replace("CUT", json.dumps(self._cut))
        views = [_name(self._assets, path) for path in sorted((self._assets / "views").glob("*.mjs"))]
        data = {**self._data, "views": views, "plotly": ""}
        return "\n".join(
            [
                f'<!DOCTYPE html>\n<html lang="{self._language}" data-recording data-cold>\n<head>\n<meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">',
                '<meta name="viewport" content="width=device-width,initial-scale=1">',
                f"<title>{escape(self._title)}</title>",
                f'<link rel="icon" href="data:image/svg+xml;base64,{_base64((self._assets / "icon.svg").read_bytes())}">',
                f"<script>{first}</script>",
                f"<style>{styles(self._assets)}</style>",
                f'<script type="importmap">{json.dumps({"imports": modules(self._assets)})}</script>',
                "</head>\n<body>",
                f"<noscript>{escape(self._old)}</noscript>",
                markup(self._content),
                f'<script type="application/json" id="{NAME}-data">{_embedded(data)}</script>',
                f'<script type="application/octet-stream" id="{NAME}-plotly">{self._library() if charts else ""}</script>',
                # a file that is cut says so (FIRST), and nothing else begins in it
                f'<script type="module">if (document.getElementById("{NAME}-end")) import("{NAME}/start.mjs");</script>',
                f'<script type="application/octet-stream" id="{NAME}-run">',
            ]
        )

    def _library(self) -> str:
        return _base64(gzip.compress(self._plotly.read_bytes(), 9, mtime=0))


POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data: blob:; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; base-uri 'none'; form-action 'none'"
)


def modules(assets: Path) -> dict[str, str]:
    """Every module by name, "lookback/lib/dom.mjs", with its content as an address."""
    found = [assets / "start.mjs", *sorted((assets / "lib").rglob("*.mjs")), *sorted((assets / "views").glob("*.mjs"))]
    return {_name(assets, p): f"data:text/javascript;base64,{_base64(_renamed(assets, p).encode())}" for p in found}


def _renamed(assets: Path, path: Path) -> str:
    """A module's text, its imports by name."""

    def rename(match: re.Match[str]) -> str:
        before, quote, address = match.groups()
        target = (path.parent / address).resolve()
        return f"{before}{quote}{_name(assets, target)}{quote}" if target.is_file() else match[0]

    return IMPORT.sub(rename, path.read_text(encoding="utf-8"))


def _name(assets: Path, path: Path) -> str:
    return f"{NAME}/{path.relative_to(assets).as_posix()}"


def styles(assets: Path) -> str:
    """All style sheets, fonts within."""

    def font(match: re.Match[str]) -> str:
        return f"url(data:font/woff2;base64,{_base64((assets / match[1]).read_bytes())})"

    files = [assets / "app.css", *sorted((assets / "css").glob("*.css"))]
    return ADDRESS.sub(font, "\n".join(path.read_text(encoding="utf-8") for path in files)).replace("</", "<\\/")


def _embedded(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
