"""Every refusal over HTTP has one shape: `{"errors": [{"field", "given", "allowed", "message"}]}`."""

from __future__ import annotations

import json
from dataclasses import asdict

from starlette.responses import Response

from app.session.events import Problem


def refuse(status: int, *problems: Problem, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer of this status with what is wrong: `{"errors": [...]}`."""
    text = json.dumps({"errors": [asdict(p) for p in problems]}, ensure_ascii=False, allow_nan=False)
    return Response(text.encode("utf-8", "replace"), status, headers, "application/json")  # half a surrogate has no bytes
