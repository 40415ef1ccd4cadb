"""Golden journals: how they are opened, and what is looked at. Used by the test and by tests/golden/make.py."""
import base64
import tarfile

from durable import Store, state

PRODUCER = b"golden producer."
RECORDS = {"marks", "queue", "queue_deleted", "bound", "unbound", "published", "message", "delivered", "ended", "returned", "dead_lettered",
           "replayed", "producer", "refused", "producer_gone", "dedup_key", "opened", "closed", "accepted"}


def copy_of(archive, store, path):
    """A store with what is in the archive, and no broker yet."""
    path.mkdir()
    with tarfile.open(archive) as tar:
        tar.extractall(path)
    return Store(path, store.start_function)


def plain(value):
    """As JSON can say it."""
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def take_times(seen):
    """Times to come are kept to the millisecond, but told by way of two clocks."""
    return [message.pop(key) for _, messages in sorted(seen["messages"].items()) for message in messages
            for key in ("due_ms", "expires_ms") if key in message]


def check(seen, expected):
    times, expected_times = seen.pop("times"), expected["times"]
    assert len(times) == len(expected_times) and all(abs(a - b) <= 5 for a, b in zip(times, expected_times))
    assert seen == {key: expected[key] for key in seen}


def shown(store, end="kill"):
    """What a broker shows of it; the broker has ended afterwards."""
    broker = store.start()
    client = broker.client(producer=PRODUCER)
    all_of_it = state(client)
    seen = {"times": take_times(all_of_it), "state": plain(all_of_it), "producer_sequence": client.welcome["producer_sequence"]}
    getattr(store, end)()
    return seen
