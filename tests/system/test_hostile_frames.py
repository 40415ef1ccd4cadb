"""Frames that no client should send: an error or the end of that session alone, a counter, and nothing else (C27, C34, C35)."""
import struct
import time

import msgpack
import pytest

import raw
from conftest import wait_until
from raw import ACK, NACK, BrokerError, encode

pytestmark = pytest.mark.quick

FIVE = b"\x01\x02\x03\x04\x05"
HUGE = struct.pack(">I", 0xFF000000)
BOMBS = {
    "array32_claims_4G": b"\xdd\xff\xff\xff\xff",
    "map32_claims_4G": b"\xdf\xff\xff\xff\xff",
    "array32_ff000000": b"\xdd" + HUGE + FIVE,
    "map32_ff000000": b"\xdf" + HUGE + FIVE,
    "bin32_ff000000": b"\xc6" + HUGE + FIVE,
    "str32_ff000000": b"\xdb" + HUGE + FIVE,
    "ext32_ff000000": b"\xc9" + HUGE + FIVE,
    "bomb_in_hello": b"\x93\x03\x01\xdf\xff\xff\xff\xff",
    "bomb_in_messages": b"\x94\x04\xa1q\x01\xdd\xff\xff\xff\xff",
    "bomb_in_payload": b"\x94\x04\xa1q\x01\x91\xc6\xff\xff\xff\xff",
    "bomb_in_arguments": b"\x94\x08\x01\xaaqueue.list\xdf\xff\xff\xff\xff",
    "bomb_in_settlements": b"\x94\x07\x01\xdd\xff\xff\xff\xff\x90",
    "one_megabyte_of_0x91": b"\x91" * (1 << 20),
    "nested_array16": b"\xdc\xff\xff" * 24_000,
    "ten_thousand_nested": b"\x91" * 10_000 + b"\xc0",
    "nested_in_arguments": b"\x94\x08\x01\xaaqueue.list\x81\xa1x" + b"\x91" * 5_000 + b"\xc0",
    "nested_maps": b"\x81\xa1x" * 20_000 + b"\xc0",
    "a_million_values": b"\x94\x04\xa1q\x01\xdd\x00\x0f\x42\x40" + b"\xc0" * 1_000_000,
    "reserved_byte": b"\xc1",
    "reserved_byte_inside": b"\x92\x01\xc1",
    "empty": b"",
    "empty_array": b"\x90",
    "trailing_bytes": encode([raw.HEARTBEAT]) + b"\x00",
    "two_frames": encode([raw.HEARTBEAT]) * 2,
    "truncated_map": b"\x93\x03\x01\x82\xa6client\xa1x",
    "truncated_array": b"\x95\x08\x01",
    "not_an_array": encode({"type": 3}),
    "a_number": b"\x03",
    "text": b"hello",
    "type_is_text": encode(["hello"]),
    "type_is_negative": encode([-3]),
    "type_is_float": encode([3.0]),
    "unknown_type": encode([9, 1, 2]),
    "type_of_the_broker": encode([raw.WELCOME, 1, 1, {}]),
    "huge_type": encode([2**64 - 1]),
    "missing_fields": encode([raw.PUBLISH]),
    "payload_is_text": encode([raw.PUBLISH, "q", 1, ["text"]]),
    "queue_is_bytes": encode([raw.PUBLISH, b"q", 1, [b"x"]]),
    "queue_is_not_utf8": b"\x94\x04\xa2\xff\xfe\x01\x91\xc4\x01x",
    "messages_is_a_map": encode([raw.PUBLISH, "q", 1, {}]),
    "map_key_is_a_number": encode([raw.REQUEST, 1, "queue.list", {1: 2}]),
    "duplicate_key": b"\x94\x08\x01\xaaqueue.list\x82\xa5limit\x01\xa5limit\x02",
    "ext_type": b"\x94\x08\x01\xaaqueue.list\xd4\x01\x00",
    "arguments_are_an_array": encode([raw.REQUEST, 1, "queue.list", []]),
}

