"""The examples of CONTRIBUTING.md on the page: a view that nobody listed, an architecture that can be picked and stepped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import Server, Window
from tests.test_contributing import with_examples

pytestmark = pytest.mark.browser


def test_the_page_shows_both(tmp_path: Path, context: BrowserContext) -> None:
    server = Server(tmp_path / "data", root=with_examples(tmp_path / "clone"))
    try:
        window = Window(context.new_page(), server.address).open()
        spread = window.page.locator("#view-spread")
        window.step()
        expect(spread).to_have_text(re.compile(r"The shown row reads \d\.\d+ keys in effect\."))
        window.page.get_by_text("Recurrent").first.click()
        window.page.get_by_text("Moving average").click()
        expect(window.page.get_by_role("textbox", name="Width n")).to_have_value("32")
        expect(spread).to_have_text("The shown row reads no keys in effect.")
        window.step()
        expect(window.page.locator("#view-sentence")).to_contain_text("reads only the state")
        assert window.problems == []
    finally:
        server.stop()
