"""Nothing that is timed comes early: measured by the peer's own clock, in nanoseconds, from before it asked."""
import time

import pytest

import raw

pytestmark = pytest.mark.quick

MS = 1_000_000
LEASE_MS = 100


def test_S24_a_delay_is_never_early(broker):
    client = broker.client()
    client.consume("q", messages=1000)
    early = []
    for i in range(200):
        delay_ms = 1 + i % 7
        begin = time.monotonic_ns()
        client.publish_nowait("q", [[b"%d" % i, {"delay_ms": delay_ms}]])
        assert client.delivery().payload == b"%d" % i
        early.append(delay_ms * MS - (time.monotonic_ns() - begin))
    assert max(early) <= 0


def test_S24_a_backoff_and_a_delay_of_a_nack_are_never_early(broker):
    client = broker.client()
    client.declare("q", max_attempts=1000, backoff_initial_ms=3, backoff_factor=1, backoff_jitter=0)
    client.consume("q", messages=1000)
    client.publish("q", b"x")
    delivery = client.delivery()
    early = []
    for i in range(200):
        wait_ms, options = (3, {}) if i % 2 else (4, {"delay_ms": 4})
        begin = time.monotonic_ns()
        client.send(raw.SETTLE, None, [[raw.NACK, delivery.lease, delivery.lease, options]], [])
        delivery = client.delivery()
        early.append(wait_ms * MS - (time.monotonic_ns() - begin))
    assert max(early) <= 0


def test_S8_a_lease_never_ends_before_the_time_last_told(broker):
    client = broker.client()
    client.declare("q", lease_ms=30_000, max_attempts=1000, backoff_initial_ms=0)
    client.consume("q", messages=1000)
    client.publish("q", b"x")
    early = []
    for _ in range(20):
        delivery = client.delivery()
        begin = time.monotonic_ns()
        client.send(raw.SETTLE, None, [[raw.EXTEND, delivery.lease, delivery.lease, {"lease_ms": LEASE_MS}]], [])
        assert client.wait_lost(delivery.lease) == 350
        early.append(LEASE_MS * MS - (time.monotonic_ns() - begin))
    assert max(early) <= 0