# Decoded without a mistake, and refused for what they say.
WELL_FORMED = {"unknown_type", "type_of_the_broker", "huge_type"}


def error_of(frame):
    """The code of the refusal that a frame carries, if it does."""
    if frame[0] == raw.ERROR:
        return frame[1][0]
    if frame[0] == raw.REPLY and len(frame) > 3 and frame[3]:
        return frame[3][0]
    if frame[0] == raw.CONFIRM and len(frame) > 3 and frame[3]:
        return frame[3][0][2][0]
    if frame[0] == raw.BYE:
        return frame[1]
    if frame[0] == raw.SETTLED and frame[2]:
        return frame[2][0][2]
    return None


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.release
def test_C35_a_hostile_frame_is_refused_and_hurts_nobody(broker, name):
    watcher, attacker = broker.client(), broker.client()
    watcher.publish("q", b"x")
    before = broker.rss_kib()
    attacker.send_bytes(BOMBS[name])
    answer = attacker.receive(lambda frame: error_of(frame) is not None)
    assert error_of(answer) in (102, 103, 104, 105), answer
    assert attacker.barrier()["ready"] == 1  # the same session goes on
    assert watcher.barrier()["ready"] == 1
    assert broker.rss_kib() - before < 10 * 1024


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.release
def test_C35_a_hostile_frame_without_a_session_opens_none(broker, name):
    watcher, attacker = broker.client(), broker.client(hello=False)
    before = broker.rss_kib()
    attacker.send_bytes(BOMBS[name])
    assert error_of(attacker.receive()) in (100, 102, 103, 104, 105)
    assert watcher.barrier()["sessions"] == 1
    assert broker.rss_kib() - before < 10 * 1024
    attacker.hello()


@pytest.mark.release
@pytest.mark.release
def test_C35_all_of_them_repeatedly_move_a_counter_and_cause_no_pause(broker, figure):
    watcher = broker.client()
    start = watcher.request("server.info")["counters"]
    before = broker.rss_kib()
    slowest, sent = 0, 0
    for _ in range(5):
        attacker = broker.client()
        for bomb in BOMBS.values():
            attacker.send_bytes(bomb)
            sent += 1
            began = time.monotonic()
            watcher.request("server.info")
            slowest = max(slowest, time.monotonic() - began)
        attacker.barrier()
        attacker.close()
    end = watcher.request("server.info")["counters"]
    figure("slowest round trip of a client beside hostile frames, ms", f"{slowest * 1000:.1f}")
    assert slowest < 1
    assert broker.rss_kib() - before < 10 * 1024
    assert end["frames_malformed"] - start["frames_malformed"] >= sent - 5 * len(WELL_FORMED)


def test_more_than_100_malformed_frames_end_the_session(broker):
    watcher, attacker = broker.client(), broker.client()
    for _ in range(101):
        attacker.send_bytes(b"\xc1")
    bye = attacker.receive(raw.BYE)
    assert bye[1] == 102
    wait_until(lambda: watcher.request("server.info")["sessions"] == 1, what="the end of the session")


def test_a_message_of_several_parts_is_dropped_whole(broker):
    client = broker.client()
    for parts in ([b"", encode([raw.REQUEST, 900, "server.info", {}])],
                  [encode([raw.PUBLISH, "q", 1, [b"x"]]), b"more"],
                  [b""] * 1000):
        client.socket.send_multipart(parts)
        answer = client.receive(raw.ERROR)
        assert answer[1][1] == "malformed_frame"
    assert client.nothing(lambda frame: frame[0] in (raw.CONFIRM, raw.REPLY))
    assert client.barrier()["queues"] == 0


