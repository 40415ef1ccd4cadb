"""Many of everything: bursts of timers, queues by the hundred thousand. Times are judged with a wide margin here; `./dev bench` prints them."""
import json
import statistics
import time

import pytest

import scale

pytestmark = pytest.mark.release


@pytest.mark.parametrize("burst, counter", [(scale.delays_that_fall_due, "delivered"), (scale.leases_that_run_out, "expired_leases")])
def test_C40_a_burst_of_timers_does_not_hold_up_another_queue(broker, start_sluice, figure, burst, counter):
    count = 30_000
    client = broker.client()
    burst(client, count, queue="burst")
    assert client.info("burst")["counters"][counter] < count  # it is still to come
    beside = start_sluice(*scale.BESIDE)
    # Read meanwhile: what would be held up otherwise is this one's own outbox.
    while beside.poll() is None:
        while client.socket.poll(10):
            client.socket.recv()
    out, err = beside.communicate()
    assert beside.returncode == 0, err
    latency = json.loads(out)["latency_us"]
    figure(f"{burst.__name__}, {count}: another queue's p99 and worst, ms", f"{latency['p99'] / 1000:.1f} {latency['max'] / 1000:.1f}")
    assert client.info("burst")["counters"][counter] >= count
    assert latency["p99"] < 1_000_000


def test_C40_100_000_queues_and_a_million_delayed_messages_leave_the_rest_responsive(broker, sluice, figure):
    queues, delayed = 100_000, 1_000_000
    client, other = broker.client(heartbeat_ms=60_000), broker.client(heartbeat_ms=60_000)  # each is silent while the other one works
    scale.delay_many(client, 20_000, "q-000000")  # first growth of what the process keeps for itself
    client.request("queue.purge", name="q-000000")
    empty = broker.rss_kib()
    scale.declare_many(client, queues)
    with_queues = broker.rss_kib()
    scale.delay_many(client, delayed, "q-000000")
    full = broker.rss_kib()
    queue_bytes = (with_queues - empty) * 1024 / (queues - 1)
    message_bytes = (full - with_queues) * 1024 / delayed - 100
    names, pages = scale.list_pages(other)
    assert names == sorted(f"q-{i:06}" for i in range(queues))
    begin = time.monotonic()
    assert len(sluice("queue", "ls").out.splitlines()) == queues
    listed = time.monotonic() - begin
    published = scale.publish_times(other, "q-050000")
    figure("bytes a queue, and a delayed message beside its payload", f"{queue_bytes:.0f} {message_bytes:.0f}")
    figure("100,000 queues: a page, median and worst, ms; sluice queue ls, s",
           f"{statistics.median(pages):.1f} {max(pages):.1f} {listed:.1f}")
    figure("a publish beside them, median and worst, ms", f"{statistics.median(published):.2f} {max(published):.2f}")
    assert queue_bytes <= 2048 and message_bytes <= 192
    assert max(pages) < 2_000 and max(published) < 2_000 and listed < 120
    assert client.depth("q-000000") == (0, delayed, 0, 0)
