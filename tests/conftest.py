"""One intra-op thread, as a session has it: the same numbers everywhere, and no fight over cores."""

from __future__ import annotations

import torch

torch.set_num_threads(1)
