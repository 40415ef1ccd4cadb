"""Failed attempts: backoff, limits, causes, and the way to the dead letters."""
import time

import pytest

import raw
from raw import NACK, BrokerError
from conftest import wait_until

pytestmark = pytest.mark.quick

FAST = {"backoff_initial_ms": 1, "backoff_jitter": 0}


def test_nack_waits_for_its_own_delay(broker):
    client = broker.client()
    client.publish("q", b"x")
    consumer = client.consume("q", messages=1)
    client.nack(client.delivery(), delay_ms=300)
    start = time.monotonic()
    client.grant(consumer)
    assert client.depth("q") == (0, 1, 0, 0)
    assert client.delivery().count == 2
    assert 0.25 <= time.monotonic() - start < 3


@pytest.mark.parametrize("cause", ["nack", "expiry"])
def test_C05_every_cause_backs_off_alike(broker, cause):
    client = broker.client()
    client.declare("q", lease_ms=100, max_attempts=10, backoff_initial_ms=100, backoff_factor=2, backoff_jitter=0)
    client.publish("q", b"x")
    consumer = client.consume("q", messages=1)
    delivery = client.delivery()
    gaps = []
    for _ in range(3):
        if cause == "nack":
            client.nack(delivery)
        else:
            client.wait_lost(delivery.lease)
        ended = time.monotonic()
        client.grant(consumer)
        delivery = client.delivery()
        gaps.append(time.monotonic() - ended)
    for gap, expected in zip(gaps, [0.1, 0.2, 0.4]):
        assert expected * 0.85 <= gap < expected + 2, gaps


def test_C05_jitter_stays_within_what_was_stated(broker):
    client = broker.client()
    client.declare("q", backoff_initial_ms=10_000, backoff_factor=1, backoff_jitter=0.2)
    client.publish("q", *[b"x"] * 100)
    client.consume("q")
    held = client.deliveries(100)
    before = time.time() * 1000
    client.settle([[NACK, held[0].lease, held[-1].lease]])
    after = time.time() * 1000
    messages = client.request("queue.peek", name="q", limit=1000)["messages"]
    delays = [message["due_ms"] for message in messages]
    assert len(delays) == 100 and len(set(delays)) > 10
    assert min(delays) >= before + 8_000 - 2 and max(delays) <= after + 12_000 + 2


def test_C05_many_attempts_never_overflow_the_backoff(broker):
    client = broker.client()
    client.declare("q", max_attempts=200, backoff_initial_ms=1, backoff_factor=10, backoff_max_ms=5, backoff_jitter=0.2)
    client.publish("q", b"x")
    consumer = client.consume("q", messages=1)
    for count in range(1, 120):
        delivery = client.delivery()
        assert delivery.count == count
        client.settle([[NACK, delivery.lease, delivery.lease]], [[consumer, 1, 1 << 20]])


def test_reject_goes_straight_to_the_dead_letters_with_its_reason(broker):
    client = broker.client()
    [message_id] = client.publish("q", b"bad")
    client.consume("q")
    client.reject(client.delivery(), reason="no such customer\n\u00fc")
    assert client.depth("q") == (0, 0, 0, 1)
    [message] = client.request("queue.peek", name="q.dlq")["messages"]
    assert message["payload"] == b"bad"
    dead = message["dead"]
    assert (dead["origin"], dead["reason"], dead["error"]) == ("q", "rejected", "no such customer\n\u00fc")
    client.consume("q.dlq")
    delivery = client.delivery()
    assert delivery.payload == b"bad"
    assert raw.decode(delivery.options["dead"])["reason"] == "rejected"
    assert message_id > 0


def test_attempts_used_up_go_to_the_dead_letters_with_the_last_error(broker):
    client = broker.client()
    client.declare("q", max_attempts=3, **FAST)
    client.publish("q", b"poison")
    consumer = client.consume("q", messages=1)
    for count in (1, 2, 3):
        delivery = client.delivery()
        assert (delivery.count, delivery.options.get("attempts", 0)) == (count, count - 1)
        client.settle([[NACK, delivery.lease, delivery.lease, {"reason": f"try {count} failed"}]], [[consumer, 1, 100]])
    assert client.depth("q") == (0, 0, 0, 1)
    [message] = client.request("queue.peek", name="q.dlq")["messages"]
    assert (message["dead"]["reason"], message["dead"]["error"]) == ("attempts", "try 3 failed")
    assert client.info("q")["counters"]["dead_lettered"] == 1


