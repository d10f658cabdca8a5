"""/docs: the OpenAPI description as one plain page, with no script and nothing from elsewhere."""

from __future__ import annotations

import json
from html import escape
from typing import Any

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
body { color: #1b2129; background: #fff }
@media (prefers-color-scheme: dark) { body { color: #dfe5ec; background: #171c23 } a { color: #8ab8ff } }
h2 { margin-top: 2.5rem; border-top: 1px solid #8884; padding-top: 1rem } code, pre { font: 13px/1.45 ui-monospace, monospace }
h2 code { font-size: 17px }
pre { overflow-x: auto; background: #8881; padding: .8rem; border-radius: 6px } summary { cursor: pointer }
"""


def page(openapi: dict[str, Any]) -> str:
    """HTML for people who write scripts: each route, what it takes, and every schema."""
    info = openapi["info"]
    routes = "".join(
        _route(method, path, about) for path, methods in openapi["paths"].items() for method, about in methods.items()
    )
    schemas = "".join(_schema(name, schema) for name, schema in openapi.get("components", {}).get("schemas", {}).items())
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(info["title"])} API</title>'
        '<link rel="icon" href="data:,">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_STYLE}</style></head><body>'
        f"<h1>{escape(info['title'])} API</h1><p>{escape(info.get('description', ''))}</p>"
        f'<p>The same for programs: <a href="/openapi.json">openapi.json</a></p>{routes}<h2>Schemas</h2>{schemas}</body></html>'
    )


def _route(method: str, path: str, about: dict[str, Any]) -> str:
    body = about.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    takes = f"<p>Takes JSON: {_link(body)}</p>" if body else ""
    answers = ", ".join(f"{code} {escape(answer.get('description', ''))}" for code, answer in about["responses"].items())
    heading = f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(about.get('summary', ''))}</p>"
    return f"{heading}{takes}<p>Answers: {answers}</p>"


def _link(schema: dict[str, Any]) -> str:
    name = escape(schema["$ref"].rpartition("/")[2])
    return f'<a href="#{name}">{name}</a>'


def _schema(name: str, schema: dict[str, Any]) -> str:
    text = escape(json.dumps(schema, indent=2, ensure_ascii=False))
    return f'<details id="{escape(name)}" open><summary><code>{escape(name)}</code></summary><pre>{text}</pre></details>'
