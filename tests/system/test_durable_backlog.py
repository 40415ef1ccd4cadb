"""More on the disk than in memory, and no more on the disk than what lives."""
import random
import threading
import time

import pytest

import raw
from conftest import wait_until
from durable import check_conservation, drain, peek_all

pytestmark = pytest.mark.release
MEMORY_MIB = 16
COUNT = 200_000
BLOCK = bytes(range(256)) * 5


def body(number):
    return b"%08d" % number + BLOCK[number % 256:][:1016]


def publish_many(client, queue, count, batch=500, make=body, **options):
    for first in range(0, count, batch):
        client.publish(queue, *[make(number) for number in range(first, min(count, first + batch))], **options)


class Memory:
    """The most that a process takes, looked at all the time."""

    def __init__(self, broker):
        self.broker, self.most_kib, self.done = broker, 0, threading.Event()
        self.thread = threading.Thread(target=self._look)

    def _look(self):
        while not self.done.wait(0.01):
            self.most_kib = max(self.most_kib, self.broker.rss_kib())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


# Beside the bodies: 200 bytes a message; what a process without messages takes and the allocator keeps; what is under way to the disk and
# back (batches, segments that are read again) and in the outbox.
def bound_kib(count):
    return MEMORY_MIB * 1024 + count * 200 // 1024 + 64 * 1024