def test_C04_one_expiry_costs_one_attempt(broker):
    client = broker.client()
    client.declare("q", max_attempts=5, lease_ms=100, **FAST)
    client.publish("q", b"x")
    consumer = client.consume("q", messages=1)
    client.wait_lost(client.delivery().lease)
    for attempts in (1, 2, 3, 4):
        client.grant(consumer)
        delivery = client.delivery()
        assert delivery.options["attempts"] == attempts
        client.nack(delivery)
    assert client.depth("q") == (0, 0, 0, 1)


def test_C04_the_limit_takes_effect_without_a_consumer(broker):
    client = broker.client()
    client.declare("q", max_attempts=2, **FAST)
    client.publish("q", b"x")
    consumer = client.consume("q", messages=1)
    client.nack(client.delivery())
    client.grant(consumer)
    delivery = client.delivery()
    client.cancel(consumer)
    client.nack(delivery)
    assert client.depth("q") == (0, 0, 0, 1)


def test_C04_one_attempt_is_one_delivery_and_zero_is_refused(broker):
    client = broker.client()
    client.declare("once", max_attempts=1)
    client.publish("once", b"x")
    client.consume("once")
    client.nack(client.delivery())
    assert client.depth("once") == (0, 0, 0, 1)
    with pytest.raises(BrokerError) as refused:
        client.declare("never", max_attempts=0)
    assert refused.value.name == "bad_policy"
    assert "max_attempts" in refused.value.text
    assert [queue["name"] for queue in client.request("queue.list", prefix="never")["queues"]] == []


def test_C01_a_disconnect_counts_as_an_attempt(broker):
    admin = broker.client()
    admin.declare("q", max_attempts=3, **FAST)
    admin.publish("q", b"poison", b"healthy")
    for count in (1, 2, 3):
        victim = broker.client()
        victim.consume("q", messages=1)
        delivery = victim.delivery()
        assert (delivery.payload, delivery.count) == (b"poison", count)
        victim.close()
        wait_until(lambda: admin.depth("q") in ((2, 0, 0, 0), (1, 0, 0, 1)), what="the return")
    healthy = broker.client()
    healthy.consume("q")
    assert healthy.delivery().payload == b"healthy"
    assert admin.depth("q") == (0, 0, 1, 1)
    [message] = admin.request("queue.peek", name="q.dlq")["messages"]
    assert message["dead"]["disconnects"] == 3


def test_causes_are_counted_apart(broker):
    admin = broker.client()
    admin.declare("q", max_attempts=10, lease_ms=150, **FAST)
    admin.publish("q", b"x")
    consumer = admin.consume("q", messages=1)
    admin.nack(admin.delivery(), reason="why")
    admin.grant(consumer)
    admin.release(admin.delivery())
    admin.grant(consumer)
    admin.wait_lost(admin.delivery().lease)
    victim = broker.client()
    victim.consume("q", messages=1)
    victim.extend(victim.delivery(), lease_ms=60_000)
    victim.close()
    wait_until(lambda: admin.depth("q")[0] == 1, what="the return")
    [message] = admin.request("queue.peek", name="q")["messages"]
    seen = {key: message[key] for key in ("deliveries", "nacks", "expiries", "disconnects", "releases", "error")}
    assert seen == {"deliveries": 4, "nacks": 1, "expiries": 1, "disconnects": 1, "releases": 1, "error": "why"}
    counters = admin.info("q")["counters"]
    assert {key: counters[key] for key in ("delivered", "nacked", "released", "expired_leases", "returned_by_disconnect")} == {
        "delivered": 4, "nacked": 1, "released": 1, "expired_leases": 1, "returned_by_disconnect": 1}


def test_C25_an_acked_message_of_a_batch_is_never_dead_lettered(broker):
    client = broker.client()
    client.declare("q", max_attempts=1, lease_ms=200)
    client.publish("q", *[b"%d" % i for i in range(10)])
    client.consume("q")
    held = client.deliveries(10)
    acked = held[::2]
    assert client.settle([[raw.ACK, d.lease, d.lease] for d in acked]) == {}
    for delivery in held[1::2]:
        assert client.wait_lost(delivery.lease) == 350
    dead = client.request("queue.peek", name="q.dlq", limit=100)["messages"]
    assert sorted(message["payload"] for message in dead) == [b"1", b"3", b"5", b"7", b"9"]
    assert client.depth("q") == (0, 0, 0, 5)