@pytest.mark.release
def test_a_frame_over_the_limit_ends_that_connection_alone(broker):
    watcher, attacker = broker.client(), broker.client()
    watcher.publish("q", b"x")
    before = broker.rss_kib()
    attacker.send_bytes(encode([raw.PUBLISH, "q", 1, [b"x" * attacker.welcome["frame_bytes_max"]]]))
    wait_until(lambda: watcher.request("server.info")["sessions"] == 1, what="the end of the connection")
    assert watcher.depth("q")[0] == 1
    assert broker.rss_kib() - before < 10 * 1024


def test_C35_a_frame_of_exactly_the_limit_is_answered_and_one_of_4096_bytes_less_passes(broker):
    """What fits a PUBLISH may not fit a DELIVER: the broker keeps room for what comes around it, and says so."""
    client = broker.client()
    limit = client.welcome["frame_bytes_max"]
    overhead = len(encode([raw.PUBLISH, "q", 1, [b"x" * 70_000]])) - 70_000
    with pytest.raises(BrokerError) as refused:
        client.publish("q", b"x" * (limit - overhead))
    assert refused.value.name == "frame_too_large"
    headers = encode({"k": "x" * 16_000})
    client.publish("q", b"x" * (limit - 4096 - len(headers)), headers=headers)
    client.consume("q", messages=1)
    delivery = client.delivery()
    assert len(delivery.payload) + len(delivery.options["headers"]) == limit - 4096


@pytest.mark.parametrize("size", [0, 255, 300])
def test_identities_chosen_by_the_client_make_no_difference(broker, size):
    """ZeroMQ allows 1 to 255 bytes; two peers may claim the same one."""
    import zmq
    clients = []
    for _ in range(2):
        client = raw.RawClient(broker.url, hello=False)
        client.socket.close(linger=0)
        client.socket = zmq.Context.instance().socket(zmq.DEALER)
        client.socket.linger = 0
        if 0 < size <= 255:
            client.socket.setsockopt(zmq.ROUTING_ID, b"i" * size)
        elif size:
            with pytest.raises(zmq.ZMQError):
                client.socket.setsockopt(zmq.ROUTING_ID, b"i" * size)
        client.socket.connect(broker.url)
        broker.clients.append(client)
        clients.append(client)
    clients[0].hello()
    clients[0].publish("q", b"x")
    assert clients[0].depth("q")[0] == 1
    assert broker.client().barrier()["ready"] == 1


# --- numbers (C27, C34)

WRONG_TYPE = {"minus_1": -1, "float": 1.5, "text": "10", "int_min": -(2**63), "true": True, "bytes": b"1", "nan": float("nan"), "1e308": 1e308}
LARGE = {"2^31": 2**31, "2^53+1": 2**53 + 1, "2^63": 2**63, "2^64-1": 2**64 - 1}

