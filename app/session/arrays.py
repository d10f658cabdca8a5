"""Tensors as bytes.

On CUDA the copies leave through pinned memory on a side stream, so that the model does not wait for whoever looks.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from app.session.shown import Array

_streams: dict[torch.device, torch.cuda.Stream] = {}


def array(value: Tensor, dtype: str) -> Array:
    """One tensor as little-endian bytes. Bools stay bools, whole numbers become I32, a U8 with NaN or infinity becomes F16."""
    value = to_host(value)
    shape = tuple(value.shape)
    if value.dtype == torch.bool:
        return Array("BOOL", shape, value.numpy().tobytes())
    if not value.is_floating_point():
        return Array("I32", shape, value.to(torch.int32).numpy().tobytes())
    numbers = value.numpy()
    if dtype == "u8":
        quantised = _u8(numbers, shape)
        if quantised is not None:
            return quantised
    if dtype == "f32":
        return Array("F32", shape, np.ascontiguousarray(numbers, dtype="<f4").tobytes())
    with np.errstate(over="ignore"):
        halves = numbers.astype("<f2")
    if np.isinf(halves).any() and not np.isinf(numbers).any():  # too large for 16 bits, which is not infinite
        return array(value, "f32")
    return Array("F16", shape, halves.tobytes())


def _u8(numbers: np.ndarray, shape: tuple[int, ...]) -> Array | None:
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 1.0)
    if not (np.isfinite(low) and np.isfinite(high)):
        return None
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    else:  # a whole number of steps on each side of 0, so that 0 stays exactly 0
        step = max(-low / 127, high / 128, 1e-30)
        low, high = -127 * step, 128 * step
    scaled = (numbers - low) * (255 / (high - low)) + 0.5
    return Array("U8", shape, scaled.astype(np.uint8).tobytes(), low, high)


def to_host(value: Tensor) -> Tensor:
    """A CPU tensor with the value as it is now. From CUDA through pinned memory on a side stream."""
    value = value.detach()
    if value.device.type != "cuda":
        return value
    stream = _streams.get(value.device) or _streams.setdefault(value.device, torch.cuda.Stream(value.device))
    stream.wait_stream(torch.cuda.current_stream(value.device))
    with torch.cuda.stream(stream):
        host = torch.empty(value.shape, dtype=value.dtype, pin_memory=True)
        host.copy_(value, non_blocking=True)
        value.record_stream(stream)
    stream.synchronize()
    return host
