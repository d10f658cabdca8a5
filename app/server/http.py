"""Routes that are no socket: health, the API for scripts, its description, and an answer to everything that does not exist."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated, Any, Literal, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.routing import Match

from app.server.reference import page
from app.server.refusal import refuse
from app.server.strict import read_json
from app.server.visible import VisibilityRequest, answer
from app.session import link
from app.session.catalogue_view import catalogue
from app.session.events import Problem, Refused
from app.session.problems import refused, shorten
from app.session.scenario import Scenario, parse
from app.session.variant import variant
from app.session.worked import worked
from models.parts.read import ReadError, read

LARGEST_SCENARIO = 1 << 20  # bytes
LARGEST_READ = 8 << 20
MOST_MARKS = {
    b",": 1 << 19,
    b":": 1 << 17,
    b"[": 1 << 15,
    b"{": 1 << 15,
}  # of a body; JSON is read in one go, and all others wait
MOST_ERRORS = 20
AT_ONCE = 2  # requests that are worked at: however many come, pages and runs have their share of the processor
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

T = TypeVar("T")
_threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="api")

_Vector = Annotated[list[float], Field(min_length=1, max_length=256, fail_fast=True)]
_Rows = Annotated[list[_Vector], Field(min_length=1, max_length=512, fail_fast=True)]
_Scores = Annotated[list[float], Field(min_length=1, max_length=512, fail_fast=True)]
_Visible = Annotated[list[bool], Field(min_length=1, max_length=512, fail_fast=True)]


class ReadRequest(BaseModel):
    """One query row looks at S rows and takes a weighted mean of their values. Sizes: S up to 512, d_k and d_v up to 256."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    keys: Annotated[_Rows | None, Field(description="[S][d_k]; null when the scores are supplied")] = None
    values: Annotated[_Rows | None, Field(description="[S][d_v]; null: the keys")] = None
    query: Annotated[_Vector | None, Field(description="[d_k]; null when the scores are supplied")] = None
    scores: Annotated[_Scores | None, Field(description="[S], when they are supplied")] = None
    score: Annotated[Literal["dot", "scaled_dot", "supplied"], Field(description="q.k, q.k / sqrt(d_k), or `scores`")]
    visible: Annotated[_Visible | None, Field(description="[S]; null: all rows")] = None
    mask: Annotated[
        Literal["additive", "multiply", "renormalise"],
        Field(description="how `visible` enters: -inf before the softmax, or 0 after it, left so or divided by what is left"),
    ] = "additive"


@dataclass
class Readiness:
    """What the server still waits for before it can serve; empty: nothing."""

    waiting: str = "the first model step"


class Unacceptable(Exception):
    """A request that is answered with this status and these problems."""

    def __init__(self, status: int, *problems: Problem) -> None:
        super().__init__(problems)
        self.status = status
        self.problems = problems


def add_routes(api: FastAPI, readiness: Readiness) -> None:
    """Everything but the page, the socket and `add_last_route`."""
    _add_health(api, readiness)
    _add_api(api)

    @api.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page(api.openapi()))

    api.openapi = _with_bodies(api.openapi)  # type: ignore[method-assign]
    api.add_exception_handler(Unacceptable, _unacceptable)
    api.add_exception_handler(HTTPException, _http_error)
    api.add_exception_handler(Exception, _failure)


def _add_health(api: FastAPI, readiness: Readiness) -> None:
    @api.get("/healthz", tags=["health"], summary="Is the process up?")
    async def healthz() -> dict[str, bool]:
        return {"ok": True}

    @api.get("/readyz", tags=["health"], summary="Can it serve? 503 until the page is warm and a model has stepped")
    async def readyz() -> JSONResponse:
        return JSONResponse({"ready": not readiness.waiting, "waiting": readiness.waiting}, 503 if readiness.waiting else 200)


def _add_api(api: FastAPI) -> None:
    @api.get("/api/catalogue", tags=["api"], summary="Every architecture and task")
    async def get_catalogue() -> Response:
        return Response(await apart(_catalogue_text), media_type="application/json")

    @api.post(
        "/api/scenario/validate", summary="A scenario, normalised, its link, and what its variant would be", **_takes(Scenario)
    )
    async def validate(request: Request) -> dict[str, Any]:
        return await apart(_validated, await json_of(request, LARGEST_SCENARIO))

    @api.post("/api/read", summary="One read by hand: scores, weights, context", **_takes(ReadRequest))
    async def post_read(request: Request) -> Response:
        return Response(await apart(_read_text, await json_of(request, LARGEST_READ)), media_type="application/json")

    @api.post("/api/visibility", summary="A mask: its reads, and its paths between rows", **_takes(VisibilityRequest))
    async def post_visibility(request: Request) -> Response:
        text = await apart(_visibility_text, await json_of(request, LARGEST_READ))
        return Response(text, media_type="application/json")

    @api.get("/api/worked", tags=["api"], summary="What the source texts print, and what this server computes of the same")
    async def get_worked() -> Response:
        text = await apart(lambda: json.dumps(worked(), ensure_ascii=False, allow_nan=False))
        return Response(text, media_type="application/json")


