"""Pages beside the stage, without Dash: elements made here once a language, filled by the scripts of their folder in assets/."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from typing import Any

from dash.development.base_component import Component
from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from app.ui.gathered import FOLDER, Gathered
from app.ui.language import chosen, words
from app.ui.parts import SCHEME
from app.ui.still import markup

PAGE = """<!DOCTYPE html>
<html lang="LANGUAGE">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>TITLE</title>
<link rel="icon" href="assets/icon.svg"><link rel="stylesheet" href="FOLDER/VERSION/lookback.css">
<link rel="stylesheet" href="assets/NAME/NAME.css?m=VERSION">
SCHEME
</head>
<body>CONTENT
<script type="application/json" id="lookback-data">DATA</script>
<script type="module" src="assets/NAME/start.mjs?m=VERSION"></script></body>
</html>"""


def add_page(
    api: FastAPI,
    gathered: Callable[[], Gathered],
    name: str,
    title: Callable[[], str],
    content: Callable[[], Component],
    data: Callable[[], Mapping[str, Any]] = dict,
) -> None:
    """`GET /NAME`, with assets/NAME/start.mjs and NAME.css. `data`: what the scripts begin with besides the words."""

    def made(language: str) -> dict[str, str]:
        known = json.dumps({**data(), "words": words(language)}, ensure_ascii=False).replace("<", "\\u003c")
        return {"TITLE": escape(title()), "CONTENT": markup(content()), "DATA": known}

    once = cache(made)

    @api.get(f"/{name}", include_in_schema=False)
    def answer() -> HTMLResponse:
        page = (
            PAGE.replace("SCHEME", SCHEME).replace("NAME", name).replace("FOLDER", FOLDER).replace("VERSION", gathered().version)
        )
        for place, value in {"LANGUAGE": chosen(), **once(chosen())}.items():
            page = page.replace(place, value, 1)
        return HTMLResponse(page)
