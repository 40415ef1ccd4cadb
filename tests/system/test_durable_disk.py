"""A disk that is full, slow, or fails: what is refused, what goes on, and what a restart finds."""
import os
import subprocess
import time

import pytest

import raw
from conftest import wait_until
from durable import ENDINGS, Store, check_conservation, drain, peek_all
from raw import BrokerError

pytestmark = pytest.mark.release
MESSAGE_BYTES = 64 << 10


# Compaction needs room of its own on a full disk: what it writes again takes the place that is kept for acks.
FULL_OF_GARBAGE = pytest.mark.xfail(strict=True, reason="compaction on a full disk has no reserve of its own")


@pytest.fixture
def small_disk(tmp_path, start_broker):
    """A store on a file system of 16 MiB. Unmounted after its brokers have ended."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "sluice-test", place], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    store = Store(place / "data", start_broker)
    yield store
    if store.broker in start_broker.brokers:
        store.kill()
    subprocess.run(["umount", place], check=True)


def body(number):
    return b"%08d" % number + bytes([number % 251]) * (MESSAGE_BYTES - 8)


def number_of(payload):
    number = int(payload[:8])
    assert payload == body(number)
    return number


def outcome(client, queue, number, **options):
    [result] = client.wait_confirms(client.publish_nowait(queue, [[body(number), options]]))
    if isinstance(result, BrokerError):
        assert (result.name, result.retry) == ("storage_full", True)
        return None
    return number


def fill(client, queue, first=0):
    """Publishes until the disk is full; the numbers of those that were confirmed."""
    confirmed = set()
    for number in range(first, first + 2_000):
        if outcome(client, queue, number) is None:
            return confirmed
        confirmed.add(number)
    raise AssertionError("the disk did not get full")


def no_stray_files(store):
    return {path.name for path in store.path.iterdir()} == {"lock", *(path.name for path in store.segments())}


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("segment_bytes", [256 << 10, 1 << 20])
def test_C17_a_full_disk_refuses_publishes_takes_the_rest_and_goes_on_when_there_is_room(small_disk, how, segment_bytes):
    store = small_disk
    client = store.start(segment_bytes=segment_bytes, memory="4MiB").client(heartbeat_ms=60_000)
    client.declare("q", max_attempts=3, backoff_initial_ms=0)
    client.publish("q", b"dies early")
    consumer = client.consume("q", messages=1)
    client.reject(client.delivery(), reason="early")
    client.cancel(consumer)
    confirmed = fill(client, "q")
    assert len(confirmed) > 100
    more = {number for number in range(10_000, 10_100) if outcome(client, "q", number) is not None}
    assert len(more) <= 4  # what was left in the last segment
    confirmed |= more

    # Everything that makes no message goes on.
    consumer = client.consume("q", messages=len(confirmed), size=1 << 30)
    held = client.deliveries(len(confirmed))
    assert {number_of(d.payload) for d in held} == confirmed
    half, rest = held[: len(held) // 2], held[len(held) // 2:]
    for delivery in half:
        assert client.ack(delivery) == 0
    acked = {number_of(d.payload) for d in half}
    assert client.nack(rest[0], reason="full") == 0 and client.reject(rest[1], reason="full too") == 0
    assert client.extend(rest[2], lease_ms=60_000) == 0 and client.release(rest[3]) == 0
    client.request("queue.pause", name="q")
    client.request("queue.resume", name="q")
    client.declare("another")
    client.bind("another", "t")
    assert client.request("queue.purge", name="q.dlq")["purged"] == 2
    confirmed.remove(number_of(rest[1].payload))  # among them
    client.cancel(consumer)

    # Half of it is gone, so there is room: nobody has to restart anything.
    for number in range(20_000, 20_000 + len(acked) // 6):
        wait_until(lambda number=number: outcome(client, "q", number) is not None, timeout=5, what="publishing after acks")
        confirmed.add(number)
    if how == "kill":
        store.kill()
    else:
        for delivery in rest[4:]:
            client.release(delivery)
        client.release(rest[2])
        store.stop()
    assert no_stray_files(store)
    assert store.verify()[0] == 0
    client = store.start(segment_bytes=segment_bytes, memory="4MiB").client(heartbeat_ms=60_000)
    assert {number_of(m["payload"]) for m in peek_all(client, "q")} == confirmed - acked
    assert len(peek_all(client, "q")) == len(confirmed - acked)
    check_conservation([client.info("q"), client.info("q.dlq")])


def test_room_that_somebody_else_makes_is_noticed(small_disk):
    store = small_disk
    client = store.start(segment_bytes=256 << 10).client()
    filler = store.path.parent / "filler"
    filler.write_bytes(bytes(13 << 20))
    confirmed = fill(client, "q")
    filler.unlink()
    wait_until(lambda: outcome(client, "q", 5_000) is not None, what="publishing with room again")
    confirmed.add(5_000)
    client = store.restart("kill").client()
    assert [number_of(m["payload"]) for m in peek_all(client, "q")] == sorted(confirmed)


@FULL_OF_GARBAGE
@pytest.mark.parametrize("segment_bytes", [256 << 10, 1 << 20])
def test_a_full_disk_whose_oldest_messages_stay_gets_empty_by_acks(small_disk, segment_bytes):
    """The dead segments stand behind living ones, which have to be written again first, on a disk without room."""
    store = small_disk
    client = store.start(segment_bytes=segment_bytes).client(heartbeat_ms=60_000)
    for number in range(80):
        assert outcome(client, "stays", number) is not None
    confirmed = fill(client, "q")
    consumer = client.consume("q", messages=len(confirmed), size=1 << 30)
    for delivery in client.deliveries(len(confirmed)):
        number = next(client.requests)
        client.send(raw.SETTLE, number, [[raw.ACK, delivery.lease, delivery.lease]])
        assert client.receive(raw.SETTLED, timeout=3)[1:] == [number, []]
    client.cancel(consumer)
    for number in range(5_000, 5_000 + len(confirmed) // 2):
        wait_until(lambda number=number: outcome(client, "q", number) is not None, timeout=5, what="publishing after acks")
    client = store.restart("kill").client(heartbeat_ms=60_000)
    assert [number_of(m["payload"]) for m in peek_all(client, "stays")] == list(range(80))
    assert [number_of(m["payload"]) for m in peek_all(client, "q")] == list(range(5_000, 5_000 + len(confirmed) // 2))


def test_a_broker_starts_on_a_full_disk_and_empties_it(small_disk):
    store = small_disk
    client = store.start(segment_bytes=256 << 10).client()
    confirmed = fill(client, "q")
    for how in ("kill", "stop", "kill"):
        client = store.restart(how).client()
        assert outcome(client, "q", 5_000) is None or confirmed.add(5_000) is None
    assert {number_of(d.payload) for d in drain(client, "q", len(confirmed), window=20)} == confirmed
    wait_until(lambda: outcome(client, "q", 6_000) is not None, what="publishing after acks")
    wait_until(lambda: store.disk_bytes() <= 1 << 20, what="segments to go")
    assert no_stray_files(store)


def test_a_disk_that_hangs_delays_confirmations_and_nothing_else(store, disk):
    broker = store.start(environment=disk.environment)
    client, holder, reader = (broker.client(heartbeat_ms=300) for _ in range(3))
    client.declare("q", lease_ms=2_000)
    client.publish("q", b"held before")
    consumer = holder.consume("q", messages=1)
    before = holder.delivery()
    assert holder.extend(before, lease_ms=60_000) == 0
    disk.say("hold")
    began = time.monotonic()
    holder.send(raw.SETTLE, None, [], [[consumer, 10, 1 << 20]])
    sequences = client.publish_nowait("q", [b"%d" % i for i in range(10)])
    # They are handed out, though not told: their leases are not running.
    number = next(reader.requests)
    reader.send(raw.REQUEST, number, "server.info", {})
    beats = 0
    while time.monotonic() - began < 4:
        client.receive(raw.HEARTBEAT)
        beats += 1
        for silent in (holder, reader):
            silent.receive(raw.HEARTBEAT)
        assert not client.kept and not holder.kept, "something was told that no disk had"
    assert beats >= 8
    # A session that begins meanwhile is welcomed at once: nothing of it has to be kept.
    begun = time.monotonic()
    other = broker.client()
    assert time.monotonic() - begun < 1
    # What is answered behind it keeps its place in line, a question too.
    assert not reader.kept
    disk.say("well")
    assert len(client.wait_confirms(sequences)) == 10
    reader.wait_reply(number)
    deliveries = holder.deliveries(10)
    told = time.monotonic()
    assert told - began >= 4
    time.sleep(0.8)  # much of a lease that began now, and more than all of one that began when they were handed out
    assert holder.settle([[raw.ACK, d.lease, d.lease] for d in deliveries]) == {}
    assert holder.ack(before) == 0
    info = other.info("q")
    assert (info["counters"]["expired_leases"], info["counters"]["acked"], info["counters"]["delivered"]) == (0, 11, 11)


def test_what_is_said_while_a_disk_hangs_is_answered_in_order_when_it_is_back(store, disk):
    broker = store.start(environment=disk.environment)
    client = broker.client(heartbeat_ms=300)
    client.publish("q", *[b"%d" % i for i in range(100)])
    client.consume("q", messages=100)
    held = client.deliveries(100)
    disk.say("hold")
    number = next(client.requests)
    client.send(raw.SETTLE, number, [[raw.ACK, d.lease, d.lease] for d in held])
    later = [next(client.requests) for _ in range(3)]
    for name, request in zip("abc", later):
        client.send(raw.REQUEST, request, "queue.declare", {"name": name})
    for _ in range(4):
        assert client.receive()[0] == raw.HEARTBEAT
    disk.say("well")
    assert client.receive(raw.SETTLED)[1:] == [number, []]
    for request in later:
        assert client.wait_reply(request)["created"]
    assert client.depth("q") == (0, 0, 0, 0)


@pytest.mark.parametrize("sync", ["always", "interval=10ms"])
def test_S19_after_the_first_failed_sync_nothing_is_confirmed_and_the_process_stops(store, disk, sync, start_broker):
    broker = store.start("--sync", sync, environment=disk.environment)
    client = broker.client()
    confirmed = client.publish("q", b"safe", b"safe too")
    disk.say("fail")
    client.publish_nowait("q", [b"lost or not"])
    assert broker.process.wait(20) == 1
    start_broker.brokers.remove(broker)
    lines = [line for line in broker.log().splitlines() if not line.startswith("{")]
    assert len(lines) == 1 and lines[0].startswith("sluiced: fdatasync ") and str(store.path) in lines[0]
    assert lines[0].endswith(": Input/output error") and ".segment" in lines[0]
    assert not [line for line in broker.log().splitlines() if '"msg":"drained"' in line]
    while client.socket.poll(100):
        frame = raw.decode(client.socket.recv())
        assert frame[0] != raw.CONFIRM or sync != "always", frame
    # A process that begins on a disk that still fails says so, and changes nothing.
    line = store.refused("--sync", sync, environment=disk.environment)
    assert "Input/output error" in line and str(store.path) in line
    disk.say("well")
    client.close()
    client = store.start("--sync", sync, environment=disk.environment).client()
    ids = [m["id"] for m in peek_all(client, "q")]
    assert ids[:2] == confirmed and len(ids) <= 3
    assert client.publish("q", b"goes on")[0] > max(ids)
