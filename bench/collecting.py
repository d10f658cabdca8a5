"""The product's server; SIGUSR1 makes it collect garbage, so that memory is measured without what is only waiting for that."""

from __future__ import annotations

import gc
import signal
import sys

from app import cli

signal.signal(signal.SIGUSR1, lambda *_: gc.collect())
sys.exit(cli.main(["serve", "--port", sys.argv[1]]))
