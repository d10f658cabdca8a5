"""Each command is answered exactly once, also when the page lost the answer and sends the command again."""

from __future__ import annotations

from collections import OrderedDict

from app.session.events import Problem, Reply

KEPT_REPLIES = 32
KEPT_CLIENTS = 256


class Answers:
    """What one client asked and was answered. done: the largest seq that was answered, before a crash too (-1: none)."""

    def __init__(self, done: int = -1) -> None:
        self.done = done
        self._before = done
        self._newest = done
        self._replies: OrderedDict[int, Reply] = OrderedDict()
        self._waiting: set[int] = set()

    def begin(self, seq: int) -> bool:
        """Take a command in. False: its seq was used before, see `again`."""
        if seq <= self._newest:
            return False
        self._newest = seq
        self._waiting.add(seq)
        return True

    def end(self, seq: int, problems: tuple[Problem, ...]) -> Reply:
        reply = Reply(seq, not problems, problems)
        self.done = max(self.done, seq)
        self._waiting.discard(seq)
        self._replies[seq] = reply
        if len(self._replies) > KEPT_REPLIES:
            self._replies.popitem(last=False)
        return reply

    def again(self, seq: int) -> Reply | None:
        """What to say to a seq that was used before; None: it still waits for its answer."""
        if seq in self._waiting:
            return None
        if seq in self._replies:
            return self._replies[seq]
        if seq <= self._before:  # done before the server was restarted: the journal says so
            return Reply(seq, True)
        allowed = f"a whole number above {self._newest}"
        return Reply(seq, False, (Problem("seq", seq, allowed, f"seq was given {seq}; allowed: {allowed}"),))


class Clients:
    """The answers of each client of a session; those that were away longest are forgotten."""

    def __init__(self, done: dict[str, int]) -> None:
        self._answers = OrderedDict((client, Answers(seq)) for client, seq in done.items())

    def of(self, client: str) -> Answers:
        answers = self._answers.setdefault(client, Answers())
        self._answers.move_to_end(client)
        if len(self._answers) > KEPT_CLIENTS:
            self._answers.popitem(last=False)
        return answers

    def done(self) -> dict[str, int]:
        return {client: answers.done for client, answers in self._answers.items() if answers.done >= 0}