@pytest.mark.parametrize("how", [None, "kill"])
def test_a_backlog_larger_than_memory_comes_back_in_order_and_byte_for_byte(store, how, figure):
    broker = store.start(segment_bytes=4 << 20, memory=f"{MEMORY_MIB}MiB")
    with Memory(broker) as memory:
        client = broker.client(heartbeat_ms=60_000)
        publish_many(client, "q", COUNT)
        if how:
            memory.done.set()
            broker = store.restart(how)
            client = broker.client(heartbeat_ms=60_000)
    with Memory(broker) as after:
        # Paged-out ones can be looked at, wherever they stand.
        first = client.request("queue.peek", name="q", limit=3)["messages"]
        assert [m["payload"] for m in first] == [body(i) for i in range(3)]
        for number in (COUNT // 2, COUNT - 3):
            behind = first[0]["position"] + number - 1
            found = client.request("queue.peek", name="q", limit=3, after=behind)["messages"]
            assert [m["payload"] for m in found] == [body(number + i) for i in range(3)]
        taken = drain(client, "q", COUNT)
    assert all(delivery.payload == body(number) for number, delivery in enumerate(taken))
    assert client.depth("q") == (0, 0, 0, 0)
    figure(f"{COUNT:,} x 1 KiB with --memory {MEMORY_MIB}MiB, {how or 'no restart'}: most memory before and after, MiB",
           f"{memory.most_kib // 1024} {after.most_kib // 1024}, bound {bound_kib(COUNT) // 1024}")
    assert max(memory.most_kib, after.most_kib) <= bound_kib(COUNT)
    wait_until(lambda: store.disk_bytes() <= 4 * (4 << 20), what="segments to go")


def test_delayed_messages_beyond_memory_come_when_due_byte_for_byte(store, figure):
    count = 20_000
    broker = store.start(segment_bytes=1 << 20, memory="1MiB")
    client = broker.client(heartbeat_ms=60_000)
    publish_many(client, "q", count, delay_ms=2_500)
    assert client.depth("q")[1] >= count - 1_000
    broker = store.restart("kill")
    with Memory(broker) as memory:
        client = broker.client(heartbeat_ms=60_000)
        taken = drain(client, "q", count)
    # What fell due at one moment comes in order of position; the due times rise with it.
    assert sorted(d.payload for d in taken) == [body(number) for number in range(count)]
    figure(f"{count:,} x 1 KiB delayed, --memory 1MiB: most memory, MiB", memory.most_kib // 1024)
    assert memory.most_kib <= 1024 + count * 200 // 1024 + 64 * 1024


def test_bodies_that_were_read_back_leave_memory_again(store, figure):
    """Everything is looked at, handed out and given back: what came from the disk does not stay."""
    count, window = 100_000, 1_000
    broker = store.start("--sync", "os", segment_bytes=4 << 20, memory="4MiB")
    client = broker.client(heartbeat_ms=60_000)
    publish_many(client, "q", count)
    before = broker.rss_kib()
    position = 0
    for _ in range(20):
        messages = client.request("queue.peek", name="q", limit=400, after=position)["messages"]
        assert all(m["payload"] == body(int(m["payload"][:8])) for m in messages)
        position = messages[-1]["position"] + 4_000
    consumer = client.consume("q", messages=window, size=window * 1024)
    for taken in range(0, count, window):
        held = client.deliveries(window)
        more = window if taken + window < count else 0
        # Given back for long, so that the next ones come.
        assert client.settle([[raw.NACK, d.lease, d.lease, {"delay_ms": 600_000}] for d in held], [[consumer, more, more * 1024]]) == {}
    assert client.depth("q")[1] == count
    after = broker.rss_kib()
    figure("100,000 x 1 KiB peeked at and nacked, --memory 4MiB: memory before and after, MiB", f"{before // 1024} {after // 1024}")
    assert after <= 4 * 1024 + count * 300 // 1024 + 32 * 1024


# Large enough that compaction, which is a few syncs behind, is less than a segment behind.
C19_SEGMENT = 512 << 10


def disk_bound(live, at_rest):
    """Three times what lives and two segments, as spec/journal.md says, and the prepared one. Under load one more: what is written again
    stands beside the segment from which it comes."""
    return 3 * live + (3 if at_rest else 4) * C19_SEGMENT


def test_C19_one_old_message_among_200_000_later_ones_costs_no_disk(store, figure):
    client = store.start(segment_bytes=C19_SEGMENT).client(heartbeat_ms=60_000)
    client.publish("old", b"for ever")
    consumer = client.consume("q", messages=2_000, size=64 << 20)
    most = 0
    for first in range(0, COUNT, 2_000):
        if first == COUNT // 2:
            client = store.restart("kill").client(heartbeat_ms=60_000)
            consumer = client.consume("q", messages=2_000, size=64 << 20)
        client.publish("q", *[b"%0100d" % number for number in range(first, first + 2_000)])
        held = client.deliveries(2_000)
        assert client.settle([[raw.ACK, d.lease, d.lease] for d in held], [[consumer, 2_000, 2_000 * 100]]) == {}
        most = max(most, store.disk_bytes())
    # 2,000 messages at most live at a time.
    figure("200,000 messages beside an old one: most bytes on disk", most)
    assert most <= disk_bound(2_000 * 164, at_rest=False)
    wait_until(lambda: store.disk_bytes() <= disk_bound(1_000, at_rest=True), what="segments to go")
    assert [m["payload"] for m in peek_all(store.restart("stop").client(), "old")] == [b"for ever"]


def test_C19_messages_that_are_retried_without_end_cost_no_disk(store, figure):
    count, rounds = 2_000, 200
    client = store.start("--sync", "os", segment_bytes=C19_SEGMENT).client(heartbeat_ms=60_000)
    client.declare("q", max_attempts=1_000_000, lease_ms=60_000)
    ids = client.publish("q", *[b"%0100d" % number for number in range(count)])
    consumer = client.consume("q", messages=count, size=1 << 30)
    chance, most, handed, counts = random.Random(1), 0, 0, {}
    kill_at = sorted(chance.randrange(count * rounds) for _ in range(3))
    while handed < count * rounds:
        if kill_at and handed >= kill_at[0]:
            kill_at.pop(0)
            client = store.restart("kill").client(heartbeat_ms=60_000)
            consumer = client.consume("q", messages=count, size=1 << 30)
        frame = client.receive(raw.DELIVER)
        held = [(frame[2] + i, entry) for i, entry in enumerate(frame[4])]
        for _, entry in held:
            assert entry[1] > counts.get(entry[0], 0), "S10: a delivery count fell"
            counts[entry[0]] = entry[1]
        client.settle([[raw.NACK, lease, lease, {"delay_ms": 1 + lease % 50, "reason": "not yet"}] for lease, _ in held],
                      [[consumer, len(held), len(held) * 100]])
        handed += len(held)
        most = max(most, store.disk_bytes())
    figure(f"{count:,} messages retried {rounds} times: most bytes on disk, live about", f"{most} {count * 180}")
    assert most <= disk_bound(count * 180, at_rest=False)
    wait_until(lambda: store.disk_bytes() <= disk_bound(count * 180, at_rest=True), what="segments to go")
    info = client.info("q")
    check_conservation([info])
    assert info["ready"] + info["delayed"] + info["leased"] == count
    client.request("queue.pause", name="q")
    client = store.restart("kill").client(heartbeat_ms=60_000)
    messages = peek_all(client, "q")
    assert [m["id"] for m in messages] == ids
    for message in messages:
        assert message["deliveries"] >= counts[message["id"]] and message["nacks"] + message["restarts"] + message["disconnects"] == message["deliveries"]


def test_C40_a_hundred_thousand_messages_are_there_soon_after_a_restart(store, figure):
    count = 100_000
    client = store.start(segment_bytes=4 << 20, memory=f"{MEMORY_MIB}MiB").client(heartbeat_ms=60_000)
    publish_many(client, "q", count, batch=2_000, make=lambda number: b"%0100d" % number)
    store.kill()
    began = time.monotonic()
    broker = store.start(segment_bytes=4 << 20, memory=f"{MEMORY_MIB}MiB")
    client = broker.client(heartbeat_ms=60_000)
    client.consume("q", messages=1)
    assert client.delivery().payload == b"%0100d" % 0
    first = time.monotonic() - began
    figure("100,000 messages: start to first delivery, s; memory, MiB", f"{first:.2f} {broker.rss_kib() // 1024}")
    assert first < 10 and broker.rss_kib() <= bound_kib(count)
