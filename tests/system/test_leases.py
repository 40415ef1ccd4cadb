"""Leases: expiry, fencing, extension, the notice to the holder, and what each way back counts as."""
import time

import pytest

import raw
from raw import ACK, EXTEND, NACK, RELEASE

pytestmark = pytest.mark.quick

FAST = {"backoff_initial_ms": 1, "backoff_jitter": 0}


def test_deliver_states_the_lease_of_the_queue(broker):
    client = broker.client()
    client.declare("q", lease_ms=1234)
    client.publish("q", b"x")
    client.consume("q")
    assert client.delivery().lease_ms == 1234


def test_an_expired_lease_returns_the_message_and_tells_the_holder(broker):
    client, other = broker.client(), broker.client()
    client.declare("q", lease_ms=150, **FAST)
    client.publish("q", b"x")
    client.consume("q", messages=1)
    start = time.monotonic()
    held = client.delivery()
    other.consume("q")
    assert client.wait_lost(held.lease) == 350
    assert 0.14 <= time.monotonic() - start < 3
    again = other.delivery()
    assert (again.id, again.count, again.options["attempts"]) == (held.id, 2, 1)
    assert client.ack(held) == 303
    assert other.ack(again) == 0
    counters = client.info("q")["counters"]
    assert (counters["expired_leases"], counters["acked"], counters["delivered"]) == (1, 1, 2)


def test_expiry_waits_for_the_backoff(broker):
    client = broker.client()
    client.declare("q", lease_ms=100, backoff_initial_ms=200, backoff_factor=2, backoff_jitter=0)
    client.publish("q", b"x")
    consumer = client.consume("q", messages=1)
    held = client.delivery()
    client.wait_lost(held.lease)
    lost = time.monotonic()
    client.grant(consumer)
    client.delivery()
    assert 0.15 <= time.monotonic() - lost < 3


@pytest.mark.parametrize("verb, options", [(ACK, {}), (NACK, {}), (NACK, {"delay_ms": 60_000}), (RELEASE, {}),
                                           (EXTEND, {"lease_ms": 60_000}), (raw.REJECT, {"reason": "late"})])
@pytest.mark.parametrize("same", [False, True], ids=["another_session", "same_session"])
def test_C02_a_late_settlement_is_stale_and_changes_nothing(broker, verb, options, same):
    late = broker.client()
    late.declare("q", lease_ms=200, **FAST)
    late.publish("q", b"m")
    consumer = late.consume("q", messages=1)
    held = late.delivery()
    late.wait_lost(held.lease)
    owner = late if same else broker.client()
    if same:
        late.grant(consumer)
    else:
        owner.consume("q", messages=1)
    again = owner.delivery()
    assert owner.extend(again, lease_ms=20_000) == 0
    assert late.settle_one(verb, held, **options) == 303
    [message] = owner.request("queue.peek", name="q")["messages"]
    assert (message["state"], message["deliveries"], message["nacks"], message["releases"]) == ("leased", 2, 0, 0)
    assert owner.ack(again) == 0
    assert owner.depth("q") == (0, 0, 0, 0)


def test_a_repeated_ack_is_harmless_and_answered_stale(broker):
    client = broker.client()
    client.publish("q", b"x")
    client.consume("q")
    delivery = client.delivery()
    assert [client.ack(delivery), client.ack(delivery), client.ack(delivery)] == [0, 303, 303]
    assert client.info("q")["counters"]["acked"] == 1


def test_a_forged_lease_is_stale(broker):
    holder, forger = broker.client(), broker.client()
    holder.publish("q", *[b"x"] * 3)
    holder.consume("q")
    held = holder.deliveries(3)
    exceptions = forger.settle([[ACK, held[0].lease, held[2].lease], [ACK, 2**64 - 2, 2**64 - 1], [ACK, 0, 0]])
    assert set(exceptions.values()) == {303}
    assert {d.lease for d in held} | {0, 2**64 - 1, 2**64 - 2} <= set(exceptions)
    assert holder.settle([[ACK, held[0].lease, held[2].lease]]) == {}


def test_exceptions_name_the_stale_leases_of_a_range_and_the_rest_is_settled(broker):
    client = broker.client()
    client.publish("q", *[b"x"] * 5)
    client.consume("q")
    held = client.deliveries(5)
    leases = [d.lease for d in held]
    client.settle([[ACK, leases[1], leases[1]], [ACK, leases[3], leases[3]]])
    assert client.settle([[ACK, leases[0], leases[4]]]) == {leases[1]: 303, leases[3]: 303}
    assert client.depth("q") == (0, 0, 0, 0)


