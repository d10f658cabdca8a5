"""HTTP: it is up, says what it can, keeps other sites out, and every refusal has one shape."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

import httpx2
import pytest

from tests.server.serving import errors

JSON = {"Content-Type": "application/json"}


# --- health and description


def test_it_is_up_and_ready(client: httpx2.Client) -> None:
    assert client.get("/healthz").json() == {"ok": True}
    assert client.get("/readyz").json() == {"ready": True, "waiting": ""}


TAKING = ("/api/sessions/{session}/files/{what}", "/api/files/{token}", "/api/sessions/{session}/open")


def test_the_description_is_complete_and_needs_nothing_from_elsewhere(client: httpx2.Client) -> None:
    described = client.get("/openapi.json").json()
    assert {
        "/healthz",
        "/readyz",
        "/api/catalogue",
        "/api/scenario/validate",
        "/api/read",
        "/api/visibility",
        "/api/worked",
        *TAKING,
    } == set(described["paths"])
    text = json.dumps(described)
    names = set(re.findall(r'"#/components/schemas/(\w+)"', text))
    assert (
        {"Scenario", "ReadRequest", "VisibilityRequest", "Request", "Mask"}
        <= names
        == names & set(described["components"]["schemas"])
    )
    docs = client.get("/docs")
    assert docs.headers["content-type"] == "text/html; charset=utf-8"
    assert all(path in docs.text for path in described["paths"]) and "d_k" in docs.text
    assert not re.findall(r"(?:src|href)=\"(?!#|/openapi.json|data:)", docs.text) and "<script" not in docs.text


def test_answers_carry_headers_that_keep_other_sites_out(client: httpx2.Client) -> None:
    for path in ("/", "/healthz", "/docs", "/api/nothing", "/assets/app.css"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "same-origin"
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy and "unsafe-eval" not in policy and "http" not in policy
        assert "'unsafe-inline'" not in policy.split("style-src")[0]


def test_every_inline_script_of_the_page_is_allowed_by_its_hash(client: httpx2.Client) -> None:
    page = client.get("/")
    scripts = re.findall(
        r"<script(?: id=\"_dash-renderer\" type=\"application/javascript\")?>(.*?)</script>", page.text, re.DOTALL
    )
    assert scripts
    for script in scripts:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in page.headers["content-security-policy"]


def test_large_answers_are_compressed_for_those_who_can_read_them(client: httpx2.Client) -> None:
    plain = client.get("/api/catalogue", headers={"Accept-Encoding": "identity"})
    packed = client.get("/api/catalogue", headers={"Accept-Encoding": "gzip;q=0.5, br"})
    again = client.get("/api/catalogue", headers={"Accept-Encoding": "br"})
    assert "content-encoding" not in plain.headers and packed.headers["content-encoding"] == "br"
    assert packed.headers["vary"] == "Accept-Encoding"
    assert packed.json() == again.json() == plain.json()
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 3
    assert "content-encoding" not in client.get("/healthz", headers={"Accept-Encoding": "br"}).headers


@pytest.mark.parametrize("path", ["/", "/compare", "/bench", "/lesson", "/class"])
def test_a_page_that_a_browser_has_is_not_sent_again(client: httpx2.Client, path: str) -> None:
    """It asks each time, so that nobody sees an old page; a page in another language is another one."""
    first = client.get(path)
    assert first.headers["cache-control"] == "no-cache" and first.text
    again = client.get(path, headers={"If-None-Match": f'"x", {first.headers["etag"]}', "Accept-Encoding": "br"})
    assert (again.status_code, again.content) == (304, b"")
    assert (again.headers["etag"], again.headers["cache-control"]) == (first.headers["etag"], "no-cache")
    assert again.headers["content-security-policy"] == first.headers["content-security-policy"]
    for headers in ({"If-None-Match": '"x"'}, {"If-None-Match": first.headers["etag"], "Accept-Language": "fr"}):
        other = client.get(path, headers=headers)
        assert (other.status_code, bool(other.content)) == (200, True)
    assert "etag" not in client.get("/healthz").headers and "etag" not in client.get("/nothing").headers


# --- refusals of every route


@pytest.mark.parametrize(
    "method, path, status, field",
    [
        ("GET", "/api", 404, "path"),
        ("GET", "/api/", 404, "path"),
        ("GET", "/api/nothing", 404, "path"),
        ("POST", "/api/nothing", 404, "path"),
        ("GET", "/api/catalogue/", 404, "path"),
        ("GET", "/api/%2e%2e/secret", 404, "path"),
        ("GET", "/api/ünïcode", 404, "path"),
        ("DELETE", "/api/catalogue", 405, "method"),
        ("POST", "/api/catalogue", 405, "method"),
        ("GET", "/api/read", 405, "method"),
        ("PUT", "/api/read", 405, "method"),
        ("GET", "/api/scenario/validate", 405, "method"),
        ("OPTIONS", "/api/read", 405, "method"),
        ("GET", "/nothing", 404, "path"),
        ("POST", "/", 405, "method"),
        ("GET", "/ws", 404, "path"),
        ("GET", "/assets/nothing.js", 404, "path"),
        ("GET", "/assets/../app/main.py", 404, "path"),
        ("GET", "/assets/%2e%2e/pyproject.toml", 404, "path"),
        ("BREW", "/api/catalogue", 405, "method"),
        ("POST", "/_dash-update-component", 404, "path"),
        ("GET", "/_dash-component-suites/dash/nothing.js", 404, "path"),
    ],
)
def test_what_does_not_exist_is_refused_in_json(client: httpx2.Client, method: str, path: str, status: int, field: str) -> None:
    answer = client.request(method, path)
    assert errors(answer, status)[0]["field"] == field
    if status == 405:
        assert answer.headers["allow"]


def test_a_mask_by_name(client: httpx2.Client) -> None:
    found = client.post("/api/visibility", json={"preset": "sliding", "n": 9, "radius": 1, "layers": 3}).json()
    assert (found["edges"], found["longest_path"], found["path"][0][3], found["path"][0][4]) == (25, 3, 3, None)
    refused = client.post("/api/visibility", json={"preset": "prefix", "n": 3, "prefix": 9})
    assert errors(refused, 422)[0]["field"] == "prefix"


def test_what_the_texts_print_and_what_comes_out_here(client: httpx2.Client) -> None:
    found = {entry["name"]: entry for entry in client.get("/api/worked").json()}
    assert all(entry["agrees"] for entry in found.values())
    line = next(line for line in found["dot_read"]["lines"] if line["what"] == "weights")
    assert line["printed"] != line["ours"] and line["difference"] < 5e-7


def test_head_is_refused_without_a_body(client: httpx2.Client) -> None:
    assert client.head("/api/catalogue").status_code == 405 and client.head("/api/catalogue").content == b""


ROUTES = ["/api/read", "/api/scenario/validate", "/api/visibility"]


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "content, headers, status, field",
    [
        (b"", JSON, 400, "body"),
        (b"{", JSON, 400, "body"),
        (b"not json", JSON, 400, "body"),
        (b'{"a": [0, NaN]}', JSON, 422, "a.1"),
        (b'{"a": [0, Infinity]}', JSON, 422, "a.1"),
        (b'{"a": [0, 1e999]}', JSON, 422, "a.1"),
        (b"\xff\xfe", JSON, 400, "body"),
        (b"[" * 20_000, JSON, 400, "body"),
        (b"{}", {}, 415, "Content-Type"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "Content-Type"),
        (b"a=1", {"Content-Type": "application/x-www-form-urlencoded"}, 415, "Content-Type"),
        (b" " * (9 << 20), JSON, 413, "body"),
    ],
    ids=[
        "empty",
        "cut",
        "text",
        "nan",
        "infinity",
        "too large a number",
        "no utf-8",
        "deep",
        "no type",
        "text type",
        "form",
        "huge",
    ],
)
def test_a_body_that_is_no_json_is_refused(
    client: httpx2.Client, path: str, content: bytes, headers: dict[str, str], status: int, field: str
) -> None:
    assert errors(client.post(path, content=content, headers=headers), status)[0]["field"] == field


@pytest.mark.parametrize(
    "path, content, field, given",
    [
        ("/api/read", b'{"values": [[1], [2, NaN]], "scores": [0, 0]}', "values.1.1", "NaN"),
        ("/api/read", b'{"values": [[1]], "scores": [-Infinity], "score": "supplied"}', "scores.0", "-Infinity"),
        ("/api/read", b'{"values": [[1]], "scores": [1e308], "score": "supplied"}', "scores.0", 1e308),
        ("/api/read", b'{"values": [[1], [2, 3]], "scores": [0, 0], "score": "supplied"}', "values.1", "2 numbers"),
        ("/api/visibility", b'{"preset": "sliding", "n": 8, "radius": Infinity}', "radius", "Infinity"),
        ("/api/visibility", b'{"preset": "sliding", "n": 8, "radius": 1e308}', "radius", 1e308),
        ("/api/scenario/validate", b'{"requests": [' + b"1, " * 200_000 + b"1]}", "requests.0", 1),
        ("/api/scenario/validate", b'{"config": {"dropout": NaN}}', "config.dropout", "NaN"),
        ("/api/scenario/validate", b'{"training": {"learning_rate": 1e308}}', "training.learning_rate", 1e308),
    ],
    ids=lambda value: value.decode()[:80] if isinstance(value, bytes) else "",
)
def test_values_that_nobody_can_compute_with_are_refused_by_their_field(
    client: httpx2.Client, path: str, content: bytes, field: str, given: object
) -> None:
    problem = errors(client.post(path, content=content, headers=JSON), 422)[0]
    assert (problem["field"], problem["given"]) == (field, given) and problem["allowed"]
    assert field in problem["message"] and str(given) in problem["message"]


@pytest.mark.parametrize(
    "content, status, given",
    [
        (json.dumps({f"k{i}": 1 for i in range(100_000)}).encode(), 422, "an object of 100000 fields"),
        (b'{"a": ' + json.dumps({f"k{i}": 1 for i in range(300)}).encode() + b"}", 422, "an object of 300 fields"),
        (b"[" + b"1," * 600_000 + b"1]", 413, "600000 ','"),
        (b"[" + b"[]," * 40_000 + b"1]", 413, "40001 '['"),
    ],
    ids=["fields", "fields inside", "items", "lists"],
)
def test_a_body_of_too_many_parts_is_refused_before_each_is_looked_at(
    client: httpx2.Client, content: bytes, status: int, given: str
) -> None:
    found = errors(client.post("/api/read", content=content, headers=JSON), status)
    assert [(problem["field"], problem["given"]) for problem in found] == [("body", given)]


def test_the_largest_read_is_computed(client: httpx2.Client) -> None:
    rows = [[0.123456789] * 256] * 512
    given = {"keys": rows, "values": rows, "query": rows[0], "score": "dot"}
    assert len(client.post("/api/read", json=given).json()["weights"]) == 512


def test_a_body_of_unknown_length_is_refused(client: httpx2.Client) -> None:
    answer = client.post("/api/read", content=iter([b"{}"]), headers=JSON)
    assert errors(answer, 411)[0]["field"] == "Transfer-Encoding"


@pytest.mark.parametrize("data", [None, 1, "x", "half a surrogate: \ud800", [], [{}]], ids=ascii)
@pytest.mark.parametrize("path", ROUTES)
def test_json_that_is_no_object_is_refused(client: httpx2.Client, path: str, data: Any) -> None:
    errors(client.post(path, content=json.dumps(data), headers=JSON), 422)
