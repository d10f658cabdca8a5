"""What several tests of the page do to it."""

from __future__ import annotations

import json

from tests.browser.conftest import Window


def source_is(window: Window, tokens: list[object]) -> None:
    window.page.wait_for_function(
        "(want) => JSON.stringify(lookback.store.world.opened.scenario.requests[0].source) === want",
        arg=json.dumps(tokens, separators=(",", ":"), ensure_ascii=False),
    )


def paste(window: Window, text: str) -> None:
    window.page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.setData('text', text);
          const paste = new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true});
          document.activeElement.dispatchEvent(paste);
        }""",
        text,
    )