def add_last_route(api: FastAPI) -> None:
    """After the page's own routes, because Dash would answer every other address with the page."""

    @api.api_route("/{path:path}", methods=METHODS, include_in_schema=False)
    async def nothing(request: Request) -> Response:
        known = takewhile(lambda route: getattr(route, "endpoint", None) is not nothing, request.app.routes)
        methods = sorted({m for r in known if r.matches(request.scope)[0] is Match.PARTIAL for m in getattr(r, "methods", ())})
        if methods:
            return _wrong_method(request, methods)
        return await unknown(request)


async def unknown(request: Request, error: Exception | None = None) -> Response:
    """There is nothing at this address."""
    return refuse(404, problem("path", request.url.path, "/, /docs, /healthz, /readyz, /ws and what /docs lists"))


def problem(field: str, given: Any, allowed: str) -> Problem:
    """What is wrong with one field, with both sides."""
    given = shorten(given)
    return Problem(field, given, allowed, f"{field} was given {given!r}; allowed: {allowed}")


# --- the API ---------------------------------------------------------------------------------------------------------------


async def apart(work: Callable[..., T], *given: Any) -> T:
    """What this gives, in a thread of the few that the API has."""
    return await asyncio.get_running_loop().run_in_executor(_threads, work, *given)


async def json_of(request: Request, largest: int) -> Any:
    """The JSON of a request. Raises `Unacceptable`."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Unacceptable(415, problem("Content-Type", kind, "application/json"))
    length = int(request.headers.get("content-length", 0))
    if length > largest:
        raise Unacceptable(413, problem("body", f"{length} bytes", f"at most {largest} bytes"))
    body = await request.body()
    for mark, most in MOST_MARKS.items():
        if (count := body.count(mark)) > most:
            raise Unacceptable(413, problem("body", f"{count} {mark.decode()!r}", f"at most {most} of them"))
    try:
        return await apart(read_json, body)
    except Refused as refusal:
        raise Unacceptable(422, *refusal.problems[:MOST_ERRORS]) from None
    except (ValueError, RecursionError) as error:
        given = shorten(body.decode("utf-8", "replace"))
        raise Unacceptable(400, Problem("body", given, "JSON text", f"the body is not JSON ({error}): {given!r}")) from None


def _catalogue_text() -> str:
    return json.dumps(catalogue(), ensure_ascii=False, allow_nan=False)


def _validated(data: Any) -> dict[str, Any]:
    try:
        parsed = parse(data)
    except Refused as refusal:
        raise Unacceptable(422, *refusal.problems[:MOST_ERRORS]) from None
    scenario = parsed.model_dump(mode="json")
    text = link.pack({"v": 1, "scenario": scenario})
    return {"ok": True, "scenario": scenario, "link": f"#s={text}" if len(text) <= link.LONGEST else "", **variant(parsed)}


def _read_text(data: Any) -> str:
    if not isinstance(data, dict):
        raise Unacceptable(422, problem("body", data, "an object with keys, values, query, scores, score and visible"))
    try:
        given = ReadRequest.model_validate(data)
        found = read(given.keys, given.values, given.query, given.scores, given.score, given.visible, given.mask)
    except ValidationError as error:
        raise Unacceptable(422, *refused(error).problems[:MOST_ERRORS]) from None
    except ReadError as error:
        raise Unacceptable(422, Problem(error.field, shorten(error.given), error.allowed, str(error))) from None
    return json.dumps({name: tensor.tolist() for name, tensor in vars(found).items()}, allow_nan=False)


def _visibility_text(data: Any) -> str:
    try:
        return json.dumps(answer(data))
    except Refused as refusal:
        raise Unacceptable(422, *refusal.problems[:MOST_ERRORS]) from None


# --- its description -------------------------------------------------------------------------------------------------------


def _takes(model: type[BaseModel]) -> dict[str, Any]:
    """How a route that takes JSON of this model is described."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    body = {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
    return {"tags": ["api"], "openapi_extra": body, "responses": {"4XX": {"description": "refused, with the problems found"}}}


def _with_bodies(openapi: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """The bodies are read by hand (FastAPI would take NaN), so their schemas are added by hand too."""

    def described() -> dict[str, Any]:
        found = openapi()
        models = [(Scenario, "validation"), (ReadRequest, "validation"), (VisibilityRequest, "validation")]
        _, schemas = models_json_schema(models, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
        found.setdefault("components", {}).setdefault("schemas", {}).update(schemas["$defs"])
        return found

    return described


# --- refusals --------------------------------------------------------------------------------------------------------------


async def _unacceptable(request: Request, error: Exception) -> Response:
    assert isinstance(error, Unacceptable)
    return refuse(error.status, *error.problems)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return await unknown(request)
    if error.status_code == 405:
        return _wrong_method(request, (error.headers or {})["Allow"].split(", "))
    return refuse(error.status_code, Problem("path", request.url.path, "", str(error.detail)))


def _wrong_method(request: Request, allowed: Sequence[str]) -> Response:
    return refuse(405, problem("method", request.method, " or ".join(allowed)), headers={"Allow": ", ".join(allowed)})


async def _failure(request: Request, error: Exception) -> Response:
    return refuse(500, Problem("server", type(error).__name__, "", "The server failed here; its log says why. Try again."))