# name -> a frame with X in the place of the number under test
X = object()
FIELDS = {
    "hello.protocol": [raw.HELLO, X, {}],
    "hello.heartbeat_ms": [raw.HELLO, 1, {"heartbeat_ms": X}],
    "publish.first_sequence": [raw.PUBLISH, "q", X, [b"x"]],
    "publish.kind": [raw.PUBLISH, "q", 1, [b"x"], X],
    "publish.priority": [raw.PUBLISH, "q", 1, [[b"x", {"priority": X}]]],
    "publish.delay_ms": [raw.PUBLISH, "q", 1, [[b"x", {"delay_ms": X}]]],
    "consume.request": [raw.CONSUME, X, 9, "q", 1, 1],
    "consume.consumer": [raw.CONSUME, 500, X, "q", 1, 1],
    "consume.credit_messages": [raw.CONSUME, 500, 9, "q", X, 1],
    "consume.credit_bytes": [raw.CONSUME, 500, 9, "q", 1, X],
    "cancel.request": [raw.CANCEL, X, 9],
    "cancel.consumer": [raw.CANCEL, 500, X],
    "settle.request": [raw.SETTLE, X, [[ACK, 1 << 40, 1 << 40]]],
    "settle.verb": [raw.SETTLE, 500, [[X, 1 << 40, 1 << 40]]],
    "settle.first_lease": [raw.SETTLE, 500, [[ACK, X, 1 << 40]]],
    "settle.last_lease": [raw.SETTLE, 500, [[ACK, 1 << 40, X]]],
    "settle.delay_ms": [raw.SETTLE, 500, [[NACK, 1 << 40, 1 << 40, {"delay_ms": X}]]],
    "settle.lease_ms": [raw.SETTLE, 500, [[raw.EXTEND, 1 << 40, 1 << 40, {"lease_ms": X}]]],
    "grant.consumer": [raw.SETTLE, 500, [], [[X, 1, 1]]],
    "grant.messages": [raw.SETTLE, 500, [], [[9, X, 1]]],
    "grant.bytes": [raw.SETTLE, 500, [], [[9, 1, X]]],
    "request.request": [raw.REQUEST, X, "queue.list", {}],
    "list.limit": [raw.REQUEST, 500, "queue.list", {"limit": X}],
    "peek.limit": [raw.REQUEST, 500, "queue.peek", {"name": "full", "limit": X}],
    "peek.after": [raw.REQUEST, 500, "queue.peek", {"name": "full", "after": X}],
    "replay.ids": [raw.REQUEST, 500, "dlq.replay", {"name": "full.dlq", "ids": [X]}],
    "replay.limit": [raw.REQUEST, 500, "dlq.replay", {"name": "full.dlq", "limit": X}],
    "bye.code": [raw.BYE, X],
}


def with_number(frame, value):
    if frame is X:
        return value
    if isinstance(frame, list):
        return [with_number(part, value) for part in frame]
    if isinstance(frame, dict):
        return {key: with_number(part, value) for key, part in frame.items()}
    return frame


@pytest.fixture
def full(broker):
    """A broker with 5 messages in `full` and one in `full.dlq`, seen by a client that stays out of it."""
    watcher = broker.client()
    watcher.publish("full", *[b"x"] * 6)
    consumer = watcher.consume("full", messages=1)
    watcher.reject(watcher.delivery(), reason="r")
    watcher.cancel(consumer)
    watcher.state = lambda: (watcher.depth("full"), watcher.request("server.info")["ready"])
    return watcher


@pytest.mark.parametrize("field", FIELDS)
def test_C27_a_number_of_the_wrong_kind_is_refused_and_changes_nothing(broker, full, field):
    before = full.state()
    for name, value in WRONG_TYPE.items():
        client = broker.client()
        client.send(*with_number(FIELDS[field], value))
        answer = client.receive(lambda frame: error_of(frame) is not None)
        assert error_of(answer) in (102, 104), (name, answer)
        assert client.nothing(raw.DELIVER), name
        client.close()
    assert full.state() == before


@pytest.mark.parametrize("field", FIELDS)
def test_C27_a_large_number_never_wraps(broker, full, field):
    before = full.state()
    for name, value in LARGE.items():
        client = broker.client()
        client.send(*with_number(FIELDS[field], value))
        if field == "bye.code":
            continue
        frames = client.drain()
        codes = [error_of(frame) for frame in frames if error_of(frame)]
        out_of_range = {"hello.heartbeat_ms", "publish.kind", "publish.priority", "settle.verb", "grant.consumer", "grant.messages",
                        "grant.bytes", "list.limit", "peek.limit", "settle.last_lease"}
        if field in out_of_range or value >= 2**53 and field in ("publish.delay_ms", "settle.delay_ms", "consume.credit_messages",
                                                                  "consume.credit_bytes"):
            assert codes, (name, frames)
        if field in ("consume.credit_messages", "consume.credit_bytes"):
            assert codes == [302], (name, frames)  # none is silently capped
        client.close()
    end = full.state()
    if field == "publish.delay_ms":  # 2^31 ms are 25 days: accepted, and not due
        assert end[0] == before[0] and end[1] == before[1]
        assert full.depth("q")[:2] == (0, 1)
    elif field == "publish.first_sequence":
        assert end[0] == before[0]
    elif field == "replay.limit":
        assert end[0] == (6, 0, 0, 0)
    else:
        assert end == before


