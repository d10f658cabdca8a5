"""Components as plain HTML: elements as they are, Mantine's controls as the browser's own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any

from dash.development.base_component import Component

from app.ui.parts import Place

VOID = frozenset({"img", "input", "br", "hr", "meta", "link"})
LEFT_OUT = frozenset({"children"})
NAMES = {"className": "class", "htmlFor": "for", "tabIndex": "tabindex"}


def markup(content: Any) -> str:
    """What a component, text, or a list of these is in HTML. Controls keep their ids, so that scripts find them."""
    if content is None:
        return ""
    if isinstance(content, str | int | float):
        return escape(str(content))
    if isinstance(content, list | tuple):
        return "".join(map(markup, content))
    props, kind = _props(content), type(content).__name__
    if content._namespace == "dash_html_components":
        return _element(kind.lower(), props, markup(props.get("children")))
    return CONTROLS[kind](props)


def places(content: Any) -> Iterator[Place]:
    """The places of Dash's controls in it."""
    if isinstance(content, Place):
        yield content
    elif isinstance(content, list | tuple):
        for one in content:
            yield from places(one)
    elif isinstance(content, Component):
        yield from places(getattr(content, "children", None))


def _props(component: Component) -> dict[str, Any]:
    return dict(component.to_plotly_json()["props"])


def _element(tag: str, props: Mapping[str, Any], inside: str = "") -> str:
    attributes = "".join(_attribute(name, value) for name, value in props.items() if name not in LEFT_OUT)
    return f"<{tag}{attributes}>" if tag in VOID else f"<{tag}{attributes}>{inside}</{tag}>"


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = NAMES.get(name, name)
    if name == "id" and isinstance(value, dict):
        value = json.dumps(value, sort_keys=True, separators=(",", ":"))  # as Dash writes it
    if name == "style":
        value = ";".join(f"{_kebab(key)}:{inner}" for key, inner in value.items())
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def _kebab(name: str) -> str:
    return re.sub("[A-Z]", lambda found: f"-{found[0].lower()}", name)


def _named(props: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """What a control keeps: its id, its name, its classes."""
    kept = {name: value for name, value in props.items() if name == "id" or name.startswith(("aria-", "data-"))}
    return {**kept, "className": f"{kind} {props.get('className', '')}".strip()}


def _place(props: Mapping[str, Any]) -> str:
    """assets/lib/page/controls.mjs takes `.still` away when Dash's control has come beside it."""
    still = _element("div", {"className": "still"}, markup(props["children"]))
    return _element("div", {"className": f"place {props['className']}", "data-place": props["to"]}, still)


def _options(data: Any) -> list[dict[str, Any]]:
    return [one if isinstance(one, dict) else {"value": one, "label": one} for one in data or ()]


def _segments(props: Mapping[str, Any]) -> str:
    buttons = [
        _element("button", {"type": "button", "data-key": o["value"], "aria-pressed": "false"}, markup(o["label"]))
        for o in _options(props.get("data"))
    ]
    return _element("div", {**_named(props, "seg"), "role": "group"}, "".join(buttons))


def _select(props: Mapping[str, Any]) -> str:
    def option(o: Mapping[str, Any]) -> str:
        if "items" in o:
            return _element("optgroup", {"label": o["group"]}, "".join(map(option, _options(o["items"]))))
        return _element("option", {"value": o["value"]}, markup(o["label"]))

    none = _element("option", {"value": ""}, markup(props["placeholder"])) if "placeholder" in props else ""
    before = _element("span", {"className": "before"}, markup(props["leftSection"])) if "leftSection" in props else ""
    return before + _element("select", _named(props, ""), none + "".join(map(option, _options(props.get("data")))))


def _radios(props: Mapping[str, Any]) -> str:
    return _element("div", {**_named(props, "radios"), "role": "radiogroup"}, markup(props.get("children")))


def _card(props: Mapping[str, Any]) -> str:
    radio = _element("input", {"type": "radio", "name": props["name"], "value": props["value"]})
    return _element("label", _named(props, ""), radio + markup(props.get("children")))


CONTROLS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "Place": _place,
    "SegmentedControl": _segments,
    "Select": _select,
    "RadioGroup": _radios,
    "RadioCard": _card,
}
