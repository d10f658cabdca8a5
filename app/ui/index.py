"""The index, which holds the whole page as HTML (layout.py), and the data that the scripts begin with.

Dash makes only the controls that stand in a `Place`, later, in the places of the browser's own. There are no server callbacks.
See docs/decisions/0027-the-page-stands-in-the-html.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dash import Dash
from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from app.session.scenario import defaults
from app.ui import bindings, controls, ids
from app.ui.bench import add_bench
from app.ui.compare import add_compare
from app.ui.gathered import FOLDER, Gatherer, add_files
from app.ui.language import chosen, say, words
from app.ui.layout import FIRST, GUIDED, controls_of, page
from app.ui.parts import EARLY, SCHEME, STAGE
from app.ui.still import markup

ASSETS = Path(__file__).parents[2] / "assets"
PLOTLY = "_dash-component-suites/plotly/package_data/plotly.min.js"
GATE = {"class": ' data-class="gate"'}  # no stage is promised before one said which class
UNUSED = re.compile(
    r"<script src=[^>]*/dash/(?:dcc|dash_table|html)/[^>]*></script>\n?"
)  # component libraries that Dash's layout takes nothing from
# Dash's own scripts lie in a template, where they do nothing: assets/lib/page/controls.mjs starts them when the page is alive.
PAGE = """<!DOCTYPE html>
<html lang="LANGUAGE" data-coldHERE>
<head>{%metas%}<title>{%title%}</title>
SCHEME
EARLY
<link rel="icon" href="ASSETS/icon.svg">
<link rel="stylesheet" href="GATHERED/lookback.css">STYLE<script defer src="GATHERED/SCRIPT.mjs"></script>
<link rel="preload" as="font" crossorigin href="ASSETS/fonts/inter-latin-wght-normal.woff2?m=VERSION">
<link rel="preload" as="font" crossorigin href="ASSETS/fonts/jetbrains-mono-latin-wght-normal.woff2?m=VERSION">{%css%}
</head>
<body><noscript><style>.app,.phone-nav{display:none}</style><p class="loading">NOSCRIPT</p></noscript>CONTENT
<script type="application/json" id="lookback-data">DATA</script>
{%app_entry%}{%config%}<template id="lookback-dash">{%scripts%}{%renderer%}</template></body>
</html>""".replace("SCHEME", SCHEME).replace("EARLY", EARLY)


def build_dash(api: FastAPI, catalogue: Mapping[str, Any]) -> Page:
    """The page, served by `api`. `catalogue` is what `GET /api/catalogue` answers."""
    app = Page(
        __name__,
        server=False,
        backend="fastapi",
        assets_folder=str(ASSETS),
        include_assets_files=False,
        title="Lookback",
        update_title=None,
        meta_tags=[{"name": "viewport", "content": "width=device-width,initial-scale=1"}],
    )
    app.backend.websocket_capability = False  # Dash's own socket; ours is in app/server
    app.backend.request_adapter = lambda: None  # known at / alone; nothing that needs it is used
    app.gathered = Gatherer(ASSETS)
    add_files(api, app.gathered)
    app.init_app(api)
    app.index_string = PAGE
    app.content = cache(
        lambda language, here: {"CONTENT": markup(page(catalogue, here)), "DATA": _embedded(page_data(app, catalogue))}
    )
    made = cache(lambda language: controls_of(page(catalogue)))
    app.layout = lambda: made(chosen())
    for here in GUIDED:
        app.add_guided(api, here)
    add_bench(api, app.gathered)
    add_compare(api, app.gathered, catalogue)
    bindings.bind(app)
    return app


class Page(Dash):
    """Dash, whose index is in the language of who asks. content: what is in it, by language and page."""

    content: Callable[[str, str], Mapping[str, str]]
    gathered: Gatherer

    def index(self, *_args: Any, **_more: Any) -> str:
        return self._whole(chosen(), self.gathered().version, STAGE)

    def add_guided(self, api: FastAPI, here: str) -> None:
        """`GET /HERE`: the stage with assets/HERE/ beside it."""

        @api.get(f"/{here}", include_in_schema=False)
        def answer() -> HTMLResponse:
            return HTMLResponse(self._whole(chosen(), self.gathered().version, here))

    @cache  # noqa: B019 (one of these lives as long as the server)
    def _whole(self, language: str, version: str, here: str) -> str:
        about = {"HERE": "", "STYLE": "", "SCRIPT": "lookback"}
        if here in GUIDED:
            sheet = f"{self.get_asset_url(f'{here}/{here}.css')}?m={version}"
            about = {
                "HERE": f' data-page="{here}"{GATE.get(here, "")}',
                "STYLE": f'<link rel="stylesheet" href="{sheet}">',
                "SCRIPT": here,
            }
        before, content, between, data, after = re.split("(CONTENT|DATA)", str(super().index()))
        for name, value in about.items():
            before = before.replace(name, value)
        known = self.content(language, here)
        return "".join([before, known[content], between, known[data], after])

    def interpolate_index(self, **parts: str) -> str:
        page: str = super().interpolate_index(**parts)
        version = self.gathered().version
        places = {"GATHERED": self.get_relative_path(f"/{FOLDER}/{version}"), "ASSETS": self.get_asset_url("").rstrip("/")}
        said = {"NOSCRIPT": say("Lookback needs JavaScript.")}
        for name, value in {**places, **said, "VERSION": version, "LANGUAGE": chosen()}.items():
            page = page.replace(name, value)
        return page

    def _generate_scripts_html(self) -> str:
        return UNUSED.sub("", super()._generate_scripts_html())


def page_data(app: Dash, catalogue: Mapping[str, Any]) -> dict[str, Any]:
    """What the scripts begin with: the views, the first scenario, ids, and the parts of the catalogue that the controls use."""
    return {
        "views": sorted(f"views/{path.name}" for path in (ASSETS / "views").glob("*.mjs")),
        "plotly": app.get_relative_path(f"/{PLOTLY}"),
        "scenario": defaults(FIRST).model_dump(mode="json"),
        "ids": ids.by_name(),
        "fields": controls.fields(catalogue),
        "catalogue": {
            "architectures": [_architecture(a) for a in catalogue["architectures"]],
            "tasks": [_task(t) for t in catalogue["tasks"]],
        },
        "words": words(chosen()),
    }


def _architecture(found: Mapping[str, Any]) -> dict[str, Any]:
    kept = {k: found[k] for k in ("id", "family", "phases", "tasks", "checkpoints", "capabilities")}
    return {**kept, "name": say(found["name"]), "changed": say(found["changed"])}


def _task(found: Mapping[str, Any]) -> dict[str, Any]:
    presets = [{**p, "name": say(p["name"]), "note": say(p["note"])} for p in found["presets"]]
    return {"id": found["id"], "name": say(found["name"]), "presets": presets, "stamps": found["stamps"]}


def _embedded(data: Any) -> str:
    """JSON that does not end its script element."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
