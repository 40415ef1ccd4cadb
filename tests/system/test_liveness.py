"""Peers that die, stall, flood or do not read, as real processes."""
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

import pytest
import zmq

import raw
from conftest import wait_until
from raw import RawClient

FOLDER = pathlib.Path(__file__).parent
AT_ONCE = {"backoff_initial_ms": 0, "backoff_jitter": 0}


@pytest.fixture
def start_consumer(broker):
    running = []

    def start(queue, messages, *more):
        process = subprocess.Popen([sys.executable, FOLDER / "consumer.py", broker.url, queue, str(messages), *map(str, more)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.mark.quick
def test_after_kill_9_the_messages_reach_another_consumer_within_100_ms(broker, start_consumer, figure):
    heir = broker.client()
    heir.declare("q", max_attempts=1000, **AT_ONCE)
    took = []
    for attempt in range(7):
        victim = start_consumer("q", 10)
        heir.publish("q", b"%d" % attempt)
        assert victim.stdout.readline().split()[2] == str(attempt)
        consumer = heir.consume("q", messages=1)
        start = time.monotonic()
        victim.kill()
        delivery = heir.delivery()
        took.append((time.monotonic() - start) * 1000)
        assert (delivery.payload, delivery.count) == (b"%d" % attempt, 2)
        heir.ack(delivery)
        heir.cancel(consumer)
    figure("kill -9 of a consumer until its message is with another one, ms", " ".join(f"{ms:.1f}" for ms in sorted(took)))
    assert statistics.median(took) < 100
    assert max(took) < 1000


def test_after_kill_9_every_message_of_a_large_prefetch_arrives_once_more(broker, start_consumer):
    heir = broker.client()
    heir.declare("q", max_attempts=10, **AT_ONCE)
    victim = start_consumer("q", 200)
    heir.publish("q", *[b"%d" % i for i in range(200)])
    for _ in range(200):
        victim.stdout.readline()
    victim.kill()
    consumer = heir.consume("q", messages=1)
    seen = []
    for _ in range(200):
        delivery = heir.delivery()
        assert delivery.count == 2
        seen.append(int(delivery.payload))
        heir.settle([[raw.ACK, delivery.lease, delivery.lease]], [[consumer, 1, 100]])
    assert seen == list(range(200))


@pytest.mark.quick
def test_a_stalled_consumer_loses_its_lease(broker, start_consumer):
    heir = broker.client()
    heir.declare("q", lease_ms=200, **AT_ONCE)
    victim = start_consumer("q", 1)
    heir.publish("q", b"x")
    victim.stdout.readline()
    victim.send_signal(signal.SIGSTOP)
    heir.consume("q", messages=1)
    delivery = heir.delivery()
    assert (delivery.payload, delivery.count) == (b"x", 2)
    assert heir.info("q")["counters"]["expired_leases"] == 1
    assert heir.ack(delivery) == 0


@pytest.mark.quick
def test_a_stalled_process_is_gone_after_three_heartbeats(broker, start_consumer):
    heir = broker.client()
    heir.declare("q", lease_ms=60_000, **AT_ONCE)
    victim = start_consumer("q", 1, 100)
    heir.publish("q", b"x")
    victim.stdout.readline()
    victim.send_signal(signal.SIGSTOP)
    heir.consume("q", messages=1)
    assert heir.delivery().count == 2
    assert heir.info("q")["counters"]["returned_by_disconnect"] == 1


def test_time_in_which_the_broker_stood_still_counts_against_nobody(broker):
    """After SIGSTOP of the broker for longer than three heartbeats, the sessions are still there."""
    client = broker.client(heartbeat_ms=100)
    client.publish("q", b"x")
    client.consume("q")
    held = client.delivery()
    broker.process.send_signal(signal.SIGSTOP)
    # The subject is elapsed time of a process that cannot say anything: nothing to wait for but the clock.
    time.sleep(0.6)
    broker.process.send_signal(signal.SIGCONT)
    assert client.ack(held) == 0
    assert client.info("q")["counters"]["returned_by_disconnect"] == 0


@pytest.mark.quick
def test_connecting_and_closing_many_times_leaves_nothing_behind(broker):
    watcher = broker.client()
    descriptors = lambda: len(os.listdir(f"/proc/{broker.process.pid}/fd"))
    before = descriptors()
    for index in range(2000):
        client = RawClient(broker.url, hello=index % 2 == 0)
        if index % 2:
            client.send(raw.HELLO, 1, {})
        client.close()
    wait_until(lambda: watcher.request("server.info")["sessions"] == 1, what="the end of 2,000 sessions")
    wait_until(lambda: descriptors() <= before + 2, what="the return of the descriptors")


@pytest.mark.quick
def test_a_message_then_death_within_a_millisecond(broker):
    """Whatever got through was accepted whole; the dead never come back as sessions."""
    watcher = broker.client()
    watcher.declare("q")
    hello, publish = raw.encode([raw.HELLO, 1, {}]), raw.encode([raw.PUBLISH, "q", 1, [b"last words"]])
    context = zmq.Context.instance()
    for index in range(500):
        socket = context.socket(zmq.DEALER)
        socket.connect(broker.url)
        socket.send(hello)
        socket.send(publish)
        socket.close(linger=0 if index % 2 else 50)
    wait_until(lambda: watcher.request("server.info")["sessions"] == 1, what="the end of the dead sessions")
    depth = watcher.depth("q")
    assert depth[0] <= 500 and depth[1:] == (0, 0, 0)
    watcher.consume("q", messages=depth[0] or 1, size=1 << 20)
    assert {d.payload for d in watcher.deliveries(depth[0])} <= {b"last words"}


@pytest.mark.quick
def test_a_consumer_that_dies_as_soon_as_it_has_consumed_keeps_no_message(broker):
    heir = broker.client()
    heir.declare("q", max_attempts=1_000_000, **AT_ONCE)
    heir.publish("q", *[b"%d" % i for i in range(20)])
    hello, consume = raw.encode([raw.HELLO, 1, {}]), raw.encode([raw.CONSUME, 1, 1, "q", 10, 1000])
    for _ in range(200):
        socket = zmq.Context.instance().socket(zmq.DEALER)
        socket.connect(broker.url)
        socket.send(hello)
        socket.send(consume)
        socket.close(linger=20)
    wait_until(lambda: heir.request("server.info")["sessions"] == 1, what="the end of the dead sessions")
    wait_until(lambda: heir.depth("q") == (20, 0, 0, 0), what="the return of every message")


@pytest.mark.quick
def test_a_reused_descriptor_is_another_peer(broker):
    """Each new connection gets the descriptor of the one that just died while that one's messages still come in."""
    heir = broker.client()
    heir.declare("q", max_attempts=1_000_000, **AT_ONCE)
    heir.publish("q", b"x")
    context = zmq.Context.instance()
    for _ in range(300):
        dying, following = (RawClient(broker.url, hello=False) for _ in range(2))
        dying.send(raw.HELLO, 1, {})
        dying.send(raw.CONSUME, 1, 1, "q", 1, 100)
        dying.close()
        following.hello()
        assert following.request("server.info")["session"] == following.session
        following.close()
    assert context.closed is False
    wait_until(lambda: heir.depth("q") == (1, 0, 0, 0), what="the return of the message")


@pytest.mark.release
def test_C28_a_client_that_never_reads_costs_bounded_memory_and_disturbs_nobody(broker, figure):
    before = broker.rss_kib()
    greedy = broker.client()
    request = raw.encode([raw.REQUEST, 7, "queue.list", {}])
    watcher = broker.client()
    watcher.declare("x" * 200)
    greedy.socket.rcvhwm = 1
    slowest = 0
    rss = 0
    for _ in range(100):
        for _ in range(2000):
            greedy.socket.send(request)
        start = time.monotonic()
        watcher.barrier()
        slowest = max(slowest, time.monotonic() - start)
        rss = max(rss, broker.rss_kib())
    figure("200,000 requests whose answers nobody reads: growth of the broker, MiB", f"{(rss - before) / 1024:.1f}")
    figure("the same: slowest two round trips of another client, ms", f"{slowest * 1000:.1f}")
    assert rss - before < 300 * 1024
    assert slowest < 5


@pytest.mark.release
def test_a_stopped_consumer_is_limited_by_its_credit(broker, start_consumer):
    client = broker.client()
    client.declare("slow", lease_ms=60_000)
    victim = start_consumer("slow", 1000)
    victim.send_signal(signal.SIGSTOP)
    before = broker.rss_kib()
    for _ in range(20):
        client.publish("slow", *[b"x" * 1024] * 100)
    assert client.depth("slow") == (1000, 0, 1000, 0)
    assert broker.rss_kib() - before < 50 * 1024
    client.publish("fast", b"y")
    client.consume("fast")
    assert client.delivery().payload == b"y"


def take_and_ack(client, consumer, count):
    """Exactly the next ones, in order, each acked and its credit given again."""
    deliveries = client.deliveries(count)
    assert client.settle([[raw.ACK, each.lease, each.lease] for each in deliveries], [[consumer, count, count * 2048]]) == {}
    return [int(each.payload[:8]) for each in deliveries]


def publish_and_take(publisher, fast, consumer, first, batches):
    """Batches of 1,000 messages of 1 KiB through a topic, each read before the next is sent. Returns the median of their seconds."""
    took = []
    for batch in range(batches):
        begin = time.monotonic()
        numbers = range(first + batch * 1000, first + (batch + 1) * 1000)
        publisher.publish_topic("news", *[b"%08d" % number + b"x" * 1016 for number in numbers])
        assert take_and_ack(fast, consumer, 1000) == list(numbers)
        took.append(time.monotonic() - begin)
    return statistics.median(took)


@pytest.mark.release
def test_C28_a_subscriber_that_stands_still_costs_bounded_memory_and_slows_nobody(broker, start_consumer, figure):
    publisher, fast = broker.client(), broker.client()
    consumer = fast.consume("", topic="news", messages=2000, size=8 << 20)
    alone = publish_and_take(publisher, fast, consumer, 0, 20)
    before = broker.rss_kib()
    stopped = start_consumer("", 1000, 60_000, "news", 5000)  # heartbeats so far apart that it is not given up before it is killed
    stopped.send_signal(signal.SIGSTOP)
    beside = publish_and_take(publisher, fast, consumer, 20_000, 100)
    grown = broker.rss_kib() - before
    [queue] = [each for each in publisher.request("queue.list")["queues"] if each["counters"]["dropped"] > 0]
    assert (queue["leased"], queue["ready"], queue["counters"]["dropped"]) == (1000, 4000, 95_000)
    figure("100,000 x 1 KiB past a stopped subscriber of 5,000: growth of the broker, MiB", f"{grown / 1024:.1f}")
    figure("the same: time for a batch of the other one, of that without it", f"{beside / alone:.2f}")
    assert grown < 40 * 1024
    assert beside < 10 * alone
    stopped.kill()
    wait_until(lambda: publisher.request("server.info")["queues"] == 1, what="the end of its queue")
    wait_until(lambda: broker.rss_kib() - before < 8 * 1024, what="the return of its memory")


def test_a_flooding_publisher_does_not_starve_the_others(broker, figure):
    flood = broker.client()
    batch = [b"x" * 100] * 1000
    watcher = broker.client()
    latencies = []
    pending = []
    for _ in range(100):
        pending += flood.publish_nowait("q", batch)
        if len(pending) >= 20_000:
            flood.wait_confirms(pending[:1000])
            del pending[:1000]
        start = time.monotonic()
        watcher.request("server.info")
        latencies.append((time.monotonic() - start) * 1000)
    flood.wait_confirms(pending)
    assert flood.depth("q")[0] == 100_000
    figure("a round trip beside a flood of publishes, ms, median and worst", f"{statistics.median(latencies):.1f} {max(latencies):.1f}")
    assert max(latencies) < 3000


def test_C40_thousands_of_leases_that_return_at_once_do_not_block_another_queue(broker, figure):
    admin, holder = broker.client(), broker.client()
    admin.declare("big", max_attempts=1000, **AT_ONCE)
    count = min(30_000, admin.welcome["credit_messages_max"])
    for _ in range(count // 1000):
        admin.publish("big", *[b"x"] * 1000)
    holder.consume("big", messages=count, size=1 << 20)
    count -= count % 1000
    holder.deliveries(count)
    admin.consume("other", messages=1000)
    holder.close()
    slowest = 0
    returned = False
    end = time.monotonic() + raw.DEADLINE
    while not returned:
        start = time.monotonic()
        admin.publish("other", b"y")
        admin.ack(admin.delivery())
        slowest = max(slowest, time.monotonic() - start)
        returned = admin.depth("big") == (count, 0, 0, 0)
        admin.grant(1)
        assert time.monotonic() < end
    figure(f"{count} leases return at once: slowest publish, delivery and ack on another queue, ms", f"{slowest * 1000:.1f}")
    assert slowest < 2
