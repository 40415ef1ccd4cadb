"""HELLO, WELCOME, heartbeats and the end of a session."""
import os
import time

import pytest

import raw
from raw import BrokerError, RawClient

pytestmark = pytest.mark.quick


def test_welcome_states_every_limit_a_client_needs(broker):
    welcome = broker.client().welcome
    numbers = ["heartbeat_ms", "publish_messages", "publish_bytes", "frame_bytes_max", "credit_messages_max", "credit_bytes_max"]
    assert all(isinstance(welcome[key], int) and welcome[key] > 0 for key in numbers)
    assert welcome["sync"] == "memory"
    assert welcome["producer_sequence"] == 0
    assert isinstance(welcome["features"], list)
    assert isinstance(welcome["broker"], str) and welcome["broker"]


def test_a_newer_client_gets_protocol_1_and_protocol_0_is_refused(broker):
    client = broker.client(hello=False)
    assert client.hello(protocol=7)[1] == 1
    other = broker.client(hello=False)
    with pytest.raises(BrokerError) as refused:
        other.hello(protocol=0)
    assert refused.value.name == "unsupported_protocol"
    assert not refused.value.retry


def test_unknown_hello_keys_are_ignored(broker):
    broker.client(hello=False).hello(client="new", shoe_size=44)


@pytest.mark.parametrize("key, value", [("heartbeat_ms", 99), ("heartbeat_ms", 60_001), ("client", "x" * 256),
                                        ("agent", "x" * 256), ("producer", b"x" * 15), ("producer", "x" * 16), ("client", 3)])
def test_a_bad_hello_option_is_named(broker, key, value):
    with pytest.raises(BrokerError) as refused:
        broker.client(hello=False).hello(**{key: value})
    assert refused.value.name == "bad_field"
    assert key in refused.value.text


def test_sessions_have_numbers_of_their_own(broker):
    first, second = broker.client(), broker.client()
    assert first.session != second.session


def test_two_clients_with_one_name_are_two_sessions(broker):
    one, two = broker.client(name="twin"), broker.client(name="twin")
    one.publish("q", b"from one")
    two.consume("q")
    delivery = two.delivery()
    assert delivery.payload == b"from one"
    assert one.ack(delivery.lease) == 303  # stale: the lease is the other session's
    assert two.ack(delivery) == 0
    one.close()
    assert two.barrier()["sessions"] >= 1


@pytest.mark.parametrize("frame", [[raw.HEARTBEAT], [raw.PUBLISH, "q", 1, [b"x"]], [raw.CONSUME, 1, 1, "q", 1, 1],
                                   [raw.REQUEST, 1, "server.info", {}], [raw.SETTLE, 1, [], []]])
def test_before_hello_everything_else_is_told_to_say_hello(broker, frame):
    client = broker.client(hello=False)
    client.send(*frame)
    answer = client.receive()
    assert answer[0] == raw.ERROR
    assert answer[1][:2] == [100, "hello_required"]
    client.hello()
    assert client.request("queue.list")["queues"] == []


def test_a_second_hello_begins_a_new_session_and_the_old_one_ends_as_if_lost(broker):
    client = broker.client()
    client.declare("q", backoff_initial_ms=1, backoff_jitter=0)
    client.publish("q", b"x")
    client.consume("q")
    held = client.delivery()
    old = client.session
    client.hello()
    assert client.session != old
    assert client.ack(held) == 303
    other = broker.client()
    other.consume("q")
    assert other.delivery().count == 2


def test_bye_returns_what_the_session_held(broker):
    client = broker.client()
    client.declare("q", backoff_initial_ms=1, backoff_jitter=0)
    client.publish("q", b"x")
    client.consume("q")
    client.delivery()
    client.bye()
    other = broker.client()
    other.consume("q")
    again = other.delivery()
    assert (again.payload, again.count, again.options["attempts"]) == (b"x", 2, 1)


def test_the_broker_sends_heartbeats_at_the_interval_that_was_asked_for(broker):
    client = broker.client(heartbeat_ms=100)
    assert client.welcome["heartbeat_ms"] == 100
    for _ in range(3):
        assert client.receive(raw.HEARTBEAT, timeout=5) == [raw.HEARTBEAT]


def test_a_silent_session_is_over_after_three_heartbeats(broker):
    client = broker.client(heartbeat_ms=100)
    client.declare("q", backoff_initial_ms=1, backoff_jitter=0)
    client.publish("q", b"x")
    client.consume("q")
    client.delivery()
    # From here on the client neither sends nor closes; only its heartbeats are missing.
    start = time.monotonic()
    other = broker.client()
    other.consume("q")
    assert other.delivery().count == 2
    assert time.monotonic() - start >= 0.15
    assert other.info("q")["counters"]["returned_by_disconnect"] == 1


def test_heartbeats_alone_keep_a_session_and_are_no_progress(broker):
    client = broker.client(heartbeat_ms=100)
    client.declare("q", lease_ms=1000)
    client.publish("q", b"x")
    client.consume("q")
    held = client.delivery()
    assert client.wait_lost(held.lease) == 350  # longer than three intervals: the session lived, the lease did not
    assert client.barrier()["sessions"] >= 1


def test_a_request_gets_exactly_one_reply(broker):
    client = broker.client()
    for number in range(1000, 1100):
        client.send(raw.REQUEST, number, "queue.list" if number % 2 else "no.such.verb", {})
    numbers = [client.receive(raw.REPLY)[1] for _ in range(100)]
    assert numbers == list(range(1000, 1100))
    assert client.nothing(raw.REPLY)


def test_an_unknown_verb_and_an_unknown_argument_are_refused_by_name(broker):
    client = broker.client()
    with pytest.raises(BrokerError) as refused:
        client.request("queue.explode")
    assert refused.value.name == "unknown_verb"
    with pytest.raises(BrokerError) as refused:
        client.request("queue.list", limitt=3)
    assert refused.value.name == "bad_field"
    assert "limitt" in refused.value.text


@pytest.mark.release
def test_server_info_tells_about_the_broker(broker):
    client = broker.client()
    client.publish("q", b"x")
    info = client.request("server.info")
    assert info["protocol"] == 1 and info["session"] == client.session
    assert (info["sessions"], info["queues"], info["ready"]) == (1, 1, 1)
    assert info["memory_bytes"] > 0
    assert all(isinstance(value, int) for value in info["counters"].values())


def test_a_restarted_broker_asks_for_hello(start_broker):
    # The DEALER socket connects again by itself; the session does not come back with it.
    first = start_broker()
    client = RawClient(first.url)
    assert first.stop() == 0
    second = start_broker("--listen", first.url)
    client.send(raw.REQUEST, 1, "server.info", {})
    answer = client.receive(raw.ERROR)
    assert answer[1][1] == "hello_required"
    assert second.process.poll() is None
    client.close()


def test_the_log_holds_no_payload(broker):
    secret = os.urandom(8).hex().encode()
    client = broker.client()
    client.publish("q", secret)
    client.consume("q")
    client.reject(client.delivery(), reason="unfit")
    client.barrier()
    assert secret.decode() not in broker.log()
