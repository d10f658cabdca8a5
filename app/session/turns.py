"""In which order the jobs of a session are done: the writer's before all, of the readers each in his turn.

A reader who asks for very much waits for himself: neither the writer nor another reader waits behind all of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Hashable

Job = Callable[[], Awaitable[None]]


class Turns:
    def __init__(self) -> None:
        self._first: deque[Job] = deque()
        self._readers: dict[Hashable, deque[Job]] = {}  # in the order of their turns

    def add(self, job: Job, reader: Hashable | None = None) -> None:
        """reader: whose job it is. What he asks later comes later, also when he writes meanwhile."""
        (self._first if reader is None else self._readers.setdefault(reader, deque())).append(job)

    def waits(self, reader: Hashable) -> bool:
        return reader in self._readers

    @property
    def pressing(self) -> bool:
        """Whether there is a job that is no reader's."""
        return bool(self._first)

    def __bool__(self) -> bool:
        return bool(self._first or self._readers)

    def next(self) -> Job:
        """The next one, of which there is one."""
        if self._first:
            return self._first.popleft()
        reader = next(iter(self._readers))
        jobs = self._readers.pop(reader)
        job = jobs.popleft()
        if jobs:
            self._readers[reader] = jobs
        return job
