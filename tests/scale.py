"""Loads that are large in number, for the system tests and the figures: each sets one up on a broker, by a client of tests/system/raw.py.

What is timed is measured by `sluice bench` on another queue: a message a millisecond, from its intended send time.
"""
import time

SECONDS = 4                  # of the bench beside a burst; the burst falls into its middle
BURST_AFTER_MS = 2_000
BATCH = 1_000                # messages a frame
WINDOW = 32                  # frames, or requests, that wait for their answer
BESIDE = ("bench", "beside", "--rate", "1000", "--duration", f"{SECONDS}s", "--batch", "1", "--json")


def publish_many(client, queue, count, message):
    """`message(i)` is what PUBLISH takes: a payload, or one with options. Returns when all are confirmed, and none was refused."""
    under_way = []
    for first in range(0, count, BATCH):
        under_way.append(client.publish_nowait(queue, [message(i) for i in range(first, min(count, first + BATCH))]))
        if len(under_way) == WINDOW:
            client.wait_confirms(under_way.pop(0))
    for sequences in under_way:
        client.wait_confirms(sequences)
    refused = [outcome for outcome in client.decided.values() if isinstance(outcome, Exception)]
    client.decided.clear()
    assert not refused, refused[0]


def delays_that_fall_due(client, count, queue="due"):
    """All within the one second that begins BURST_AFTER_MS from now, and one consumer that gets them."""
    begin = time.monotonic()

    def message(i):
        passed_ms = (time.monotonic() - begin) * 1000
        return [b"x" * 100, {"delay_ms": max(1, int(BURST_AFTER_MS - passed_ms + i * 1000 / count))}]

    client.consume(queue, messages=count, size=1 << 30)
    publish_many(client, queue, count, message)
    assert client.depth(queue)[1] > count * 0.9, "publishing took so long that they fell due meanwhile"


def leases_that_run_out(client, count, queue="leased"):
    """Handed out at once, and never settled: they end BURST_AFTER_MS later, and wait for their backoff."""
    client.declare(queue, lease_ms=BURST_AFTER_MS, max_attempts=1000)
    publish_many(client, queue, count, lambda i: b"x" * 100)
    client.consume(queue, messages=count, size=1 << 30)
    assert client.depth(queue)[2] > count * 0.9, "handing out took so long that they ended meanwhile"


def declare_many(client, count, prefix="q-"):
    numbers = iter(range(1 << 32, (1 << 32) + count))
    for first in range(0, count, BATCH):
        asked = []
        for i in range(first, min(count, first + BATCH)):
            asked.append(next(numbers))
            client.send(8, asked[-1], "queue.declare", {"name": f"{prefix}{i:06}"})
        for number in asked:
            client.wait_reply(number)


def delay_many(client, count, queue, size=100, delay_ms=3_600_000):
    publish_many(client, queue, count, lambda i: [b"x" * size, {"delay_ms": delay_ms + i % 1_000_000}])


def list_pages(client, limit=1000):
    """Names of all queues, and how long each page took, in ms."""
    names, took, more = [], [], True
    while more:
        begin = time.monotonic()
        page = client.request("queue.list", limit=limit, after=names[-1] if names else "")
        took.append((time.monotonic() - begin) * 1000)
        names += [queue["name"] for queue in page["queues"]]
        more = page["more"]
    return names, took


def publish_times(client, queue, count=500):
    """How long a publish takes until it is confirmed, one after the other, in ms."""
    took = []
    for _ in range(count):
        begin = time.monotonic()
        client.publish(queue, b"x" * 100)
        took.append((time.monotonic() - begin) * 1000)
    return took
