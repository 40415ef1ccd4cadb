"""Credit is explicit: never more than was granted, and nothing comes back by itself."""
import pytest

import raw
from raw import ACK, BrokerError

pytestmark = pytest.mark.quick


def test_never_more_messages_than_granted(broker):
    client = broker.client()
    client.publish("q", *[b"x"] * 100)
    consumer = client.consume("q", messages=7)
    held = client.deliveries(7)
    assert client.nothing(raw.DELIVER)
    assert client.settle([[ACK, held[0].lease, held[6].lease]]) == {}
    assert client.nothing(raw.DELIVER)  # a settlement gives no credit back
    client.grant(consumer, messages=3)
    client.deliveries(3)
    assert client.nothing(raw.DELIVER)
    assert client.depth("q") == (90, 0, 3, 0)


def test_never_more_bytes_than_granted_but_for_the_last_delivery(broker):
    client = broker.client()
    client.publish("q", *[b"x" * 100] * 20)
    consumer = client.consume("q", messages=1000, size=250)
    client.deliveries(3)  # 250 -> 150 -> 50 -> -50
    assert client.nothing(raw.DELIVER)
    client.grant(consumer, messages=0, size=50)  # exactly 0: not above 0
    assert client.nothing(raw.DELIVER)
    client.grant(consumer, messages=0, size=1)
    client.deliveries(1)
    assert client.nothing(raw.DELIVER)


def test_no_credit_no_delivery(broker):
    client = broker.client()
    client.publish("q", b"x")
    consumer = client.consume("q", messages=0, size=0)
    assert client.nothing(raw.DELIVER)
    client.grant(consumer, messages=1, size=0)
    assert client.nothing(raw.DELIVER)
    client.grant(consumer, messages=0, size=1)
    client.delivery()


def test_an_expired_lease_gives_no_credit_back(broker):
    client = broker.client()
    client.declare("q", lease_ms=100, backoff_initial_ms=1, backoff_jitter=0)
    client.publish("q", b"1", b"2")
    consumer = client.consume("q", messages=1)
    first = client.delivery()
    assert client.wait_lost(first.lease) == 350
    assert client.nothing(raw.DELIVER)
    client.grant(consumer)
    client.delivery()


def test_credit_is_settled_and_granted_in_one_frame(broker):
    client = broker.client()
    client.publish("q", *[b"%d" % i for i in range(10)])
    consumer = client.consume("q", messages=1)
    for i in range(10):
        delivery = client.delivery()
        assert delivery.payload == b"%d" % i
        assert client.settle([[ACK, delivery.lease, delivery.lease]], [[consumer, 1, 1]]) == {}
    assert client.depth("q") == (0, 0, 0, 0)


def test_a_grant_over_the_limit_is_refused_whole(broker):
    client = broker.client()
    most = client.welcome["credit_messages_max"]
    consumer = client.consume("q", messages=most - 5)
    client.send(raw.SETTLE, None, [], [[consumer, 6, 0]])
    assert client.receive(raw.ERROR)[1][1] == "bad_credit"
    client.send(raw.SETTLE, None, [], [[consumer, 5, 0]])
    assert client.nothing(raw.ERROR)


@pytest.mark.parametrize("field", ["messages", "bytes"])
def test_consume_over_the_credit_limit_is_refused_and_starts_nothing(broker, field):
    client = broker.client()
    client.publish("q", b"x")
    credit = [1, 1]
    index = ["messages", "bytes"].index(field)
    credit[index] = client.welcome[f"credit_{field}_max"] + 1
    client.send(raw.CONSUME, 50, 1, "q", *credit)
    with pytest.raises(BrokerError) as refused:
        client.wait_reply(50)
    assert refused.value.name == "bad_credit"
    assert client.nothing(raw.DELIVER)
    assert client.info("q")["consumers"] == 0


def test_credit_to_an_unknown_consumer_is_an_error(broker):
    client = broker.client()
    client.send(raw.SETTLE, None, [], [[77, 1, 1]])
    assert client.receive(raw.ERROR)[1][1] == "unknown_consumer"


def test_credit_is_kept_apart_for_each_consumer_of_a_session(broker):
    client = broker.client()
    client.publish("q", *[b"x"] * 10)
    one, two = client.consume("q", messages=2), client.consume("q", messages=3)
    got = [d.consumer for d in client.deliveries(5)]
    assert (got.count(one), got.count(two)) == (2, 3)
    assert client.nothing(raw.DELIVER)


def test_a_newcomer_with_credit_gets_work_at_once(broker):
    busy = broker.client()
    busy.consume("q", messages=100)
    busy.publish("q", *[b"x"] * 10)
    busy.deliveries(10)
    newcomer = broker.client()
    newcomer.consume("q", messages=100)
    busy.publish("q", b"next")
    assert newcomer.delivery().payload == b"next"


def test_cancel_ends_deliveries_and_leaves_the_leases(broker):
    client = broker.client()
    client.publish("q", b"1", b"2")
    consumer = client.consume("q", messages=1)
    held = client.delivery()
    client.cancel(consumer)
    client.publish("q", b"3")
    assert client.nothing(raw.DELIVER)
    assert client.ack(held) == 0
    with pytest.raises(BrokerError) as refused:
        client.cancel(consumer)
    assert refused.value.name == "unknown_consumer"


def test_a_consumer_number_is_used_once_at_a_time(broker):
    client = broker.client()
    client.consume("q")
    client.send(raw.CONSUME, 60, 1, "other", 1, 1)
    with pytest.raises(BrokerError) as refused:
        client.wait_reply(60)
    assert refused.value.name == "consumer_exists"


@pytest.mark.parametrize("consumers, credit, messages", [(2, 10, 20), (5, 1, 5), (3, 10, 40), (50, 5, 200), (7, 3, 2)])
def test_consumers_of_equal_load_share_what_comes(broker, consumers, credit, messages):
    clients = [broker.client() for _ in range(consumers)]
    for client in clients:
        client.consume("q", messages=credit)
    clients[0].publish("q", *[b"x"] * messages)
    expected = min(consumers * credit, messages)
    assert clients[0].depth("q") == (messages - expected, 0, expected, 0)
    held = [sum(len(frame[4]) for frame in client.drain() if frame[0] == raw.DELIVER) for client in clients]
    assert sum(held) == expected
    assert max(held) - min(held) <= 1, held
