"""Publishing: confirms, ids, sequences, idempotence, windows, priorities, delays."""
import os
import time

import msgpack
import pytest

import raw
from raw import BrokerError

pytestmark = pytest.mark.quick


def test_a_published_message_is_confirmed_with_its_id_and_delivered_unchanged(broker):
    client = broker.client()
    payload = bytes(range(256)) * 3
    headers = msgpack.packb({"traceparent": "00-1", "n": 5})
    [message_id] = client.publish("q", payload, headers=headers)
    client.consume("q")
    delivery = client.delivery()
    assert (delivery.id, delivery.count, delivery.payload, delivery.options["headers"]) == (message_id, 1, payload, headers)
    assert client.ack(delivery) == 0
    assert client.depth("q") == (0, 0, 0, 0)


def test_confirms_are_cumulative_and_decide_each_sequence_once(broker):
    client = broker.client()
    for _ in range(20):
        client.publish_nowait("q", [b"x"] * 50)
    up_to = 0
    while up_to < 1000:
        frame = client.receive(raw.CONFIRM)
        assert frame[1] >= up_to
        up_to = frame[1]
        client.note_confirm(frame)  # asserts that nothing is decided twice
        assert all(sequence in client.decided for sequence in range(1, up_to + 1))
    ids = [client.decided[sequence] for sequence in range(1, 1001)]
    assert all(later > earlier for earlier, later in zip(ids, ids[1:]))


def test_ids_of_one_frame_are_consecutive(broker):
    ids = broker.client().publish("q", *[b"%d" % i for i in range(100)])
    assert ids == list(range(ids[0], ids[0] + 100))


def test_an_empty_payload_and_an_empty_batch(broker):
    client = broker.client()
    client.publish("q", b"")
    client.send(raw.PUBLISH, "q", client.sequence + 1, [])
    client.publish("q", b"after")
    assert client.depth("q")[0] == 2
    client.consume("q")
    assert [d.payload for d in client.deliveries(2)] == [b"", b"after"]


def test_a_gap_in_the_sequence_is_refused_for_each_message(broker):
    client = broker.client()
    client.publish("q", b"1")
    client.sequence += 3
    outcomes = client.wait_confirms(client.publish_nowait("q", [b"x", b"y"]))
    assert [outcome.name for outcome in outcomes] == ["sequence_gap"] * 2
    assert client.depth("q")[0] == 1
    client.sequence = 1
    client.decided.clear()
    client.publish("q", b"2")


def test_a_resend_of_a_known_producer_gets_the_first_ids_and_is_not_enqueued_again(broker):
    producer = os.urandom(16)
    client = broker.client(producer=producer)
    ids = client.publish("q", b"a", b"b", b"c")
    client.close()

    again = broker.client(producer=producer)
    assert again.welcome["producer_sequence"] == 3
    again.sequence = 1  # the client did not see the confirms of 2 and 3, and has a new message 4
    outcomes = again.wait_confirms(again.publish_nowait("q", [b"b", b"c", b"d"]))
    assert outcomes[:2] == ids[1:]
    assert outcomes[2] not in ids
    assert again.depth("q")[0] == 4
    assert again.info("q")["counters"]["deduplicated"] == 2


def test_an_unknown_producer_may_begin_anywhere(broker):
    client = broker.client(producer=os.urandom(16))
    client.sequence = 41
    client.publish("q", b"x")
    client.publish("q", b"y")
    assert client.depth("q")[0] == 2


def test_a_refused_message_of_a_batch_leaves_the_others_alone(broker):
    client = broker.client()
    client.declare("q", max_bytes=10)
    outcomes = client.wait_confirms(client.publish_nowait("q", [b"1234", b"too much", b"5678", b"9", b"0", b"!"]))
    names = [outcome.name if isinstance(outcome, BrokerError) else "ok" for outcome in outcomes]
    assert names == ["ok", "queue_full", "ok", "ok", "ok", "queue_full"]
    client.consume("q")
    assert [d.payload for d in client.deliveries(4)] == [b"1234", b"5678", b"9", b"0"]


