"""What several clients did at several gateways, and whether one store that does one thing at a time could have answered so.

Each document is added once and deleted at most once, and searched for by a word of its own. An operation begins and ends; what
it did took effect somewhere in between. One that failed may have taken effect, then or later, or not.
"""

import dataclasses
import threading

OK, FAILED = "ok", "failed"


@dataclasses.dataclass(frozen=True)
class Operation:
    kind: str  # add, delete, search
    owner: int
    item: int
    began: float
    ended: float
    outcome: str  # ok: acknowledged
    found: frozenset = frozenset()  # of a search: pairs of owner and item
    gateway: int = 0
    why: str = ""  # of a failure: what the client was told


class History:
    def __init__(self):
        self.lock, self.operations = threading.Lock(), []

    def add(self, operation):
        with self.lock:
            self.operations.append(operation)

    def of(self, kind):
        return [one for one in self.operations if one.kind == kind]

    def count(self, outcome):
        return sum(one.outcome == outcome for one in self.operations)


def problems_of(history):
    """What no order of the operations explains, as sentences."""
    adds = {(one.owner, one.item): one for one in history.of("add")}
    deletes = {(one.owner, one.item): one for one in history.of("delete")}
    for one in history.of("search"):
        if one.outcome != OK:
            continue
        for owner, item in sorted(one.found):
            added, deleted = adds.get((owner, item)), deletes.get((owner, item))
            if owner != one.owner:
                yield f"owner {one.owner} was shown item {item} of owner {owner} at gateway {one.gateway}"
            elif added is None or added.began > one.ended:
                yield f"item {item} of owner {owner} was shown before it was added"
            elif deleted is not None and deleted.outcome == OK and deleted.ended < one.began:
                yield (f"item {item} of owner {owner} was shown at gateway {one.gateway} {one.began - deleted.ended:.3f} s after its deletion at "
                       f"gateway {deleted.gateway} was acknowledged")
        added, deleted = adds.get((one.owner, one.item)), deletes.get((one.owner, one.item))
        if (one.owner, one.item) in one.found or added is None or added.outcome != OK or added.ended >= one.began:
            continue
        if deleted is None or deleted.began > one.ended:
            yield (f"item {one.item} of owner {one.owner} was not found at gateway {one.gateway} {one.began - added.ended:.3f} s after it was "
                   f"acknowledged at gateway {added.gateway}")


def problems_at_end(history, owner, there):
    """The same of all that an owner has in the end."""
    mine = [one for one in history.operations if one.owner == owner]
    deletes = {one.item: one for one in mine if one.kind == "delete"}
    for one in mine:
        if one.kind != "add":
            continue
        deleted = deletes.get(one.item)
        if one.outcome == OK and deleted is None and one.item not in there:
            yield f"item {one.item} of owner {owner} was acknowledged and is lost"
        if deleted is not None and deleted.outcome == OK and one.item in there:
            yield f"item {one.item} of owner {owner} came back after its deletion was acknowledged"
    for item in sorted(there - {one.item for one in mine if one.kind == "add"}):
        yield f"owner {owner} has item {item}, which nobody added"


def problems_of_failures(history, outages):
    """Failures outside of all outages (pairs of times), or without a clear reason."""
    for one in history.operations:
        if one.outcome != FAILED:
            continue
        if not any(one.began <= end and one.ended >= start for start, end in outages):
            yield f"{one.kind} at gateway {one.gateway} failed while nothing was away: {one.why}"
        elif not one.why:
            yield f"{one.kind} at gateway {one.gateway} failed without a word"


def most_within(times, seconds):
    """The most of some (begin, end) that lie wholly within so many seconds."""
    times = sorted(times)
    most = 0
    for start, _ in times:
        most = max(most, sum(begin >= start and end <= start + seconds for begin, end in times))
    return most
