"""Every refusal over HTTP has one shape: `{"errors": [{"field", "given", "allowed", "message"}]}`."""

from __future__ import annotations

from dataclasses import asdict

from fastapi.responses import JSONResponse

from app.session.events import Problem


def refuse(status: int, *problems: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"errors": [asdict(p) for p in problems]}, status, headers)
