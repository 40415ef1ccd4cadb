"""Dead-letter queues: bounds, order, replay, purge."""
import pytest

import raw
from raw import REJECT, BrokerError

pytestmark = pytest.mark.quick


def kill(client, queue, *payloads, reason="unfit"):
    """Publishes them and has each rejected."""
    client.publish(queue, *payloads)
    consumer = client.consume(queue, messages=len(payloads))
    held = client.deliveries(len(payloads))
    client.settle([[REJECT, held[0].lease, held[-1].lease, {"reason": reason}]])
    client.cancel(consumer)
    return [delivery.id for delivery in held]


def dead(client, queue):
    return client.request("queue.peek", name=queue + ".dlq", limit=1000)["messages"]


def test_replay_returns_each_to_its_origin_with_fresh_counters(broker):
    client = broker.client()
    kill(client, "a", b"1", b"2")
    assert client.request("dlq.replay", name="a.dlq") == {"replayed": 2, "refused": 0}
    assert client.depth("a") == (2, 0, 0, 0)
    client.consume("a")
    got = client.deliveries(2)
    assert [d.payload for d in got] == [b"1", b"2"]
    assert all(d.options.get("attempts", 0) == 0 for d in got)
    assert client.request("dlq.replay", name="a.dlq") == {"replayed": 0, "refused": 0}


def test_replay_chooses_by_id_reason_limit_and_destination(broker):
    client = broker.client()
    kill(client, "a", *[b"%d" % i for i in range(6)])
    ids = [message["id"] for message in dead(client, "a")]
    assert client.request("dlq.replay", name="a.dlq", ids=[ids[4], ids[1]], dry_run=True)["replayed"] == 2
    assert len(dead(client, "a")) == 6
    assert client.request("dlq.replay", name="a.dlq", reason="attempts")["replayed"] == 0
    assert client.request("dlq.replay", name="a.dlq", ids=[ids[4], ids[1]], to="b")["replayed"] == 2
    assert client.request("dlq.replay", name="a.dlq", limit=1, reason="rejected")["replayed"] == 1
    assert [message["payload"] for message in dead(client, "a")] == [b"2", b"3", b"5"]
    assert (client.depth("a")[0], client.depth("b")[0]) == (1, 2)


def test_only_a_dead_letter_queue_can_be_replayed(broker):
    client = broker.client()
    client.declare("a")
    for name, error in [("a", "not_a_dead_letter_queue"), ("nowhere.dlq", "unknown_queue")]:
        with pytest.raises(BrokerError) as refused:
            client.request("dlq.replay", name=name)
        assert refused.value.name == error


def test_replay_into_a_full_queue_refuses_the_rest_and_keeps_it(broker):
    client = broker.client()
    client.declare("a", max_messages=3)
    kill(client, "a", b"1", b"2", b"3")
    client.publish("a", b"4", b"5")
    assert client.request("dlq.replay", name="a.dlq") == {"replayed": 1, "refused": 2}
    assert client.depth("a") == (3, 0, 0, 2)


def test_C22_the_bound_is_exact_and_the_oldest_are_dropped(broker):
    client = broker.client()
    client.declare("a", dead_letter_max=10)
    expected = []
    for count in (9, 1, 1, 100):
        payloads = [b"%d" % (len(expected) + i) for i in range(count)]
        kill(client, "a", *payloads)
        expected += payloads
        assert [message["payload"] for message in dead(client, "a")] == expected[-10:]
        assert client.info("a")["dead"] == min(len(expected), 10)
    assert client.info("a")["counters"]["dead_lettered"] == 111
    dropped = client.info("a")["counters"]["dropped"] + client.info("a.dlq")["counters"]["dropped"]
    assert dropped == 101


def test_a_dead_letter_queue_never_dead_letters_again(broker):
    client = broker.client()
    kill(client, "a", b"x")
    client.consume("a.dlq")
    client.reject(client.delivery(), reason="again")
    names = [queue["name"] for queue in client.request("queue.list")["queues"]]
    assert names == ["a", "a.dlq"]
    assert len(dead(client, "a")) == 1


def test_purge_empties_a_dead_letter_queue(broker):
    client = broker.client()
    kill(client, "a", b"1", b"2")
    assert client.request("queue.purge", name="a.dlq") == {"purged": 2, "leased": 0}
    assert client.info("a")["dead"] == 0
    assert client.info("a.dlq")["counters"]["purged"] == 2


def test_C12_priority_survives_the_dead_letters(broker):
    client = broker.client()
    client.publish("a", b"high", priority=9)
    client.consume("a", messages=1)
    client.reject(client.delivery())
    client.publish("a", *[b"low"] * 10, priority=5)
    client.request("dlq.replay", name="a.dlq")
    other = broker.client()
    other.consume("a", messages=1)
    delivery = other.delivery()
    assert (delivery.payload, delivery.options["priority"]) == (b"high", 9)


def test_headers_travel_along(broker):
    client = broker.client()
    headers = raw.encode({"trace": "abc"})
    client.publish("a", b"x", headers=headers)
    client.consume("a", messages=1)
    client.reject(client.delivery())
    [message] = dead(client, "a")
    assert message["headers"] == headers
    assert (message["state"], message["payload_bytes"]) == ("ready", 1)
