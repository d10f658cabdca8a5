"""The page of a replay: whole in itself, and the same controls under the same ids."""

from __future__ import annotations

import base64
import json
import re
from functools import cache

import dash_mantine_components as dmc
from dash import html
from fastapi import FastAPI

from app.session.catalogue_view import catalogue
from app.ui import ids, replay
from app.ui.index import build_dash
from app.ui.still import markup


@cache
def before(charts: bool = False) -> str:
    app = build_dash(FastAPI(), catalogue())
    return replay.replay_pages(app, catalogue())()(charts)[0].decode()


def test_elements_are_written_as_they_are_and_text_is_text() -> None:
    given = html.Div(["a < b", html.Br(), html.P("x", hidden=True, className="note", style={"maskImage": "url(#a)"})], id="one")
    assert markup(given) == '<div id="one">a &lt; b<br><p class="note" hidden style="mask-image:url(#a)">x</p></div>'
    assert 'title="&quot;&gt;&lt;script&gt;"' in markup(html.P("x", title='"><script>'))


def test_controls_become_the_browsers_own() -> None:
    segments = markup(dmc.SegmentedControl(id="phase", data=["a", {"value": "b", "label": "B"}], className="seg phase"))
    assert re.findall(r'data-key="(\w)"[^>]*>(\w)<', segments) == [("a", "a"), ("b", "B")] and 'id="phase"' in segments
    select = markup(
        dmc.Select(id={"type": "field", "path": "seed"}, data=[{"group": "g", "items": [{"value": "1", "label": "one"}]}])
    )
    assert '<optgroup label="g"><option value="1">one</option></optgroup>' in select
    assert 'id="{&quot;path&quot;:&quot;seed&quot;,&quot;type&quot;:&quot;field&quot;}"' in select


def test_every_module_is_in_the_file_and_imports_only_what_is_there() -> None:
    found = re.search(r'<script type="importmap">(.*?)</script>', before())
    assert found
    imports = json.loads(found[1])["imports"]
    texts = {name: base64.b64decode(address.split(",", 1)[1]).decode() for name, address in imports.items()}
    named = {n for text in texts.values() for n in re.findall(r"""^(?:import|export|\}) .*?\bfrom "([^"]+)";""", text, re.M)}
    assert named and named <= set(texts), named - set(texts)
    data = json.loads(re.search(r'id="lookback-data">(.*?)</script>', before())[1])  # type: ignore[index]
    assert set(data["views"]) <= set(texts) and data["views"]


def test_it_asks_no_network_and_has_every_element_that_scripts_look_for() -> None:
    text = before()
    outside = re.findall(r"""(?:src|href)=["']?(?!data:|#)[^"'> ]+|url\((?!(?:["']|&quot;)?(?:data:|#))[^)]*\)""", text)
    assert outside == []
    assert "default-src &#x27;none&#x27;" in text
    present = set(re.findall(r'\bid="([\w-]+)"', text))
    assert set(ids.by_name().values()) <= present, set(ids.by_name().values()) - present


def test_the_chart_library_comes_only_where_something_is_trained() -> None:
    assert len(before(charts=True)) > len(before()) + 1_000_000