def test_a_settlement_without_a_request_is_answered_only_if_something_is_wrong(broker):
    client = broker.client()
    client.publish("q", b"x")
    client.consume("q")
    lease = client.delivery().lease
    client.send(raw.SETTLE, None, [[ACK, lease, lease]])
    assert client.nothing(raw.SETTLED)
    client.send(raw.SETTLE, None, [[ACK, lease, lease]])
    assert client.receive(raw.SETTLED)[1:3] == [None, [[lease, lease, 303]]]


def test_extend_keeps_the_lease(broker):
    client = broker.client()
    client.declare("q", lease_ms=200, **FAST)
    client.publish("q", b"kept", b"not kept")
    client.consume("q")
    kept, other = client.deliveries(2)
    assert client.extend(kept, lease_ms=30_000) == 0
    assert client.wait_lost(other.lease) == 350
    assert client.depth("q")[2] >= 1
    assert client.ack(kept) == 0


def test_extend_can_shorten_and_defaults_to_the_lease_of_the_queue(broker):
    client = broker.client()
    client.declare("q", lease_ms=30_000, **FAST)
    client.publish("q", b"x")
    client.consume("q", messages=1)
    held = client.delivery()
    assert client.extend(held, lease_ms=100) == 0
    assert client.wait_lost(held.lease) == 350


def test_release_returns_to_the_old_place_and_is_free(broker):
    client = broker.client()
    client.publish("q", b"1", b"2", b"3")
    consumer = client.consume("q", messages=2)
    one, two = client.deliveries(2)
    assert client.release(one) == 0
    client.grant(consumer)
    again = client.delivery()
    assert (again.payload, again.options.get("attempts", 0)) == (b"1", 0)
    assert again.lease not in (one.lease, two.lease)
    [message] = client.request("queue.peek", name="q", limit=1)["messages"]
    assert (message["releases"], message["nacks"], message["disconnects"]) == (1, 0, 0)


def test_release_does_not_use_up_attempts(broker):
    client = broker.client()
    client.declare("q", max_attempts=1)
    client.publish("q", b"x")
    consumer = client.consume("q", messages=1)
    for count in range(1, 6):
        delivery = client.delivery()
        assert delivery.count == count
        client.release(delivery)
        client.grant(consumer)
    client.ack(client.delivery())
    assert client.info("q")["counters"]["released"] == 5


def test_C11_a_returned_message_has_its_old_place(broker):
    client = broker.client()
    client.publish("q", *[b"%d" % i for i in range(1, 6)])
    consumer = client.consume("q", messages=1)
    first = client.delivery()
    client.nack(first, delay_ms=0)
    order = []
    for _ in range(5):
        client.grant(consumer)
        delivery = client.delivery()
        order.append(delivery.payload)
        client.ack(delivery)
    assert order == [b"1", b"2", b"3", b"4", b"5"]


def test_C11_what_a_lost_consumer_held_comes_first_again(broker):
    admin, client = broker.client(), broker.client()
    admin.declare("q", **FAST)
    admin.publish("q", *[b"%d" % i for i in range(1, 6)])
    client.consume("q", messages=3)
    client.deliveries(3)
    client.close()
    end = time.monotonic() + raw.DEADLINE
    while admin.depth("q") != (5, 0, 0, 0):
        assert time.monotonic() < end
    consumer = admin.consume("q", messages=1)
    order = []
    for _ in range(5):
        delivery = admin.delivery()
        order.append(delivery.payload)
        admin.ack(delivery)
        admin.grant(consumer)
    assert order == [b"1", b"2", b"3", b"4", b"5"]


def test_C03_at_most_one_live_lease_and_counts_without_gaps(broker):
    """Sixteen consumers let leases run out; each hand-out of a message has the next count, and no two overlap."""
    clients = [broker.client() for _ in range(16)]
    clients[0].declare("q", lease_ms=100, max_attempts=1000, backoff_initial_ms=1, backoff_max_ms=1, backoff_jitter=0)
    ids = clients[0].publish("q", b"1", b"2", b"3")
    for client in clients:
        client.consume("q", messages=50)
    counts = {message_id: [] for message_id in ids}
    leases = set()
    end = time.monotonic() + raw.DEADLINE
    while min(map(len, counts.values())) < 8:
        assert time.monotonic() < end
        for client in clients:
            if not (client.kept or client.socket.poll(1)):
                continue
            frame = client.receive()
            if frame[0] != raw.DELIVER:
                continue
            for index, entry in enumerate(frame[4]):
                assert frame[2] + index not in leases
                leases.add(frame[2] + index)
                counts[entry[0]].append(entry[1])
    for seen in counts.values():
        assert sorted(seen) == list(range(1, len(seen) + 1))
    assert clients[0].request("server.info")["leased"] <= 3