@pytest.mark.parametrize("headers, error", [(b"\x93abc", "bad_headers"), (b"\x80x", "bad_headers"), (raw.encode({1: 2}), "bad_headers"),
                                            (raw.encode({"k": b"x" * 17_000}), "headers_too_large"), ("text", "bad_field")],
                         ids=["array", "trailing", "number_as_key", "large", "text"])
def test_refused_headers_refuse_their_frame(broker, headers, error):
    client = broker.client()
    outcomes = client.wait_confirms(client.publish_nowait("q", [b"1", [b"2", {"headers": headers}], b"3"]))
    assert [outcome.name for outcome in outcomes] == [error] * 3
    assert client.barrier()["ready"] == 0
    client.publish("q", b"4", headers=msgpack.packb({"k": 1}))
    assert client.depth("q")[0] == 1


def test_higher_priority_first_then_publish_order(broker):
    client = broker.client()
    for priority, payload in [(4, b"d"), (0, b"e"), (9, b"a"), (4, b"d2"), (9, b"a2"), (5, b"c")]:
        client.publish("q", payload, priority=priority)
    client.publish("q", b"d3")
    client.consume("q")
    got = client.deliveries(7)
    assert [d.payload for d in got] == [b"a", b"a2", b"c", b"d", b"d2", b"d3", b"e"]
    assert [d.options.get("priority", 4) for d in got] == [9, 9, 5, 4, 4, 4, 0]


def test_C12_a_delayed_message_competes_with_its_own_priority_once_it_is_due(broker):
    client = broker.client()
    client.publish("q", b"high", priority=9, delay_ms=150)
    client.publish("q", *[b"low"] * 50, priority=5)
    assert client.depth("q")[:2] == (50, 1)
    raw_end = time.monotonic() + raw.DEADLINE
    while client.depth("q")[1] == 1:
        assert time.monotonic() < raw_end
    client.consume("q", messages=1)
    assert client.delivery().payload == b"high"


def test_C12_of_two_that_are_due_the_higher_priority_comes_first(broker):
    client = broker.client()
    client.publish("q", b"lower", priority=3, delay_ms=50)
    client.publish("q", b"higher", priority=7, delay_ms=100)
    end = time.monotonic() + raw.DEADLINE
    while client.depth("q")[0] < 2:
        assert time.monotonic() < end
    client.consume("q")
    assert [d.payload for d in client.deliveries(2)] == [b"higher", b"lower"]


def test_a_delay_is_kept_and_wakes_a_waiting_consumer(broker):
    client = broker.client()
    client.consume("q")
    start = time.monotonic()
    client.publish("q", b"later", delay_ms=300)
    assert client.nothing(raw.DELIVER)
    assert client.delivery().payload == b"later"
    took = time.monotonic() - start
    assert 0.295 <= took < 3, took


def test_publishing_and_consuming_make_the_queue(broker):
    client = broker.client()
    client.publish("made.by.publish", b"x")
    client.consume("made.by.consume")
    names = [queue["name"] for queue in client.request("queue.list")["queues"]]
    assert names == ["made.by.consume", "made.by.publish"]


def test_beyond_the_publish_window_is_refused_and_the_session_goes_on(broker):
    client = broker.client()
    window = client.welcome["publish_messages"]
    if window > 150_000:
        pytest.skip(f"a window of {window} does not fit into one frame")
    outcomes = client.wait_confirms(client.publish_nowait("q", [b""] * (window + 3)))
    assert [getattr(outcome, "name", "ok") for outcome in outcomes[window:]] == ["publish_window"] * 3
    assert all(isinstance(outcome, int) for outcome in outcomes[:window])


def test_a_typing_error_in_an_option_does_not_publish(broker):
    client = broker.client()
    [outcome] = client.wait_confirms(client.publish_nowait("q", [[b"x", {"delay_msec": 1000}]]))
    assert outcome.name == "bad_field"
    assert "delay_msec" in outcome.text
    assert client.barrier()["ready"] == 0