@pytest.mark.parametrize("field", FIELDS)
def test_nil_is_the_default_or_is_refused(broker, full, field):
    client = broker.client()
    client.send(*with_number(FIELDS[field], None))
    client.send(raw.REQUEST, 777, "queue.list", {})
    if field != "bye.code":
        client.receive(lambda frame: frame[:2] == [raw.REPLY, 777])
    assert full.depth("full")[0] in (5, 6)
    assert broker.process.poll() is None


@pytest.mark.parametrize("value", [-1, -10**9, 10 * 366 * 86_400_000, 2**53 + 1, 2**63 - 1, float("nan"), 1e308, "5"], ids=repr)
def test_C34_a_refused_delay_publishes_nothing(broker, value):
    client = broker.client()
    outcomes = client.publish_nowait("q", [[b"x", {"delay_ms": value}]])
    [outcome] = client.wait_confirms(outcomes)
    assert isinstance(outcome, BrokerError) and outcome.name == "bad_field"
    assert "delay_ms" in outcome.text
    client.consume("q")
    assert client.nothing(raw.DELIVER)
    assert client.depth("q") == (0, 0, 0, 0)


@pytest.mark.parametrize("value", [2**31, 2**32 - 1, 2**32, 10 * 365 * 86_400_000])
def test_C34_a_long_delay_is_kept(broker, value):
    client = broker.client()
    client.consume("q")
    client.publish("q", b"x", delay_ms=value)
    client.publish("q", b"y")
    delivery = client.delivery()
    assert delivery.payload == b"y"
    client.nack(delivery, delay_ms=value)
    assert client.nothing(raw.DELIVER)
    due = [message["due_ms"] for message in client.request("queue.peek", name="q")["messages"]]
    now = time.time() * 1000
    assert all(abs(at - now - value) < 60_000 for at in due) and len(due) == 2


def test_a_zero_delay_is_no_delay(broker):
    client = broker.client()
    client.publish("q", b"x", delay_ms=0)
    assert client.depth("q")[:2] == (1, 0)


def test_unknown_extra_fields_are_ignored(broker):
    """The extension rule: fields at the end of an array."""
    client = broker.client()
    client.send(raw.REQUEST, 5, "queue.list", {}, "later", 7)
    assert client.wait_reply(5)["queues"] == []
    client.send(raw.HEARTBEAT, 1, 2, 3)
    assert client.nothing(raw.ERROR)


def test_more_than_65535_leases_in_a_frame_are_refused(broker):
    client = broker.client()
    client.send(raw.SETTLE, 5, [[ACK, 1, 65_536]])
    assert error_of(client.receive(lambda frame: error_of(frame) is not None)) == 104
    client.send(raw.SETTLE, 7, [[ACK, 1, 65_000], [ACK, 70_000, 71_000]])
    assert error_of(client.receive(lambda frame: error_of(frame) is not None)) == 104
    client.send(raw.SETTLE, 6, [[ACK, 9, 3]])
    assert error_of(client.receive(lambda frame: error_of(frame) is not None)) in (104, 303)


def test_every_message_pack_integer_format_is_a_number(broker):
    client = broker.client()
    for number in (b"\x07", b"\xcc\x07", b"\xcd\x00\x07", b"\xce\x00\x00\x00\x07", b"\xcf" + b"\x00" * 7 + b"\x07",
                   b"\xd0\x07", b"\xd1\x00\x07", b"\xd2\x00\x00\x00\x07", b"\xd3" + b"\x00" * 7 + b"\x07"):
        client.send_bytes(b"\x94\x08" + number + b"\xaaqueue.list\x80")
        assert client.wait_reply(7)["queues"] == []
    assert msgpack.unpackb(b"\xd0\x07") == 7
